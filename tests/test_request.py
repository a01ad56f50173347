"""What a refused request tells about itself: read within bounds, or not at all."""

import asyncio
import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers import CALL, Answer, Headers, Message, Receive, Send, on_the_wire, serve

from mcp_auth_failures.asgi import AuthFailureMiddleware
from mcp_auth_failures.request import Request

JSON = ("content-type", "application/json")


def request_of(headers: Headers, method: str = "POST", receive: Any = None) -> Request:
    """A request that nobody has begun to read."""
    encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    return Request({"type": "http", "method": method, "path": "/mcp", "headers": encoded}, receive)


def read(
    *chunks: bytes, headers: Headers | None = None, method: str = "POST", begun: bool = False
) -> tuple[int | str | None, str | None, int]:
    """The id and the locale of one request, and how often it was asked for its body. More than the body never comes."""
    messages: list[Message] = [
        {"type": "http.request", "body": chunk, "more_body": n < len(chunks)} for n, chunk in enumerate(chunks, 1)
    ]
    asked = 0

    async def receive() -> Message:
        nonlocal asked
        asked += 1
        return messages.pop(0) if messages else await asyncio.Future()

    async def main() -> tuple[int | str | None, str | None]:
        described = [JSON, ("content-length", str(len(b"".join(chunks))))] if headers is None else headers
        request = request_of(described, method, receive)
        if begun:
            messages.insert(0, {"type": "http.request", "body": b"", "more_body": True})
            await request.receive()
        return await request.read()

    return (*asyncio.run(main()), asked - begun)


def padded(length: int) -> bytes:
    """A JSON-RPC request of exactly that many octets."""
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "x", "pad": ""}).encode()
    return body[:-2] + b"x" * (length - len(body)) + body[-2:]


# --- when the body is read ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "length"),
    [
        ([], 64),
        ([], 65_535),
        ([], 65_536),
        ([("content-type", "application/json; charset=utf-8")], 100),
        ([("content-type", "application/json;charset=utf-8")], 100),
        ([("content-type", "Application/JSON \t; x=y")], 100),
    ],
)
def test_body_that_is_read(headers: list[tuple[str, str]], length: int) -> None:
    """A POST of JSON with an announced length of at most 65,536 octets is read."""
    described = [*(headers or [JSON]), ("content-length", str(length))]
    assert read(padded(length), headers=described) == (7, None, 1)


BODY = padded(100)


@pytest.mark.parametrize(
    ("headers", "method"),
    [
        ([JSON, ("content-length", "100")], "GET"),
        ([JSON, ("content-length", "100")], "HEAD"),
        ([JSON, ("content-length", "100")], "DELETE"),
        ([JSON, ("content-length", "100")], "PUT"),
        ([JSON], "POST"),
        ([JSON, ("transfer-encoding", "chunked")], "POST"),
        ([JSON, ("content-length", "0")], "POST"),
        ([JSON, ("content-length", "65537")], "POST"),
        ([JSON, ("content-length", "99999999999999999999")], "POST"),
        ([JSON, ("content-length", "9" * 5000)], "POST"),
        ([JSON, ("content-length", "100"), ("content-length", "100")], "POST"),
        ([JSON, ("content-length", "100, 100")], "POST"),
        *(([JSON, ("content-length", text)], "POST") for text in ("", "-1", "+100", "1e2", "0x64", "100.0")),
        ([JSON, ("content-length", "\xb2")], "POST"),
        ([JSON, ("content-length", "abc")], "POST"),
        ([JSON, ("content-length", "100"), ("expect", "100-continue")], "POST"),
        ([JSON, ("content-length", "100"), ("expect", "")], "POST"),
        ([("content-length", "100")], "POST"),
        ([("content-type", "text/plain"), ("content-length", "100")], "POST"),
        ([("content-type", "application/jsonl"), ("content-length", "100")], "POST"),
        ([("content-type", "application/json-rpc"), ("content-length", "100")], "POST"),
        ([("content-type", "text/x;y=application/json"), ("content-length", "100")], "POST"),
        ([JSON, JSON, ("content-length", "100")], "POST"),
        ([], "POST"),
    ],
)
def test_body_that_is_not_read(headers: list[tuple[str, str]], method: str) -> None:
    """Any other is not asked for its body at all: the answer is at once, with a null id."""
    assert read(BODY, headers=headers, method=method) == (None, None, 0)


def test_body_that_the_application_has_begun_to_read() -> None:
    """What the application has begun to read is not read on."""
    assert read(BODY, begun=True) == (None, None, 0)


def test_header_names_in_any_case() -> None:
    """The names of header fields are case-insensitive."""
    assert read(BODY, headers=[("Content-Type", "application/json"), ("CONTENT-LENGTH", "100")]) == (7, None, 1)


def test_body_with_a_byte_order_mark() -> None:
    """A mark that no JSON should begin with is passed over (RFC 8259 §8.1)."""
    assert read(b"\xef\xbb\xbf" + BODY) == (7, None, 1)


@pytest.mark.parametrize("size", [1, 7, 99])
def test_body_in_pieces(size: int) -> None:
    """A body in pieces is one body."""
    chunks = [BODY[start : start + size] for start in range(0, len(BODY), size)]
    assert read(*chunks) == (7, None, len(chunks))


def test_body_longer_than_announced() -> None:
    """A server that lets more through than was announced does not make us keep it."""
    announced = [JSON, ("content-length", "100")]
    assert read(*[b"x" * 10_000] * 10, headers=announced) == (None, None, 7)


class OwnError(Exception):
    """What a server may raise, and nobody has heard of."""


@pytest.mark.parametrize(
    "error",
    [ValueError(), RuntimeError(), ConnectionResetError(), TimeoutError(), EOFError(), KeyError("type"), OwnError()],
    ids=lambda error: type(error).__name__,
)
def test_server_that_raises(error: Exception) -> None:
    """Whatever goes wrong while the body is read, the id is null and the answer goes out."""

    async def receive() -> Message:
        raise error

    request = request_of([JSON, ("content-length", "100")], receive=receive)
    assert asyncio.run(request.read()) == (None, None)


@pytest.mark.parametrize(
    "messages",
    [
        [{"type": "http.disconnect"}],
        [{"type": "http.request", "body": BODY, "more_body": True}, {"type": "http.disconnect"}],
        [{"type": "http.request", "body": BODY[:50], "more_body": False}],
        [{"type": "http.request"}],
        [{"type": "http.request", "body": None}],
    ],
    ids=["at once", "in the middle", "cut short", "empty", "nothing"],
)
def test_caller_who_hangs_up(messages: list[Message]) -> None:
    """A caller who is gone has no id that could be told."""

    async def receive() -> Message:
        return messages.pop(0)

    request = request_of([JSON, ("content-length", "100")], receive=receive)
    assert asyncio.run(request.read()) == (None, None)


def test_caller_who_sends_now_and_then() -> None:
    """The second is for the whole body, not for each piece of it."""
    octets = iter(BODY)

    async def receive() -> Message:
        await asyncio.sleep(0.05)  # all of it would take five seconds
        return {"type": "http.request", "body": bytes([next(octets)]), "more_body": True}

    request = request_of([JSON, ("content-length", "100")], receive=receive)
    assert asyncio.run(request.read()) == (None, None)
    assert len(bytes(octets)) > 50


def test_body_that_comes_later() -> None:
    """A body that is not there yet is waited for, piece by piece."""
    pieces = [BODY[:50], BODY[50:]]

    async def receive() -> Message:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    assert asyncio.run(request_of([JSON, ("content-length", "100")], receive=receive).read()) == (7, None)


@pytest.mark.parametrize("pauses", [0, 1, 3])
def test_server_that_tidies_up_when_the_second_is_over(pauses: int) -> None:
    """A ``receive()`` that is not waited for any longer may wait once more itself before it is gone."""
    tidied = []

    async def receive() -> Message:
        try:
            return await asyncio.Future()
        finally:
            for _ in range(pauses):
                await asyncio.sleep(0.01)
            tidied.append(True)

    assert asyncio.run(request_of([JSON, ("content-length", "100")], receive=receive).read()) == (None, None)
    assert tidied == [True]


def test_server_that_gives_up_its_own_wait() -> None:
    """A ``receive()`` with a time-out of its own, which then has the body, is read."""

    async def receive() -> Message:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.Future()
        return {"type": "http.request", "body": BODY}

    assert asyncio.run(request_of([JSON, ("content-length", "100")], receive=receive).read()) == (7, None)


def test_cancelling_twice_reaches_the_server() -> None:
    """A ``receive()`` that still tidies up is cancelled like any other wait."""
    cancelled = []

    async def receive() -> Message:
        try:
            return await asyncio.Future()
        finally:
            try:
                await asyncio.Future()
            except asyncio.CancelledError:
                cancelled.append(True)

    async def main() -> None:
        task = asyncio.create_task(request_of([JSON, ("content-length", "100")], receive=receive).read())
        for _ in range(2):
            await asyncio.sleep(0.01)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert cancelled == [True]


def test_cancelling_is_not_kept_back() -> None:
    """A server that gives a request up is obeyed."""
    waiting = asyncio.Event()

    async def receive() -> Message:
        waiting.set()
        return await asyncio.Future()

    async def main() -> None:
        task = asyncio.create_task(request_of([JSON, ("content-length", "100")], receive=receive).read())
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_other_event_loops() -> None:
    """Where there is no asyncio there is no time limit to keep, so that nothing is read."""
    coroutine = request_of([JSON, ("content-length", "100")]).read()
    with pytest.raises(StopIteration) as stopped:
        coroutine.send(None)
    assert stopped.value.value == (None, None)


# --- what the body says ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (CALL, 7),
        ({**CALL, "id": 0}, 0),
        ({**CALL, "id": ""}, ""),
        ({**CALL, "id": "é\N{KEY}"}, "é\N{KEY}"),
        ({**CALL, "id": "x" * 256}, "x" * 256),
        ({**CALL, "id": "x" * 257}, None),
        ({**CALL, "id": "\ud800"}, None),
        ({**CALL, "id": 2**53 - 1}, 2**53 - 1),
        ({**CALL, "id": 2**53}, None),
        ({**CALL, "id": 10**4000}, None),
        ({**CALL, "id": True}, None),
        ({**CALL, "id": 1.0}, None),
        ({**CALL, "id": None}, None),
        ({**CALL, "id": {"a": "b"}}, None),
        ({**CALL, "id": [1]}, None),
        ({"id": 7, "method": "x"}, 7),
        ({"jsonrpc": "2.0", "method": "notifications/initialized"}, None),
        ({"jsonrpc": "2.0", "id": 7, "result": {}}, None),
        ({"jsonrpc": "2.0", "id": 7, "method": None}, None),
        ({"jsonrpc": "2.0", "id": 7, "method": ["x"]}, None),
        ([CALL], None),
        ([CALL, CALL], None),
        ("text", None),
        (7, None),
        (None, None),
    ],
    ids=lambda value: f"{value!r:.50}",
)
def test_id(content: object, found: int | str | None) -> None:
    """The id is that of one request that has a method; a batch, a notification and a response have none to answer."""
    assert read(json.dumps(content).encode()) == (found, None, 1)


@pytest.mark.parametrize(
    "body",
    [
        b"\xff",
        b'{"id":7,"method":"x"',
        b'{"id":7,"method":"x"}}',
        b'{"id":NaN,"method":"x"}',
        b'{"id":1e999,"method":"x"}',
        b'{"id":' + b"9" * 5000 + b',"method":"x"}',
        b'{"id":"\xff","method":"x"}',
        b"[" * 65_536,
        b'{"a":' * 13_000,
        b'{"id":7,"method":"x","params":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
        b" " * 65_536,
        b"\xef\xbb\xbf{",
        b"{",
    ],
    ids=lambda body: f"{body!r:.30}",
)
def test_garbage(body: bytes) -> None:
    """What is no JSON, or none that can be read, has no id."""
    assert read(body)[:2] == (None, None)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
requests = st.fixed_dictionaries(
    {"id": json_values, "method": st.just("x") | json_values},
    optional={"params": st.dictionaries(st.just("_meta"), st.dictionaries(st.just("openai/locale"), json_values))},
)


@given(st.binary(max_size=200) | requests.map(lambda content: json.dumps(content).encode()))
def test_nothing_raises(body: bytes) -> None:
    """Whatever a caller sends, reading it raises nothing, and gives an id and a text or neither."""
    request_id, locale, _ = read(body)
    assert type(request_id) in {int, str, type(None)}
    assert type(locale) in {str, type(None)}


@pytest.mark.parametrize(
    ("params", "locale"),
    [
        ({"_meta": {"openai/locale": "de-AT"}}, "de-AT"),
        ({"_meta": {"webplus/i18n": "fr"}}, "fr"),
        ({"_meta": {"webplus/i18n": "fr", "openai/locale": "de"}}, "de"),
        ({"_meta": {"openai/locale": 7, "webplus/i18n": "fr"}}, "fr"),
        ({"_meta": {"openai/locale": ["de"]}}, None),
        ({"_meta": {"openai/locale": None}}, None),
        ({"_meta": {}}, None),
        ({"_meta": None}, None),
        ({"_meta": "openai/locale"}, None),
        ({"_meta": ["openai/locale"]}, None),
        ({"openai/locale": "de"}, None),
        ({}, None),
        (None, None),
        (["_meta"], None),
        ("_meta", None),
    ],
)
def test_locale(params: object, locale: str | None) -> None:
    """ChatGPT names its user's language in the body, under either of two names."""
    assert read(json.dumps({**CALL, "params": params}).encode()) == (7, locale, 1)


def test_locale_without_an_id() -> None:
    """A notification has no id, and its caller a language all the same."""
    content = {"jsonrpc": "2.0", "method": "x", "params": {"_meta": {"openai/locale": "de"}}}
    assert read(json.dumps(content).encode()) == (None, "de", 1)


# --- headers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "has"),
    [
        (["Bearer abc"], True),
        (["bearer abc"], True),
        (["BEARER   abc"], True),
        ([" Bearer abc "], True),
        (["Basic abc", "Bearer abc"], True),
        ([], False),
        ([""], False),
        (["Bearer"], False),
        (["Bearer "], False),
        (["Bearer    "], False),
        (["Basic abc"], False),
        (["Bearerabc"], False),
        (["Basic Bearer abc"], False),
        (["DPoP abc"], False),
        (["\xff"], False),
    ],
)
def test_bearer_credentials(values: list[str], has: bool) -> None:
    """Bearer credentials are the scheme in any case and something after it."""
    assert request_of([("authorization", value) for value in values]).has_bearer is has
    assert request_of([("Authorization", value) for value in values]).has_bearer is has


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([], None),
        (["echo"], "echo"),
        (["=?base64?w6ljaG8=?="], "écho"),
        (["=?base64??="], ""),
        (["=?base64?w6ljaG8?="], None),
        (["=?base64?*?="], None),
        (["=?base64?/w==?="], None),
        (["=?base64?w6ljaG8="], "=?base64?w6ljaG8="),
        (["x=?base64?w6ljaG8=?="], "x=?base64?w6ljaG8=?="),
    ],
)
def test_mcp_name(values: list[str], name: str | None) -> None:
    """``Mcp-Name`` is read as it is, or out of its base64 wrapping; what cannot be unwrapped says nothing."""
    assert request_of([("mcp-name", value) for value in values]).mcp_name == name


def test_scope_without_headers() -> None:
    """A server may leave the headers out."""
    request = Request({"type": "http", "method": "POST", "path": "/"}, None)  # type: ignore[arg-type]
    assert (request.header(b"accept"), request.has_bearer, request.mcp_name) == (None, False, None)
    assert asyncio.run(request.read()) == (None, None)


# --- on the wire ----------------------------------------------------------------------------------------------------


async def refusing(scope: Message, receive: Receive, send: Send) -> None:
    """An application that refuses everybody and never reads a body."""
    if scope["type"] == "http":
        headers = [(b"www-authenticate", b"Bearer")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A real server that refuses everybody, and says why."""
    with serve(AuthFailureMiddleware(refusing)) as url:
        yield url


def post(server: str, *lines: str, body: bytes = b"", method: str = "POST") -> Answer:
    """One request of these very lines; the connection stays open."""
    head = "\r\n".join([f"{method} /mcp HTTP/1.1", "Host: x", *lines, "", ""])
    return on_the_wire(server, head.encode("latin-1") + body)


LENGTH = f"Content-Length: {len(BODY)}"
TYPE = "Content-Type: application/json"


@pytest.mark.parametrize(
    ("lines", "body", "method", "found"),
    [
        ([TYPE, LENGTH], BODY, "POST", 7),
        ([TYPE, "Content-Length: 65536"], padded(65_536), "POST", 7),
        ([TYPE, "Content-Length: 65537"], padded(65_537), "POST", None),
        ([TYPE, "Content-Length: 1000000"], b"", "POST", None),
        ([TYPE, "Content-Length: 0"], b"", "POST", None),
        ([TYPE, "Transfer-Encoding: chunked"], b"64\r\n" + BODY + b"\r\n0\r\n\r\n", "POST", None),
        ([TYPE, "Transfer-Encoding: chunked"], b"", "POST", None),
        ([TYPE, LENGTH, "Expect: 100-continue"], b"", "POST", None),
        ([TYPE, LENGTH], BODY, "GET", None),
        ([TYPE, LENGTH], BODY, "DELETE", None),
        ([], b"", "GET", None),
        ([TYPE, LENGTH], b"", "POST", None),
        ([TYPE, LENGTH], BODY[:-1], "POST", None),
    ],
    ids=[
        "read",
        "largest",
        "too large",
        "too large, withheld",
        "empty",
        "chunked",
        "chunked, withheld",
        "expect",
        "GET with a body",
        "DELETE",
        "GET",
        "withheld",
        "last octet withheld",
    ],
)
def test_answer_over_a_real_server(server: str, lines: list[str], body: bytes, method: str, found: int | None) -> None:
    """Every caller is answered whole while the connection is open, whatever was announced and is still to come."""
    answer = post(server, *lines, body=body, method=method)
    assert answer.status == 401
    assert answer.content["id"] == found
    assert answer.reason == "no_token"
    assert answer.lines("content-length") == [str(len(answer.body))]
