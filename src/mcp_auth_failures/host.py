"""The host of a URL, as far as all clients read it alike.

Facts about readers: JavaScript's ``URL`` (https://url.spec.whatwg.org/#host-parsing) undoes ``%41``, takes whatever
ends in a number for an IPv4 address (``127.1``, ``0x7f.0.0.1``), decodes ``xn--`` by UTS 46, and refuses the rest.
Python's ``urlsplit`` does nothing of that.
"""

import re
from ipaddress import IPv4Address, IPv6Address

__all__ = ["is_host"]

_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?))(?::[0-9]*)?")
_ENDS_IN_A_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?")


def is_host(netloc: str) -> bool:
    """Whether a host, with or without a port, is a name or an address that is written in the one usual way."""
    found = _HOST.fullmatch(netloc.lower())
    if not found:
        return False
    try:
        if found["v6"]:
            return bool(IPv6Address(found["v6"]))
        if _ENDS_IN_A_NUMBER.fullmatch(found["name"]):
            return bool(IPv4Address(found["name"]))
        return all(_is_word(label[4:]) for label in found["name"].split(".") if label.startswith("xn--"))
    except ValueError:
        return False


def _is_word(encoded: str) -> bool:
    """Whether a label's Punycode is a word in one direction, spelled as UTS 46 does. Raises ``ValueError``, too."""
    import unicodedata  # a megabyte that few hosts need

    label = encoded.encode().decode("punycode")
    word = re.sub("[-ßς]", "", label)  # two letters that UTS 46 once spelled otherwise
    directions = set(map(unicodedata.bidirectional, label))
    return (
        word.isidentifier()
        and word == unicodedata.normalize("NFKC", word.casefold())
        and label.encode("punycode").decode() == encoded
        and (directions.isdisjoint({"R", "AL", "AN"}) or directions <= {"R", "AL", "NSM"})
    )
