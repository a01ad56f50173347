"""Accept-Language in, our tags out: RFC 9110 §12.5.4, RFC 4647 §3.4, and CLDR's likely scripts."""

import json
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import count, repeat
from pathlib import Path
from typing import Any, TypeAlias

import babel.core
import langcodes
import pytest
from babel.core import get_global
from hypothesis import given
from hypothesis import strategies as st

from mcp_auth_failures import languages, tags
from mcp_auth_failures.catalog import packaged
from mcp_auth_failures.languages import negotiate, preferences

CASES = json.loads((Path(__file__).parent / "cases" / "negotiation.json").read_text(encoding="utf-8"))


def shipped() -> tuple[str, ...]:
    """The tags of the shipped translations, and of the catalog's own English."""
    folders = [folder.name for folder in packaged("locales").iterdir() if folder.is_dir()]
    return tuple(sorted({"en", *(name.replace("_", "-") for name in folders)}))


SHIPPED = shipped()
TERRITORIES = sorted(get_global("territory_languages"))


@pytest.mark.parametrize(("header", "expected", "why"), CASES["cases"], ids=[why for _, _, why in CASES["cases"]])
def test_case(header: str, expected: str, why: str) -> None:
    """The table of cases that is shared with other implementations holds."""
    assert negotiate(header, CASES["available"], CASES["default"]) == expected, why


# What a range finds: (value, available, what comes back).
LOOKUP: list[tuple[str, str, str]] = [
    # RFC 4647 §3.4: itself, then its truncations, most specific first
    ("de-AT", "de de-AT de-CH", "de-AT de"),
    ("de-AT", "de-CH de", "de"),
    ("de", "de-AT de", "de"),
    ("de-AT-1996-x-vienna", "de de-AT", "de-AT de"),
    ("ca-valencia", "ca ca-valencia", "ca-valencia ca"),
    ("ca", "ca-valencia ca", "ca"),
    ("ca", "ca-valencia", "ca-valencia"),
    ("CA_VALENCIA_X_A", "ca ca-valencia", "ca-valencia ca"),
    ("zh-Hant-HK", "zh-Hans zh-Hant zh-Hant-HK", "zh-Hant-HK zh-Hant"),
    ("de-Latn-AT", "de de_AT", "de_AT de"),
    ("en-a-bbb-x-DE-Hans", "en de", "en"),
    ("hi-u-nu-latn", "hi", "hi"),
    ("zh-u-sd-twnwt", "zh-Hans zh-Hant", "zh-Hans"),
    ("zh-x-hant", "zh-Hans zh-Hant", "zh-Hans"),
    ("en-GB-oed", "en en-GB", "en-GB en"),
    ("x-pirate", "en x-pirate", "x-pirate"),
    ("x-pirate-west", "en pirate west", ""),
    ("i-klingon", "en", ""),
    # the parents that CLDR names
    ("es-MX", "es es-ES es-419", "es-419 es"),
    ("en-AT", "en en-001 en-150", "en-150 en-001 en"),
    ("en-AU", "en-US en-001 en", "en-001 en"),
    ("pt-AO", "pt-BR pt-PT", "pt-PT"),
    ("pt-MZ", "pt-BR pt-PT pt", "pt-PT pt"),
    ("zh-MO", "zh-Hant zh-Hant-HK zh-Hans", "zh-Hant-HK zh-Hant"),
    # the same language elsewhere
    ("pt", "pt-PT pt-BR", "pt-BR pt-PT"),
    ("pt-CV", "pt-BR", "pt-BR"),
    ("pt-BR", "pt-PT", "pt-PT"),
    ("en", "en-GB en-US", "en-US en-GB"),
    ("en-ZA", "en-US en-GB", "en-GB"),
    ("en-GB", "en-US", "en-US"),
    ("es-419", "es-ES es-AR", "es-AR"),
    ("es-MX", "es-ES es-AR", "es-AR"),
    ("de", "de-CH de-AT", "de-CH de-AT"),
    ("zh-Hant", "zh-Hant-HK zh-Hant-TW", "zh-Hant-TW zh-Hant-HK"),
    ("pt", "pto pta", ""),
    # old and long codes
    ("iw", "he", "he"),
    ("he-IL", "iw", "iw"),
    ("in-ID", "id", "id"),
    ("mo", "ro", "ro"),
    ("tl-PH", "fil", "fil"),
    ("ji", "yi", "yi"),
    ("deu-AUT", "de de-AT", "de-AT de"),
    ("en-UK", "en en-GB", "en-GB en"),
    ("prs", "fa fa-AF", "fa-AF fa"),
    ("cnr", "sr sr-Latn sr-Latn-ME", "sr-Latn-ME sr-Latn"),
    # Norwegian
    ("no", "nb nn", "nb"),
    ("no-NO", "no nb", "no"),
    ("nb-NO", "no nb", "nb"),
    ("nb", "no", "no"),
    ("nn", "nb nn", "nn"),
    ("nn-NO", "nb", "nb"),
    ("nn", "no", "no"),
    ("nn", "no nb", "nb"),
    ("nn", "nb-NO nb", "nb nb-NO"),
    ("nb", "nn", ""),
    ("no", "da sv", ""),
    # two ways to write a language
    ("sr", "sr sr-Latn", "sr"),
    ("sr-Latn", "sr sr-Latn", "sr-Latn"),
    ("sr-Latn-RS", "sr hr", "sr"),
    ("sr-ME", "sr sr-Latn", "sr-Latn"),
    ("sr", "sr-Latn", "sr-Latn"),
    ("sh", "sr sr-Latn hr", "sr-Latn"),
    ("sh-Cyrl", "sr sr-Latn", "sr"),
    ("ja-Kana", "ja", "ja"),
    ("ko-Hang-KR", "ko", "ko"),
    ("az-Cyrl", "az", ""),
    ("uz-AF", "uz", ""),
    ("hi-Latn", "hi en en-IN", ""),
    ("en-Shaw", "en", ""),
    # Chinese
    ("zh", "zh-Hant zh-Hans", "zh-Hans"),
    ("zh-CN", "zh-Hant zh-Hans", "zh-Hans"),
    ("zh-SG", "zh-Hant zh-Hans", "zh-Hans"),
    ("zh-MY", "zh-Hant zh-Hans", "zh-Hans"),
    ("zh-TW", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-HK", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-Hans-TW", "zh-Hans zh-Hant", "zh-Hans"),
    ("zh-Hant-CN", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-TW", "zh", ""),
    ("zh-TW", "zh-CN", ""),
    ("zh-HK", "zh_CN zh_TW", "zh_TW"),
    ("zh-Hans", "zh_TW zh_CN", "zh_CN"),
    ("zh-Hans", "zh zh-Hans", "zh-Hans zh"),
    ("zh", "zh-Hans zh", "zh zh-Hans"),
    ("zh-Latn", "zh-Hans zh-Hant", ""),
    ("cmn-TW", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-cmn-Hant", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-min-nan-TW", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-yue", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-158", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-TWN", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-CHT", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-CHS", "zh-Hant zh-Hans", "zh-Hans"),
    # nearness is no sameness
    ("ca", "es", ""),
    ("gl", "pt-BR es", ""),
    ("uk", "ru", ""),
    ("gsw", "de", ""),
    ("und", "en", ""),
    # our spelling, whatever was asked or installed
    ("PT_br", "pt_BR", "pt_BR"),
    ("ZH_hant_tw", "ZH-HANT", "ZH-HANT"),
    ("de", "DE de", "DE de"),
    ("de", "en.UTF-8 C de@euro de", "de"),
    # several ranges: a language before the next, a tag once
    ("de-AT,de;q=0.9,en-US;q=0.8,en;q=0.7,fr;q=0.6", " ".join(SHIPPED), "de en fr"),
    ("fr-FR, en-US;q=0.7, en;q=0.3", "en fr", "fr en"),
    ("de-AT, fr;q=0.9, de;q=0.8", "de fr", "de fr"),
    ("gl, es;q=0.9", "es en gl", "gl es"),
    ("nn, nb;q=0.9, no;q=0.8, en;q=0.5", "en nb", "nb en"),
    ("ca-ES, es;q=0.9", "es ca", "ca es"),
]


@pytest.mark.parametrize(("value", "available", "expected"), LOOKUP)
def test_lookup(value: str, available: str, expected: str) -> None:
    """A range finds what RFC 4647 and CLDR say, most specific first, in our spelling."""
    assert preferences(value, available.split()) == tuple(expected.split())


# Over de, de-AT, fr, pt-BR, pt-PT and the two Chinese: (value, what is left).
REFUSALS: list[tuple[str, str]] = [
    ("de-AT", "de-AT de"),
    ("de-AT, de;q=0", "de-AT"),
    ("de;q=0, de-AT", "de-AT"),
    ("de-AT;q=0, de", "de"),
    ("de, de-CH;q=0", "de"),
    ("de, de-1996;q=0", "de"),
    ("de-1996, de;q=0", ""),
    ("de, de;q=0", "de"),
    ("de;q=0", ""),
    ("de;q=0.000", ""),
    ("de;q=0.001", "de"),
    ("de;q=0, fr", "fr"),
    ("de-AT;q=0, de-AT;q=0.5", "de-AT de"),
    ("pt, pt-BR;q=0", "pt-PT"),
    ("pt;q=0, pt-PT", "pt-PT"),
    ("pt;q=0, pt-AO", ""),
    ("PT_br;q=0, pt", "pt-PT"),
    ("zh-TW, zh;q=0", "zh-Hant"),
    ("zh, zh-Hans;q=0", "zh-Hans"),
    ("zh-CN, zh-Hans;q=0", ""),
    ("zh-TW, zh-Hans;q=0", "zh-Hant"),
    ("zh-TW;q=0, zh-HK", "zh-Hant"),
    # a star chooses nothing and refuses nothing
    ("*", ""),
    ("*;q=0", ""),
    ("fr, *;q=0", "fr"),
    ("*;q=0, fr;q=0.1", "fr"),
    ("*, fr;q=0.1", "fr"),
    ("de;q=0, *", ""),
]


@pytest.mark.parametrize(("value", "expected"), REFUSALS)
def test_refusal(value: str, expected: str) -> None:
    """``q=0`` refuses a tag and all below it, unless it is wanted at least as specifically."""
    available = ("de", "de-AT", "fr", "pt-BR", "pt-PT", "zh-Hans", "zh-Hant")
    assert preferences(value, available) == tuple(expected.split())


# Elements by the grammar of RFC 9110 §12.5.4: (element, whether it is one).
GRAMMAR: list[tuple[str, bool]] = [
    ("de", True),
    (" \tde\t ", True),
    ("de;q=1", True),
    ("de;q=1.", True),
    ("de;q=1.000", True),
    ("de;Q=0.9", True),
    ("de \t; \tq=0.9 ", True),
    ("de-" + "-".join(["abcdefgh"] * 50), True),
    ("de;q=1.0000", False),
    ("de;q=1.001", False),
    ("de;q=2", False),
    ("de;q=01", False),
    ("de;q=0.9999", False),
    ("de;q=.9", False),
    ("de;q=+1", False),
    ("de;q=-1", False),
    ("de;q=1e0", False),
    ("de;q=0x1", False),
    ("de;q=0_1", False),
    ("de;q=inf", False),
    ("de;q=nan", False),
    ("de;q=", False),
    ("de;q", False),
    ("de;", False),
    ("de;q= 1", False),
    ("de;q =1", False),
    ('de;q="1"', False),
    ("de;q=1;q=1", False),
    ("de;level=1", False),
    ("de;q=1;level=1", False),
    ("de;q=\u0661", False),
    ("de;q=0.\u0669", False),
    ("de;q=\uff11", False),
    ("\uff44\uff45", False),
    ("d\u0435", False),
    ("de\n", False),
    ("de\r\nSet-Cookie: a=b", False),
    ("\xa0de", False),
    ("de\0", False),
    ("de\ud800", False),
    ("de-", False),
    ("-de", False),
    ("de--AT", False),
    ("de-abcdefghi", False),
    ("abcdefghi", False),
    ("d3", False),
    ("de-*", False),
    ("*-AT", False),
    ("de AT", False),
    ("de@euro", False),
    ("de.UTF-8", False),
    ("de'A=0", False),
    ("../de", False),
]


@pytest.mark.parametrize(("element", "usable"), GRAMMAR, ids=[ascii(element)[:40] for element, _ in GRAMMAR])
def test_malformed_range_is_dropped_alone(element: str, usable: bool) -> None:
    """What breaks the grammar is passed over, and its neighbours are read."""
    expected = ("de",) if usable else ()
    assert preferences(element, ("de", "fr")) == expected
    assert set(preferences(f"{element},fr;q=0.001", ("de", "fr"))) == {*expected, "fr"}
    assert set(preferences(f"fr;q=0.001,{element}", ("de", "fr"))) == {*expected, "fr"}


# What a host may pass in place of a header: (value, what comes back of en, de, fr, es, pt-BR).
VALUES: list[tuple[Any, tuple[str, ...]]] = [
    (None, ()),
    ("", ()),
    (" , ,\t,", ()),
    (["de", "fr"], ("de", "fr")),
    (("fr", "de"), ("fr", "de")),
    ({"de": 1, "fr": 2}, ("de", "fr")),
    (iter(["pt_BR"]), ("pt-BR",)),
    (["de;q=0.1", "fr"], ("de", "fr")),
    (["de", "fr;q=0.2, es;q=0.9", "en"], ("de", "es", "fr", "en")),
    (["de, fr", "de;q=0"], ("de", "fr")),
    (["fr;q=0", "de, fr-CA"], ("de",)),
    (["", None, 3, b"de", ["de"], "fr"], ("fr",)),
    ([], ()),
    (b"de", ()),
    (bytearray(b"de"), ()),
    (7, ()),
    (1.5, ()),
    (True, ()),
    (object(), ()),
    (str, ()),
]


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=[repr(value)[:40] for value, _ in VALUES])
def test_value(value: Any, expected: tuple[str, ...]) -> None:
    """A header, a tag and a list of either are read; a list's order is the preference; all else asks for nothing."""
    assert preferences(value, ("en", "de", "fr", "es", "pt-BR")) == expected


def test_default_comes_back_as_it_is() -> None:
    """The default need not be installed, and comes back even where it was refused."""
    assert negotiate("tlh", ("en", "de"), "x-ours") == "x-ours"
    assert negotiate("en;q=0", ("en", "de")) == "en"
    assert negotiate(None, (), "de") == "de"
    assert negotiate("de", ()) == "en"


def test_available_may_be_any_iterable() -> None:
    """Tags may come from a generator, such as the walk over the installed folders."""
    assert preferences("pt", (tag for tag in ("en", "pt_PT"))) == ("pt_PT",)


# --- bounds ---------------------------------------------------------------------------------------------------------


def test_long_header_is_cut_at_a_comma() -> None:
    """Of a header over 1,000 characters the whole ranges of the first 1,000 are read, and never half a tag."""
    filler = "x" * 996
    assert preferences(f"{filler},de", ("de",)) == ("de",)
    assert preferences(f"{filler},de-AT", ("de", "de-AT")) == ()
    assert preferences(f"fr,{filler},de-AT", ("de", "de-AT", "fr")) == ("fr",)
    assert preferences("de" + " " * 999, ("de",)) == ()


def test_twenty_ranges_are_read() -> None:
    """The twentieth range counts, the next does not; empty elements are not counted, malformed ones are."""
    assert preferences(",".join(["tlh"] * 19 + ["de"]), ("de",)) == ("de",)
    assert preferences(",".join(["tlh"] * 20 + ["de"]), ("de",)) == ()
    assert preferences(",".join(["!"] * 20 + ["de"]), ("de",)) == ()
    assert preferences(",".join(["\n"] * 20 + ["de"]), ("de",)) == ()
    assert preferences(", ,".join(["tlh"] * 19 + ["de"]), ("de",)) == ("de",)
    assert preferences([*["tlh"] * 19, "", "de"], ("de",)) == ("de",)
    assert preferences([*["tlh"] * 20, "de"], ("de",)) == ()
    assert preferences(["tlh, tlh"] * 10 + ["de"], ("de",)) == ()


@pytest.mark.parametrize("endless", [repeat("tlh"), repeat(""), count()], ids=["tags", "empty", "numbers"])
def test_endless_list_is_read_only_so_far(endless: Iterator[Any]) -> None:
    """The work is bounded: a list without an end gets an answer."""
    assert preferences(endless, ("de",)) == ()


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("de-AT,", ("de", "fr")),
        ("fr;q=0.95 , es;q=0.5,", ("fr", "es")),
        ("de,fr;q=0,", ("de",)),
        *((unit, ("fr",)) for unit in ("a;", "_", ",", " ", "zh-", "aaaaaaaa-", "\t;", '"', "\ud800")),
    ],
)
def test_megabyte_is_answered_by_its_head(unit: str, expected: tuple[str, ...]) -> None:
    """A header of 1 MB gets the answer of its first 1,000 characters, cut at a comma."""
    header = "fr-CA;q=0.9," + unit * (1_000_000 // len(unit))
    assert preferences(header, SHIPPED) == expected
    assert preferences(header[:1000].rpartition(",")[0], SHIPPED) == expected


def _caches() -> dict[str, Any]:
    names = {**vars(tags), **vars(languages)}
    return {name: each for name, each in names.items() if hasattr(each, "cache_info")}


def test_nothing_is_cached_by_what_callers_send() -> None:
    """A thousand different headers leave every cache of the module as it was."""
    preferences("de;q=0, tlh-Latn-DE", SHIPPED)
    before = {name: each.cache_info().currsize for name, each in _caches().items()}
    for number in range(1000):
        preferences(f"de-x-{number}, a{number:x}-Latn, fr-{number};q=0", SHIPPED)
    assert before == {name: each.cache_info().currsize for name, each in _caches().items()}
    assert before["_index"]


def test_index_cache_is_bounded() -> None:
    """A host that always changes what it installs does not fill the memory either."""
    for number in range(100):
        assert negotiate("de", (f"en-{number:03}", "de")) == "de"
    assert languages._index.cache_info().currsize <= 8


# --- Babel ----------------------------------------------------------------------------------------------------------


def test_babel_is_loaded_only_when_a_language_is_named() -> None:
    """Importing the module, and answering the many clients that name no language, costs no Babel."""
    program = (
        "import sys; from mcp_auth_failures.languages import negotiate\n"
        "assert negotiate(None, ['en']) == negotiate('*', ['en']) == negotiate('!', ['en']) == 'en'\n"
        "print('babel' in sys.modules, negotiate('no', ['nb']), 'babel' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "nb", "True"]


@pytest.fixture(params=[RuntimeError, OSError, EOFError, AttributeError])
def unreadable(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def fail(key: str) -> None:
        raise request.param(key)

    for each in _caches().values():
        each.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(babel.core, "get_global", fail)
        yield
    for each in _caches().values():
        each.cache_clear()


WITHOUT_DATA: list[tuple[str, str, str]] = [
    ("de-AT", "de de-AT", "de-AT de"),
    ("DE_latn_at-1996", "de", "de"),
    ("zh-Hant-TW", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-CHT", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-TW", "zh-Hans zh-Hant", ""),
    ("zh-TW, zh-Hant;q=0.5", "zh-Hans zh-Hant", "zh-Hant"),
    ("zh-Hant", "zh-Hans", ""),
    ("de-AT, de;q=0", "de de-AT", "de-AT"),
    ("*", "en", ""),
]


@pytest.mark.usefixtures("unreadable")
def test_without_data_lookup_goes_by_text() -> None:
    """Where Babel's data cannot be read (a zipapp, a torn file), tags still match by truncation, and nothing raises."""
    for value, available, expected in WITHOUT_DATA:
        assert preferences(value, available.split()) == tuple(expected.split()), value


# --- properties -----------------------------------------------------------------------------------------------------

_ANY_TEXT = st.text(st.characters(exclude_categories=()))
_NEARLY_HEADERS = st.lists(
    st.one_of(
        st.sampled_from(SHIPPED),
        st.sampled_from([*"-_;,=*. \t\0", ";q=", ";Q=", "0", "1", "0.", "0.5", "Hant", "Hans", "TW", "x", "no", "é"]),
    )
).map("".join)
_VALUES = st.one_of(
    _ANY_TEXT,
    _NEARLY_HEADERS,
    st.lists(st.one_of(_ANY_TEXT, _NEARLY_HEADERS, st.none(), st.integers(), st.binary(), st.lists(st.text()))),
    st.none(),
    st.integers(),
    st.binary(),
    st.floats(),
    st.dictionaries(st.text(), st.text()),
)
_INSTALLED = st.lists(st.sampled_from([*SHIPPED, "zh", "zh_TW", "pt", "sr-Latn", "no", "iw", "de_AT", "en-001"]))
_TAGS = st.builds(
    lambda *subtags: "-".join(filter(None, subtags)),
    st.sampled_from([*SHIPPED, "no", "nn", "iw", "sh", "zh", "sr-Latn", "gsw", "tlh", "x-a"]),
    st.sampled_from(["", "Latn", "Cyrl", "Hans", "Hant", "Arab"]),
    st.sampled_from(["", *TERRITORIES, "419", "158"]),
    st.sampled_from(["", "1996", "u-co-phonebk", "x-a"]),
)


@given(_VALUES, _INSTALLED)
def test_any_value_is_answered_with_what_is_installed(value: Any, available: list[str]) -> None:
    """Whatever the value is, nothing raises, and each answer is an installed tag, as it is spelled, once."""
    found = preferences(value, available)
    assert set(found) <= set(available)
    assert len(set(found)) == len(found)
    assert negotiate(value, available, "default") == (found or ("default",))[0]


@given(st.lists(_TAGS, max_size=10), _INSTALLED)
def test_spelling_does_not_matter(tags: list[str], available: list[str]) -> None:
    """Case, underscores, white space and the header or list around them change no answer."""
    found = preferences(tags, available)
    assert preferences(",".join(tags), available) == found
    assert preferences(" ,,\t".join(tags).upper().replace("-", "_"), available) == found


@given(st.lists(_TAGS, max_size=6), st.sampled_from(SHIPPED))
def test_installed_tag_asked_first_comes_first(tags: list[str], first: str) -> None:
    """No other range, and no territory of our own, comes before the very tag that is wanted most."""
    header = ",".join([f"{tag};q=0.999" for tag in tags] + [first])
    assert negotiate(header, SHIPPED) == first


@given(st.lists(_TAGS, max_size=6), st.sampled_from(SHIPPED))
def test_refused_tag_does_not_come_back(tags: list[str], refused: str) -> None:
    """A refused tag is no answer unless the header also wants it as such."""
    wanted = {preferences(tag, (refused,)) for tag in tags}
    others = [tag for tag in SHIPPED if tag != refused]
    assert refused not in preferences([f"{refused};q=0", *tags], SHIPPED) or (refused,) in wanted
    assert preferences([f"{refused};q=0", *tags], others) == preferences(tags, others)


@given(_VALUES, st.text(st.sampled_from("de-AT,;q=0. fr"), max_size=3000))
def test_what_follows_the_cap_changes_nothing(value: Any, tail: str) -> None:
    """A header longer than the cap has the answer of its head."""
    header = ("" if not isinstance(value, str) else value) + "," + "fr, " * 300 + tail
    assert preferences(header, SHIPPED) == preferences(header[:1000].rpartition(",")[0], SHIPPED)


@pytest.mark.parametrize("tag", SHIPPED)
def test_language_at_home_is_found_as_with_its_script(tag: str) -> None:
    """``de-DE``, as browsers name it, leads where ``de-Latn-DE`` does."""
    home = langcodes.get(tag).maximize()
    short = f"{home.language}-{home.territory}"
    long = f"{home.language}-{langcodes.get(short).maximize().script}-{home.territory}"
    assert preferences(short, SHIPPED) == preferences(long, SHIPPED)


@pytest.mark.parametrize("region", [None, *TERRITORIES])
def test_traditional_and_simplified_never_stand_in(region: str | None) -> None:
    """Chinese is answered in the script that CLDR gives the territory, or not at all."""
    tag = f"zh-{region}" if region else "zh"
    script = langcodes.get(tag).maximize().script
    other = {"Hans": "Hant", "Hant": "Hans"}[script or ""]
    assert preferences(tag, SHIPPED) == (f"zh-{script}",)
    for installed in (f"zh-{other}", f"zh-{other}-{region or 'CN'}", {"Hans": "zh-TW", "Hant": "zh"}[script or ""]):
        assert preferences(tag, (installed, "en")) == ()


# --- an oracle ------------------------------------------------------------------------------------------------------

# langcodes implements CLDR's language matching on data of its own. Where we differ, it is by choice: (the language that
# is asked for, langcodes' answer, ours) and why. A distance up to 9 is CLDR's "as good as the same language".
_Difference: TypeAlias = tuple[str, str | None, str | None]
ANOTHER_LANGUAGE = "CLDR takes readers of one language to another; with us they ask for the other if they want it"
OVER_PAIRS: dict[_Difference, str] = {
    ("ca", "es", None): ANOTHER_LANGUAGE,
    ("cs", "sk", None): ANOTHER_LANGUAGE,
    ("sk", "cs", None): ANOTHER_LANGUAGE,
    ("da", "nb", None): ANOTHER_LANGUAGE,
    ("nb", "da", None): ANOTHER_LANGUAGE,
    ("id", "ms", None): ANOTHER_LANGUAGE,
    ("uk", "ru", None): ANOTHER_LANGUAGE,
}
OVER_GENERATED: dict[_Difference, str] = {
    ("gsw", "de", None): ANOTHER_LANGUAGE,
    ("lb", "de", None): ANOTHER_LANGUAGE,
    ("bs", "hr", None): ANOTHER_LANGUAGE,
    ("bs", "sr", None): ANOTHER_LANGUAGE,
    ("hr", "sr", None): ANOTHER_LANGUAGE,
    ("sr", "hr", "sr"): "CLDR takes Serbian in Latin letters to Croatian; we stay with the language",
    ("nn", None, "nb"): "langcodes finds it at distance 20, where it also takes Catalan to Spanish",
    ("pt", "pt-PT", "pt-BR"): "langcodes knows the Americas; Babel has only CLDR's parents, of pt-AO, pt-MZ and others",
}


def _differences(tags: Iterable[str], available: tuple[str, ...], max_distance: int) -> Iterator[_Difference]:
    for tag in tags:
        theirs = langcodes.closest_supported_match(tag, available, max_distance)
        ours = next(iter(preferences(tag, available)), None)
        if theirs != ours:
            yield langcodes.get(tag).language or "", theirs, ours


def test_pairs_of_shipped_tags_agree_with_langcodes() -> None:
    """Of every two shipped tags, one reaches the other as in CLDR, but for the differences that we choose."""
    found = {row for installed in SHIPPED for row in _differences(SHIPPED, (installed,), max_distance=25)}
    assert found == OVER_PAIRS.keys()


def _generated_tags() -> list[str]:
    """Each tag whose likely script CLDR knows, and 4,000 of shipped or aliased language, any script, any territory."""
    likely = get_global("likely_subtags")
    scripts = sorted({full.split("_")[1] for full in likely.values()})
    chance = random.Random(4647)
    parts = (
        [*(tag.partition("-")[0] for tag in SHIPPED), *sorted(get_global("language_aliases"))],
        [*scripts, *[""] * len(scripts)],
        [*TERRITORIES, "419", "001", ""],
    )
    drawn = ["-".join(filter(None, map(chance.choice, parts))) for _ in range(4000)]
    known = [tag.replace("_", "-") for tag in likely if not tag.startswith("und")]
    return [*known, *drawn, "bs-Cyrl", "hr-Cyrl", "pt-DE"]


def test_generated_tags_agree_with_langcodes() -> None:
    """Over thousands of tags we answer with CLDR's near matches, but for the differences that we choose."""
    assert set(_differences(_generated_tags(), SHIPPED, max_distance=9)) == OVER_GENERATED.keys()
