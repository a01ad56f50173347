"""What is said, in which language, and where it comes from: overrides, then gettext, then the catalog's English.

The format of an override file: test_overrides.py. Taking up a changed one: test_reload.py.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers import GIVE_UP_ROOT
from translated import ENGLISH, line_of, translate

from mcp_auth_failures import Challenge, DataError, Refusal, Wording, describe_auth_failure, load_catalog
from mcp_auth_failures.asgi import AuthFailureMiddleware
from mcp_auth_failures.catalog import packaged

CATALOG = load_catalog()
SHIPPED = Wording(env=False)
LOGGER = "mcp_auth_failures"

Text = str | Mapping[str, str]


def _translate(folder: Path, *language: Any, **texts: str) -> Path:
    """As ``translate``; gives the folder."""
    translate(folder, *language, **texts)
    return folder


def _override(path: Path, **messages: Text) -> Path:
    """An override file; JSON is YAML."""
    path.write_text(json.dumps({"version": 1, "messages": messages}, ensure_ascii=False, indent=1), "utf-8")
    return path


def _everything(wording: Wording) -> dict[tuple[str, str], object]:
    """Every failure in every language, with the description that it has in a header."""
    return {
        (reason, language): (failure, failure.description)
        for reason in wording.catalog.reasons
        for language in wording.languages
        for failure in [wording.describe(reason, language)]
    }


def _faults(**arguments: object) -> list[str]:
    with pytest.raises(DataError) as raised:
        Wording(**arguments)
    return str(raised.value).splitlines()


def _logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in caplog.records if record.name == LOGGER]


# --- as shipped -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", SHIPPED.languages)
def test_shipped_language_is_said(language: str) -> None:
    """Each shipped language has a text of its own for each reason, told by its tag and found by it."""
    for reason in CATALOG.reasons:
        failure = SHIPPED.describe(reason, language)
        assert failure.language == language
        assert SHIPPED.source(reason, language) == "shipped"
        assert (failure.message == ENGLISH[reason]) == (language == "en")
        assert replace(failure, message="", language="") == replace(CATALOG[reason].failure, message="", language="")


def test_languages_begin_with_english() -> None:
    """The languages there is a text in are told in order, English first."""
    assert SHIPPED.languages[0] == "en"
    assert list(SHIPPED.languages[1:]) == sorted(SHIPPED.languages[1:])
    assert Wording(builtin=False).languages == ("en",)


def test_unknown_reason_names_the_known() -> None:
    """A reason that is none raises ``KeyError`` that names those there are, whatever it is."""
    message = f"reason 'expird' is not one of {', '.join(ENGLISH)} (did you mean 'expired'?)"
    for say in (SHIPPED.describe, SHIPPED.refusal, SHIPPED.source, describe_auth_failure):
        with pytest.raises(KeyError) as raised:
            say("expird", "de")
        assert raised.value.args == (message,)
        for reason in (None, 5, [], ""):
            with pytest.raises(KeyError):
                say(reason)


@given(
    st.none()
    | st.text()
    | st.binary()
    | st.integers()
    | st.floats()
    | st.lists(st.text() | st.none() | st.integers() | st.lists(st.text()))
    | st.dictionaries(st.text(), st.text())
)
def test_any_languages_are_answered(languages: object) -> None:
    """Whatever a caller's languages are, a known reason is told in one that there is."""
    assert SHIPPED.describe("expired", languages).language in SHIPPED.languages
    assert describe_auth_failure("expired", languages).language in SHIPPED.languages


def test_languages_may_be_read_once() -> None:
    """A generator of languages is as good as a list."""
    assert SHIPPED.describe("expired", iter(["gl", "de"])).language == "de"
    assert SHIPPED.refusal("expired", iter(["gl", "de"])).failure.language == "de"
    assert describe_auth_failure("expired", iter(["gl", "de"])).language == "de"


def test_scopes_may_be_read_once() -> None:
    """A generator of scopes loses the bad ones alone, and none on account of a bad URL."""
    for url in (None, "no URL"):
        refusal = SHIPPED.refusal("expired", scopes=iter(["a", 'b"', "c"]), resource_metadata_url=url)
        assert (refusal.scopes, refusal.resource_metadata_url) == (("a", "c"), None)
    assert SHIPPED.refusal("expired", scopes=iter(["a"]), resource_metadata_url="no URL").scopes == ("a",)


# --- one reason, one language ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ENGLISH)
def test_text_for_every_language(tmp_path: Path, reason: str) -> None:
    """A text for every language is said in each, without a language; every other reason stays as it was."""
    wording = Wording(overrides=_override(tmp_path / "a.yaml", **{reason: "Ask Acme."}))
    before, now = _everything(SHIPPED), _everything(wording)
    assert now.keys() == before.keys()
    for (name, language), (failure, _) in now.items():
        if name == reason:
            assert (failure.message, failure.language) == ("Ask Acme.", None)
        else:
            assert now[name, language] == before[name, language]
    assert wording.describe(reason, "gl").message == wording.describe(reason).message == "Ask Acme."


@pytest.mark.parametrize("language", SHIPPED.languages)
def test_text_for_one_language(tmp_path: Path, language: str) -> None:
    """A text for one language is said in that one; every other reason and language stays as it was."""
    wording = Wording(overrides=_override(tmp_path / "a.yaml", expired={language: "Ask Äcme."}))
    before, now = _everything(SHIPPED), _everything(wording)
    changed = {key for key in before if now[key] != before[key]}
    assert now.keys() == before.keys()
    assert changed == {("expired", language)}
    failure = wording.describe("expired", language)
    assert (failure.message, failure.language) == ("Ask Äcme.", language)


@pytest.mark.parametrize("reason", ENGLISH)
def test_only_wording_changes(tmp_path: Path, reason: str) -> None:
    """Whatever is said, what a client acts on stays: challenge, action, status, header, whether it can recover."""
    path = _override(tmp_path / "a.yaml", **{reason: {"en": "Ask Acme.", "de": "Fragen Sie Acme."}})
    shipped, now = SHIPPED.refusal(reason, "en"), Wording(overrides=path).refusal(reason, "de")
    assert replace(now.failure, message="", language=None) == replace(shipped.failure, message="", language=None)
    assert now.status == shipped.status
    data = {**now.json_rpc_error["data"], "language": "en"}
    assert {**now.json_rpc_error, "message": ENGLISH[reason], "data": data} == shipped.json_rpc_error


# --- the order of wording -------------------------------------------------------------------------------------------

DE, ES = (SHIPPED.describe("expired", language).message for language in ("de", "es"))
EN = ENGLISH["expired"]

Row = tuple[list[Text], list[Mapping[str, str]], dict[str, object], object, str, str | None]

ORDER: dict[str, Row] = {
    # overrides of `expired`, gettext folders with `expired` by locale, other arguments, asked for → said, language
    "text hides a later file's languages": (["1", {"de": "2"}], [], {}, "de", "1", None),
    "language is told before a later file's text": ([{"de": "1"}, "2"], [], {}, "de", "1", "de"),
    "mapping hides its own languages alone": ([{"de": "1"}, "2"], [], {}, "fr", "2", None),
    "first file wins within a language": ([{"de": "1"}, {"de": "2", "fr": "2"}], [], {}, "de", "1", "de"),
    "second file says what the first does not": ([{"de": "1"}, {"de": "2", "fr": "2"}], [], {}, "fr", "2", "fr"),
    "override before folder": ([{"de": "1"}], [{"de": "2"}], {}, "de", "1", "de"),
    "text for every language before folder": (["1"], [{"de": "2"}], {}, "de", "1", None),
    "folder before shipped": ([], [{"de": "1"}], {}, "de", "1", "de"),
    "first folder wins": ([], [{"de": "1"}, {"de": "2"}], {}, "de", "1", "de"),
    "second folder has what the first has not": ([], [{"de": "1"}, {"gl": "2"}], {}, "gl", "2", "gl"),
    "shipped where a folder is silent": ([], [{"gl": "1"}], {}, "de", DE, "de"),
    "caller's first before an override of the second": ([{"de": "1"}], [], {}, "es, de;q=0.5", ES, "es"),
    "English override does not hide German": ([{"en": "1"}], [], {}, "de", DE, "de"),
    "English override": ([{"en": "1"}], [], {}, None, "1", "en"),
    "English folder": ([], [{"en": "1"}], {}, "gl", "1", "en"),
    "region before its language": ([{"de": "1", "de-AT": "2"}], [], {}, "de-AT", "2", "de-AT"),
    "parent": ([{"de": "1"}], [], {}, "de-AT", "1", "de"),
    "parent's override before the parent's folder": ([{"de": "1"}], [{"de": "2"}], {}, "de-AT", "1", "de"),
    "region's folder before its parent's override": ([{"de": "1"}], [{"de_AT": "2"}], {}, "de-AT", "2", "de-AT"),
    "another region is not asked": ([{"de-AT": "1"}], [], {}, "de-CH", DE, "de"),
    "another region where there is nothing nearer": ([{"de-AT": "1"}], [], {"builtin": False}, "de-CH", "1", "de-AT"),
    "Traditional by region": ([{"zh-Hant": "1", "zh-Hans": "2"}], [], {}, "zh-TW", "1", "zh-Hant"),
    "Traditional of Hong Kong": ([{"zh-Hant": "1"}], [], {}, "zh-Hant-HK", "1", "zh-Hant"),
    "never Simplified for Traditional": ([{"zh-Hans": "1"}], [], {"builtin": False}, "zh-TW", EN, "en"),
    "never plain Chinese for Traditional": ([{"zh": "1"}], [{"zh": "2"}], {"builtin": False}, "zh-HK", EN, "en"),
    "never Traditional for Simplified": ([{"zh-Hant": "1"}], [], {"builtin": False}, "zh-CN", EN, "en"),
    "default for who asks for nothing": ([{"de": "1"}], [], {"default_language": "de"}, None, "1", "de"),
    "default for who asks for all": ([{"de": "1"}], [], {"default_language": "de"}, "*", "1", "de"),
    "default for who asks for what is not there": ([{"de": "1"}], [], {"default_language": "de"}, "gl", "1", "de"),
    "default's parent": ([{"de": "1"}], [], {"default_language": "de-AT"}, "gl", "1", "de"),
    "default in another region": ([], [{"pt_BR": "1"}], {"default_language": "pt"}, None, "1", "pt-BR"),
    "English for who asks for it": ([{"de": "1"}], [], {"default_language": "de"}, "en-GB", EN, "en"),
    "English after a refused default": ([{"de": "1"}], [], {}, "de;q=0", EN, "en"),
    "text for every language is in the default one": (["1"], [], {"default_language": "pt_br"}, "de", "1", "pt-BR"),
    "shipped left out": ([], [{"gl": "1"}], {"builtin": False}, "de, es", EN, "en"),
    "folder where the shipped is left out": ([], [{"gl": "1"}], {"builtin": False}, "de, gl", "1", "gl"),
}


@pytest.mark.parametrize(("texts", "folders", "arguments", "asked", "said", "language"), ORDER.values(), ids=ORDER)
def test_order(
    tmp_path: Path,
    texts: Sequence[Text],
    folders: Sequence[Mapping[str, str]],
    arguments: dict[str, object],
    asked: str | None,
    said: str,
    language: str | None,
) -> None:
    """The first of the caller's languages that has a text wins; in it overrides, folders, shipped; English is last."""
    files = [_override(tmp_path / f"{number}.yaml", expired=text) for number, text in enumerate(texts)]
    roots = [tmp_path / f"locales{number}" for number in range(len(folders))]
    for root, by_locale in zip(roots, folders, strict=True):
        for locale, text in by_locale.items():
            _translate(root, locale, expired=text)
    wording = Wording(overrides=files, translations=roots, **arguments)
    failure = wording.describe("expired", asked)
    assert (failure.message, failure.language) == (said, language)

    refusal = wording.refusal("expired", asked)
    assert refusal.failure == failure
    assert refusal.headers.get("Content-Language") == language
    assert refusal.json_rpc_error["data"]["language"] == language


def test_order_holds_for_each_message(tmp_path: Path) -> None:
    """A host's half-finished Galician says what it has, and does not hide Spanish where it has nothing."""
    _translate(tmp_path / "locales", "gl", expired="O token caducou.")
    path = _override(tmp_path / "a.yaml", no_token={"gl-ES": "Conecte."})
    wording = Wording(overrides=path, translations=tmp_path / "locales", default_language="de")

    def said(reason: str, languages: str) -> tuple[str, str | None]:
        failure = wording.describe(reason, languages)
        return failure.message, failure.language

    shipped = {language: SHIPPED.describe("unverified", language).message for language in ("es", "de")}
    assert said("expired", "gl, es;q=0.9") == ("O token caducou.", "gl")
    assert said("expired", "gl-ES, es;q=0.9") == ("O token caducou.", "gl")
    assert said("no_token", "gl-ES, es;q=0.9") == ("Conecte.", "gl-ES")
    assert said("unverified", "gl, es;q=0.9") == (shipped["es"], "es")
    assert said("unverified", "gl") == (shipped["de"], "de")
    assert set(wording.languages) == {*SHIPPED.languages, "gl", "gl-ES"}


def test_default_language_without_this_message(tmp_path: Path) -> None:
    """Where the default language has no text for a message, English says it."""
    path = _override(tmp_path / "a.yaml", expired={"gl": "O token caducou."})
    wording = Wording(overrides=path, default_language="gl")
    assert wording.describe("expired").language == "gl"
    assert wording.describe("unverified").language == "en"


def test_source_is_file_and_line(tmp_path: Path) -> None:
    """Where a text comes from is told: the file and line of an override or a ``.po``, the file of a ``.mo``."""
    path = _override(tmp_path / "a.yaml", no_token="1", expired={"de": "2", "fr": "3"})
    root = _translate(tmp_path / "po", "fr", expired="4", unverified="5")
    _translate(tmp_path / "mo", "gl", "mo", expired="6")
    wording = Wording(overrides=path, translations=[root, tmp_path / "mo"])
    po = root / "fr" / "LC_MESSAGES" / "mcp_auth_failures.po"
    assert [wording.source(*asked) for asked in [("no_token", "gl"), ("expired", "de"), ("expired", "fr")]] == [
        f"{path}:4",
        f"{path}:6",
        f"{path}:7",
    ]
    assert wording.source("unverified", "fr") == f"{po}:{line_of(po, 'unverified')}"
    assert wording.source("expired", "gl") == str(tmp_path / "mo" / "gl" / "LC_MESSAGES" / "mcp_auth_failures.mo")
    assert wording.source("incomplete", "fr") == wording.source("incomplete") == "shipped"


# --- details --------------------------------------------------------------------------------------------------------

DETAILS = [
    ("{server}: {contact}", {"server": "Acme", "contact": "it@acme.example"}, "Acme: it@acme.example"),
    ("{contact}{contact}", {"contact": "x"}, "xx"),
    ("{{server}} {{{server}}}", {"server": "Acme"}, "{server} {Acme}"),
    ("{server}", {"server": "{contact}", "contact": "x"}, "{contact}"),
    ("{contact}", {"contact": "{scope}"}, "{scope}"),
    ("{contact}", {"contact": "{{x}}"}, "{{x}}"),
    ("{contact}", {"contact": "{scope.__class__}"}, "{scope.__class__}"),
    ("{contact}", {"contact": r"\1 %s $x"}, r"\1 %s $x"),
    ("{contact}", {"contact": " x "}, "x"),
]


@pytest.mark.parametrize(("written", "details", "said"), DETAILS)
def test_details_are_put_in_once(tmp_path: Path, written: str, details: dict[str, str], said: str) -> None:
    """A detail is put in where it is named, as it is: what it holds itself is never looked at again."""
    path = _override(tmp_path / "a.yaml", insufficient_scope=written)
    wording = Wording(overrides=path, **details)
    assert wording.describe("insufficient_scope").message == said
    assert wording.refusal("insufficient_scope", scopes=["a"]).failure.message == said


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=500))
def test_any_detail_is_said_as_it_is(tmp_path_factory: pytest.TempPathFactory, contact: str) -> None:
    """Whatever a detail is, it is said whole, and the header stays one that can be sent."""
    path = _override(tmp_path_factory.mktemp("any") / "a.yaml", expired={"en": "Ask {contact}."})
    refusal = Wording(overrides=path, contact=contact).refusal("expired")
    assert refusal.failure.message == f"Ask {contact}."
    assert Refusal.from_response(refusal.status, refusal.headers, refusal.body) == refusal


def test_details_in_gettext(tmp_path: Path) -> None:
    """A host's translation may name what the catalog allows for its reason."""
    root = _translate(tmp_path, "gl", expired="Pregunte a {contact}.", insufficient_scope="Falta {scope}.")
    wording = Wording(translations=root, contact="Acme")
    assert wording.describe("expired", "gl").message == "Pregunte a Acme."
    assert wording.refusal("insufficient_scope", "gl", scopes=["a", "b"]).failure.message == "Falta a b."


def test_details_change_no_shipped_text() -> None:
    """The shipped texts name nothing, so that they can be said without any detail."""
    assert _everything(Wording(server="Acme", contact="x")) == _everything(SHIPPED)


def test_detail_without_a_value(tmp_path: Path) -> None:
    """Every text that names a detail which has no value is told, in override files and gettext folders alike."""
    path = _override(tmp_path / "a.yaml", expired={"de": "{server}", "fr": "{contact}"})
    root = _translate(tmp_path / "locales", "gl", expired="{contact}")
    po = root / "gl" / "LC_MESSAGES" / "mcp_auth_failures.po"
    missing = "uses {{{0}}}, which has no value: give Wording({0}=…) or MCP_AUTH_FAILURES_{1}".format
    assert _faults(overrides=path, translations=root) == [
        f"{path}:5:10: messages.expired.de: {missing('server', 'SERVER')}",
        f"{path}:6:10: messages.expired.fr: {missing('contact', 'CONTACT')}",
        f"{po}:{line_of(po, 'expired')}: reasons.expired.message: {missing('contact', 'CONTACT')}",
    ]
    Wording(overrides=path, translations=root, server="Acme", contact="x")


# --- scopes ---------------------------------------------------------------------------------------------------------

SHIPPED_DE = SHIPPED.describe("insufficient_scope", "de").message
SHIPPED_EN = ENGLISH["insufficient_scope"]

SCOPES: list[tuple[list[Text], str, object, str, str | None]] = [
    (["Needs {scope}."], "de", ["files:write", "files:read"], "Needs files:write files:read.", None),
    (["Needs {scope}."], "de", "files:write files:read", "Needs files:write files:read.", None),
    (["Needs {scope}."], "de", iter(["a"]), "Needs a.", None),
    (["Needs {scope}."], "de", [], SHIPPED_DE, "de"),
    (["Needs {scope}."], "en", (), SHIPPED_EN, "en"),
    ([{"de": "Braucht {scope}."}], "de", ["a"], "Braucht a.", "de"),
    ([{"de": "Braucht {scope}."}], "en", ["a"], SHIPPED_EN, "en"),
    ([{"de": "Braucht {scope}."}], "de-AT", ["a"], "Braucht a.", "de"),
    ([{"de": "Braucht {scope}."}], "de", [], SHIPPED_DE, "de"),
    ([{"de": "1 {scope}"}, {"de": "2"}], "de", ["a"], "1 a", "de"),
    ([{"de": "1 {scope}"}, {"de": "2"}], "de", [], "2", "de"),
    ([{"de": "1 {scope}"}, "2 {scope}"], "de", ["a"], "1 a", "de"),
    ([{"de": "1"}, {"de": "2 {scope}"}], "de", ["a"], "1", "de"),
    (["1 {scope}", "2"], "de", [], "2", None),
    (["Needs {scope}."], "en", ["{contact}"], "Needs {contact}.", None),
    (["Needs {scope}."], "en", ["a", "offline_access", "a"], "Needs a.", None),
    (["Needs {scope}."], "en", ["offline_access"], SHIPPED_EN, "en"),
]


@pytest.mark.parametrize(("texts", "asked", "scopes", "said", "language"), SCOPES)
def test_scopes(
    tmp_path: Path, texts: Sequence[Text], asked: str, scopes: Iterable[str], said: str, language: str | None
) -> None:
    """A text that names the scopes names those of the refusal; where it has none, the next text speaks."""
    files = [_override(tmp_path / f"{number}.yaml", insufficient_scope=text) for number, text in enumerate(texts)]
    failure = Wording(overrides=files).refusal("insufficient_scope", asked, scopes=scopes).failure
    assert (failure.message, failure.language) == (said, language)


def test_source_of_a_text_that_names_scopes(tmp_path: Path) -> None:
    """Where the text comes from depends on the scopes as the text does."""
    first = _override(tmp_path / "1.yaml", insufficient_scope="Needs {scope}.")
    second = _override(tmp_path / "2.yaml", insufficient_scope="Ask.")
    wording = Wording(overrides=[first, second])
    assert wording.source("insufficient_scope", scopes=["a"]) == f"{first}:4"
    assert wording.source("insufficient_scope") == f"{second}:4"
    assert wording.source("insufficient_scope", scopes=["offline_access"]) == f"{second}:4"


BAD_SCOPES = [
    (["a b"], [], "'a b' is not a scope-token: printable ASCII without space, '\"' and '\\'"),
    (["a", "é"], ["a"], "'é' is not a scope-token: printable ASCII without space, '\"' and '\\'"),
    (["a\r\nb", "a"], ["a"], r"""'a\r\nb' is not a scope-token: printable ASCII without space, '"' and '\'"""),
    (["\ud800"], [], r"""'\ud800' is not a scope-token: printable ASCII without space, '"' and '\'"""),
    ([5, "a"], ["a"], "5 is not a scope-token: printable ASCII without space, '\"' and '\\'"),
    (["error=x"], [], "'error=x' contains 'error=', which clients would read as that parameter"),
]


@pytest.mark.parametrize(("scopes", "usable", "fault"), BAD_SCOPES)
@pytest.mark.parametrize("named", [True, False], ids=["named in the text", "not named"])
def test_scope_that_cannot_travel_is_left_out(
    tmp_path: Path, scopes: list, usable: list[str], fault: str, named: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """A scope that cannot stand in a challenge is left out of it and of the sentence, and logged; nothing is raised."""
    path = _override(tmp_path / "a.yaml", insufficient_scope="Needs {scope}." if named else "Ask.")
    refusal = Wording(overrides=path).refusal("insufficient_scope", "en", scopes=scopes)
    assert refusal.scopes == tuple(usable)
    said = f"Needs {' '.join(usable)}." if usable else SHIPPED_EN
    assert refusal.failure.message == (said if named else "Ask.")
    assert _logged(caplog) == [("ERROR", f"left out of a challenge: {fault}")]


def test_url_that_cannot_travel_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    """A metadata URL that cannot stand in a challenge is left out and logged; an id that cannot be echoed is none."""
    refusal = SHIPPED.refusal("expired", resource_metadata_url="http://acme.example", request_id=1.5)
    assert (refusal.resource_metadata_url, refusal.request_id) == (None, None)
    message = "'http://acme.example' is not an absolute https URL (http is for loopback alone)"
    assert _logged(caplog) == [("ERROR", f"left out of a challenge: {message}")]


@pytest.fixture(scope="module")
def names_scopes(tmp_path_factory: pytest.TempPathFactory) -> Wording:
    """A wording that names the scopes in its text."""
    path = _override(tmp_path_factory.mktemp("scopes") / "a.yaml", insufficient_scope="Needs {scope}.")
    return Wording(env=False, overrides=path)


@given(
    st.sampled_from(sorted(ENGLISH)),
    st.text() | st.lists(st.text() | st.integers() | st.none() | st.binary() | st.lists(st.text())),
    st.none() | st.text() | st.integers(),
    st.none() | st.text() | st.integers() | st.floats() | st.booleans() | st.dictionaries(st.text(), st.text()),
)
def test_known_reason_never_raises(
    names_scopes: Wording, reason: str, scopes: object, url: object, request_id: object
) -> None:
    """Whatever a host passes for one request, a known reason is answered in a form that comes back."""
    for wording in (SHIPPED, names_scopes):
        refusal = wording.refusal(reason, "de", scopes=scopes, resource_metadata_url=url, request_id=request_id)
        assert Refusal.from_response(refusal.status, refusal.headers, refusal.body) == refusal


# --- the description in the header ----------------------------------------------------------------------------------

EN_ASCII = EN.replace("—", "-")

DESCRIPTIONS: dict[str, tuple[list[Text], dict[str, object], str]] = {
    "nothing": ([], {}, EN_ASCII),
    "English": ([{"en": "Ask Acme."}], {}, "Ask Acme."),
    "English with typographic punctuation": ([{"en": "“Acme” — it’s down…"}], {}, "'Acme' - it's down..."),
    "English with quotes": ([{"en": 'Ask "Acme".'}], {}, "Ask 'Acme'."),
    "English with an accent": ([{"en": "Ask Café Acme."}], {}, EN_ASCII),
    "English with a backslash": ([{"en": "Ask A\\B."}], {}, EN_ASCII),
    "English with a parameter": ([{"en": "Ask for scope=x."}], {}, EN_ASCII),
    "English with any word before an equals sign": ([{"en": "Set debug=1."}], {}, EN_ASCII),
    "English with a detail": ([{"en": "Ask {contact}."}], {"contact": "Acme"}, "Ask Acme."),
    "English with a detail that has an accent": ([{"en": "Ask {contact}."}], {"contact": "Café"}, EN_ASCII),
    "English with a detail that is a parameter": ([{"en": "Ask {contact}."}], {"contact": "error=x"}, EN_ASCII),
    "the first English that can travel": ([{"en": "Ask Café."}, {"en": "Ask Acme."}], {}, "Ask Acme."),
    "German": ([{"de": "Fragen Sie Acme."}], {}, EN_ASCII),
    "one text for every language": (["Ask Acme."], {}, "Ask Acme."),
    "one text, in English": (["Ask Acme."], {"default_language": "en"}, "Ask Acme."),
    "one text, in German": (["Fragen Sie Acme."], {"default_language": "de"}, EN_ASCII),
    "one text, with an accent": (["Ask Café Acme."], {}, EN_ASCII),
    "no shipped translations": ([], {"builtin": False}, EN_ASCII),
}


@pytest.mark.parametrize(("texts", "arguments", "description"), DESCRIPTIONS.values(), ids=DESCRIPTIONS)
@pytest.mark.parametrize("asked", [None, "en", "de", "ja", "gl"])
def test_description(
    tmp_path: Path, texts: Sequence[Text], arguments: dict[str, object], description: str, asked: str | None
) -> None:
    """The header says the operator's English where it can travel, else the shipped; the caller's language never."""
    files = [_override(tmp_path / f"{number}.yaml", expired=text) for number, text in enumerate(texts)]
    refusal = Wording(overrides=files, **arguments).refusal("expired", asked)
    challenge = Challenge.from_header(refusal.headers["WWW-Authenticate"])
    assert challenge == Challenge(error="invalid_token", error_description=description)


def test_description_is_this_wordings_own(tmp_path: Path) -> None:
    """Two wordings that say the same German say each its own English in the header."""
    german = "Bitte bei Acme nachfragen."
    wordings = [
        Wording(overrides=_override(tmp_path / f"{number}.yaml", expired={"de": german, "en": f"Ask Acme {number}."}))
        for number in (1, 2)
    ]
    refusals = [wording.refusal("expired", "de") for wording in wordings]
    assert [refusal.failure.message for refusal in refusals] == [german, german]
    assert [refusal.headers["WWW-Authenticate"] for refusal in refusals] == [
        f'Bearer error="invalid_token", error_description="Ask Acme {number}."' for number in (1, 2)
    ]


def test_description_never_comes_from_another_server(tmp_path: Path) -> None:
    """What was read from an answer of another server stands in no header of ours."""
    wording = Wording(overrides=_override(tmp_path / "a.yaml", expired={"en": "Ask our Acme."}))
    failure = wording.describe("expired")
    error = {"code": 401, "message": failure.message, "data": {"reason": "expired", "action": "refresh"}}
    error["data"] |= {"recoverable": True, "language": "en"}
    foreign = Challenge(error="invalid_token", error_description="Log in at evil.example").to_header()
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error})
    assert Refusal.from_response(401, {"WWW-Authenticate": foreign}, body)
    own = wording.refusal("expired").headers["WWW-Authenticate"]
    assert own == 'Bearer error="invalid_token", error_description="Ask our Acme."'


def test_description_comes_from_a_folder_too(tmp_path: Path) -> None:
    """A gettext folder of a host may hold English, which is then the description also."""
    wording = Wording(translations=_translate(tmp_path, "en", expired="Ask Acme."))
    assert wording.describe("expired", "de").description == "Ask Acme."


def test_description_names_no_scopes(tmp_path: Path) -> None:
    """An English text that names the scopes is not the description: the header has the scopes already."""
    path = _override(tmp_path / "a.yaml", insufficient_scope={"en": "Needs {scope}."})
    refusal = Wording(overrides=path).refusal("insufficient_scope", scopes=["a"])
    assert refusal.failure.message == "Needs a."
    challenge = Challenge(error="insufficient_scope", scope=("a",), error_description=SHIPPED_EN)
    assert refusal.headers["WWW-Authenticate"] == challenge.to_header()


@pytest.mark.parametrize("language", SHIPPED.languages)
def test_header_is_never_localized(language: str) -> None:
    """The challenge of every reason is the same in every language, and ASCII."""
    for reason in ENGLISH:
        header = SHIPPED.refusal(reason, language).headers.get("WWW-Authenticate")
        assert header == SHIPPED.refusal(reason).headers.get("WWW-Authenticate")
        assert header is None or header.isascii()


# --- the help page --------------------------------------------------------------------------------------------------


def test_help_url_is_filled_in(tmp_path: Path) -> None:
    """A help page is named for the reason and the language of the text; of one text for all, for the reader's."""
    url = "https://help.acme.example/{language}/{reason}/"
    path = _override(tmp_path / "a.yaml", expired="Ask.")
    wording = Wording(help_url=url, overrides=path)
    assert wording.refusal("unverified", "de-AT").help_url == "https://help.acme.example/de/unverified/"
    assert wording.refusal("unverified", "gl").help_url == "https://help.acme.example/en/unverified/"
    assert wording.refusal("expired", "de").help_url == "https://help.acme.example/de/expired/"
    assert wording.refusal("expired").help_url == "https://help.acme.example/en/expired/"
    assert wording.refusal("expired", iter(["gl", "de"])).help_url == "https://help.acme.example/de/expired/"
    wording = Wording(help_url=url, overrides=path, default_language="de")
    assert wording.refusal("expired", "fr").help_url == "https://help.acme.example/de/expired/"
    assert SHIPPED.refusal("expired").help_url is None


@pytest.mark.parametrize("ending", ["{reason}", "{language}{reason}", "{reason}" * 30])
@pytest.mark.parametrize("length", [1990, 2015, 2030, 2047])
def test_help_url_of_any_length_is_refused_or_answered(ending: str, length: int) -> None:
    """A help URL that one reason or language would make too long is refused at once, never at request time."""
    start = "https://help.acme.example/"
    try:
        wording = Wording(help_url=start + "a" * (length - len(start)) + ending)
    except DataError:
        return
    for reason in ENGLISH:
        for language in wording.languages:
            assert wording.refusal(reason, language).help_url


# --- gettext folders of a host --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["po", "mo"])
def test_folder_of_either_format(tmp_path: Path, ending: str) -> None:
    """A folder may hold ``.po`` or ``.mo``; a language that is not shipped is there as soon as it has a file."""
    root = _translate(tmp_path, "pt_AO", ending, expired="Expirou — ção.")
    wording = Wording(translations=root)
    failure = wording.describe("expired", "pt-AO")
    assert (failure.message, failure.language) == ("Expirou — ção.", "pt-AO")
    assert set(wording.languages) == {*SHIPPED.languages, "pt-AO"}


def test_po_is_read_before_mo(tmp_path: Path) -> None:
    """Where both are there, the ``.po`` is read: it is what people edit."""
    _translate(tmp_path, "gl", "mo", expired="compiled", unverified="compiled")
    wording = Wording(translations=_translate(tmp_path, "gl", "po", expired="source"))
    assert wording.describe("expired", "gl").message == "source"
    assert wording.describe("unverified", "gl").language == "en"


@pytest.mark.parametrize("ending", ["po", "mo"])
def test_older_english_is_used_with_one_warning(tmp_path: Path, ending: str, caplog: pytest.LogCaptureFixture) -> None:
    """What a host translated from an older sentence is used, and told once for the file."""
    older = {"expired": "The token has expired.", "unverified": "The token is bad.", "no_token": ENGLISH["no_token"]}
    root = _translate(tmp_path, "sv", ending, older, expired="Gått ut.", unverified="Fel.", no_token="Saknas.")
    wording = Wording(translations=root)
    assert [wording.describe(reason, "sv").message for reason in older] == ["Gått ut.", "Fel.", "Saknas."]
    file = root / "sv" / "LC_MESSAGES" / f"mcp_auth_failures.{ending}"
    names = "reasons.expired.message, reasons.unverified.message"
    assert _logged(caplog) == [
        ("WARNING", f"{file} was translated from an older English text and is used as it is: {names}")
    ]


def _raw(folder: Path, locale: str, content: str | bytes, ending: str = "po") -> Path:
    file = folder / locale / "LC_MESSAGES" / f"mcp_auth_failures.{ending}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


ENTRY = f'msgctxt "reasons.expired.message"\nmsgid "{EN}"\n'

BROKEN: dict[str, tuple[str | bytes, str]] = {
    "unclosed quote": (
        f'{ENTRY}msgstr "Caducou.\n',
        ":3: is not a line of a .po: a text is not closed by a quote, or a quote in it lacks its backslash",
    ),
    "merge conflict": (
        f'<<<<<<< ours\n{ENTRY}msgstr "a"\n',
        ":1: is not a line of a .po: a merge conflict is left here",
    ),
    "another encoding": (
        f'{ENTRY}msgstr "Caducó."\n'.encode("latin-1"),
        f":3: is not UTF-8: byte 0xf3 at offset {len(ENTRY) + 13}",
    ),
    "another charset": (
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=rot13\\n"\n',
        ":2: says it is in rot13; save it as UTF-8",
    ),
    "twice the same": (
        f'{ENTRY}msgstr "a"\n\n{ENTRY}msgstr "b"\n',
        ":6: reasons.expired.message is here twice: it is on line 2 already",
    ),
    "no msgstr": (ENTRY, ":2: is not a .po: the end of the file stands where msgid_plural or msgstr should"),
    "too large": ("#" * ((1 << 20) + 1), ": is larger than 1,048,576 bytes"),
}


@pytest.mark.parametrize(("content", "fault"), BROKEN.values(), ids=BROKEN)
def test_broken_file_costs_its_language(
    tmp_path: Path,
    content: str | bytes,
    fault: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A broken file is logged with its place and left out; every other language is there, and nothing is printed."""
    file = _raw(tmp_path, "de", content)
    _translate(tmp_path, "gl", expired="Caducou.")
    wording = Wording(translations=tmp_path)
    assert wording.describe("expired", "gl").message == "Caducou."
    assert wording.describe("expired", "de").message == DE
    assert _logged(caplog) == [("ERROR", f"de is left out:\n{file}{fault}")]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("size", [0, 3, 40, -2])
def test_torn_mo_costs_its_language(tmp_path: Path, size: int, caplog: pytest.LogCaptureFixture) -> None:
    """A ``.mo`` that was cut off anywhere is logged and left out."""
    file = _translate(tmp_path, "de", "mo", expired="a", unverified="b") / "de/LC_MESSAGES/mcp_auth_failures.mo"
    file.write_bytes(file.read_bytes()[:size])
    assert Wording(translations=tmp_path).describe("expired", "de").message == DE
    ((level, message),) = _logged(caplog)
    assert level == "ERROR"
    assert message.startswith(f"de is left out:\n{file}: is not a .mo: ")


NO_PLACEHOLDER, BRACE = "a brace that is no {placeholder} in", "write {{ or }} for a brace"

BAD_TEXTS = {
    "a name that is none": (
        "Pregunte a {contacto}.",
        "the placeholder 'contacto' is not one of server, contact (did you mean 'contact'?)",
    ),
    "scopes where there are none": ("Falta {scope}.", "the placeholder 'scope' is not one of server, contact"),
    "a format": ("{contact:>99999999}", f"{NO_PLACEHOLDER} '{{contact:>99999999}}'; {BRACE}"),
    "an attribute": ("{contact.__class__}", f"{NO_PLACEHOLDER} '{{contact.__class__}}'; {BRACE}"),
    "a line break": ("a\nb", "a line break is not allowed in a text"),
    "a bidirectional control": ("\u202ea", "the bidirectional control U+202E is not allowed in a text"),
}


@pytest.mark.parametrize(("text", "fault"), BAD_TEXTS.values(), ids=BAD_TEXTS)
@pytest.mark.parametrize("ending", ["po", "mo"])
def test_bad_text_costs_itself(
    tmp_path: Path, text: str, fault: str, ending: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A text that cannot be used is logged and left out; the others of its file are said."""
    root = _translate(tmp_path, "gl", ending, expired=text, unverified="Non se puido verificar.")
    wording = Wording(translations=root, contact="Acme")
    assert wording.describe("expired", "gl, es").message == ES
    assert wording.describe("unverified", "gl, es").message == "Non se puido verificar."
    file = root / "gl" / "LC_MESSAGES" / f"mcp_auth_failures.{ending}"
    place = f"{file}:{line_of(file, 'expired')}" if ending == "po" else file
    left_out = f"a text that cannot be used is left out: {place}: reasons.expired.message: {fault}"
    assert _logged(caplog) == [("ERROR", left_out)]


UNTRANSLATED = [
    f'#, fuzzy\n{ENTRY}msgstr "a"\n',
    f'{ENTRY}msgstr ""\n',
    f'{ENTRY}msgstr "  "\n',
    "".join(f"#~ {line}\n" for line in f'{ENTRY}msgstr "a"'.split("\n")),
    f'msgid "{EN}"\nmsgstr "a"\n',
    f'msgctxt "reasons.expird.message"\nmsgid "{EN}"\nmsgstr "a"\n',
    "",
    "# note\n",
]


@pytest.mark.parametrize("content", UNTRANSLATED)
def test_what_is_not_translated_hides_nothing(tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture) -> None:
    """An entry that is fuzzy, blank, obsolete or another's says nothing, and the next text speaks."""
    _raw(tmp_path, "de", content)
    assert Wording(translations=tmp_path).describe("expired", "de").message == DE
    assert _logged(caplog) == []


def test_folder_that_names_no_language_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A folder whose name is no language is told with the nearest; one without our file is none of our concern."""
    _translate(tmp_path, "e n", expired="a")
    _translate(tmp_path, "xx", expired="a")
    _translate(tmp_path, "gl", expired="Caducou.")
    (tmp_path / "README.md").write_text("")
    (tmp_path / "LC_MESSAGES").mkdir()
    (tmp_path / "de").mkdir()
    (tmp_path / "fr" / "LC_MESSAGES").mkdir(parents=True)
    (tmp_path / "fr" / "LC_MESSAGES" / "other.po").write_text("")
    wording = Wording(translations=tmp_path)
    assert set(wording.languages) == {*SHIPPED.languages, "gl"}
    over = f"a folder is passed over: {tmp_path}"
    assert _logged(caplog) == [
        ("ERROR", f"{over}/e n: 'e n' is not a language tag such as en or pt-BR (did you mean 'en'?)"),
        ("ERROR", f"{over}/xx: 'xx' is in no language that is known"),
    ]


@pytest.mark.parametrize(
    "asked",
    ["../x", "..", ".", "/", "x/../../secret", "..%2fgl", "gl/../../gl", "gl\0", "de_DE.UTF-8", "C", "LC_MESSAGES"],
)
def test_language_never_becomes_a_path(tmp_path: Path, asked: str) -> None:
    """What a caller asks for is only ever compared with what the folder lists."""
    for name in ("x", "secret", "gl"):
        _translate(tmp_path, name, expired="outside")
    (tmp_path / "locales" / "x").mkdir(parents=True)
    wording = Wording(translations=tmp_path / "locales")
    assert wording.describe("expired", asked).message == EN
    assert wording.describe("expired", [asked]).message == EN
    assert "gl" not in wording.languages


def test_loops_and_odd_files_in_a_folder(tmp_path: Path) -> None:
    """Links that lead in circles, a FIFO or a folder in a file's place hang nothing and cost their language alone."""
    _translate(tmp_path, "gl", expired="Caducou.")
    (tmp_path / "fr").symlink_to("fr")
    (tmp_path / "itself").symlink_to(".")
    for name in ("de", "es", "it", "ja"):
        (tmp_path / name / "LC_MESSAGES").mkdir(parents=True)
    os.mkfifo(tmp_path / "de" / "LC_MESSAGES" / "mcp_auth_failures.po")
    (tmp_path / "es" / "LC_MESSAGES" / "mcp_auth_failures.po").symlink_to("mcp_auth_failures.po")
    (tmp_path / "it" / "LC_MESSAGES" / "mcp_auth_failures.po").mkdir()
    (tmp_path / "ja" / "LC_MESSAGES" / "mcp_auth_failures.po").symlink_to("/dev/zero")
    wording = Wording(translations=tmp_path)
    assert wording.describe("expired", "gl").message == "Caducou."
    for language in ("fr", "de", "es", "it", "ja"):
        assert wording.describe("expired", language) == SHIPPED.describe("expired", language)


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    """A folder that does not exist stops the start."""
    assert _faults(translations=[tmp_path / "nowhere", tmp_path]) == [
        f"{tmp_path}/nowhere: cannot be read: No such file or directory"
    ]


FORBIDDEN = f"""\
from mcp_auth_failures import Wording
{GIVE_UP_ROOT}
wording = Wording(translations="locales")
print([wording.describe("expired", tag).message for tag in ("gl", "fr", "de")])
"""


@pytest.mark.parametrize(
    ("part", "logged"),
    [
        ("mcp_auth_failures.po", "fr is left out:\nlocales/fr/LC_MESSAGES/mcp_auth_failures.po: cannot be read: {}\n"),
        ("LC_MESSAGES", "a folder is passed over: locales/fr/LC_MESSAGES/mcp_auth_failures.po: cannot be read: {}\n"),
        ("fr", "a folder is passed over: locales/fr/LC_MESSAGES/mcp_auth_failures.po: cannot be read: {}\n"),
    ],
)
def test_what_may_not_be_read_costs_its_language(tmp_path: Path, part: str, logged: str) -> None:
    """A file or a folder of one language that may not be read is logged, and costs that language alone."""
    for name in ("good", "locales"):
        root = _translate(_translate(tmp_path / name, "gl", expired="Caducou."), "fr", expired="Fini.")
    file = root / "fr" / "LC_MESSAGES" / "mcp_auth_failures.po"
    closed = next(path for path in (file, *file.parents) if path.name == part)
    mode = closed.stat().st_mode
    closed.chmod(0)
    tmp_path.chmod(0o755)
    run = subprocess.run([sys.executable, "-c", FORBIDDEN], cwd=tmp_path, capture_output=True, encoding="utf-8")
    closed.chmod(mode)
    said = ["Caducou.", SHIPPED.describe("expired", "fr").message, DE]
    assert (run.returncode, run.stdout, run.stderr) == (0, f"{said}\n", logged.format("Permission denied"))


# --- the operator's environment -------------------------------------------------------------------------------------


def _set(monkeypatch: pytest.MonkeyPatch, **variables: object) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"MCP_AUTH_FAILURES_{name}", str(value))


def test_environment_says_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each variable does what its argument does."""
    first = _override(tmp_path / "1.yaml", expired="{server}: {contact}")
    second = _override(tmp_path / "2.yaml", expired="never", unverified={"de": "2"})
    _set(
        monkeypatch,
        OVERRIDES=f"{first}{os.pathsep}{second}",
        LOCALES=_translate(tmp_path / "locales", "gl", expired="never", no_token="3"),
        LANGUAGE="de",
        SERVER="Acme",
        CONTACT="it",
        HELP_URL="https://help.acme.example/{language}/{reason}",
    )
    wording = Wording()
    said = {reason: wording.describe(reason, "gl") for reason in ("expired", "unverified", "no_token", "incomplete")}
    assert {reason: (failure.message, failure.language) for reason, failure in said.items()} == {
        "expired": ("Acme: it", "de"),
        "unverified": ("2", "de"),
        "no_token": ("3", "gl"),
        "incomplete": (SHIPPED.describe("incomplete", "de").message, "de"),
    }
    assert wording.refusal("no_token", "gl").help_url == "https://help.acme.example/gl/no_token"


def test_operators_files_come_before_the_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator's files and folders are asked before those in code, and the single settings win."""
    _set(
        monkeypatch,
        OVERRIDES=_override(tmp_path / "operator.yaml", expired={"de": "operator {contact}"}),
        LOCALES=_translate(tmp_path / "operator", "gl", expired="operator"),
        CONTACT="operator",
    )
    wording = Wording(
        overrides=_override(tmp_path / "host.yaml", expired={"de": "host", "fr": "host {contact} {server}"}),
        translations=_translate(_translate(tmp_path / "host", "gl", expired="host"), "is", expired="host"),
        contact="host",
        server="host",
    )
    assert {language: wording.describe("expired", language).message for language in ("de", "fr", "gl", "is")} == {
        "de": "operator operator",
        "fr": "host operator host",
        "gl": "operator",
        "is": "host",
    }


def test_environment_can_be_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``env=False`` nothing of it counts, broken or not."""
    _set(monkeypatch, OVERRIDES=tmp_path, LOCALES="nowhere", LANGUAGE="e n", SERVER=" ", HELP_URL="x")
    assert _everything(Wording(env=False)) == _everything(SHIPPED)


def _break_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Set every variable to something faulty, and give what is to be told."""
    broken = tmp_path / "broken.yaml"
    broken.write_text("version: 1\nmessages:\n  expird: a\n  expired: {de: 5, fr: '{contact}'}\n")
    root = _translate(tmp_path / "locales", "gl", expired="Pregunte a {contact}.")
    po = root / "gl" / "LC_MESSAGES" / "mcp_auth_failures.po"
    _set(
        monkeypatch,
        OVERRIDES=os.pathsep.join([str(broken), str(tmp_path / "nowhere.yaml")]),
        LOCALES=os.pathsep.join([str(tmp_path / "nowhere"), str(root)]),
        LANGUAGE="e n",
        SERVER=" ",
        HELP_URL="http://acme.example",
    )
    missing = "uses {contact}, which has no value: give Wording(contact=…) or MCP_AUTH_FAILURES_CONTACT"
    return [
        "MCP_AUTH_FAILURES_SERVER: expected a text of at most 500 characters, found ' '",
        "MCP_AUTH_FAILURES_HELP_URL: 'http://acme.example' is not an absolute https URL (http is for loopback alone)",
        "MCP_AUTH_FAILURES_LANGUAGE: 'e n' is not a language tag such as en or pt-BR (did you mean 'en'?)",
        f"{tmp_path}/nowhere: cannot be read: No such file or directory",
        f"{broken}:3:3: messages.expird: 'expird' is not one of {', '.join(ENGLISH)} (did you mean 'expired'?)",
        f"{broken}:4:17: messages.expired.de: expected a text in quotes, found the number '5'",
        f"{broken}:4:24: messages.expired.fr: {missing}",
        f"{tmp_path}/nowhere.yaml: cannot be read: No such file or directory",
        f"{po}:{line_of(po, 'expired')}: reasons.expired.message: {missing}",
    ]


def test_every_fault_comes_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong with any setting, file or folder is told in one error, so that an operator mends it in one go."""
    expected = _break_everything(tmp_path, monkeypatch)
    assert _faults() == expected
    with pytest.raises(DataError) as raised:
        AuthFailureMiddleware(None)
    assert str(raised.value).splitlines() == expected


def test_default_language_without_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A default language that there is no text in is refused by the name it was given by, with those there are."""
    there = ", ".join(SHIPPED.languages)
    assert _faults(default_language="gl") == [f"Wording(default_language=…): 'gl' is not one of {there}"]
    _set(monkeypatch, LANGUAGE="mi")
    assert _faults(default_language="de") == [f"MCP_AUTH_FAILURES_LANGUAGE: 'mi' is not one of {there}"]
    assert _faults(builtin=False) == ["MCP_AUTH_FAILURES_LANGUAGE: 'mi' is not one of en"]


def test_default_language_without_any_text_is_told_with_the_rest() -> None:
    """That fault comes together with those of other settings, too."""
    assert len(_faults(default_language="gl", help_url="x", server=" ")) == 3


# --- describe_auth_failure ------------------------------------------------------------------------------------------


def _run(code: str, **environment: object) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, with these variables."""
    variables = {f"MCP_AUTH_FAILURES_{name}": str(value) for name, value in environment.items()}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **variables},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )


DESCRIBE = """\
import os
from mcp_auth_failures import describe_auth_failure
{}
for languages in (None, "de", "de", "gl, de", ["fr"]):
    print(describe_auth_failure("expired", languages).message)
"""


def _said(wording: Wording) -> str:
    asked = (None, "de", "de", "gl, de", ["fr"])
    return "".join(f"{wording.describe('expired', languages).message}\n" for languages in asked)


def test_function_follows_the_operator(tmp_path: Path) -> None:
    """A server whose code knows nothing but the function says what the operator's file says."""
    path = _override(tmp_path / "a.yaml", expired={"de": "Fragen Sie {contact}."})
    run = _run(DESCRIBE.format(""), OVERRIDES=path, CONTACT="Acme")
    assert (run.stdout, run.stderr) == (_said(Wording(overrides=path, contact="Acme")), "")


def test_environment_is_read_at_first_use(tmp_path: Path) -> None:
    """Importing looks at nothing, broken or not; the first call does; later changes are not seen."""
    path = _override(tmp_path / "a.yaml", expired="Ask.")
    run = _run(
        DESCRIBE.format(
            f"import mcp_auth_failures.asgi\nos.environ['MCP_AUTH_FAILURES_OVERRIDES'] = {str(path)!r}\n"
            "describe_auth_failure('expired')\nos.environ['MCP_AUTH_FAILURES_OVERRIDES'] = 'nowhere'"
        ),
        OVERRIDES="broken",
    )
    assert (run.stdout, run.stderr) == ("Ask.\n" * 5, "")


@pytest.mark.parametrize("before", ["", "import logging; logging.basicConfig(format='%(levelname)s %(message)s')"])
def test_broken_environment_is_logged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    """With a faulty environment the shipped wording speaks, every fault is logged once, and stdout is left alone."""
    expected = _break_everything(tmp_path, monkeypatch)
    run = _run(DESCRIBE.format(before))
    message = "\n".join(["the operator's wording cannot be used, the shipped one is:", *expected, ""])
    assert run.stdout == _said(SHIPPED)
    assert run.stderr == (f"ERROR {message}" if before else message)


def test_threads_that_ask_first_together(tmp_path: Path) -> None:
    """Many threads may make the first call at once: all get an answer, and the faults are logged once."""
    threads = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
barrier = Barrier(32)
def ask(number):
    barrier.wait()
    return describe_auth_failure("expired", "de").message
with ThreadPoolExecutor(32) as pool:
    print(len(set(pool.map(ask, range(32)))))
"""
    run = _run(DESCRIBE.format(threads), OVERRIDES=tmp_path / "nowhere.yaml")
    assert run.stdout == f"1\n{_said(SHIPPED)}"
    assert run.stderr.splitlines() == [
        "the operator's wording cannot be used, the shipped one is:",
        f"{tmp_path}/nowhere.yaml: cannot be read: No such file or directory",
    ]


# --- a host's own catalog -------------------------------------------------------------------------------------------


@pytest.fixture
def own_catalog(tmp_path: Path) -> Path:
    """A catalog with one reason more, whose message names a detail."""
    path = tmp_path / "catalog.yaml"
    shipped = (packaged("catalog") / "failures.yaml").read_text("utf-8")
    path.write_text(
        shipped + "\n  suspended:\n    meaning: The account is suspended.\n    challenge: invalid_token\n"
        "    action: contact_operator\n    status: 403\n    header: error\n"
        '    message: "Suspended. Write to {contact}."\n    note: To the person.\n    placeholders: [contact]\n',
        "utf-8",
    )
    return path


def test_catalog_of_a_host(own_catalog: Path, tmp_path: Path) -> None:
    """A host's reason is said, overridden and translated like the shipped ones."""
    catalog = load_catalog(own_catalog)
    wording = Wording(catalog, contact="Acme")
    line = own_catalog.read_text("utf-8").split("\n").index('    message: "Suspended. Write to {contact}."') + 1
    assert wording.describe("suspended", "de").message == "Suspended. Write to Acme."
    assert wording.source("suspended", "de") == f"{own_catalog}:{line}"
    assert wording.describe("expired", "de").message == DE

    english = {"suspended": catalog["suspended"].failure.message}
    root = _translate(tmp_path / "locales", "de", english=english, suspended="Gesperrt. Schreiben Sie an {contact}.")
    path = _override(tmp_path / "a.yaml", suspended={"fr": "Suspendu."})
    wording = Wording(catalog, contact="Acme", translations=root, overrides=path)
    said = [wording.describe("suspended", language).message for language in ("de", "fr", "en")]
    assert said == ["Gesperrt. Schreiben Sie an Acme.", "Suspendu.", "Suspended. Write to Acme."]
    assert wording.refusal("suspended", "de").headers["WWW-Authenticate"] == (
        'Bearer error="invalid_token", error_description="Suspended. Write to Acme."'
    )


def test_help_url_that_one_reason_spoils_is_left_out(own_catalog: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A help URL that cannot stand in a challenge for one reason is left out there and logged; nothing is raised."""
    own_catalog.write_text(own_catalog.read_text("utf-8").replace("  suspended:", "  scope:"), "utf-8")
    wording = Wording(load_catalog(own_catalog), contact="Acme", help_url="https://acme.example/?{reason}=1")
    assert wording.refusal("expired").help_url == "https://acme.example/?expired=1"
    assert wording.refusal("scope").help_url is None
    message = "'https://acme.example/?scope=1' contains 'scope=', which clients would read as that parameter"
    assert _logged(caplog) == [("ERROR", f"left out of a challenge: {message}")]


def test_catalog_that_names_a_detail_without_a_value(own_catalog: Path) -> None:
    """The English is said when nothing else can be, so that what it names has to have a value."""
    (fault,) = _faults(catalog=load_catalog(own_catalog))
    assert fault.startswith(f"{own_catalog}:")
    assert fault.endswith(
        ": reasons.suspended.message: uses {contact}, which has no value: "
        "give Wording(contact=…) or MCP_AUTH_FAILURES_CONTACT"
    )
