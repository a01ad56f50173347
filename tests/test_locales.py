"""Every shipped language, from its file to the wire: the sentence of the ``.po``, and no other, reaches who asked."""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from babel.core import Locale
from babel.messages.catalog import Catalog as PoCatalog
from babel.messages.plurals import get_plural
from babel.messages.pofile import read_po
from servers import Answer, ask, bearer, exchange

from mcp_auth_failures import Refusal, Wording, describe_auth_failure, load_catalog, translating
from mcp_auth_failures.asgi import AuthFailureMiddleware, refuse
from mcp_auth_failures.catalog import message_context, packaged
from mcp_auth_failures.cli import main
from mcp_auth_failures.tags import canonical
from mcp_auth_failures.text import placeholders
from mcp_auth_failures.translations import DOMAIN

CATALOG = load_catalog()
REASONS = tuple(CATALOG.reasons)
ENGLISH = {reason: entry.failure.message for reason, entry in CATALOG.reasons.items()}
LOCALES = Path(str(packaged("locales")))
FILES = {
    folder.name: folder / "LC_MESSAGES" / f"{DOMAIN}.po" for folder in sorted(LOCALES.iterdir()) if folder.is_dir()
}
WORKERS = 50


def by_babel(locale: str) -> PoCatalog:
    """A file as Babel reads it, which is not how we do."""
    with FILES[locale].open("rb") as file:
        return read_po(file, abort_invalid=True)


ALL_TEXTS: dict[str, dict[str, str]] = {
    locale.replace("_", "-"): {
        str(message.context): str(message.string) for message in by_babel(locale) if message.id and not message.fuzzy
    }
    for locale in FILES
}
TEXTS = {
    tag: {reason: texts[message_context(reason)] for reason in REASONS if message_context(reason) in texts}
    for tag, texts in ALL_TEXTS.items()
}
SPOKEN = {"en": ENGLISH, **TEXTS}
"""What is said in each language, by reason; English is the catalog's own."""

WORDING = Wording(env=False)

each_language = pytest.mark.parametrize("tag", TEXTS)
each_locale = pytest.mark.parametrize("locale", FILES)


# --- the files ------------------------------------------------------------------------------------------------------


def test_folder_holds_languages_and_nothing_else() -> None:
    """The folder has a guide, the template, and for each locale one file at its place, and no leavings."""
    found = {str(path.relative_to(LOCALES)) for path in LOCALES.rglob("*") if path.is_file()}
    files = {str(file.relative_to(LOCALES)) for file in FILES.values()}
    assert found == {"README.md", f"{DOMAIN}.pot", *files}


def test_languages_are_those_of_the_folder() -> None:
    """What is there is spoken, under the name of its folder."""
    assert WORDING.languages == ("en", *sorted(TEXTS))
    assert [canonical(locale).replace("-", "_") for locale in FILES] == list(FILES)
    assert len(FILES) >= 44


def test_chinese_is_never_without_a_script() -> None:
    """There is no plain ``zh``, which would stand for either."""
    assert {"zh-Hans", "zh-Hant"} == {tag for tag in TEXTS if tag.partition("-")[0] == "zh"}


def test_there_is_nothing_to_mend() -> None:
    """No language is incomplete or fuzzy, no rule finds anything, and the template is what the catalog says."""
    assert [str(fault) for fault in translating.check(LOCALES)] == []
    assert (LOCALES / f"{DOMAIN}.pot").read_bytes() == translating.extract()


@each_locale
def test_language_is_complete(locale: str) -> None:
    """Every text is translated, from today's English, in the catalog's order, and nothing is left at the end."""
    catalog = by_babel(locale)
    messages = [message for message in catalog if message.id]
    assert [(message.context, message.id) for message in messages] == [
        (text.context, text.english) for text in CATALOG.texts.values()
    ]
    assert [message.context for message in messages if message.fuzzy or not str(message.string).strip()] == []
    assert list(catalog.obsolete) == []
    assert translating.update(FILES[locale].read_bytes(), "a.po") == FILES[locale].read_bytes()


GLOSSARY = {
    *("access token", "refresh token", "connector settings", "reconnect", "scope"),
    *("operator", "deployment", "signing key", "verify", "MCP surface"),
}


@each_locale
def test_header(locale: str) -> None:
    """The header says whose the file is, and its comment holds the language's glossary and register."""
    text = FILES[locale].read_text(encoding="utf-8")
    comment, _, fields = text.partition("\n\n")[0].partition('#\nmsgid ""\nmsgstr ""\n')
    name = Locale.parse(locale).english_name
    lines = comment.splitlines()
    assert lines[:3] == [f"# {name} messages of mcp-auth-failures.", "#", "# Glossary:"]
    terms = dict(re.fullmatch(r"# (.+?) = (.+)", line).groups() for line in lines[3:-1])  # type: ignore[union-attr]
    assert terms.keys() >= GLOSSARY
    assert lines[-1].startswith("# register: ")
    said = dict(re.fullmatch(r'"(.+?): (.*)\\n"', line).groups() for line in fields.splitlines())  # type: ignore[union-attr]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d\+\d{4}", said.pop("PO-Revision-Date"))
    assert said == {
        "Project-Id-Version": "mcp-auth-failures",
        "Report-Msgid-Bugs-To": "",
        "Last-Translator": "mcp-auth-failures developers",
        "Language-Team": name,
        "Language": locale,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": f"{get_plural(locale).plural_forms}",
    }


@each_language
def test_sentences_are_well_formed(tag: str) -> None:
    """Composed Unicode, single spaces, and the name of the protocol as it stands in the English."""
    for context, text in ALL_TEXTS[tag].items():
        english = CATALOG.texts[context].english
        assert unicodedata.is_normalized("NFC", text)
        assert not re.search(r"\s\s| [.,;:。，；：]$", text)
        assert ("MCP" in text) >= ("MCP" in english)
        assert placeholders(text) == placeholders(english)
        assert not re.search(r"[\\<>]|https?:", text)


def test_no_sentence_stands_twice() -> None:
    """No sentence was pasted into the place of another, in its own language or in the next."""
    sentences = {context for context, text in CATALOG.texts.items() if text.english.endswith(".")}
    texts = [language[context] for language in ALL_TEXTS.values() for context in sentences]
    assert len(set(texts)) == len(texts)


# --- what is said ---------------------------------------------------------------------------------------------------


@each_language
@pytest.mark.parametrize("reason", REASONS)
def test_sentence_of_the_file_is_said(reason: Any, tag: str) -> None:
    """A reason in a language is exactly the text of its file, and all else about it is as in English."""
    failure = describe_auth_failure(reason, tag)
    english = describe_auth_failure(reason)
    assert (failure.message, failure.language) == (TEXTS[tag][reason], tag)
    assert (english.message, english.language) == (ENGLISH[reason], "en")
    for name in ("reason", "challenge", "action", "recoverable", "status", "header", "description"):
        assert getattr(failure, name) == getattr(english, name)


@each_language
@pytest.mark.parametrize("reason", REASONS)
def test_sentence_travels(reason: str, tag: str) -> None:
    """It stands raw in JSON, its tag fits a header, no letter of it enters one, and a client reads the same back."""
    refusal, english = (WORDING.refusal(reason, language, request_id=1) for language in (tag, "en"))
    assert TEXTS[tag][reason].encode() in refusal.body
    content = json.loads(refusal.body)
    assert content["error"]["message"] == TEXTS[tag][reason]
    assert content["error"]["data"]["language"] == tag
    headers = {**refusal.headers, "Content-Length": english.headers["Content-Length"]}
    assert headers == {**english.headers, "Content-Language": tag}
    assert "".join(headers.values()).isascii()
    assert Refusal.from_response(refusal.status, refusal.headers, refusal.body) == refusal


def test_without_the_shipped_translations() -> None:
    """``builtin=False`` leaves English alone."""
    wording = Wording(builtin=False, env=False)
    assert wording.languages == ("en",)
    for tag in TEXTS:
        assert {reason: wording.describe(reason, tag).message for reason in REASONS} == ENGLISH
        assert wording.describe("expired", tag).language == "en"


# What a caller may ask for: (the value, the language of the answer).
ASKED: list[tuple[Any, str]] = [
    ("de", "de"),
    ("DE-at", "de"),
    ("pt_BR", "pt-BR"),
    ("pt", "pt-BR"),
    ("pt-AO", "pt-PT"),
    ("zh-TW", "zh-Hant"),
    ("zh-CN, zh;q=0.9", "zh-Hans"),
    ("zh-Hant-HK", "zh-Hant"),
    ("no", "nb"),
    ("nn-NO", "nb"),
    ("iw", "he"),
    ("tl", "fil"),
    ("sr-Latn", "sr"),
    ("gl, es;q=0.9, en;q=0.1", "es"),
    ("en;q=0.1, hu", "hu"),
    ("de;q=0, de-AT;q=0, cs", "cs"),
    ("de-AT, de;q=0.9, en;q=0.5", "de"),
    (["gl", "ca"], "ca"),
    (("fr-CA", "en"), "fr"),
    (iter(["uk"]), "uk"),
    (["xx", "de;q=0.5, fr"], "fr"),
    ({"ta": 1}, "ta"),
    ("*", "en"),
    ("", "en"),
    (None, "en"),
    ([], "en"),
    ("xx", "en"),
    ("\ud800\0, ../../etc", "en"),
    (b"de", "en"),
    (7, "en"),
]


@pytest.mark.parametrize(("value", "expected"), ASKED, ids=[ascii(value)[:40] for value, _ in ASKED])
def test_language_that_is_asked_for(value: Any, expected: str) -> None:
    """A header, a tag or a list of either is understood; whatever else comes is answered in English."""
    failure = describe_auth_failure("expired", value)
    assert (failure.message, failure.language) == (SPOKEN[expected]["expired"], expected)


@each_language
def test_default_language(tag: str) -> None:
    """Who asks for nothing that is there gets the default; who asks for English gets English."""
    wording = Wording(default_language=tag, env=False)
    for nothing in (None, "", "*", "xx", [], "de;q=0" if tag != "de" else "fr;q=0"):
        assert wording.describe("expired", nothing).message == TEXTS[tag]["expired"]
    assert wording.describe("expired", "en").message == ENGLISH["expired"]
    assert wording.describe("expired", "en-GB, de;q=0.1").language == "en"


def test_default_language_of_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator's variable wins over the code, in its own spelling too."""
    monkeypatch.setenv("MCP_AUTH_FAILURES_LANGUAGE", "pt_pt")
    wording = Wording(default_language="de")
    assert wording.describe("expired").message == TEXTS["pt-PT"]["expired"]
    assert wording.describe("expired", "fr").language == "fr"


# --- over ASGI ------------------------------------------------------------------------------------------------------


async def application(scope: Any, receive: Any, send: Any) -> None:
    """An MCP server whose verifier refuses, for the reason that the path names."""
    refuse(scope["path"].strip("/"))
    challenge = (b"www-authenticate", b'Bearer error="invalid_token"')
    await send({"type": "http.response.start", "status": 401, "headers": [challenge]})
    await send({"type": "http.response.body", "body": b""})


def request(reason: str = "expired", accept: str | None = None, **meta: str) -> dict[str, Any]:
    """A refused call, with an Accept-Language and what its ``_meta`` holds."""
    headers = [*bearer("t"), *([] if accept is None else [("accept-language", accept)])]
    content = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "_meta": meta}}
    return {"path": f"/{reason}", "headers": headers, "content": content}


def language(answer: Answer) -> str:
    """The language of an answer, which header, data and sentence agree on."""
    (tag,) = answer.lines("content-language")
    error = answer.content["error"]
    assert error["data"]["language"] == tag
    assert error["message"] == SPOKEN[tag][error["data"]["reason"]]
    assert answer.lines("vary") == ["Accept-Language"]
    return tag


@each_language
def test_accept_language(tag: str) -> None:
    """A refused call is answered in the language that it names, in every reason, and says so."""
    app = AuthFailureMiddleware(application, WORDING)
    for reason in REASONS:
        answer = ask(app, **request(reason, f"{tag}, en;q=0.5"))
        assert language(answer) == tag
        assert answer.reason == reason


LOCALE, OLDER = "openai/locale", "webplus/i18n"

# Who decides: (what the host's callable gives, Accept-Language, _meta, the language of the answer by default Danish).
ORDER: list[tuple[Any, str | None, dict[str, str], str]] = [
    ("fr", "de", {LOCALE: "it"}, "fr"),
    (["fr"], "de", {LOCALE: "it"}, "fr"),
    (("xx", "fr-CA"), "de", {LOCALE: "it"}, "fr"),
    ("xx", "de", {LOCALE: "it"}, "it"),
    (None, "de", {LOCALE: "it"}, "it"),
    ([], "de", {LOCALE: "it"}, "it"),
    ("", "de", {LOCALE: "it-CH"}, "it"),
    (None, "de", {LOCALE: "pt_BR"}, "pt-BR"),
    (None, "de", {OLDER: "it"}, "it"),
    (None, "de", {OLDER: "fr", LOCALE: "it"}, "it"),
    (None, "de", {LOCALE: "xx"}, "de"),
    (None, "de", {LOCALE: ""}, "de"),
    (None, "de", {"other/locale": "it"}, "de"),
    (None, "de-AT, fr;q=0.9", {}, "de"),
    (None, "xx, fr;q=0.9", {}, "fr"),
    ("xx", "*", {LOCALE: "*"}, "da"),
    (None, "*", {}, "da"),
    (None, None, {}, "da"),
    (None, "", {}, "da"),
    (None, "de;q=0", {LOCALE: "xx"}, "da"),
    (None, "\xe4\x00\xff", {}, "da"),
    ("en", "de", {LOCALE: "it"}, "en"),
    (RuntimeError("broken"), "de", {LOCALE: "it"}, "it"),
]


@pytest.mark.parametrize(("hosts", "accept", "meta", "expected"), ORDER)
def test_order_of_wishes(hosts: Any, accept: str | None, meta: dict[str, str], expected: str) -> None:
    """The host's callable is asked first, then the call's own locale, then Accept-Language, then the default."""

    def languages(scope: Any) -> Any:
        assert scope["type"] == "http"
        if isinstance(hosts, Exception):
            raise hosts
        return hosts

    app = AuthFailureMiddleware(application, Wording(default_language="da", env=False), languages=languages)
    assert language(ask(app, **request("expired", accept, **meta))) == expected


def test_order_without_a_callable() -> None:
    """Where the host has no wish, the call's own locale comes first."""
    app = AuthFailureMiddleware(application, WORDING)
    assert language(ask(app, **request("expired", "de", **{LOCALE: "it"}))) == "it"
    assert language(ask(app, **request("expired", "de"))) == "de"
    assert language(ask(app, **request("expired"))) == "en"


# --- on the command line --------------------------------------------------------------------------------------------


@each_language
def test_explain_and_list(tag: str, capsys: pytest.CaptureFixture[str]) -> None:
    """``explain --language`` and ``list --language`` show what a client in that language is told."""
    for reason in REASONS:
        assert main(["explain", reason, "--language", tag, "--format", "json"]) == 0
        error = json.loads(capsys.readouterr().out)
        assert (error["message"], error["data"]["language"]) == (TEXTS[tag][reason], tag)
    assert main(["list", "--language", f"xx, {tag}", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {row["reason"]: row["message"] for row in listed} == TEXTS[tag]
    assert {row["language"] for row in listed} == {tag}


def test_explain_shows_language_and_header(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """For a person the language is named, and of the whole answer ``Content-Language`` is a part."""
    monkeypatch.setenv("COLUMNS", "1000")
    assert main(["explain", "expired", "--language", "zh-TW"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^language +zh-Hant \(shipped\)$", shown, re.MULTILINE)
    assert TEXTS["zh-Hant"]["expired"] in "".join(shown.split("\n"))
    assert main(["explain", "expired", "--language", "zh-TW", "--format", "http"]) == 0
    assert "\nContent-Language: zh-Hant\n" in capsys.readouterr().out
    monkeypatch.setenv("MCP_AUTH_FAILURES_LANGUAGE", "sv")
    assert main(["explain", "expired"]) == 0
    assert re.search(r"^language +sv \(shipped\)$", capsys.readouterr().out, re.MULTILINE)


# --- many at once, and the first ------------------------------------------------------------------------------------

ORDERS = [*SPOKEN, *SPOKEN][:WORKERS]


def test_fifty_threads_on_a_cold_start() -> None:
    """Fifty threads that ask a fresh wording at the same moment each get their own language."""
    for _ in range(5):
        wording = Wording(env=False)
        together = threading.Barrier(WORKERS)

        def work(tag: str, wording: Wording = wording, together: threading.Barrier = together) -> dict[str, str]:
            together.wait(30)
            return {reason: wording.describe(reason, tag).message for reason in REASONS}

        with ThreadPoolExecutor(WORKERS) as pool:
            assert list(pool.map(work, ORDERS)) == [SPOKEN[tag] for tag in ORDERS]


def test_fifty_tasks_on_a_cold_start() -> None:
    """Fifty calls that are refused in one event loop at the same moment are each answered in their own language."""
    together = asyncio.Barrier(WORKERS)

    async def waiting(scope: Any, receive: Any, send: Any) -> None:
        await together.wait()
        await application(scope, receive, send)

    async def work() -> list[Answer]:
        app = AuthFailureMiddleware(waiting, Wording(env=False))
        requests = [
            exchange(app, **request(REASONS[number % len(REASONS)], "en" if number % 2 else tag, **{LOCALE: tag}))
            for number, tag in enumerate(ORDERS)
        ]
        return await asyncio.gather(*requests)

    answers = asyncio.run(work())
    assert [language(answer) for answer in answers] == ORDERS
    assert [answer.reason for answer in answers] == [REASONS[number % len(REASONS)] for number in range(WORKERS)]


def run(program: str, *arguments: str, **environment: str) -> Any:
    """Run a program in an interpreter of its own, and read the JSON that it prints."""
    result = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        capture_output=True,
        encoding="utf-8",
    )
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


THREADS = """
import json, sys, threading
from concurrent.futures import ThreadPoolExecutor
from mcp_auth_failures import describe_auth_failure
tags = sys.argv[1:]
together = threading.Barrier(len(tags))
def work(tag):
    together.wait(30)
    return describe_auth_failure("expired", tag).message, describe_auth_failure("no_token", [tag]).message
with ThreadPoolExecutor(len(tags)) as pool:
    print(json.dumps(list(pool.map(work, tags))))
"""

TASKS = """
import asyncio, json, sys
from mcp_auth_failures import describe_auth_failure
tags = sys.argv[1:]
async def work(tag, together):
    await together.wait()
    return describe_auth_failure("expired", tag).message, describe_auth_failure("no_token", [tag]).message
async def main():
    together = asyncio.Barrier(len(tags))
    return await asyncio.gather(*(work(tag, together) for tag in tags))
print(json.dumps(asyncio.run(main())))
"""


@pytest.mark.parametrize("program", [THREADS, TASKS], ids=["threads", "tasks"])
def test_fifty_at_once_in_a_fresh_process(program: str) -> None:
    """The very first calls of a process, fifty at a time, are each answered in their own language."""
    said = [[SPOKEN[tag][reason] for reason in ("expired", "no_token")] for tag in ORDERS]
    assert run(program, *ORDERS) == said


def test_default_of_a_fresh_process() -> None:
    """``describe_auth_failure`` reads the operator's language at its first call."""
    program = (
        "import json; from mcp_auth_failures import describe_auth_failure as say\n"
        "print(json.dumps([say('expired').message, say('expired', 'fr').message, say('expired', 'en').message]))"
    )
    assert run(program, MCP_AUTH_FAILURES_LANGUAGE="uk") == [SPOKEN[tag]["expired"] for tag in ("uk", "fr", "en")]


WATCH = """
import asyncio, json, sys
from mcp_auth_failures import Wording
from mcp_auth_failures.asgi import AuthFailureMiddleware
arguments, tags = json.loads(sys.argv[1]), sys.argv[2:]

async def application(scope, receive, send):
    challenge = (b"www-authenticate", b'Bearer error="invalid_token"')
    await send({"type": "http.response.start", "status": 401, "headers": [challenge]})
    await send({"type": "http.response.body", "body": b""})

app = AuthFailureMiddleware(application, Wording(env=False, **arguments))
touched, said = [], []

async def ask(tag):
    body = json.dumps({"id": 1, "method": "tools/call", "params": {"_meta": {"openai/locale": tag}}}).encode()
    headers = {"authorization": "Bearer t", "content-type": "application/json", "content-length": str(len(body))}
    pairs = [(name.encode(), value.encode()) for name, value in {**headers, "accept-language": tag}.items()]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": pairs}
    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}
    async def send(message):
        if message["type"] == "http.response.body":
            said.append(json.loads(message["body"])["error"]["message"])
    await app(scope, receive, send)

async def main():
    for tag in tags:
        await ask(tag)

runner = asyncio.Runner()
runner.get_loop()
watched = {"open", "import", "os.listdir", "os.scandir"}
sys.addaudithook(lambda event, arguments: touched.append(f"{event} {arguments[0]}") if event in watched else None)
runner.run(main())
found = list(touched)
print(json.dumps([found, said]))
"""


@pytest.mark.parametrize(
    ("arguments", "first"),
    [({}, "de"), ({}, "zh-TW"), ({}, "xx"), ({"default_language": "hi"}, "xx"), ({"builtin": False}, "de")],
    ids=["shipped", "by its likely script", "unknown", "with a default", "without the shipped"],
)
def test_first_refused_request_opens_nothing(arguments: dict[str, Any], first: str) -> None:
    """The middleware has read every language at start: no refused request waits for a file or an import."""
    touched, said = run(WATCH, json.dumps(arguments), first, *SPOKEN)
    assert touched == []
    expected = [ENGLISH if arguments.get("builtin") is False else texts for texts in SPOKEN.values()]
    assert said[1:] == [texts["unverified"] for texts in expected]
