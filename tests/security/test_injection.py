"""No injection: whatever text comes from a file, an argument or a caller, the answer is what the standards say."""

import base64
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from figures import Figures
from hostile import mo, po_entry
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from promises import check_body, check_challenge, check_faults, check_header, check_line, check_refusal
from servers import Answer, Message, Receive, Send, ask, expired
from starlette.authentication import AuthCredentials
from strategies import any_text, headers, json_values, languages, octets, sayable, scopes, texts, urls
from typescript import TypeScript, typescript

from mcp_auth_failures import Challenge, DataError, Refusal, Wording, load_catalog
from mcp_auth_failures.asgi import AuthFailureMiddleware, RequireScopes, refuse
from mcp_auth_failures.challenge import other_challenges, parse_challenges
from mcp_auth_failures.operating import check

CATALOG = load_catalog()
REASONS = tuple(CATALOG.reasons)
SHIPPED = Wording(env=False)
reasons = st.sampled_from(REASONS)


@pytest.fixture(scope="module")
def node(figures: Figures) -> Iterator[TypeScript]:
    """The TypeScript SDKs."""
    with typescript() as node:
        yield node
    figures["challenges read by the TypeScript SDKs"] = node.read


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the examples of one test after another put their files."""
    return tmp_path_factory.mktemp("files")


def written(file: Path, content: str | bytes) -> Path:
    """A file with this content; a lone surrogate is written as if it were a character."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return file


def check_everything(wording: Wording, asked: Any = None, needed: Any = (), url: Any = None, id_: Any = None) -> None:
    """Every reason, in a caller's languages and in the wording's own, makes a complete answer."""
    for language in (asked, None, *wording.languages[:3], wording.languages[-1]):
        for reason in wording.catalog.reasons:
            refusal = wording.refusal(reason, language, scopes=needed, resource_metadata_url=url, request_id=id_)
            check_refusal(refusal, wording.catalog)


# --- values in code -------------------------------------------------------------------------------------------------


@given(
    error=st.one_of(st.none(), st.sampled_from(["invalid_token", "insufficient_scope"]), texts),
    scope=scopes,
    url=st.one_of(st.none(), urls),
    description=st.one_of(st.none(), any_text, texts, st.integers(1, 5000).map("x".__mul__)),
    help_url=st.one_of(st.none(), urls),
)
@example(None, [], "https://a^b/", None, None)
@example("invalid_token", ["a" * 1500, "b" * 1500, "c" * 1500], "https://a/" + "x" * 2038, "x" * 5000, None)
def test_challenge(
    node: TypeScript, figures: Figures, error: Any, scope: Any, url: Any, description: Any, help_url: Any
) -> None:
    """A challenge can be made of what every reader reads as it is, and of nothing else."""
    parts = {
        "error": error,
        "scope": tuple(scope),
        "resource_metadata": url,
        "error_description": description,
        "error_uri": help_url,
    }
    for given_ in ({**parts}, *({name: value} for name, value in parts.items())):
        try:
            challenge = Challenge(**given_)
        except ValueError:
            figures.count("challenges refused")
            continue
        header = check_challenge(challenge)
        node.check(header)
        figures.count("challenges made")


@given(
    reasons,
    languages,
    st.one_of(scopes, texts),
    st.one_of(st.none(), urls),
    json_values,
)
def test_refusal(node: TypeScript, figures: Figures, reason: str, asked: Any, needed: Any, url: Any, id_: Any) -> None:
    """Nothing that a host or a caller brings stops a refusal, or becomes more of it than a value."""
    refusal = SHIPPED.refusal(reason, asked, scopes=needed, resource_metadata_url=url, request_id=id_)
    check_refusal(refusal)
    figures.count("refusals made")
    if header := refusal.headers.get("WWW-Authenticate"):
        node.check(header)


@given(
    reasons,
    st.one_of(texts, sayable),
    st.one_of(texts, sayable),
    urls,
    st.one_of(st.sampled_from(["de", "fr-CA"]), texts),
)
@example("expired", "x", "x", "https://help.example/?{reason}=1", "de")
@example("expired", "x", "x", "https://help.example/{language}/" + "x" * 1950, "de-" + "-".join(["abcdefgh"] * 10))
def test_settings(figures: Figures, folder: Path, reason: str, server: str, contact: str, url: str, tag: str) -> None:
    """Settings are refused at the start or do no harm for ever."""
    content = {"version": 1, "messages": {reason: {tag: "{server} {contact}"}}}
    files = [written(folder / "own.yaml", json.dumps(content)), written(folder / "none.yaml", "")]
    for file in files:
        for help_url in (url, f"{url}{{reason}}", f"{url}?{{reason}}=1", "https://help.example/{language}/{reason}/"):
            try:
                wording = Wording(env=False, overrides=file, server=server, contact=contact, help_url=help_url)
            except DataError as error:
                check_faults(error.faults)
                figures.count("settings refused")
                continue
            check_everything(wording, tag)
            figures.count("settings taken")


# --- files ----------------------------------------------------------------------------------------------------------


def _take(figures: Figures, what: str, file: Path, **arguments: Any) -> None:
    """Look over a file as an operator does, and give it to a server."""
    findings = check(file)
    check_faults([finding.fault for finding in findings if finding.severity == "error"])
    for finding in findings:
        check_line(finding.fault.message)
    try:
        wording = Wording(env=False, builtin=False, server="Acme", contact="it@acme.example", **arguments)
    except DataError as error:
        check_faults(error.faults)
        figures.count(f"{what} refused")
        return
    check_everything(wording, "de", needed=["mcp:use"])
    figures.count(f"{what} taken")


def _overridden(figures: Figures, what: str, file: Path) -> None:
    _take(figures, what, file, overrides=file)


@given(reasons, st.one_of(texts, sayable), st.sampled_from([None, "en", "de", "zh-Hant"]))
@example("expired", "x" * 1_048_000, "de")
@example("expired", "\u00a0", "de")
def test_override_text(figures: Figures, folder: Path, reason: str, text: str, language: str | None) -> None:
    """Any text in an override is refused or said."""
    content = {"version": 1, "messages": {reason: {language: text} if language else text}}
    for ascii_only in (True, False):
        file = written(folder / "text.yaml", json.dumps(content, ensure_ascii=ascii_only))
        _overridden(figures, "override texts", file)


@given(
    st.one_of(st.just("messages"), texts),
    st.one_of(reasons, texts),
    st.one_of(st.sampled_from(["de", "PT_br", "zh-TW", "de-1996", "xx", "no"]), texts),
    st.one_of(sayable, texts),
)
@example("messages", "a\nb", "de", "x")
@example("messages", "expired", "de-" + "-".join(["abcdefgh"] * 5), "x")
def test_override_names(figures: Figures, folder: Path, field: str, reason: str, language: str, text: str) -> None:
    """Any name of a field, a reason or a language in an override is refused or harmless."""
    for content in (
        {"version": 1, field: text},
        {"version": 1, "messages": {reason: text}},
        {"version": 1, "messages": {"expired": {language: text or "x"}}},
        {"version": text, "messages": {}},
    ):
        _overridden(figures, "override names", written(folder / "names.yaml", json.dumps(content)))


@given(octets)
@example(b"- !a%0Ab x")
@example(b"!" * 100_000)
@example(b"- *" + b"a" * 100_000)
def test_override_octets(figures: Figures, folder: Path, content: bytes) -> None:
    """Any octets for an override, alone or behind a good beginning, are refused or harmless."""
    for data in (content, b"version: 1\nmessages:\n  expired: " + content):
        _overridden(figures, "override files", written(folder / "octets.yaml", data))


@given(reasons, st.one_of(texts, sayable), octets)
@example("expired", "x", po_entry("", "a\nb") * 2)
@example("expired", "x", po_entry("", "a" * 100_000) * 2)
@example("expired", "x", b'msgid ""\nmsgstr "charset=\x1b[31mx"\n')
def test_po(figures: Figures, folder: Path, reason: str, text: str, junk: bytes) -> None:
    """Any text, header or octets in a ``.po`` are refused or harmless, and cost their language alone."""
    entry = po_entry(text, f"reasons.{reason}.message", CATALOG[reason].failure.message)
    for data in (entry, junk, junk + b"\n" + entry, entry + b"\n" + junk):
        file = written(folder / "po/de/LC_MESSAGES/mcp_auth_failures.po", data)
        _take(figures, "translations (.po)", file, translations=folder / "po")


@given(reasons, octets, st.dictionaries(octets, octets, max_size=3), st.integers(0, 200), st.integers(0, 2**32 - 1))
def test_mo(
    figures: Figures, folder: Path, reason: str, text: bytes, others: dict[bytes, bytes], cut: int, count: int
) -> None:
    """Any text, header or octets in a ``.mo`` are refused or harmless, and cost their language alone."""
    key = f"reasons.{reason}.message\x04{CATALOG[reason].failure.message}".encode()
    whole = mo({**others, key: text})
    for data in (whole, whole[:-cut], mo({**others, key: text}, count=count), mo({b"": text}), text):
        file = written(folder / "mo/de/LC_MESSAGES/mcp_auth_failures.mo", data)
        _take(figures, "translations (.mo)", file, translations=folder / "mo")


@given(texts.filter(lambda name: not {*name} & {"/", "\0"} and name not in {"", ".", ".."}))
@example("a\nb")
@example("de_" + "_".join(["abcdefgh"] * 5))
def test_folder_names(figures: Figures, tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    """Any name of a locale's folder is passed over or is a language."""
    root = tmp_path_factory.mktemp("locales")
    try:
        file = root / name / "LC_MESSAGES/mcp_auth_failures.po"
        written(file, po_entry("Abgelaufen."))
    except (OSError, UnicodeEncodeError):  # no file system has that
        return
    check_faults([finding.fault for finding in check(root)])
    _take(figures, "folder names", root, translations=root)


@given(st.one_of(st.from_regex("[a-z][a-z0-9_]*", fullmatch=True), texts), st.one_of(sayable, texts))
@example("a\nb", "x")
@example("scope", "x")
def test_catalog(figures: Figures, folder: Path, reason: str, text: str) -> None:
    """Any reason or English of a host's own catalog is refused or harmless."""
    shipped = CATALOG.path.read_text(encoding="utf-8")
    like = yaml.safe_load(shipped)["reasons"]["expired"]
    for name, message in ((reason, "One more."), ("one_more", text)):
        more = {**like, "message": message}
        file = written(folder / "catalog.yaml", f"{shipped}\n  {json.dumps(name)}: {json.dumps(more)}\n")
        try:
            catalog = load_catalog(file)
        except DataError as error:
            check_faults(error.faults)
            figures.count("catalogs refused")
            continue
        help_url = "https://help.example/?{reason}=1"
        try:
            check_everything(Wording(catalog, env=False, help_url=help_url))
        except DataError as error:
            check_faults(error.faults)
        figures.count("catalogs taken")


# --- what callers and applications send -----------------------------------------------------------------------------


@given(headers)
def test_header_of_a_peer(figures: Figures, value: str) -> None:
    """Any header of a peer is read without raising, and what is made of it can be sent."""
    parse_challenges(value)
    other_challenges([value])
    if challenge := Challenge.from_header(value):
        check_challenge(challenge)
        figures.count("challenges of peers read")


@given(st.integers(100, 599), st.lists(st.tuples(texts, headers), max_size=3), json_values, octets)
def test_answer_of_a_peer(status: int, fields: list[tuple[str, str]], content: Any, body: bytes) -> None:
    """Any answer and any error of a peer is read without raising."""
    error = {"code": status, "message": "x", "data": content}
    ours = {"reason": "expired", "action": "refresh", "recoverable": True, "language": content, "scope": content}
    for each in (
        body,
        json.dumps(content).encode("utf-8", "replace"),
        json.dumps({"error": error}).encode("utf-8", "replace"),
    ):
        Refusal.from_response(status, fields, each)
    for each in (content, error, {**error, "data": ours}, {"message": content, "data": ours}, body):
        if refusal := Refusal.from_error(each):
            check_refusal(refusal)


Fields = list[tuple[str, str]]


def _answered(app: Any, caplog: pytest.LogCaptureFixture, fields: Fields, body: bytes = b"", **request: Any) -> Answer:
    """What an app answers to a request: if it is ours, it can be sent, and each line that is logged of it is one."""
    caplog.clear()
    caplog.set_level(logging.DEBUG, "mcp_auth_failures")

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    sendable = [(name, value.encode("latin-1", "replace").decode("latin-1")) for name, value in fields]
    answer = ask(app, headers=sendable, receive=receive, **request)
    for line in caplog.messages:
        check_line(line)
    if answer.lines("content-type") == ["application/json"]:
        for challenge in _bearer(answer):
            check_header(challenge)
        if answer.body:
            check_body(answer.body, answer.status)
    return answer


def _bearer(answer: Answer) -> list[str]:
    return [value for value in answer.lines("www-authenticate") if value.startswith("Bearer")]


@given(
    method=st.sampled_from(["POST", "GET", "DELETE", "HEAD", "a b\n"]),
    path=texts,
    fields=st.lists(
        st.tuples(
            st.sampled_from(
                [
                    "Accept-Language",
                    "Content-Type",
                    "Content-Length",
                    "Expect",
                    "Authorization",
                    "Mcp-Method",
                    "Mcp-Name",
                ]
            ),
            st.one_of(texts, headers, st.sampled_from(["application/json", "7", "Bearer x", "=?base64?/w==?="])),
        ),
        max_size=6,
    ),
    body=st.one_of(octets, json_values.map(lambda value: json.dumps(value).encode("utf-8", "replace"))),
    id_=json_values,
    locale=json_values,
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_request(
    caplog: pytest.LogCaptureFixture,
    figures: Figures,
    method: str,
    path: str,
    fields: Any,
    body: bytes,
    id_: Any,
    locale: Any,
) -> None:
    """Any method, path, header, id or body of a request is answered, and each line that is logged is one."""
    whole = {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": {"_meta": {"openai/locale": locale}}}
    content = json.dumps(whole).encode("utf-8", "replace")
    described = [("Content-Type", "application/json"), ("Content-Length", str(len(content)))]

    app = AuthFailureMiddleware(expired, SHIPPED)
    _answered(app, caplog, fields, body, method=method, path=path)
    _answered(app, caplog, [*fields, *described], content, path=path)
    _answered(app, caplog, described, content, path=path)
    figures.count("requests answered", 3)


@given(
    status=st.sampled_from([401, 403]),
    challenges=st.lists(st.one_of(headers, st.builds("Bearer {}".format, headers)), max_size=3),
    fields=st.lists(
        st.tuples(st.sampled_from(["Vary", "Access-Control-Expose-Headers", "X-Own"]), headers), max_size=3
    ),
    recorded=st.lists(st.one_of(reasons, texts), max_size=3),
    needed=scopes,
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_inner_answer(
    caplog: pytest.LogCaptureFixture,
    node: TypeScript,
    figures: Figures,
    status: int,
    challenges: Any,
    fields: Any,
    recorded: Any,
    needed: Any,
) -> None:
    """Any challenge of an application, and any reason or scope that it records, is left out or becomes a value."""
    own = [*(("www-authenticate", challenge) for challenge in challenges), *fields]

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        for reason in recorded:
            refuse(reason, scopes=needed)
        lines = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in own]
        await send({"type": "http.response.start", "status": status, "headers": lines})
        await send({"type": "http.response.body", "body": b""})

    app = AuthFailureMiddleware(inner, SHIPPED)
    answer = _answered(app, caplog, [])
    if answer.body:
        figures.count("answers of applications replaced")
        for challenge in _bearer(answer):
            node.check(challenge)


@given(texts, st.one_of(scopes, texts))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tool_name(
    caplog: pytest.LogCaptureFixture, node: TypeScript, figures: Figures, name: str, needed: Any
) -> None:
    """Any tool's name, plain or in base64, and any scopes that it needs, make a challenge that is one."""
    asked: list[str] = []

    def scopes_for(method: str, tool: str) -> Any:
        asked.append(tool)
        return f"{needed} files:write" if isinstance(needed, str) else [*needed, "files:write"]

    async def unreached(scope: Message, receive: Receive, send: Send) -> None:
        raise AssertionError("it lacks a scope")

    wrapped = base64.b64encode(name.encode("utf-8", "surrogatepass")).decode()
    user = AccessToken(token="x", client_id="a", scopes=[])
    signed_in = {"user": AuthenticatedUser(user), "auth": AuthCredentials([])}
    app = AuthFailureMiddleware(RequireScopes(unreached, scopes_for), SHIPPED)
    for value in (name, f"=?base64?{wrapped}?="):
        answer = _answered(app, caplog, [("mcp-method", "tools/call"), ("mcp-name", value)], **signed_in)
        assert answer.status == 403
        node.check(*answer.lines("www-authenticate"))
        figures.count("calls of tools refused")
    assert len(asked) == 2
