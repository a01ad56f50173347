"""Accept-Language in, our own language tags out, best first.

What a caller sends is read by RFC 9110 §12.5.4 and matched by lookup, RFC 4647 §3.4, over language, script and region
as CLDR knows them. Truncating text alone would read ``zh-TW`` as ``zh`` and answer Taiwan in Simplified characters.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from mcp_auth_failures.tags import RANGE, Key, key_of, likely_region, lineage, parse

__all__ = ["negotiate", "preferences", "walk"]

# A browser sends about 100 characters and 10 ranges.
_MAX_CHARACTERS = 1000
_MAX_RANGES = 20

# What the readers of one read also, asked only where nothing nearer is installed. It is CLDR's languageMatching.xml,
# which Babel does not carry: all that is about one language in two scripts and near ("most serbs can read either
# script"; Jpan and Kore contain the others), and Norwegian. Chinese is not here, and must not be; nor do we follow
# CLDR from one language to another (ca to es, uk to ru): that is for the reader to ask for.
_READ_ALSO: Mapping[Key, tuple[Key, ...]] = {
    ("no", "Latn"): (("nb", "Latn"),),
    ("nb", "Latn"): (("no", "Latn"),),
    ("nn", "Latn"): (("nb", "Latn"), ("no", "Latn")),
    ("sr", "Latn"): (("sr", "Cyrl"),),
    ("sr", "Cyrl"): (("sr", "Latn"),),
    **{("ja", script): (("ja", "Jpan"),) for script in ("Hani", "Hira", "Hrkt", "Kana", "Latn")},
    **{("ko", script): (("ko", "Kore"),) for script in ("Hang", "Hani", "Jamo")},
}


def preferences(value: str | Iterable[str] | None, available: Iterable[str]) -> tuple[str, ...]:
    """Those of our languages that *value* asks for, best first, each once; empty if there is none.

    Never raises on account of what *value* holds: what cannot be read is passed over, range by range. At most 1,000
    characters of a header (whole ranges of it) and 20 ranges in all are read.

    :param value: an Accept-Language value (RFC 9110 §12.5.4), one tag, or a list of either in order of preference, in
        which ``q=0`` refuses for the whole list. ``pt_BR`` is read as ``pt-BR``. ``None``, and whatever is neither
        text nor a list of it, asks for nothing.
    :param available: our tags, with hyphens or underscores; they come back as they are spelled here. Their order
        decides where nothing else does.

    A range is answered, before the next one is looked at, by the first of these that is installed:

    - the tag itself and its parents, most specific first (RFC 4647 §3.4): ``de-AT`` gives ``de-AT`` and ``de``. An old
      code is today's (``iw`` is ``he``); the parents are CLDR's (``es-MX``, ``es-419``, ``es``); and the likely script
      counts as if it had been said: ``zh-TW`` gives ``zh-Hant``, and nothing makes it give ``zh-Hans``;
    - the same language in the same script elsewhere: the nearest by CLDR's parents, then the likely region, so that
      ``pt`` gives ``pt-BR`` and then ``pt-PT``;
    - what its readers read also: ``nb`` for ``no`` and ``nn``, Serbian in its other script.

    ``*`` is skipped (RFC 4647 §3.4): it leaves the choice to us. ``q=0`` refuses a tag and all below it (RFC 4647
    §3.3.1), except what is wanted at least as specifically: of ``de-AT, de;q=0`` comes ``de-AT`` and never ``de``.
    """
    return tuple(dict.fromkeys(walk(value, available)))


def negotiate(value: str | Iterable[str] | None, available: Iterable[str], default: str = "en") -> str:
    """The best of our languages for *value*: the first of :func:`preferences`, or *default* if there is none.

    Never raises on account of what *value* holds. RFC 9110 §12.5.4 lets a server that has nothing acceptable
    disregard the header, so *default* comes back as it is, even where it is not available or was refused.
    """
    return next(walk(value, available), default)


def walk(value: object, available: Iterable[str]) -> Iterator[str]:
    """As :func:`preferences`, one after the other; what two ranges ask for comes twice."""
    ranges = _ranges(value)
    if not ranges:
        return
    index = _index(tuple(available))
    wanted = [match for weight, match in ranges if weight]
    refused = {key_of(match) for weight, match in ranges if not weight}
    named = {key_of(match) for match in wanted} if refused else set()
    for match in wanted:
        for tag in index.lookup(match):
            if not (refused and _is_refused(index.keys[tag], named, refused)):
                yield tag


def _is_refused(key: Key, named: set[Key], refused: set[Key]) -> bool:
    """Whether, of the ranges that match *key* by prefix (RFC 4647 §3.3.1), the most specific has ``q=0``."""
    prefixes = (key[:length] for length in range(len(key), 1, -1))
    return next((prefix not in named for prefix in prefixes if prefix in named or prefix in refused), False)


def _ranges(value: object) -> list[tuple[float, re.Match[str]]]:
    """The weights and ranges of *value* in order of preference, without what is malformed or a star."""
    texts: Iterable[object] = (value,) if isinstance(value, str) else value if isinstance(value, Iterable) else ()
    ranges: list[tuple[float, re.Match[str]]] = []
    left = _MAX_RANGES
    # RFC 9110 §5.6.1.2 has empty elements ignored; a list may hold as many of them as a header can.
    for text in islice(texts, _MAX_CHARACTERS):
        if not left:
            break
        if isinstance(text, str):
            elements = [element for element in _head(text).split(",") if element.strip(" \t")][:left]
            matches = filter(None, map(RANGE.fullmatch, elements))
            found = [(float(match["weight"] or 1), match) for match in matches if match["tag"]]
            found.sort(key=_by_weight)
            ranges += found
            left -= len(elements)
    return ranges


def _by_weight(found: tuple[float, re.Match[str]]) -> float:
    return -found[0]


def _head(header: str) -> str:
    return header if len(header) <= _MAX_CHARACTERS else header[:_MAX_CHARACTERS].rpartition(",")[0]


class _Index:
    """What is installed: by its text, by its canonical form, and by every parent of that."""

    def __init__(self, available: tuple[str, ...]) -> None:
        self.keys = {tag: key for tag in available if (key := parse(tag))}
        self._equal: dict[Key, list[str]] = defaultdict(list)
        self._below: dict[Key, list[str]] = defaultdict(list)
        for tag, key in sorted(self.keys.items(), key=_generality):
            self._equal[key].append(tag)
            # Where the script is unknown, "the same language elsewhere" might be Simplified for Traditional.
            for ancestor in lineage(key) if key[1] else ():
                self._below[ancestor].append(tag)
        self._by_text: dict[str, Sequence[str]] = {}
        for tag, key in self.keys.items():
            self._by_text.setdefault(_text(tag), (tag, *self._resolve(key)))
        for key in self.keys.values():  # and as most browsers name it: de-DE for de
            at_home = f"{key[0]}-{likely_region(key)}"
            if home := parse(at_home):
                self._by_text.setdefault(_text(at_home), self._resolve(home))

    def lookup(self, match: re.Match[str]) -> Sequence[str]:
        return self._by_text.get(_text(match["tag"])) or self._resolve(key_of(match))

    def _resolve(self, key: Key) -> Sequence[str]:
        line = list(lineage(key))
        if found := [tag for ancestor in line for tag in self._equal.get(ancestor, ())]:
            return found
        nearby = (*line, *_READ_ALSO.get(key[:2], ()))
        return next((self._below[place] for place in nearby if place in self._below), ())


def _generality(item: tuple[str, Key]) -> tuple[int, bool]:
    _, key = item
    return len(key), key[2:] != (likely_region(key),)


def _text(tag: str) -> str:
    return tag.lower().replace("_", "-")


# Keyed by what is installed, of which a process has a few sets; never by what callers send, who could fill it up.
_index = lru_cache(maxsize=8)(_Index)
