"""Accept-Language in, our own language tags out, best first.

What a caller sends is read by RFC 9110 §12.5.4 and matched by lookup, RFC 4647 §3.4, over language, script and region
as CLDR knows them. Truncating text alone would read ``zh-TW`` as ``zh`` and answer Taiwan in Simplified characters.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple, TypeAlias

__all__ = ["canonical", "negotiate", "preferences", "same_language", "script_of"]

# (language, script, region, variants, ...): the first two always, the others where they are said.
_Key: TypeAlias = tuple[str, ...]

# A browser sends about 100 characters and 10 ranges.
_MAX_CHARACTERS = 1000
_MAX_RANGES = 20

# RFC 9110 §12.5.4  ( language-range / "*" ) [ OWS ";" OWS "q=" qvalue ]
# RFC 9110 §12.4.2  qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] )
# RFC 4647 §2.1     language-range = 1*8ALPHA *( "-" 1*8alphanum ), its subtags named as in RFC 5646 §2.1
# The underscore is gettext's. A subtag has few places where it may belong, so that matching takes linear time.
_RANGE = re.compile(
    r"""[ \t]*
    (?: \* | (?P<tag> (?P<language> [A-Za-z]{1,8} )
                      (?: [-_] (?P<extended> [A-Za-z]{3} ) ){0,3}
                      (?: [-_] (?P<script> [A-Za-z]{4} ) )?
                      (?: [-_] (?P<region> [A-Za-z]{2} | [0-9]{3} ) )?
                      (?P<rest> (?: [-_] [A-Za-z0-9]{1,8} )* ) ) )
    (?: [ \t]* ; [ \t]* [Qq] = (?P<weight> 0 (?: \. [0-9]{0,3} )? | 1 (?: \. 0{0,3} )? ) )?
    [ \t]*""",
    re.VERBOSE,
)

# What settles the script of Chinese and stands in no CLDR table: the names which .NET and Internet Explorer had for
# the two scripts, and Cantonese as an extended language (RFC 5646 §2.2.2).
_SCRIPT_BY_NAME = {"zh-chs": "Hans", "zh-cht": "Hant", "zh-yue": "Hant"}

# What the readers of one read also, asked only where nothing nearer is installed. It is CLDR's languageMatching.xml,
# which Babel does not carry: all that is about one language in two scripts and near ("most serbs can read either
# script"; Jpan and Kore contain the others), and Norwegian. Chinese is not here, and must not be; nor do we follow
# CLDR from one language to another (ca to es, uk to ru): that is for the reader to ask for.
_READ_ALSO: Mapping[_Key, tuple[_Key, ...]] = {
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
    return tuple(dict.fromkeys(_walk(value, available)))


def negotiate(value: str | Iterable[str] | None, available: Iterable[str], default: str = "en") -> str:
    """The best of our languages for *value*: the first of :func:`preferences`, or *default* if there is none.

    Never raises on account of what *value* holds. RFC 9110 §12.5.4 lets a server that has nothing acceptable
    disregard the header, so *default* comes back as it is, even where it is not available or was refused.
    """
    return next(_walk(value, available), default)


def canonical(tag: str) -> str:
    """A language tag that someone wrote for us, in BCP 47's spelling: ``pt_br`` is ``pt-BR`` (RFC 5646 §2.1.1).

    Raises ``ValueError``, naming the nearest, for what is no tag or names a language that CLDR does not know.
    """
    match = _RANGE.fullmatch(tag) if isinstance(tag, str) else None
    if not match or match["weight"] or match["tag"] != tag:
        raise ValueError(f"{tag!r:.80} is not a language tag such as en or pt-BR{_nearest(tag)}")
    language, *subtags = tag.replace("_", "-").lower().split("-")
    if language not in _known_languages():
        raise ValueError(f"{tag!r:.80} is in no language that is known{_nearest(tag)}")
    spelled = {2: str.upper, 4: str.title}
    singleton = next((place for place, subtag in enumerate(subtags) if len(subtag) == 1), len(subtags))
    first = (spelled.get(len(subtag), str)(subtag) for subtag in subtags[:singleton])
    return "-".join([language, *first, *subtags[singleton:]])


def script_of(tag: str) -> str:
    """The script that a language is written in (ISO 15924, ``Cyrl``), said or likely; empty if it is not known."""
    key = _parse(tag)
    return key[1] if key else ""


def same_language(tag: str, other: str) -> bool:
    """Whether two tags are names of one language in one script, as ``zh`` and ``zh-Hans``, ``iw`` and ``he``."""
    return _parse(tag) == _parse(other)


@cache
def _known_languages() -> Mapping[str, None]:
    from babel.localedata import locale_identifiers

    languages = (name.partition("_")[0] for name in locale_identifiers())
    return dict.fromkeys((*languages, *(alias for alias in _cldr().languages if len(alias) in {2, 3})))


def _nearest(tag: object) -> str:
    from difflib import get_close_matches  # only a fault needs it

    language = re.sub("[^a-z]", "", re.split("[._@-]", str(tag)[:80].lower())[0])
    near = get_close_matches(language, _known_languages(), n=1, cutoff=0.7)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _walk(value: object, available: Iterable[str]) -> Iterator[str]:
    ranges = _ranges(value)
    if not ranges:
        return
    index = _index(tuple(available))
    wanted = [match for weight, match in ranges if weight]
    refused = {_key(match) for weight, match in ranges if not weight}
    named = {_key(match) for match in wanted} if refused else set()
    for match in wanted:
        for tag in index.lookup(match):
            if not (refused and _is_refused(index.keys[tag], named, refused)):
                yield tag


def _is_refused(key: _Key, named: set[_Key], refused: set[_Key]) -> bool:
    """Whether, of the ranges that match *key* by prefix (RFC 4647 §3.3.1), the most specific has ``q=0``."""
    prefixes = (key[:length] for length in range(len(key), 1, -1))
    return next((prefix not in named for prefix in prefixes if prefix in named or prefix in refused), False)


def _ranges(value: object) -> list[tuple[float, re.Match[str]]]:
    """The weights and ranges of *value* in order of preference, without what is malformed or a star."""
    texts: Iterable[object] = (value,) if isinstance(value, str) else value if isinstance(value, Iterable) else ()
    # RFC 9110 §5.6.1.2 has empty elements ignored; a list may hold as many of them as a header can.
    elements = (
        (place, element)
        for place, text in enumerate(islice(texts, _MAX_CHARACTERS))
        if isinstance(text, str)
        for element in _head(text).split(",")
        if element.strip(" \t")
    )
    ranges = [
        (place, float(match["weight"] or 1), match)
        for place, element in islice(elements, _MAX_RANGES)
        if (match := _RANGE.fullmatch(element)) and match["tag"]
    ]
    return [(weight, match) for _, weight, match in sorted(ranges, key=lambda found: (found[0], -found[1]))]


def _head(header: str) -> str:
    return header if len(header) <= _MAX_CHARACTERS else header[:_MAX_CHARACTERS].rpartition(",")[0]


class _Cldr(NamedTuple):
    languages: Mapping[str, str]
    territories: Mapping[str, Sequence[str]]
    likely: Mapping[str, str]
    parents: Mapping[str, str]


@cache
def _cldr() -> _Cldr:
    # Imported at first use: `import mcp_auth_failures` shall cost no Babel. Its data is a pickle, opened by its path:
    # RuntimeError in a zipapp, and from a torn file whatever pickle raises. Without it, lookup goes by text alone.
    try:
        from babel.core import get_global

        return _Cldr(
            get_global("language_aliases"),
            get_global("territory_aliases"),
            get_global("likely_subtags"),
            get_global("parent_exceptions"),
        )
    except Exception:
        return _Cldr({}, {}, {}, {})


def _key(match: re.Match[str]) -> _Key:
    """The canonical form, in which tags are compared: that of ``zh-mo``, ``zh-Hant-MO`` and ``cmn-446`` is one."""
    cldr = _cldr()
    language, extended, script, region, rest = match.group("language", "extended", "script", "region", "rest")
    language = language.lower()
    # An alias may say more than a language, but what the tag says itself stands: sh is sr-Latn, sh-Cyrl is sr-Cyrl.
    if alias := _RANGE.fullmatch(cldr.languages.get(language, "")):
        language, script, region = alias["language"], script or alias["script"], region or alias["region"]
    # CLDR turns numbers, retired codes and ISO 3166's three letters into two: zh-158 and zh-TWN (not BCP 47, yet seen)
    # are zh-TW. Three letters which are no territory are an extended language, which lookup truncates.
    extended = (extended or "").upper()
    region = (region or (extended if extended in cldr.territories else "")).upper()
    region = cldr.territories.get(region, (region,))[0]
    script = (script or _SCRIPT_BY_NAME.get(f"{language}-{extended.lower()}", "")).title()
    rest = rest.lower().replace("_", "-").split("-")
    likely = cldr.likely.get(f"{language}_{region}") or cldr.likely.get(language)
    if likely:
        return (language, script or likely.split("_")[1], *filter(None, (region, *rest)))
    # In which script an unknown language is written is not ours to say: its script is a subtag like the others.
    return (language, "", *filter(None, (script, region, *rest)))


def _parse(tag: str) -> _Key | None:
    match = _RANGE.fullmatch(tag)
    return _key(match) if match and match["tag"] else None


@cache
def _parents() -> Mapping[_Key, _Key]:
    """CLDR's parents where they are not the truncated tag: that of pt-AO is pt-PT, since plain pt is Brazil's."""
    pairs = ((_parse(child), _parse(parent)) for child, parent in _cldr().parents.items())
    return {child: parent for child, parent in pairs if child and parent}


def _lineage(key: _Key) -> Iterator[_Key]:
    """*key* and its parents up to language and script (RFC 4647 §3.4)."""
    # There it ends, and so CLDR's parents in another language (English for hi-Latn) are never reached.
    while len(key) > 2:
        yield key
        key = _parents().get(key, key[:-1])
    yield key


def _is_likely(key: _Key) -> bool:
    """Whether *key* is what CLDR thinks of where no region is said: pt-BR of pt, zh-Hant-TW of zh-Hant."""
    language, script, *subtags = key
    likely = _cldr().likely
    return (likely.get(f"{language}_{script}") or likely.get(language, "")).split("_")[2:] == subtags


class _Index:
    """What is installed: by its text, by its canonical form, and by every parent of that."""

    def __init__(self, available: tuple[str, ...]) -> None:
        self.keys = {tag: key for tag in available if (key := _parse(tag))}
        self._equal: dict[_Key, list[str]] = defaultdict(list)
        self._below: dict[_Key, list[str]] = defaultdict(list)
        for tag, key in sorted(self.keys.items(), key=lambda item: (len(item[1]), not _is_likely(item[1]))):
            self._equal[key].append(tag)
            # Where the script is unknown, "the same language elsewhere" might be Simplified for Traditional.
            for ancestor in _lineage(key) if key[1] else ():
                self._below[ancestor].append(tag)
        self._by_text: dict[str, tuple[str, ...]] = {}
        for tag, key in self.keys.items():
            self._by_text.setdefault(_text(tag), (tag, *self._resolve(key)))

    def lookup(self, match: re.Match[str]) -> Sequence[str]:
        return self._by_text.get(_text(match["tag"])) or self._resolve(_key(match))

    def _resolve(self, key: _Key) -> Sequence[str]:
        lineage = list(_lineage(key))
        if found := [tag for ancestor in lineage for tag in self._equal.get(ancestor, ())]:
            return found
        nearby = (*lineage, *_READ_ALSO.get(key[:2], ()))
        return next((self._below[place] for place in nearby if place in self._below), ())


def _text(tag: str) -> str:
    return tag.lower().replace("_", "-")


# Keyed by what is installed, of which a process has a few sets; never by what callers send, who could fill it up.
_index = lru_cache(maxsize=8)(_Index)
