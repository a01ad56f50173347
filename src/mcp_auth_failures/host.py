"""The host of a URL, in the spelling that clients read alike.

Facts about readers: JavaScript's ``URL`` (https://url.spec.whatwg.org/#host-parsing) undoes ``%41``, takes whatever
ends in a number for an IPv4 address (``127.1``, ``0x7f.0.0.1``), decodes ``xn--`` by UTS 46 in Node though not in
Chromium, and refuses the rest. Rust's, which pydantic uses, also holds all labels to the Bidi rule of RFC 5893 where
one is written from right to left. Python's ``urlsplit`` does nothing of that.
"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address

__all__ = ["is_host"]

_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?))(?::[0-9]*)?")
_ENDS_IN_A_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?")
_MAX_LABEL = 63  # RFC 1035 §2.3.4


def is_host(netloc: str) -> bool:
    """Whether a host, with or without a port, is a name or an address that is written in the one usual way.

    Refused although clients take them: names with a symbol such as an emoji, or with one of the invisible joiners that
    a few words of Persian and Sinhala have.
    """
    found = _HOST.fullmatch(netloc.lower())
    if not found:
        return False
    try:
        if found["v6"]:
            return bool(IPv6Address(found["v6"]))
        if _ENDS_IN_A_NUMBER.fullmatch(found["name"]):
            return bool(IPv4Address(found["name"]))
        labels = [_decoded(label) for label in found["name"].removesuffix(".").split(".")]
        return all(map(str.isascii, labels)) or _is_international(labels)
    except ValueError:
        return False


def _decoded(label: str) -> str:
    """A label as it is meant. Raises ``ValueError`` for Punycode that nobody would have written."""
    if not label.startswith("xn--"):
        return label
    if len(label) > _MAX_LABEL:
        raise ValueError("no label is as long")
    word = label[4:].encode().decode("punycode")
    if word.isascii() or word.encode("punycode").decode() != label[4:]:
        raise ValueError("it has another spelling")
    return word


_PUNCTUATION = "[-\u05f3\u05f4\u30fb]"  # hyphen, geresh, gershayim and the Japanese middle dot
_SPELLED_OTHERWISE_ONCE = "[\u00df\u03c2]"  # by UTS 46 until 2010: sharp s, final sigma
_IGNORED = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def _is_international(labels: Sequence[str]) -> bool:
    from unicodedata import bidirectional, category, normalize  # a megabyte that few hosts need

    def is_word(label: str) -> bool:
        word = re.sub(f"{_PUNCTUATION}|{_SPELLED_OTHERWISE_ONCE}", "", label)
        return (
            category(label[0])[0] != "M"  # a mark needs a letter to stand on
            and not _IGNORED.search(label)
            and f"a{word}".isidentifier()
            and word == normalize("NFKC", word.casefold())
        )

    def is_ordered(label: str) -> bool:
        """RFC 5893 §2."""
        classes = [bidirectional(character) for character in label]
        last = [each for each in classes if each != "NSM"][-1]
        found = {*classes} - {"ES", "CS", "ET", "ON", "BN", "NSM"}
        if classes[0] in {"R", "AL"}:
            return found <= {"R", "AL", "AN", "EN"} and last in found and not found >= {"AN", "EN"}
        return classes[0] == "L" and found <= {"L", "EN"} and last in found

    both_ways = any(bidirectional(character) in {"R", "AL", "AN"} for label in labels for character in label)
    return all(is_word(label) for label in labels if not label.isascii()) and (
        not both_ways or all(map(is_ordered, labels))
    )
