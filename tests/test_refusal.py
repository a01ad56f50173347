"""One failure happening now: the exact octets, and the way back."""

import json
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from http.client import HTTPMessage
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mcp_types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError

from mcp_auth_failures import AuthFailure, Challenge, Refusal, Wording, describe_auth_failure, load_catalog
from mcp_auth_failures.challenge import scope_fault, url_fault
from mcp_auth_failures.refusal import usable_id

CATALOG = load_catalog()
REASONS = tuple(CATALOG.reasons)
METADATA = "https://mcp.example/.well-known/oauth-protected-resource"
HELP = "https://help.example/mcp"


def failure(reason: str, **changes: Any) -> AuthFailure:
    """A shipped failure in English, but for what is said."""
    return replace(Wording(env=False).describe(reason), **changes)


def full(reason: str) -> Refusal:
    """A refusal that has everything that one can have."""
    return Refusal(failure(reason), ("files:read", "files:write"), METADATA, 7, HELP)


def like(refusal: Refusal, **changes: Any) -> Refusal:
    """A refusal like another, but for what is said."""
    names = ("failure", "scopes", "resource_metadata_url", "request_id", "help_url")
    return Refusal(**{name: getattr(refusal, name) for name in names} | changes)


# --- what is sent ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", REASONS)
def test_body(reason: str) -> None:
    """The body is a JSON-RPC error whose code is the status, with what a client can act on in its data."""
    it = CATALOG[reason].failure
    assert full(reason).body.decode() == (
        '{"jsonrpc":"2.0","id":7,"error":{'
        f'"code":{it.status},"message":"{it.message}",'
        f'"data":{{"reason":"{reason}","action":"{it.action}","recoverable":{str(it.recoverable).lower()},'
        f'"language":"en","scope":"files:read files:write","help":"{HELP}"}}}}}}'
    )


def test_smallest_body() -> None:
    """Without an id, scopes and help the id is there and null, and the data says no more than it knows."""
    assert Refusal(failure("expired")).body.decode() == (
        '{"jsonrpc":"2.0","id":null,"error":{"code":401,"message":"The access token has expired. A client that holds a '
        "refresh token should renew it and retry; if renewal also fails, ask the user to reconnect this MCP server in "
        'their assistant\'s connector settings.","data":{"reason":"expired","action":"refresh","recoverable":true,'
        '"language":"en"}}}'
    )


@pytest.mark.parametrize(
    ("reason", "status", "challenge"),
    [
        ("no_token", 401, f'Bearer scope="files:read files:write", resource_metadata="{METADATA}"'),
        *(
            (
                reason,
                status,
                f'Bearer error="{error}", scope="files:read files:write", resource_metadata="{METADATA}", '
                f'error_description="{CATALOG[reason].failure.message.replace("—", "-")}", error_uri="{HELP}"',
            )
            for reason, status, error in [
                ("expired", 401, "invalid_token"),
                ("unverified", 401, "invalid_token"),
                ("incomplete", 401, "invalid_token"),
                ("insufficient_scope", 403, "insufficient_scope"),
            ]
        ),
        ("not_provisioned", 503, None),
        ("surface_disabled", 503, None),
    ],
)
def test_status_and_headers(reason: str, status: int, challenge: str | None) -> None:
    """Each shipped reason has its status and its challenge, and no header but these."""
    refusal = full(reason)
    assert refusal.status == status
    login = {"WWW-Authenticate": challenge, "Access-Control-Expose-Headers": "WWW-Authenticate"} if challenge else {}
    assert refusal.headers == {
        "Content-Type": "application/json",
        "Content-Length": str(len(refusal.body)),
        "Content-Language": "en",
        "Vary": "Accept-Language",
        "Cache-Control": "no-store",
        **login,
    }
    assert refusal.raw_headers == [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]


def test_challenge_without_a_parameter_has_no_trailing_space() -> None:
    """A bare challenge that knows nothing is the scheme alone: h11 refuses ``Bearer `` and the whole answer with it."""
    assert Refusal(failure("no_token")).headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("reason", REASONS)
def test_text_without_a_language_has_no_content_language(reason: str) -> None:
    """An operator's one text for every language claims to be in none."""
    refusal = Refusal(failure(reason, language=None))
    assert "Content-Language" not in refusal.headers
    assert refusal.json_rpc_error["data"]["language"] is None


@pytest.mark.parametrize(
    "text", ["„Abgelaufen“ – erneuern", "访问令牌已过期。", "انتهت صلاحية الرمز", "\N{KEY} \U0010ffff", '"\\']
)
def test_text_travels_as_raw_utf_8(text: str) -> None:
    """Clients that show the body as it is show letters, never escapes; the length is that of the octets."""
    refusal = Refusal(failure("expired", message=text, language="de"))
    assert b"\\u" not in refusal.body
    assert json.loads(refusal.body)["error"]["message"] == text
    assert refusal.headers["Content-Length"] == str(len(refusal.body))
    assert all(value.isascii() for value in refusal.headers.values())


@pytest.mark.parametrize(
    ("given", "echoed"),
    [
        (0, 0),
        (-1, -1),
        (2**53 - 1, 2**53 - 1),
        (-(2**53) + 1, -(2**53) + 1),
        (2**53, None),
        (-(2**53), None),
        (10**400, None),
        ("", ""),
        ("0", "0"),
        ('é\N{KEY}\x00\n"\\', 'é\N{KEY}\x00\n"\\'),
        ("x" * 256, "x" * 256),
        ("x" * 257, None),
        ("\ud800", None),
        ("a\udfffb", None),
        (None, None),
        (True, None),
        (False, None),
        (1.0, None),
        (float("nan"), None),
        ({"a": "b"}, None),
        ([7], None),
        (b"7", None),
    ],
)
def test_id(given: object, echoed: int | str | None) -> None:
    """An id comes back as it was, of its own type, where every client can read it; any other becomes null."""
    refusal = Refusal(failure("expired"), request_id=given)
    there = json.loads(refusal.body)["id"]
    assert (there, type(there)) == (echoed, type(echoed))
    assert (refusal.request_id, usable_id(given)) == (echoed, echoed)


@pytest.mark.parametrize("reason", REASONS)
def test_json_rpc_error_is_that_of_the_body(reason: str) -> None:
    """What a server without HTTP sends is what HTTP sends; changing it changes no other."""
    refusal = full(reason)
    assert refusal.json_rpc_error == json.loads(refusal.body)["error"]
    refusal.json_rpc_error["data"]["reason"] = "another"
    assert refusal.json_rpc_error["data"]["reason"] == reason


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scopes": ["a b"]}, "scope: 'a b' is not a scope-token: printable ASCII without space, '\"' and '\\'"),
        ({"scopes": ["ok", ""]}, "scope: '' is not a scope-token: printable ASCII without space, '\"' and '\\'"),
        ({"scopes": ["é"]}, "scope: 'é' is not a scope-token: printable ASCII without space, '\"' and '\\'"),
        (
            {"scopes": ["x-error=1"]},
            "scope: 'x-error=1' contains 'error=', which clients would read as that parameter",
        ),
        ({"scopes": "files:read"}, "scope is a sequence of scope-tokens, not the text 'files:read'"),
        (
            {"resource_metadata_url": "http://mcp.example/"},
            "resource_metadata: 'http://mcp.example/' is not an absolute https URL (http is for loopback alone)",
        ),
        (
            {"resource_metadata_url": "https://mcp.example/\r\nSet-Cookie: a=b"},
            "resource_metadata: 'https://mcp.example/\\r\\nSet-Cookie: a=b' is not a URL of at most 2,048 printable "
            "ASCII characters",
        ),
        (
            {"resource_metadata_url": "https://u:p@mcp.example/"},
            "resource_metadata: 'https://u:p@mcp.example/' has user information or a fragment",
        ),
        (
            {"resource_metadata_url": "https://mcp.example/?SCOPE=x"},
            "resource_metadata: 'https://mcp.example/?SCOPE=x' contains 'SCOPE=', which clients would read as that "
            "parameter",
        ),
        (
            {"help_url": "//help.example/"},
            "help_url: '//help.example/' is not an absolute https URL (http is for loopback alone)",
        ),
        ({"help_url": "https:///x"}, "help_url: 'https:///x' names no host"),
    ],
)
@pytest.mark.parametrize("reason", REASONS)
def test_what_cannot_stand_in_a_challenge(reason: str, arguments: dict[str, Any], message: str) -> None:
    """A scope or URL that cannot stand in a challenge is refused, also where this reason sends none."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is asserted
        Refusal(failure(reason), **arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize("reason", REASONS)
def test_offline_access_is_never_asked_for(reason: str) -> None:
    """``offline_access`` asks for a refresh token and grants nothing here: it is nowhere, alone or with others."""
    for scopes in (["offline_access"], ["files:read", "offline_access"]):
        refusal = Refusal(failure(reason), tuple(scopes))
        assert "offline_access" not in f"{refusal.headers} {refusal.body!r} {refusal.tool_result}"
    assert Refusal(failure(reason), ("offline_access",)) == Refusal(failure(reason))


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize(
    ("count", "kept"), [(152, {"scope", "resource_metadata"}), (1000, {"resource_metadata"})], ids=["many", "too many"]
)
def test_many_scopes(reason: str, count: int, kept: set[str]) -> None:
    """The header stays under 4 kB: the description goes first, the error and the metadata never; the body has all."""
    scopes = tuple(f"https://api.example/{n:04}" for n in range(count))
    refusal = Refusal(failure(reason), scopes, METADATA, 7, HELP)
    assert refusal.json_rpc_error["data"]["scope"] == " ".join(scopes)
    if value := refusal.headers.get("WWW-Authenticate"):
        challenge = Challenge.from_header(value)
        assert len(value) < 4096
        assert challenge
        assert challenge.scope == (scopes if "scope" in kept else ())
        assert challenge.resource_metadata == METADATA
        assert challenge.error == (None if reason == "no_token" else failure(reason).challenge)
        assert challenge.error_description is None


# --- in a tool's result ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", REASONS)
def test_tool_result(reason: str) -> None:
    """A tool answers with the sentence, the data, and a list of challenges where a login can help."""
    it = failure(reason)
    described = it.message.replace("—", "-")
    challenge = (
        f'Bearer error="{it.challenge}", scope="files:read files:write", resource_metadata="{METADATA}", '
        f'error_description="{described}", error_uri="{HELP}"'
    )
    assert full(reason).tool_result == {
        "content": [{"type": "text", "text": it.message}],
        "isError": True,
        "_meta": {
            "mcp-auth-failures/failure": {
                "reason": reason,
                "action": it.action,
                "recoverable": it.recoverable,
                "language": "en",
                "scope": "files:read files:write",
                "help": HELP,
            },
            **({"mcp/www_authenticate": [challenge]} if it.recoverable else {}),
        },
    }


@pytest.mark.parametrize("reason", [reason for reason in REASONS if CATALOG[reason].failure.recoverable])
@pytest.mark.parametrize("count", [0, 1, 152, 1000])
def test_tool_result_always_describes_its_error(reason: str, count: int) -> None:
    """ChatGPT starts no login without both an error and a description, however many scopes there are."""
    refusal = Refusal(failure(reason), tuple(f"https://api.example/{n:04}" for n in range(count)), METADATA)
    challenges: Any = refusal.tool_result["_meta"]["mcp/www_authenticate"]
    assert len(challenges) == 1
    challenge = Challenge.from_header(challenges[0])
    assert challenge
    assert challenge.error == failure(reason).challenge
    assert challenge.error_description == failure(reason).message.replace("—", "-")


@pytest.mark.parametrize("reason", REASONS)
def test_official_types_accept_the_tool_result(reason: str) -> None:
    """The official types read it as a ``CallToolResult``, and lose nothing of it."""
    result = mcp_types.CallToolResult.model_validate(full(reason).tool_result)
    assert result.is_error
    written = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert {name: written[name] for name in full(reason).tool_result} == full(reason).tool_result


@pytest.mark.parametrize("reason", REASONS)
def test_official_types_accept_the_body(reason: str) -> None:
    """The official types read the body as a JSON-RPC error, with and without an id."""
    for refusal in (full(reason), Refusal(failure(reason))):
        message = mcp_types.jsonrpc_message_adapter.validate_json(refusal.body, by_name=False)
        assert isinstance(message, mcp_types.JSONRPCError)
        assert message.error.model_dump() == refusal.json_rpc_error


# --- the way back ---------------------------------------------------------------------------------------------------

_SCOPE_CHARACTERS = "".join(map(chr, [0x21, *range(0x23, 0x5C), *range(0x5D, 0x7F)]))
scopes = st.text(_SCOPE_CHARACTERS, min_size=1, max_size=40).filter(lambda scope: not scope_fault(scope))
urls = st.builds(
    "{}/{}".format,
    st.sampled_from(
        ["https://mcp.example", "https://xn--e1afmkfd.example:8443", "http://127.0.0.1:8000", "http://[::1]"]
    ),
    st.text(_SCOPE_CHARACTERS, max_size=60),
).filter(lambda url: not url_fault(url))
ids = st.none() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=256)
refusals = st.builds(
    Refusal,
    st.builds(
        failure,
        st.sampled_from(REASONS),
        message=st.text(),
        language=st.sampled_from([None, "en", "de-AT", "zh-Hant", "sl-Latn-IT-rozaj-biske-1994-x-resia-vallon"]),
        description=st.sampled_from([None, "For developers, in ASCII."]),
    ),
    scopes=st.lists(scopes | st.just("offline_access"), max_size=200).map(tuple),
    resource_metadata_url=st.none() | urls,
    request_id=ids,
    help_url=st.none() | urls,
)

Headers = dict[str, str]


def urllib_headers(headers: Headers) -> HTTPMessage:
    """Headers as the standard library's own HTTP client has them: neither a ``Mapping`` nor pairs."""
    message = HTTPMessage()
    for name, value in headers.items():
        message[name] = value
    return message


SHAPES: dict[str, Callable[[Headers], Any]] = {
    "mapping": dict,
    "lower-case mapping": lambda headers: {name.lower(): value for name, value in headers.items()},
    "pairs of text": lambda headers: list(headers.items()),
    "pairs of octets": lambda headers: [(name.encode(), value.encode()) for name, value in headers.items()],
    "urllib": urllib_headers,
    "iterator": lambda headers: iter(headers.items()),
    "with others": lambda headers: [("Server", "x"), *headers.items(), ("WWW-Authenticate", 'Basic realm="x"')],
}


@given(refusals, st.sampled_from(sorted(SHAPES)), st.booleans())
def test_response_comes_back(refusal: Refusal, shape: str, as_text: bool) -> None:
    """What a server sends a client reads back as an equal refusal, however its HTTP library holds headers and body."""
    body = refusal.body.decode() if as_text else refusal.body
    read = Refusal.from_response(refusal.status, SHAPES[shape](refusal.headers), body)
    assert read == refusal
    assert hash(read) == hash(refusal)
    assert read
    assert (read.status, read.body) == (refusal.status, refusal.body)


@given(refusals, st.sampled_from(["dict", "attributes", "MCPError"]))
def test_error_comes_back(refusal: Refusal, shape: str) -> None:
    """What an SDK's exception carries is read back whole; the id and the header are no part of it."""
    error: Any = refusal.json_rpc_error
    if shape == "attributes":
        error = SimpleNamespace(**error)
    elif shape == "MCPError":
        error = MCPError(**error)
    assert Refusal.from_error(error) == like(refusal, request_id=None, resource_metadata_url=None)


@pytest.mark.parametrize("reason", REASONS)
def test_tool_result_data_is_that_of_the_error(reason: str) -> None:
    """A client reads a tool's refusal with the same function: its text is the message."""
    result = full(reason).tool_result
    error = {"message": result["content"][0]["text"], "data": result["_meta"]["mcp-auth-failures/failure"]}
    assert Refusal.from_error(error) == like(full(reason), request_id=None, resource_metadata_url=None)


def test_host_catalog_comes_back(tmp_path: Path) -> None:
    """A reason of a host's own catalog is read back with that catalog, and is unknown without it."""
    own = tmp_path / "catalog.yaml"
    own.write_text(
        Path(str(CATALOG.path)).read_text(encoding="utf-8")
        + """
  over_quota:
    meaning: "Too many calls."
    challenge: invalid_token
    action: contact_operator
    status: 429
    header: none
    message: "The quota of this server is used up."
    note: "Said to the assistant."
    placeholders: []
""",
        encoding="utf-8",
    )
    catalog = load_catalog(own)
    refusal = Wording(catalog, env=False).refusal("over_quota", request_id="x")
    assert refusal.status == 429
    assert Refusal.from_response(429, refusal.headers, refusal.body, catalog=catalog) == refusal
    assert Refusal.from_error(refusal.json_rpc_error, catalog=catalog) == like(refusal, request_id=None)
    assert Refusal.from_response(429, refusal.headers, refusal.body) is None
    assert Refusal.from_error(refusal.json_rpc_error) is None


GOOD: dict[str, Any] = json.loads(full("expired").body)


def changed(**changes: object) -> dict[str, Any]:
    """The data of a good body, but for what is said."""
    return {**GOOD, "error": {**GOOD["error"], "data": {**GOOD["error"]["data"], **changes}}}


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (200, GOOD),
        (204, GOOD),
        (302, GOOD),
        (401, [GOOD]),
        (401, {"error": "invalid_token", "error_description": "Authentication required"}),
        (401, {"jsonrpc": "2.0", "id": 1, "result": GOOD["error"]}),
        (404, {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Session not found"}}),
        (401, {**GOOD, "error": {**GOOD["error"], "message": None}}),
        (401, {**GOOD, "error": {**GOOD["error"], "message": ["text"]}}),
        (401, {**GOOD, "error": {**GOOD["error"], "data": None}}),
        (401, {**GOOD, "error": {**GOOD["error"], "data": "expired"}}),
        (401, changed(reason="unheard_of")),
        (401, changed(reason=None)),
        (401, changed(reason=["expired"])),
        (401, changed(reason={"a": "b"})),
        (401, changed(action="retry")),
        (401, changed(action=["refresh"])),
        (401, changed(recoverable="yes")),
        (401, changed(recoverable=1)),
        (401, changed(language=7)),
        (401, changed(language="en\r\nSet-Cookie: a=b")),
        (401, changed(language="\ud800")),
        (401, {**GOOD, "error": {**GOOD["error"], "message": "\ud800"}}),
        (401, None),
        (401, "expired"),
        (401, 401),
    ],
)
def test_foreign_answer_is_none_of_ours(status: int, content: object) -> None:
    """Where an answer has not our shape, or no known reason, there is no refusal to read."""
    assert Refusal.from_response(status, {}, json.dumps(content)) is None
    if status == 401 and isinstance(content, dict) and "error" in content:
        assert Refusal.from_error(content["error"]) is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        "",
        b"<html>401</html>",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b"null",
        b"{",
        b"[" * 200_000,
        b'{"error":' * 100_000,
        b'{"error":' + b"9" * 5_000 + b"}",
        b'{"error":NaN}',
        None,
        7,
        object(),
        {"error": {}},
    ],
    ids=lambda body: f"{body!r:.20}",
)
def test_what_is_no_json_is_none_of_ours(body: Any) -> None:
    """A body that cannot be read raises nothing."""
    assert Refusal.from_response(401, {}, body) is None


class Hostile:
    """An object that raises whatever is asked of it."""

    def __getattr__(self, name: str) -> object:
        raise AttributeError(name) if name.startswith("__") else KeyError(name)


@pytest.mark.parametrize(
    "headers",
    [
        None,
        7,
        "WWW-Authenticate: Bearer",
        b"octets",
        [],
        [None],
        [("one",)],
        [("WWW-Authenticate", None)],
        [(7, 7)],
        {"WWW-Authenticate": ["Bearer"]},
        {b"WWW-Authenticate": b"\xff\xfe"},
        {"WWW-Authenticate": 'Bearer resource_metadata="javascript:alert(1)", scope="a\\"b", error_description="\x00"'},
        SimpleNamespace(items=None),
        SimpleNamespace(items=7),
        dict,
        Hostile(),
    ],
    ids=lambda headers: f"{headers!r:.40}".partition(" object")[0],
)
def test_headers_that_cannot_be_read(headers: Any) -> None:
    """Whatever the headers are, the body alone makes the refusal, and what it lacks is left out."""
    read = Refusal.from_response(401, headers, full("expired").body)
    assert read == like(full("expired"), resource_metadata_url=None)


@pytest.mark.parametrize("error", [None, 7, "text", [], {}, object, Hostile(), SimpleNamespace(error=Hostile())])
def test_error_that_cannot_be_read(error: object) -> None:
    """Whatever is given for an error, nothing is raised."""
    assert Refusal.from_error(error) is None


any_text = st.text(st.characters(codec=None), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)


def mostly(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """What belongs there, and now and then anything."""
    return st.integers(0, 9).flatmap(lambda n: usual if n else json_values)


data = {
    "reason": mostly(st.sampled_from(REASONS)),
    "action": mostly(st.sampled_from(tuple(CATALOG.actions))),
    "recoverable": mostly(st.booleans()),
    "language": mostly(st.sampled_from(["en", None]) | any_text),
    "scope": mostly(any_text),
    "help": mostly(urls | any_text),
}
error = {"code": json_values, "message": mostly(any_text), "data": mostly(st.fixed_dictionaries(data))}
bodies = st.fixed_dictionaries({"id": json_values, "error": mostly(st.fixed_dictionaries(error))})
any_headers = st.lists(
    st.tuples(st.sampled_from(["WWW-Authenticate", "x"]), st.text() | st.text(_SCOPE_CHARACTERS + ' ,"=')), max_size=3
)


@given(st.integers(), any_headers | any_headers.map(dict), st.binary() | st.text() | json_values.map(json.dumps))
def test_nothing_raises(status: int, headers: Any, body: bytes | str) -> None:
    """Whatever a server sends, reading it raises nothing, and what is no refusal is none."""
    assert Refusal.from_response(status, headers, body) is None


@settings(max_examples=300)
@given(any_headers, bodies)
def test_what_is_read_can_be_sent_on(headers: list[tuple[str, str]], content: dict[str, Any]) -> None:
    """A refusal read from anywhere is as whole as one that was made: a gateway can send it on."""
    for read in (Refusal.from_response(401, headers, json.dumps(content)), Refusal.from_error(content["error"])):
        if read is not None:
            assert json.loads(read.body)["error"] == read.json_rpc_error
            assert all(value.isascii() and value.isprintable() for value in read.headers.values())
            assert Refusal.from_response(read.status, read.headers, read.body) == read
            assert read.tool_result["isError"]


# --- one refusal does not touch another -----------------------------------------------------------------------------


def test_what_was_read_changes_nothing_that_is_made() -> None:
    """A server's own description never comes from an answer that the same process read as a client."""
    own = Refusal(failure("expired"), ("never:asked:before",))
    body = Refusal(failure("expired"), ("asked:before",)).body.replace(b"asked:before", b"never:asked:first")
    foreign = 'Bearer error="invalid_token", scope="never:asked:first", error_description="Call 555-0100 now."'
    assert Refusal.from_response(401, {"WWW-Authenticate": foreign}, body)
    made = Refusal(failure("expired"), ("never:asked:first",))
    assert made.headers["WWW-Authenticate"] == own.headers["WWW-Authenticate"].replace("before", "first")


def test_each_refusal_has_its_own_description() -> None:
    """Two wordings that differ in the English for developers alone differ in the header."""
    for description in ("One.", "Another.", None):
        refusal = Refusal(failure("incomplete", message="Unvollständig.", language="de", description=description))
        expected = 'Bearer error="invalid_token"' + (f', error_description="{description}"' if description else "")
        assert refusal.headers["WWW-Authenticate"] == expected


def test_reading_keeps_nothing() -> None:
    """A client that reads many refusals remembers none: what servers send does not fill its memory."""
    body = full("expired").body.replace(b"The access token", b"%d " + b"x" * 200_000)
    tracemalloc.start()
    try:
        for n in range(50):
            assert Refusal.from_response(401, {}, body % n)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000


def test_describe_is_what_is_refused() -> None:
    """``Wording.refusal`` and ``Refusal`` over ``describe_auth_failure`` are the same answer."""
    made = Refusal(describe_auth_failure("expired"), ("files:read",), METADATA, 7)
    assert Wording().refusal("expired", scopes="files:read", resource_metadata_url=METADATA, request_id=7) == made
