"""Language tags (BCP 47): read, spelled and compared as CLDR knows them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

__all__ = [
    "RANGE",
    "Key",
    "canonical",
    "key_of",
    "likely_region",
    "lineage",
    "parse",
    "same_language",
    "script_of",
]

Key: TypeAlias = tuple[str, ...]
"""(language, script, region, variants, …): the first two always, the others where they are said."""

# RFC 9110 §12.5.4  ( language-range / "*" ) [ OWS ";" OWS "q=" qvalue ]
# RFC 9110 §12.4.2  qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] )
# RFC 4647 §2.1     language-range = 1*8ALPHA *( "-" 1*8alphanum ), its subtags named as in RFC 5646 §2.1
# The underscore is gettext's. A subtag has few places where it may belong, so that matching takes linear time.
RANGE = re.compile(
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

_MAX_TAG = 35  # RFC 5646 §4.4.1: what a reader of tags is asked to have room for; every registered tag fits

# What settles the script of Chinese and stands in no CLDR table: the names which .NET and Internet Explorer had for
# the two scripts, and Cantonese as an extended language (RFC 5646 §2.2.2).
_SCRIPT_BY_NAME = {"zh-chs": "Hans", "zh-cht": "Hant", "zh-yue": "Hant"}


def canonical(tag: str) -> str:
    """A language tag that someone wrote for us, in BCP 47's spelling: ``pt_br`` is ``pt-BR`` (RFC 5646 §2.1.1).

    Raises ``ValueError``, naming the nearest, for what is no tag or names a language that CLDR does not know.
    """
    match = RANGE.fullmatch(tag) if isinstance(tag, str) else None
    if not match or match["weight"] or match["tag"] != tag:
        raise ValueError(f"{tag!r:.80} is not a language tag such as en or pt-BR{_nearest(tag)}")
    if len(tag) > _MAX_TAG:
        raise ValueError(f"{tag!r:.80} is longer than the {_MAX_TAG} characters of a language tag")
    language, *subtags = tag.replace("_", "-").lower().split("-")
    if language not in _known_languages():
        raise ValueError(f"{tag!r:.80} is in no language that is known{_nearest(tag)}")
    spelled = {2: str.upper, 4: str.title}
    singleton = next((place for place, subtag in enumerate(subtags) if len(subtag) == 1), len(subtags))
    first = (spelled.get(len(subtag), str)(subtag) for subtag in subtags[:singleton])
    return "-".join([language, *first, *subtags[singleton:]])


def script_of(tag: str) -> str:
    """The script that a language is written in (ISO 15924, ``Cyrl``), said or likely; empty if it is not known."""
    key = parse(tag)
    return key[1] if key else ""


def same_language(tag: str, other: str) -> bool:
    """Whether two tags are names of one language in one script, as ``zh`` and ``zh-Hans``, ``iw`` and ``he``."""
    return parse(tag) == parse(other)


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


def key_of(match: re.Match[str]) -> Key:
    """The canonical form, in which tags are compared: that of ``zh-mo``, ``zh-Hant-MO`` and ``cmn-446`` is one."""
    cldr = _cldr()
    language, extended, script, region, rest = match.group("language", "extended", "script", "region", "rest")
    language = language.lower()
    # An alias may say more than a language, but what the tag says itself stands: sh is sr-Latn, sh-Cyrl is sr-Cyrl.
    if alias := RANGE.fullmatch(cldr.languages.get(language, "")):
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


def parse(tag: str) -> Key | None:
    """The canonical form of a tag, or ``None`` for what is none."""
    match = RANGE.fullmatch(tag)
    return key_of(match) if match and match["tag"] else None


@cache
def _parents() -> Mapping[Key, Key]:
    """CLDR's parents where they are not the truncated tag: that of pt-AO is pt-PT, since plain pt is Brazil's."""
    pairs = ((parse(child), parse(parent)) for child, parent in _cldr().parents.items())
    return {child: parent for child, parent in pairs if child and parent}


def lineage(key: Key) -> Iterator[Key]:
    """*key* and its parents up to language and script (RFC 4647 §3.4)."""
    # There it ends, and so CLDR's parents in another language (English for hi-Latn) are never reached.
    while len(key) > 2:
        yield key
        key = _parents().get(key, key[:-1])
    yield key


def likely_region(key: Key) -> str:
    """The region that CLDR thinks of where none is said: BR of pt, TW of zh-Hant; empty if it knows none."""
    likely = _cldr().likely
    return (likely.get(f"{key[0]}_{key[1]}") or likely.get(key[0], "")).rpartition("_")[2]
