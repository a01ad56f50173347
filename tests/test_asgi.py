"""Around any ASGI app: what is answered anew, with what, and what passes as it is."""

import asyncio
import http.client
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from servers import (
    CALL,
    CASES,
    GOOD,
    METADATA,
    SCOPES,
    TOKENS,
    Answer,
    App,
    Message,
    Receive,
    Send,
    Verifier,
    ask,
    authenticated,
    bearer,
    exchange,
    on_the_wire,
    serve,
    token,
)
from starlette.authentication import AuthCredentials, UnauthenticatedUser
from starlette.middleware.cors import CORSMiddleware

from mcp_auth_failures import Challenge, DataError, Refusal, Wording, load_catalog
from mcp_auth_failures.asgi import AuthFailureMiddleware, RequireScopes, refuse

REASONS = tuple(load_catalog().reasons)
INVALID = 'Bearer error="invalid_token"'
LACKS_SCOPE = 'Bearer error="insufficient_scope"'


@dataclass
class Inner:
    """An application that answers every request alike, after recording reasons for it."""

    status: int = 401
    challenges: Sequence[str] = (INVALID,)
    recorded: Sequence[str] = ()
    scopes: Sequence[str] = ()
    headers: Sequence[tuple[str, str]] = ()
    asked: int = 0

    def __post_init__(self) -> None:
        lines = [*(("www-authenticate", challenge) for challenge in self.challenges), *self.headers]
        self.messages: list[Message] = [
            {
                "type": "http.response.start",
                "status": self.status,
                "headers": [(name.encode(), value.encode("latin-1")) for name, value in lines],
            },
            {"type": "http.response.body", "body": b"inner", "more_body": True},
            {"type": "http.response.body", "body": b" answer"},
        ]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.asked += 1
        for reason in self.recorded:
            refuse(reason, scopes=self.scopes)
        for message in self.messages:
            await send(message)


def passed(answer: Answer, inner: Inner) -> bool:
    """Whether an application's messages went through, each as it was."""
    return [id(message) for message in answer.messages] == [id(message) for message in inner.messages]


def whole(answer: Answer, refusal: Refusal, *others: tuple[str, str]) -> bool:
    """Whether an answer is exactly this refusal, with these headers beside its own."""
    own = [(name.lower(), value) for name, value in refusal.headers.items()]
    return (answer.status, sorted(answer.headers), answer.body) == (
        refusal.status,
        sorted([*own, *others]),
        refusal.body,
    )


def english(reason: str, **arguments: Any) -> Refusal:
    """A refusal in the shipped English."""
    return Wording(env=False).refusal(reason, **arguments)


# --- what it touches, and which reason it gives ---------------------------------------------------------------------

NONE, SOME = bearer(None), bearer("x")


@pytest.mark.parametrize(
    ("inner", "credentials", "reason"),
    [
        # a Bearer challenge of RFC 6750, in any spelling
        (Inner(challenges=["Bearer"]), NONE, "no_token"),
        (Inner(challenges=["bearer"]), SOME, "unverified"),
        (Inner(challenges=['Bearer realm="x"']), NONE, "no_token"),
        (Inner(challenges=['Bearer error=""']), NONE, "no_token"),
        (Inner(challenges=['BEARER Error = "invalid_token"']), NONE, "no_token"),
        (Inner(challenges=["Bearer error=invalid_token"]), SOME, "unverified"),
        (Inner(challenges=["Bearer", INVALID]), SOME, "unverified"),
        (Inner(challenges=[LACKS_SCOPE]), SOME, "unverified"),
        (Inner(403, [LACKS_SCOPE]), SOME, "insufficient_scope"),
        (Inner(403, [LACKS_SCOPE]), NONE, "insufficient_scope"),
        (Inner(403, ["Bearer"]), SOME, "unverified"),
        (Inner(403, [INVALID]), NONE, "no_token"),
        # the credentials
        (Inner(), [("authorization", "Basic eDp5")], "no_token"),
        (Inner(), [("authorization", "Bearer")], "no_token"),
        (Inner(), [("authorization", "Bearer ")], "no_token"),
        (Inner(), [("authorization", "bEARER  x")], "unverified"),
        # what was recorded
        *((Inner(recorded=[reason]), SOME, reason) for reason in REASONS),
        *((Inner(recorded=[reason]), NONE, reason) for reason in REASONS),
        *((Inner(challenges=[], recorded=[reason]), SOME, reason) for reason in REASONS),
        (Inner(403, [INVALID], recorded=["expired"]), SOME, "expired"),
        (Inner(403, [LACKS_SCOPE], recorded=["expired"]), SOME, "insufficient_scope"),
        (Inner(403, [LACKS_SCOPE], recorded=["not_provisioned"]), SOME, "insufficient_scope"),
        (Inner(401, [LACKS_SCOPE], recorded=["expired"]), SOME, "expired"),
        (Inner(recorded=["unverified", "expired"]), SOME, "expired"),
        (Inner(recorded=["expired", "unverified"]), SOME, "expired"),
        (Inner(recorded=["incomplete", "expired"]), SOME, "incomplete"),
        (Inner(recorded=["unverified", "unverified"]), NONE, "unverified"),
        (Inner(recorded=["unheard_of"]), SOME, "unverified"),
        (Inner(recorded=["unheard_of"]), NONE, "no_token"),
        (Inner(recorded=["unheard_of", "unverified", "expired"]), SOME, "expired"),
    ],
    ids=repr,
)
def test_which_reason(inner: Inner, credentials: list[tuple[str, str]], reason: str) -> None:
    """A refusal is answered anew: its reason's status, challenge and sentence, and the request's own id."""
    answer = ask(AuthFailureMiddleware(inner), headers=credentials, content=CALL)
    assert whole(answer, english(reason, request_id=7))
    assert len(answer.messages) == 2


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "PUT", "HEAD"])
@pytest.mark.parametrize(
    "inner",
    [
        *(
            Inner(status, [INVALID], recorded=["expired"])
            for status in (200, 202, 204, 302, 400, 402, 404, 405, 407, 409, 429, 500, 501, 503)
        ),
        Inner(401, []),
        Inner(401, ["Basic realm=x"]),
        Inner(401, ["Basic realm=x"], recorded=["expired"]),
        Inner(401, ['DPoP error="invalid_token"'], recorded=["expired"]),
        Inner(403, []),
        Inner(403, [], recorded=["insufficient_scope"]),
        Inner(403, ["Basic realm=x"], recorded=["insufficient_scope"]),
        *(
            Inner(status, [f'Bearer error="{error}", acr_values="x"'], recorded=["expired"])
            for status in (401, 403)
            for error in ("insufficient_user_authentication", "invalid_request", "use_dpop_nonce", "Invalid_Token", "x")
        ),
        Inner(401, ["Bearer", 'Bearer error="insufficient_user_authentication"'], recorded=["expired"]),
    ],
    ids=repr,
)
def test_what_is_not_ours(inner: Inner, method: str) -> None:
    """Every other answer passes message for message, whatever was recorded."""
    assert passed(ask(AuthFailureMiddleware(inner), method=method), inner)


@pytest.mark.parametrize("recorded", [[], ["expired"], ["surface_disabled"]])
@pytest.mark.parametrize("challenges", [[], [INVALID]])
def test_preflight_is_not_ours(challenges: list[str], recorded: list[str]) -> None:
    """OPTIONS passes, refused or not: a browser's preflight carries no credentials."""
    inner = Inner(401, challenges, recorded)
    assert passed(ask(AuthFailureMiddleware(inner, gate=lambda scope: "expired"), method="OPTIONS"), inner)


@pytest.mark.parametrize("kind", ["lifespan", "websocket", "something_new"])
def test_other_protocols_are_not_ours(kind: str) -> None:
    """Anything but HTTP is the application's own, with the server's very scope, receive and send."""
    seen: list[object] = []

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        seen.extend([scope, receive, send])

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        raise AssertionError

    scope = {"type": kind}
    app = AuthFailureMiddleware(inner, gate=lambda scope: "surface_disabled")
    asyncio.run(app(scope, receive, send))
    assert [id(it) for it in seen] == [id(scope), id(receive), id(send)]


def test_lifespan_over_a_real_server() -> None:
    """The application starts and stops with the server."""
    told: list[str] = []

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        while scope["type"] == "lifespan" and told[-1:] != ["lifespan.shutdown"]:
            told.append((await receive())["type"])
            await send({"type": f"{told[-1]}.complete"})

    with serve(AuthFailureMiddleware(inner)):
        assert told == ["lifespan.startup"]
    assert told == ["lifespan.startup", "lifespan.shutdown"]


def test_response_that_has_started_is_not_ours() -> None:
    """What is sent after an answer has started goes through, even where it is a refusal."""
    inner = Inner(200, [])
    inner.messages += Inner(401, [INVALID]).messages
    assert passed(ask(AuthFailureMiddleware(inner)), inner)


def test_messages_before_the_response_pass() -> None:
    """What comes before an answer (an early hint) goes through; the refusal after it is answered anew."""
    inner = Inner()
    hint: Message = {"type": "http.response.early_hint", "links": []}
    inner.messages.insert(0, hint)
    answer = ask(AuthFailureMiddleware(inner), content=CALL)
    assert answer.messages[0] is hint
    assert answer.messages[1:] == ask(AuthFailureMiddleware(Inner()), content=CALL).messages


def test_answer_without_headers() -> None:
    """An answer may have no headers at all."""
    inner = Inner()
    inner.recorded = ["expired"]
    del inner.messages[0]["headers"]
    assert whole(ask(AuthFailureMiddleware(inner), content=CALL), english("expired", request_id=7))
    inner.recorded = []
    assert passed(ask(AuthFailureMiddleware(inner)), inner)


@pytest.mark.parametrize("challenge", ["Bearer", "Basic realm=x"])
def test_headers_that_can_be_read_once(challenge: str) -> None:
    """ASGI asks no more of headers than to be an iterable: looking at them uses up none."""

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        lines = [(b"www-authenticate", challenge.encode()), (b"x-request-id", b"1")]
        await send({"type": "http.response.start", "status": 401, "headers": iter(lines)})
        await send({"type": "http.response.body", "body": b""})

    answer = ask(AuthFailureMiddleware(inner))
    assert answer.lines("x-request-id") == ["1"]
    assert answer.lines("www-authenticate") == [challenge]


def test_inner_failure_is_the_servers() -> None:
    """What the application raises reaches the server: before an answer, and after one that was answered anew."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def raises(scope: Message, receive: Receive, send: Send) -> None:
        if scope["path"] == "/late":
            await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
        raise LookupError("of the application")

    for path, count in ("/early", 0), ("/late", 2):
        scope = {"type": "http", "method": "POST", "path": path, "headers": []}
        with pytest.raises(LookupError, match="of the application"):
            asyncio.run(AuthFailureMiddleware(raises)(scope, receive, send))
        assert len(sent) == count


# --- headers --------------------------------------------------------------------------------------------------------


def test_other_challenges_stay() -> None:
    """Challenges of other schemes stay as they were written, each on its own line after ours; its own Bearer goes."""
    inner = Inner(
        challenges=[
            'Negotiate, Basic realm="a, \\"b\\"", Bearer realm="x", error="invalid_token"',
            'DPoP algs="ES256 PS256", error="invalid_token"',
            "bearer",
        ]
    )
    lines = ask(AuthFailureMiddleware(inner), headers=SOME).lines("www-authenticate")
    assert lines == [
        english("unverified").headers["WWW-Authenticate"],
        "Negotiate",
        'Basic realm="a, \\"b\\""',
        'DPoP algs="ES256 PS256", error="invalid_token"',
    ]


@pytest.mark.parametrize("reason", ["not_provisioned", "surface_disabled"])
def test_no_challenge_where_no_login_helps(reason: str) -> None:
    """A deployment's own reason takes every challenge away, so that no client starts a login."""
    answer = ask(AuthFailureMiddleware(Inner(challenges=[INVALID, "Basic realm=x"], recorded=[reason])), content=CALL)
    assert whole(answer, english(reason, request_id=7))


def test_headers_of_the_inner_answer() -> None:
    """What describes the inner body goes, in any case of letters; all else stays, line for line and in order."""
    gone = [
        "Content-Type",
        "content-length",
        "Content-Language",
        "CONTENT-ENCODING",
        "Content-Range",
        "Content-Disposition",
        "Content-Security-Policy",
        "Transfer-Encoding",
        "ETag",
        "Last-Modified",
        "Trailer",
        "Retry-After",
        "Cache-Control",
    ]
    stays = [
        ("set-cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("x-request-id", "\xe9"),
        ("access-control-allow-origin", "https://app.example"),
        ("date", "Mon, 30 Nov 2026 00:00:00 GMT"),
        ("contents", "x"),
        ("strict-transport-security", "max-age=1"),
    ]
    inner = Inner(headers=[*((name, "x") for name in gone), *stays])
    answer = ask(AuthFailureMiddleware(inner), headers=SOME, content=CALL)
    assert whole(answer, english("unverified", request_id=7), *stays)
    assert [header for header in answer.headers if header in stays] == stays


@pytest.mark.parametrize(
    ("theirs", "merged"),
    [
        ([], "OURS"),
        (["Origin"], "Origin, OURS"),
        (["Origin, Cookie", "X-A"], "Origin, Cookie, X-A, OURS"),
        (["OURS"], "OURS"),
        (["Origin,  ours , X-A"], "Origin, ours, X-A"),
        (["*"], "*"),
        (["", " , "], "OURS"),
    ],
)
@pytest.mark.parametrize(
    ("name", "ours"), [("vary", "Accept-Language"), ("access-control-expose-headers", "WWW-Authenticate")]
)
def test_merged_headers(name: str, ours: str, theirs: list[str], merged: str) -> None:
    """``Vary`` and ``Access-Control-Expose-Headers`` gain ours and lose nothing, in one line, without doubles."""
    lines = [(name.title(), value.replace("OURS", ours).replace("ours", ours.lower())) for value in theirs]
    answer = ask(AuthFailureMiddleware(Inner(headers=lines)))
    assert answer.lines(name) == [merged.replace("OURS", ours).replace("ours", ours.lower())]


def test_expose_headers_without_a_challenge() -> None:
    """Where no challenge is sent, what the application exposes stays as it was."""
    lines = [("access-control-expose-headers", "Mcp-Session-Id")]
    inner = Inner(recorded=["not_provisioned"], headers=lines)
    assert whole(ask(AuthFailureMiddleware(inner)), english("not_provisioned"), *lines)


def test_head_gets_the_headers_and_no_body() -> None:
    """HEAD is told what GET would be, the length included."""
    app = AuthFailureMiddleware(Inner(recorded=["expired"]))
    get, head = ask(app, method="GET"), ask(app, method="HEAD")
    assert (head.status, head.headers, head.body) == (get.status, get.headers, b"")
    assert head.lines("content-length") == [str(len(get.body))]


# --- when it answers ------------------------------------------------------------------------------------------------


def test_refusal_that_never_ends() -> None:
    """A refusal that streams for ever is answered whole at its start, and the application is let go on."""

    async def main() -> None:
        sent: list[Message] = []
        answered, later = asyncio.Event(), asyncio.Event()

        async def inner(scope: Message, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
            for n in range(sys.maxsize):
                await send({"type": "http.response.body", "body": b"x", "more_body": True})
                if n == 1000:
                    later.set()
                await asyncio.sleep(0)

        async def receive() -> Message:
            return await asyncio.Future()

        async def send(message: Message) -> None:
            sent.append(message)
            if message["type"] == "http.response.body":
                answered.set()

        scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        task = asyncio.create_task(AuthFailureMiddleware(inner)(scope, receive, send))
        await answered.wait()
        assert not later.is_set()
        await later.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
        assert not sent[1].get("more_body")

    asyncio.run(main())


async def streams(scope: Message, receive: Receive, send: Send) -> None:
    """Refuse with 10 MB, or with a stream that ends when the client has gone or been answered."""
    if scope["type"] != "http":
        return
    await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
    for _ in range(160):
        await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
    if scope["path"] == "/endless":
        while (await receive())["type"] != "http.disconnect":
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize("path", ["/large", "/endless"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_streamed_refusal_over_a_real_server(path: str, method: str) -> None:
    """A refusal of 10 MB and an endless one are answered with ours, and the connection serves the next request."""
    with serve(AuthFailureMiddleware(streams)) as url:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
        connection.connect()
        socket = connection.sock
        for _ in range(2):
            connection.request(method, path)
            response = connection.getresponse()
            body = response.read()
            assert response.status == 401
            assert response.headers["content-length"] == str(len(english("no_token").body))
            assert body == (b"" if method == "HEAD" else english("no_token").body)
        assert connection.sock is socket
        connection.close()


def test_refusal_that_streams_without_a_pause() -> None:
    """An application that sends and sends, and waits for nothing but ``send``, leaves the server to others too."""
    stop = threading.Event()

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/endless":
            await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
            while not stop.is_set():
                await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
        elif scope["type"] == "http":
            await Inner(200, [])(scope, receive, send)

    with serve(AuthFailureMiddleware(inner)) as url:
        try:
            assert httpx2.get(f"{url}/endless").status_code == 401
            assert httpx2.get(f"{url}/other").status_code == 200
        finally:
            stop.set()


def test_success_is_not_held_back() -> None:
    """A stream passes chunk by chunk: the second is sent only when the client has read the first."""

    async def main() -> None:
        more = asyncio.Event()

        async def inner(scope: Message, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                return
            if scope["path"] == "/more":
                more.set()
            headers = [(b"content-type", b"text/event-stream")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
            await more.wait()
            await send({"type": "http.response.body", "body": b"data: 2\n\n"})

        with serve(AuthFailureMiddleware(inner, gate=lambda scope: None)) as url:
            async with httpx2.AsyncClient(base_url=url, timeout=20) as client, client.stream("POST", "/") as response:
                chunks = response.aiter_raw()
                assert await anext(chunks) == b"data: 1\n\n"
                await client.get("/more")
                assert await anext(chunks) == b"data: 2\n\n"

    asyncio.run(main())


def test_application_reads_its_request_itself() -> None:
    """A request that is let in reaches the application whole, piece by piece."""

    async def echo(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            more = True
            while more:
                message = await receive()
                more = message["more_body"]
                await send({"type": "http.response.body", "body": message["body"], "more_body": more})

    with serve(AuthFailureMiddleware(echo)) as url:
        assert httpx2.post(url, content=b"x" * 1_000_000).content == b"x" * 1_000_000


@pytest.mark.parametrize("content", [CALL, None])
def test_other_event_loops(content: object) -> None:
    """Nothing but the reading of the body needs asyncio: elsewhere the answer is the same, with a null id."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError

    headers = [(b"content-type", b"application/json"), (b"content-length", b"100")] if content else []
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    with pytest.raises(StopIteration):
        AuthFailureMiddleware(Inner(recorded=["expired"]))(scope, receive, send).send(None)
    assert sent[1]["body"] == english("expired").body


# --- scopes and metadata --------------------------------------------------------------------------------------------

OWN, THEIRS = "https://own.example/metadata", "https://inner.example/metadata"


@pytest.mark.parametrize(
    ("inner", "configured", "scopes"),
    [
        (Inner(403, [LACKS_SCOPE]), "", ()),
        (Inner(403, [LACKS_SCOPE]), "own:a own:b", ("own:a", "own:b")),
        (Inner(403, [f'{LACKS_SCOPE}, scope="inner:a inner:b"']), "own:a", ("inner:a", "inner:b")),
        (
            Inner(403, [f'{LACKS_SCOPE}, scope="inner:a"'], ["insufficient_scope"], ["its:a", "its:b"]),
            "own:a",
            ("its:a", "its:b"),
        ),
        (Inner(401, [INVALID], ["insufficient_scope"], ["its:a"]), "own:a", ("its:a",)),
        (Inner(401, [f'{INVALID}, scope="inner:a"'], ["insufficient_scope"], []), "own:a", ("inner:a",)),
        (Inner(401, [], ["insufficient_scope"], ["its:a"]), "own:a", ("its:a",)),
        # to a reason other than insufficient_scope, scopes of refuse() would tell a bad audience from a bad signature
        *(
            (Inner(401, [INVALID], [reason], ["its:a"]), "own:a", ("own:a",))
            for reason in REASONS
            if reason != "insufficient_scope"
        ),
        (Inner(401, [f'{INVALID}, scope="inner:a"'], ["unverified"], ["its:a"]), "", ("inner:a",)),
        (Inner(401, [INVALID], ["unverified"], ["its:a"]), "", ()),
        (Inner(401, ["Bearer"]), "own:a own:a offline_access own:b", ("own:a", "own:b")),
        (Inner(401, ['Bearer scope="offline_access inner:a"']), "own:a", ("inner:a",)),
        (Inner(401, ['Bearer scope="inner:a"', 'Bearer scope="inner:b"']), "own:a", ("inner:a",)),
        (Inner(401, ['Bearer scope=""']), "own:a", ("own:a",)),
    ],
    ids=repr,
)
def test_whose_scopes(inner: Inner, configured: str, scopes: tuple[str, ...]) -> None:
    """The scopes are those recorded for this very lack, else the inner challenge's own, else the middleware's."""
    for argument in (configured, configured.split()):
        answer = ask(AuthFailureMiddleware(inner, scopes=argument), headers=SOME)
        assert answer.refusal.scopes == scopes
        for line in answer.lines("www-authenticate"):
            challenge = Challenge.from_header(line)
            assert challenge
            assert challenge.scope == scopes


@pytest.mark.parametrize("scopes", ["files:read files:write", ["files:read", "files:write"]], ids=["text", "list"])
def test_recorded_scopes_in_one_text(scopes: Any) -> None:
    """Scopes may be given to ``refuse`` as OAuth writes them, in one text; it is never taken letter by letter."""
    answer = ask(AuthFailureMiddleware(Inner(403, [LACKS_SCOPE], ["insufficient_scope"], scopes)))
    assert answer.refusal.scopes == ("files:read", "files:write")


@pytest.mark.parametrize(
    ("recorded", "status", "reason", "scopes"),
    [
        ([("insufficient_scope", []), ("insufficient_scope", ["a"]), ("insufficient_scope", ["b"])], 403, None, ("a",)),
        ([("expired", ["a"]), ("insufficient_scope", [])], 403, None, ()),
        ([("expired", ["a"]), ("insufficient_scope", ["b"])], 403, None, ("b",)),
        ([("expired", []), ("insufficient_scope", ["b"])], 401, "expired", ()),
    ],
)
def test_scopes_of_several_reasons(
    recorded: list[tuple[str, list[str]]], status: int, reason: str | None, scopes: tuple[str, ...]
) -> None:
    """Of several that record a lack the first that names scopes is heard, and no lack's scopes are another reason's."""

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        for each, needed in recorded:
            refuse(each, scopes=needed)
        await Inner(status, [LACKS_SCOPE])(scope, receive, send)

    answer = ask(AuthFailureMiddleware(inner))
    assert (answer.reason, answer.refusal.scopes) == (reason or "insufficient_scope", scopes)


@pytest.mark.parametrize("scopes", [["a b", "files:read"], ["files:read", 'a"b'], ["y-error=1", "files:read", "é"]])
def test_recorded_scope_that_cannot_be_sent(scopes: list[str], caplog: pytest.LogCaptureFixture) -> None:
    """A recorded scope that cannot stand in a challenge costs itself alone, and the log says so."""
    answer = ask(AuthFailureMiddleware(Inner(403, [LACKS_SCOPE], ["insufficient_scope"], scopes)))
    assert answer.refusal.scopes == ("files:read",)
    for scope in scopes:
        assert scope == "files:read" or repr(scope) in caplog.text


@pytest.mark.parametrize(
    ("challenges", "url"),
    [
        ([INVALID], OWN),
        ([f'{INVALID}, resource_metadata="{THEIRS}"'], THEIRS),
        ([f'Bearer resource_metadata="{THEIRS}"', INVALID], THEIRS),
        ([f'Bearer Resource_Metadata = "{THEIRS}"'], THEIRS),
        ([f'Basic resource_metadata="{THEIRS}", Bearer'], OWN),
        (['Bearer resource_metadata="http://localhost:8000/x"'], "http://localhost:8000/x"),
    ],
)
def test_whose_metadata(challenges: list[str], url: str) -> None:
    """The metadata URL is the inner challenge's, else the middleware's; it is there once."""
    answer = ask(AuthFailureMiddleware(Inner(challenges=challenges), resource_metadata_url=OWN))
    assert answer.refusal.resource_metadata_url == url
    assert sum(line.lower().count("resource_metadata") for line in answer.lines("www-authenticate")[:1]) == 1


@pytest.mark.parametrize(
    ("parameters", "scopes", "url", "logged"),
    [
        ('scope="x-error=1"', ("own:a",), OWN, "x-error=1"),
        ('scope="inner:a resource_metadata=1"', ("inner:a",), OWN, "resource_metadata=1"),
        ('scope="inner:a b\xe9"', ("inner:a",), OWN, "b\xe9"),
        ('resource_metadata="http://plain.example/"', ("own:a",), OWN, "http://plain.example/"),
        ('resource_metadata="https://u:p@user.example/"', ("own:a",), OWN, "https://u:p@user.example/"),
        ('resource_metadata="https://hijack.example/?scope=x"', ("own:a",), OWN, "https://hijack.example/?scope=x"),
        ('resource_metadata="javascript:alert(1)"', ("own:a",), OWN, "javascript:alert(1)"),
        ('resource_metadata="https://a.example/\\" scope=\\"x"', ("own:a",), OWN, 'https://a.example/" scope="x'),
    ],
)
def test_inner_parameter_that_cannot_be_sent(
    parameters: str, scopes: tuple[str, ...], url: str, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What a client would misread is left out of the inner challenge, ours stands in, and the log says what and why."""
    app = AuthFailureMiddleware(Inner(challenges=[f"Bearer {parameters}"]), scopes="own:a", resource_metadata_url=OWN)
    refusal = ask(app).refusal
    assert (refusal.scopes, refusal.resource_metadata_url) == (scopes, url)
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1
    assert repr(logged) in warnings[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scopes": ["a b"]}, "scope: 'a b' is not a scope-token: printable ASCII without space, '\"' and '\\'"),
        ({"scopes": 'a "b"'}, "scope: '\"b\"' is not a scope-token: printable ASCII without space, '\"' and '\\'"),
        (
            {"resource_metadata_url": "http://mcp.example/"},
            "resource_metadata: 'http://mcp.example/' is not an absolute https URL (http is for loopback alone)",
        ),
    ],
)
def test_configuration_that_cannot_be_sent(arguments: dict[str, Any], message: str) -> None:
    """A scope or URL that cannot stand in a challenge stops the start."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is asserted
        AuthFailureMiddleware(Inner(), **arguments)
    assert str(caught.value) == message


def test_broken_wording_stops_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a wording the operator's environment is read when the middleware is made, and every fault of it told."""
    monkeypatch.setenv("MCP_AUTH_FAILURES_OVERRIDES", str(tmp_path / "missing.yaml"))
    monkeypatch.setenv("MCP_AUTH_FAILURES_HELP_URL", "http://help.example/")
    with pytest.raises(DataError) as caught:
        AuthFailureMiddleware(Inner())
    assert len(caught.value.faults) == 2


# --- how reasons travel ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["task", "thread", "both"])
def test_reason_recorded_elsewhere(how: str) -> None:
    """A verifier that runs in a task or a thread of its own is heard."""

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        async def verify() -> None:
            if how == "task":
                refuse("expired")
            else:
                await asyncio.to_thread(refuse, "expired")

        await (verify() if how == "thread" else asyncio.create_task(verify()))
        await Inner()(scope, receive, send)

    assert ask(AuthFailureMiddleware(inner)).reason == "expired"


def twice(app: App, **arguments: Any) -> list[Answer]:
    """Two requests, one after the other, in one task."""

    async def main() -> list[Answer]:
        return [await exchange(app, path=path, **arguments) for path in ("/first", "/second")]

    return asyncio.run(main())


@pytest.mark.parametrize("first", [Inner(200), Inner(401), Inner(404), Inner(401, ["Basic"])], ids=repr)
def test_reason_of_one_request_is_not_of_the_next(first: Inner) -> None:
    """Two requests in one task have nothing to do with each other."""
    first.recorded = ["expired"]

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        await (first if scope["path"] == "/first" else Inner())(scope, receive, send)

    assert twice(AuthFailureMiddleware(inner))[1].reason == "no_token"


def test_request_that_raises_leaves_nothing() -> None:
    """Nor do they where the first one failed."""

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        if scope["path"] == "/first":
            refuse("expired")
            raise LookupError
        await Inner()(scope, receive, send)

    async def main() -> Answer:
        app = AuthFailureMiddleware(inner)
        with pytest.raises(LookupError):
            await exchange(app, path="/first")
        return await exchange(app)

    assert asyncio.run(main()).reason == "no_token"


@pytest.mark.parametrize("method", ["OPTIONS", "websocket"])
def test_what_is_not_ours_leaves_nothing(method: str) -> None:
    """A reason that was recorded for a preflight or a websocket is not of the next request."""

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        if scope["path"] == "/first":
            refuse("expired")
        await Inner()(scope, receive, send)

    async def main() -> Answer:
        app = AuthFailureMiddleware(inner)
        kind: dict[str, Any] = {"type": "websocket"} if method == "websocket" else {"method": method}
        await exchange(app, path="/first", **kind)
        return await exchange(app)

    assert asyncio.run(main()).reason == "no_token"


def test_reason_recorded_before_the_server_started() -> None:
    """A verifier that was tried out before there was any request says nothing about the requests that follow."""

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        await Inner()(scope, receive, send)

    async def main() -> list[str]:
        refuse("expired")  # every task from here on begins with a copy of this one's context
        app = AuthFailureMiddleware(inner)
        answers = [await asyncio.create_task(exchange(app, headers=SOME)) for _ in range(2)]
        return [answer.reason for answer in answers]

    assert asyncio.run(main()) == ["unverified", "unverified"]


def test_request_within_a_request() -> None:
    """An application that asks another one in-process is answered by that one's reasons, and keeps its own."""
    answers: list[Answer] = []
    other = AuthFailureMiddleware(Inner(recorded=["incomplete"]))

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        refuse("expired")
        answers.append(await exchange(other))
        await Inner()(scope, receive, send)

    assert ask(AuthFailureMiddleware(inner)).reason == "expired"
    assert answers[0].reason == "incomplete"


def test_application_that_empties_its_scope() -> None:
    """What an application raises is what comes out, whatever it has done to its scope."""

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        scope.clear()
        raise LookupError("its own")

    with pytest.raises(LookupError, match="its own"):
        asyncio.run(AuthFailureMiddleware(inner)({"type": "http", "method": "POST", "path": "/"}, None, None))


def run(script: str) -> str:
    """What a Python script of its own process writes to standard error."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == ""
    return done.stderr


REQUEST = """
import asyncio
from mcp_auth_failures.asgi import AuthFailureMiddleware, refuse

async def app(scope, receive, send):
    refuse("expired")

async def serve(app, **scope):
    for _ in range(3):
        scope = {"type": "http", "method": "POST", "path": "/", "headers": [], **scope}
        await asyncio.create_task(app(scope, None, None))
"""


def test_refuse_that_no_middleware_sees() -> None:
    """A reason that nothing will ever say is logged once, with the line to write."""
    assert run(f"{REQUEST}\nasyncio.run(serve(app))") == (
        "refuse() was called where no AuthFailureMiddleware is: wrap the app in AuthFailureMiddleware(app)\n"
    )


@pytest.mark.parametrize("scope", ["", "method='OPTIONS'", "type='websocket'"])
def test_refuse_that_a_middleware_sees(scope: str) -> None:
    """Nobody is told to wrap an application that is wrapped, whatever it is asked."""
    assert run(f"{REQUEST}\nasyncio.run(serve(AuthFailureMiddleware(app), {scope}))") == ""


@pytest.mark.parametrize(
    ("reason", "scopes"),
    [("insufficient_scope", None), ("insufficient_scope", 7), ("insufficient_scope", [None]), (None, ()), ([], ())],
    ids=repr,
)
def test_refuse_never_raises(reason: Any, scopes: Any) -> None:
    """Whatever a verifier records, the request is refused and not broken."""
    answer = ask(AuthFailureMiddleware(Inner(recorded=[reason], scopes=scopes)), headers=SOME)
    assert answer.reason == (reason or "unverified")
    assert answer.refusal.scopes == ()


class Own(str, Enum):  # noqa: UP042 - what many hosts have, whose str() is not its value
    """A host's own names for reasons."""

    EXPIRED = "expired"


def test_reason_of_a_hosts_own_enumeration() -> None:
    """A reason may be a member of a host's enumeration of texts, recorded or from the gate."""
    assert ask(AuthFailureMiddleware(Inner(recorded=[Own.EXPIRED]))).reason == "expired"
    assert ask(AuthFailureMiddleware(Inner(200), gate=lambda scope: Own.EXPIRED)).reason == "expired"


def test_unknown_recorded_reason_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A reason that the catalog does not know is passed over, and the log names it."""
    ask(AuthFailureMiddleware(Inner(recorded=["expierd\n", "expired"])))
    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert errors == ["refuse() was given a reason that is none: {'expierd\\n'}"]


def test_thousand_requests_at_once() -> None:
    """1,000 requests at once, of every reason, language and id, and each is told its own."""
    wording = Wording(env=False)
    deployment = {"/not_provisioned": "not_provisioned", "/surface_disabled": "surface_disabled"}

    class Yielding(Verifier):
        async def verify_token(self, token: str) -> Any:
            await asyncio.sleep(0)
            accepted = await super().verify_token(token)
            for _ in range(len(token) % 7):
                await asyncio.sleep(0)
            return accepted

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        await Inner(200, [])(scope, receive, send)

    guarded = authenticated(inner, verifier=Yielding())

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await guarded(scope, receive, send)

    kinds: list[tuple[str | None, str, str | None]] = [
        *((reason, "/mcp", TOKENS[reason][name]) for reason, name in CASES),
        *((reason, path, given) for path, reason in deployment.items() for given in (None, GOOD)),
        (None, "/mcp", GOOD),
    ]
    assert {reason for reason, _, _ in kinds} == {None, *REASONS}

    async def one(client: httpx2.AsyncClient, n: int) -> bool:
        reason, path, given = kinds[n % len(kinds)]
        language = wording.languages[n % len(wording.languages)]
        headers = [*bearer(given), ("accept-language", language)]
        response = await client.post(path, json={**CALL, "id": n}, headers=headers)
        if reason is None:
            return response.status_code == 200
        expected = wording.refusal(
            reason,
            language,
            scopes=SCOPES if reason == "insufficient_scope" else (),
            resource_metadata_url=None if path in deployment else METADATA,
            request_id=n,
        )
        return (response.status_code, response.content) == (expected.status, expected.body) and (
            response.headers.get("www-authenticate") == expected.headers.get("WWW-Authenticate")
        )

    async def main(url: str) -> int:
        limits = httpx2.Limits(max_connections=200)
        async with httpx2.AsyncClient(base_url=url, limits=limits, timeout=60) as client:
            return sum(await asyncio.gather(*(one(client, n) for n in range(1000))))

    with serve(AuthFailureMiddleware(app, wording, gate=lambda scope: deployment.get(scope["path"]))) as url:
        assert asyncio.run(main(url)) == 1000


# --- more than one, and elsewhere -----------------------------------------------------------------------------------


@pytest.mark.parametrize("recorded", [[], ["expired"], ["surface_disabled"], ["insufficient_scope"]])
def test_two_around_each_other(recorded: list[str], caplog: pytest.LogCaptureFixture) -> None:
    """The inner of two answers; the outer lets it pass, logs nothing, and is not told."""
    caplog.set_level(logging.DEBUG, "mcp_auth_failures")
    told: list[str] = []
    inner = AuthFailureMiddleware(
        Inner(recorded=recorded), scopes="inner", on_refusal=lambda refusal, scope: told.append("inner")
    )
    outer = AuthFailureMiddleware(inner, scopes="outer", on_refusal=lambda refusal, scope: told.append("outer"))
    answer = ask(outer, headers=SOME)
    assert whole(answer, english(recorded[0] if recorded else "unverified", scopes=["inner"]))
    assert told == ["inner"]
    assert len(caplog.records) == 1


@pytest.mark.parametrize("reason", REASONS)
def test_gate_of_the_inner_one(reason: str) -> None:
    """What the inner one's gate refuses is answered too: the outer does not guess another reason."""
    app = AuthFailureMiddleware(AuthFailureMiddleware(Inner(200, []), gate=lambda scope: reason))
    assert whole(ask(app, headers=SOME), english(reason))


@pytest.mark.parametrize(("reason", "name"), CASES)
@pytest.mark.parametrize("outer", [False, True], ids=["alone", "with one outside"])
def test_inside_authentication(reason: str, name: str, outer: bool) -> None:
    """It works just inside authentication too, where FastMCP puts a server's own middleware."""
    app = authenticated(Inner(200, []), around=AuthFailureMiddleware)
    if outer:
        app = AuthFailureMiddleware(app)
    answer = ask(app, headers=bearer(TOKENS[reason][name]), content=CALL)
    expected = english(
        reason,
        scopes=SCOPES if reason == "insufficient_scope" else (),
        resource_metadata_url=METADATA,
        request_id=7,
    )
    assert whole(answer, expected)


@pytest.mark.parametrize("around", [AuthFailureMiddleware, lambda app: app], ids=["inside", "outside"])
def test_good_token_is_let_in(around: Callable[[App], App]) -> None:
    """A token that is fine meets nothing of ours."""
    inner = Inner(200, [])
    app = authenticated(inner, around=around)
    assert passed(ask(AuthFailureMiddleware(app), headers=bearer(GOOD)), inner)


def test_unverified_answers_are_alike() -> None:
    """A bad signature, issuer and audience, expired or not, get byte-identical answers."""
    app = AuthFailureMiddleware(authenticated(Inner(200, [])))
    answers = [ask(app, headers=bearer(given), content=CALL) for given in TOKENS["unverified"].values()]
    assert len({repr((answer.status, answer.headers, answer.body)) for answer in answers}) == 1


def test_inside_cors() -> None:
    """With CORS outside, a page of another origin may ask first, and read the challenge of its refusal."""
    inner = Inner()
    app = CORSMiddleware(AuthFailureMiddleware(inner), allow_origins=["https://app.example"], allow_methods=["POST"])
    origin = ("origin", "https://app.example")
    preflight = ask(app, method="OPTIONS", headers=[origin, ("access-control-request-method", "POST")])
    assert (preflight.status, inner.asked) == (200, 0)
    answer = ask(app, headers=[origin], content=CALL)
    assert answer.reason == "no_token"
    assert answer.lines("access-control-allow-origin") == ["https://app.example"]
    assert answer.lines("access-control-expose-headers") == ["WWW-Authenticate"]
    assert answer.lines("vary") == ["Accept-Language, Origin"]


# --- the gate -------------------------------------------------------------------------------------------------------


def plain(gate: Callable[[Message], str | None]) -> Callable[[Message], Any]:
    """A gate as it is."""
    return gate


def later(gate: Callable[[Message], str | None]) -> Callable[[Message], Any]:
    """The same gate, as a coroutine function."""

    async def asked(scope: Message) -> str | None:
        await asyncio.sleep(0)
        return gate(scope)

    return asked


def task(gate: Callable[[Message], str | None]) -> Callable[[Message], Any]:
    """The same gate, as a function that gives a task."""
    return lambda scope: asyncio.create_task(later(gate)(scope))


@pytest.mark.parametrize("kind", [plain, later, task], ids=["plain", "async", "task"])
@pytest.mark.parametrize("reason", REASONS)
def test_gate_refuses(kind: Any, reason: str) -> None:
    """A reason of the gate is answered at once, with the middleware's own challenge; the application is not asked."""
    inner = Inner(200, [])
    app = AuthFailureMiddleware(inner, gate=kind(lambda scope: reason), scopes="own:a", resource_metadata_url=OWN)
    answer = ask(app, content=CALL)
    assert whole(answer, english(reason, scopes=["own:a"], resource_metadata_url=OWN, request_id=7))
    assert inner.asked == 0
    head = ask(app, method="HEAD")
    assert (head.status, head.body) == (answer.status, b"")


class Flags(dict[str, bool]):
    """A host's own gate, which is as good while it holds nothing."""

    def __call__(self, scope: Message) -> str:
        return "surface_disabled"


def test_gate_is_asked_whatever_its_truth() -> None:
    """A gate that is falsy is a gate."""
    assert ask(AuthFailureMiddleware(Inner(200, []), gate=Flags())).reason == "surface_disabled"


@pytest.mark.parametrize("kind", [plain, later, task], ids=["plain", "async", "task"])
def test_gate_lets_in(kind: Any) -> None:
    """A gate sees the request's own scope; ``None`` lets it in, as if there were no gate."""
    seen: list[Message] = []
    inner = Inner(200, [])
    app = AuthFailureMiddleware(inner, gate=kind(seen.append))
    assert passed(ask(app, path="/health", extra="x"), inner)
    assert [(scope["path"], scope["extra"]) for scope in seen] == [("/health", "x")]
    assert ask(AuthFailureMiddleware(Inner(), gate=kind(seen.append))).reason == "no_token"


@pytest.mark.parametrize(
    ("path", "root_path", "asked"),
    [
        ("/.well-known/oauth-protected-resource/mcp", "", False),
        ("/.well-known/", "", False),
        ("/base/.well-known/oauth-protected-resource", "/base", False),
        ("/.well-known/oauth-protected-resource", "/base", False),
        ("/.well-known", "", True),
        ("/.well-knownx", "", True),
        ("/mcp/.well-known/x", "", True),
        ("/base/x/.well-known/y", "/base", True),
        ("/mcp", "", True),
        ("", "", True),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
def test_gate_is_not_asked_about_metadata(path: str, root_path: str, asked: bool, method: str) -> None:
    """The well-known documents stay where they are, so that a client can still find out where to log in."""
    inner = Inner(200, [])
    app = AuthFailureMiddleware(inner, gate=lambda scope: "surface_disabled")
    answer = ask(app, method=method, path=path, root_path=root_path)
    assert answer.status == (503 if asked else 200)
    assert inner.asked == (not asked)


@pytest.mark.parametrize("kind", [plain, later, task], ids=["plain", "async", "task"])
def test_gate_that_raises(kind: Any) -> None:
    """A gate that fails fails the request: it neither lets in nor refuses with a guess."""

    def gate(scope: Message) -> str:
        raise LookupError("of the gate")

    inner = Inner(200, [])
    with pytest.raises(LookupError, match="of the gate"):
        ask(AuthFailureMiddleware(inner, gate=kind(gate)))
    assert inner.asked == 0


@pytest.mark.parametrize("reason", ["surface_dissabled\n", "", False, 0], ids=repr)
@pytest.mark.parametrize("method", ["POST", "HEAD"])
def test_gate_of_an_unknown_reason(reason: Any, method: str, caplog: pytest.LogCaptureFixture) -> None:
    """A reason that the catalog does not know is a 500 that says nothing, and the log names it."""
    inner = Inner(200, [])
    answer = ask(AuthFailureMiddleware(inner, gate=lambda scope: reason), method=method)
    assert (answer.status, answer.headers, answer.body) == (500, [("content-length", "0")], b"")
    assert inner.asked == 0
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.ERROR, f"the gate returned a reason that is none: {reason!r}")
    ]


# --- languages ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wording(tmp_path_factory: pytest.TempPathFactory) -> Wording:
    """A wording whose texts are their language; Spanish by default."""
    file = tmp_path_factory.mktemp("wording") / "own.yaml"
    texts = ", ".join(f"{language}: in-{language}" for language in ("de", "en", "es", "fr"))
    file.write_text(f"version: 1\nmessages:\n  expired: {{{texts}}}\n", encoding="utf-8")
    return Wording(overrides=file, default_language="es", env=False)


def raising(scope: Message) -> str:
    """A host's function that fails."""
    raise LookupError("of the host")


@pytest.mark.parametrize(
    ("languages", "meta", "accept", "language"),
    [
        (lambda scope: "fr", {"openai/locale": "de"}, "en", "fr"),
        (lambda scope: "fr-CA, de;q=0.9", {}, "en", "fr"),
        (lambda scope: ["xx", "fr"], {"openai/locale": "de"}, "en", "fr"),
        (lambda scope: ("fr", "de"), {}, "", "fr"),
        (lambda scope: iter(["fr"]), {}, "", "fr"),
        (lambda scope: scope["language"], {"openai/locale": "de"}, "en", "fr"),
        (lambda scope: None, {"openai/locale": "de"}, "en", "de"),
        (lambda scope: "", {"openai/locale": "de"}, "en", "de"),
        (lambda scope: [], {"openai/locale": "de"}, "en", "de"),
        (lambda scope: ["xx"], {"openai/locale": "de"}, "en", "de"),
        (lambda scope: [None, 7, "fr"], {}, "", "fr"),
        (lambda scope: 7, {"openai/locale": "de"}, "en", "de"),
        (lambda scope: object(), {"openai/locale": "de"}, "en", "de"),
        (raising, {"openai/locale": "de"}, "en", "de"),
        (raising, {}, "", "es"),
        (None, {"openai/locale": "de-AT"}, "en", "de"),
        (None, {"webplus/i18n": "fr"}, "en", "fr"),
        (None, {"openai/locale": "de", "webplus/i18n": "fr"}, "en", "de"),
        (None, {"openai/locale": "xx"}, "fr", "fr"),
        (None, {"openai/locale": ""}, "fr", "fr"),
        (None, {"openai/locale": "\ud800"}, "fr", "fr"),
        (None, {"openai/locale": "x" * 10_000}, "fr", "fr"),
        (None, {"openai/locale": 7}, "fr", "fr"),
        (None, {}, "fr-CA, en;q=0.5", "fr"),
        (None, {}, "en;q=0.5, de;q=0.9", "de"),
        (None, {}, "xx, de;q=0.1", "de"),
        (None, {}, "*", "es"),
        (None, {}, "xx", "es"),
        (None, {}, "", "es"),
        (None, {}, "\xff\xfe, q=0,8", "es"),
        (None, {}, None, "es"),
    ],
)
def test_whose_language(
    wording: Wording, languages: Any, meta: dict[str, Any], accept: str | None, language: str
) -> None:
    """The host's languages come first, then the body's, then the header's, then the default; the first one there."""
    inner = Inner(recorded=["expired"])
    answer = ask(
        AuthFailureMiddleware(inner, wording, languages=languages),
        content={**CALL, "params": {"_meta": meta}},
        headers=[] if accept is None else [("accept-language", accept)],
        language="fr",
    )
    assert answer.content["error"]["message"] == f"in-{language}"
    assert answer.content["error"]["data"]["language"] == language
    assert answer.lines("content-language") == [language]
    assert answer.lines("vary") == ["Accept-Language"]
    assert answer.content["id"] == 7


def test_languages_in_several_lines(wording: Wording) -> None:
    """A header in several lines is one list (RFC 9110 §5.3)."""
    headers = [("accept-language", "en;q=0.2"), ("Accept-Language", "de")]
    app = AuthFailureMiddleware(Inner(recorded=["expired"]), wording)
    assert ask(app, headers=headers).lines("content-language") == ["de"]


def test_languages_that_raise_are_logged(wording: Wording, caplog: pytest.LogCaptureFixture) -> None:
    """A host's function that fails costs its languages alone; the log has its traceback."""
    ask(AuthFailureMiddleware(Inner(recorded=["expired"]), wording, languages=raising))
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.getMessage() == "languages() failed; the request's own are used"
    assert record.exc_info
    assert isinstance(record.exc_info[1], LookupError)


# --- log and hook ---------------------------------------------------------------------------------------------------

LEVELS = {"no_token": "DEBUG", "not_provisioned": "WARNING", "surface_disabled": "WARNING"}


@pytest.mark.parametrize("gated", [False, True], ids=["refused within", "refused by the gate"])
@pytest.mark.parametrize("reason", REASONS)
def test_log_line(reason: str, gated: bool, caplog: pytest.LogCaptureFixture) -> None:
    """A refusal is one line: reason, status, method, path. A deployment's own reason warns; no token is no news."""
    caplog.set_level(logging.DEBUG, "mcp_auth_failures")
    gate = (lambda scope: reason) if gated else None
    app = AuthFailureMiddleware(Inner(recorded=[reason]), gate=gate)
    ask(app, method="DELETE", path="/mcp/é", query_string=b"secret=1", headers=bearer("secret"))
    [record] = caplog.records
    assert (record.name, record.levelname) == ("mcp_auth_failures", LEVELS.get(reason, "INFO"))
    assert record.getMessage() == f"refused: {reason} ({english(reason).status}) DELETE '/mcp/é'"


@pytest.mark.parametrize(
    ("method", "path", "end"),
    [
        ("POST", "/x\nINFO: refused: nothing\r\x1b[2J\u2028", "POST '/x\\nINFO: refused: nothing\\r\\x1b[2J\\u2028'"),
        ("POST", "/" + "x" * 300, "POST '/" + "x" * 199 + "'"),
        ("POST", "/%s%n", "POST '/%s%n'"),
        ("PO\nST", "/", "'/'"),
        ("X" * 1000, "/", "'/'"),
    ],
)
def test_log_line_is_one_line(method: str, path: str, end: str, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever a caller asks for, the line stays one line, and short."""
    caplog.set_level(logging.DEBUG, "mcp_auth_failures")
    ask(AuthFailureMiddleware(Inner(recorded=["expired"])), method=method, path=path)
    [record] = caplog.records
    line = record.getMessage()
    assert line.startswith("refused: expired (401) ")
    assert line.endswith(end)
    assert line.isprintable()
    assert len(line) < 300


def test_log_tells_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    """No token, no claim and no scope that is held reaches the log, at any level."""
    caplog.set_level(logging.DEBUG)
    app = AuthFailureMiddleware(authenticated(Inner(200, [])))
    for given in (token(exp=1, sub="mallory"), token(aud="https://mallory.example"), token(scope="mallory"), "mallory"):
        ask(app, headers=bearer(given), content={**CALL, "params": {"mallory": 1}}, query_string=b"mallory")
        assert "mallory" not in caplog.text
        assert given not in caplog.text


@pytest.mark.parametrize("reason", REASONS)
def test_hook(reason: str) -> None:
    """The hook is told every refusal once, before it is sent, with the request's own scope."""
    told: list[tuple[Refusal, Message]] = []
    app = AuthFailureMiddleware(Inner(recorded=[reason]), on_refusal=lambda *it: told.append(it))
    answer = ask(app, content=CALL, extra="x")
    [(refusal, scope)] = told
    assert refusal == english(reason, request_id=7)
    assert whole(answer, refusal)
    assert (scope["path"], scope["extra"]) == ("/mcp", "x")
    gated = AuthFailureMiddleware(Inner(200), gate=lambda scope: reason, on_refusal=lambda *it: told.append(it))
    ask(gated, content=CALL)
    assert [refusal for refusal, _ in told] == [refusal] * 2
    ask(AuthFailureMiddleware(Inner(200), on_refusal=lambda *it: told.append(it)))
    assert len(told) == 2


def test_hook_that_raises(caplog: pytest.LogCaptureFixture) -> None:
    """A hook that fails is logged and costs nobody an answer."""

    def hook(refusal: Refusal, scope: Message) -> None:
        raise LookupError("of the hook")

    answer = ask(AuthFailureMiddleware(Inner(recorded=["expired"]), on_refusal=hook), content=CALL)
    assert whole(answer, english("expired", request_id=7))
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.getMessage() == "on_refusal() failed"
    assert record.exc_info
    assert isinstance(record.exc_info[1], LookupError)


# --- scopes of one operation ----------------------------------------------------------------------------------------


def scopes_for(method: str, name: str) -> list[str]:
    """What each tool of a server needs."""
    return {"write": ["files:read", "files:write"], "écrire": ["files:write"]}.get(name, [])


def call(name: str | None, method: str | None = "tools/call") -> list[tuple[str, str]]:
    """The headers of MCP 2026-07-28 that say what is called."""
    said = {"mcp-method": method, "mcp-name": name}
    return [(header, value) for header, value in said.items() if value is not None]


@pytest.mark.parametrize(
    ("headers", "granted", "refused"),
    [
        (call("write"), ["files:read", "files:write"], False),
        (call("write"), ["files:write", "other", "files:read"], False),
        (call("write"), ["files:read"], True),
        (call("write"), [], True),
        (call("=?base64?w6ljcmlyZQ==?="), ["files:read"], True),
        (call("read"), [], False),
        (call(None, "tools/list"), [], False),
        (call("write", None), [], False),  # an older protocol version
        ([], [], False),
        (call("write"), None, False),  # outside authentication there is nothing to compare with
    ],
)
@pytest.mark.parametrize("user", [True, False], ids=["user", "no user"])
def test_scopes_of_an_operation(
    headers: list[tuple[str, str]], granted: list[str] | None, refused: bool, user: bool
) -> None:
    """A call whose token lacks a scope is refused with all scopes of that operation; every other one passes."""
    inner = Inner(200, [])
    scope: dict[str, Any] = {} if granted is None else {"auth": SimpleNamespace(scopes=granted)}
    if user:
        scope["user"] = SimpleNamespace(is_authenticated=True)
    answer = ask(RequireScopes(inner, scopes_for), headers=headers, **scope)
    if refused:
        name = "write" if ("mcp-name", "write") in headers else "écrire"
        value = f'Bearer error="insufficient_scope", scope="{" ".join(scopes_for("", name))}"'
        assert (answer.status, answer.lines("www-authenticate"), answer.body) == (403, [value], b"")
        assert inner.asked == 0
    else:
        assert passed(answer, inner)


def test_what_is_asked() -> None:
    """The host is asked with the method and the name, unwrapped, and with an empty name where there is none."""
    asked: list[tuple[str, str]] = []

    def scopes_for(method: str, name: str) -> list[str]:
        asked.append((method, name))
        return []

    app = RequireScopes(Inner(200, []), scopes_for)
    for headers in (call("write"), call("=?base64?w6ljcmlyZQ==?="), call(None, "tools/list"), call("=?base64?*?=")):
        ask(app, headers=headers, auth=SimpleNamespace(scopes=[]))
    assert asked == [("tools/call", "write"), ("tools/call", "écrire"), ("tools/list", ""), ("tools/call", "")]


@pytest.mark.parametrize("kind", ["lifespan", "websocket"])
def test_other_protocols_have_no_operation(kind: str) -> None:
    """Anything but HTTP passes."""
    seen: list[Message] = []

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        seen.append(scope)

    scope = {"type": kind, "headers": [(b"mcp-method", b"tools/call")], "auth": SimpleNamespace(scopes=[])}
    asyncio.run(RequireScopes(inner, lambda method, name: ["x"])(scope, None, None))  # type: ignore[arg-type]
    assert seen == [scope]


@pytest.mark.parametrize(
    ("needed", "asked_for"),
    [
        ("files:write", ' scope="files:write"'),
        ("files:read files:write", ' scope="files:read files:write"'),
        (("files:read", "files:write"), ' scope="files:read files:write"'),
        (["files:write", "a b"], ' scope="files:write"'),
        (["files:write", "x-error=1"], ' scope="files:write"'),
        (["files:write", 'a"b', "é"], ' scope="files:write"'),
        (["held", "a b"], ' scope="held"'),
        (["a b"], ""),
    ],
    ids=repr,
)
def test_needed_scopes_that_are_not_a_list_of_tokens(needed: Any, asked_for: str) -> None:
    """Scopes in one text are read as OAuth writes them; one that cannot be sent is missing all the same."""
    inner = Inner(200, [])
    app = RequireScopes(inner, lambda method, name: needed)
    answer = ask(app, headers=call("write"), auth=SimpleNamespace(scopes=["held"]))
    assert answer.status == 403
    value = f'Bearer error="insufficient_scope",{asked_for}'.rstrip(",")
    assert answer.lines("www-authenticate") == [value]
    assert inner.asked == 0


def test_scopes_of_an_operation_are_told_whole() -> None:
    """With the middleware outside, the caller is told all scopes of the operation, and where to get them."""
    app = AuthFailureMiddleware(
        authenticated(RequireScopes(Inner(200, []), scopes_for)), scopes="own:a", resource_metadata_url=OWN
    )
    answer = ask(app, headers=[*bearer(GOOD), *call("write")], content=CALL)
    assert whole(
        answer,
        english("insufficient_scope", scopes=["files:read", "files:write"], resource_metadata_url=OWN, request_id=7),
    )


def test_scopes_that_no_header_can_hold() -> None:
    """Where an operation needs more scopes than a header can hold, the body has them all."""
    needed = [f"https://api.example/{n:04}" for n in range(1000)]
    app = AuthFailureMiddleware(authenticated(RequireScopes(Inner(200, []), lambda method, name: needed)))
    assert ask(app, headers=[*bearer(GOOD), *call("write")]).content["error"]["data"]["scope"] == " ".join(needed)


@pytest.mark.parametrize(("reason", "name"), CASES)
def test_scopes_of_an_operation_come_after_the_token(reason: str, name: str) -> None:
    """Who has no usable token is told that, before any scope: nothing is granted to nobody."""
    app = authenticated(Inner(200, []), around=lambda app: RequireScopes(app, scopes_for))
    answer = ask(AuthFailureMiddleware(app), headers=[*bearer(TOKENS[reason][name]), *call("write")], content=CALL)
    assert answer.reason == reason


def test_nobody_lacks_no_scope() -> None:
    """Starlette gives a request without a user no scopes; that is not a token without scopes."""
    inner = Inner()
    answer = ask(
        RequireScopes(inner, scopes_for), headers=call("write"), auth=AuthCredentials(), user=UnauthenticatedUser()
    )
    assert passed(answer, inner)


def test_host_that_raises_is_not_let_through() -> None:
    """A host's function that fails fails the request, and lets nobody in."""

    def scopes_for(method: str, name: str) -> list[str]:
        raise LookupError("of the host")

    inner = Inner(200, [])
    with pytest.raises(LookupError, match="of the host"):
        ask(RequireScopes(inner, scopes_for), headers=call("write"), auth=SimpleNamespace(scopes=[]))
    assert inner.asked == 0


# --- on the wire ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A real server behind the official SDK's authentication, wrapped."""

    async def inner(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await Inner(200, [])(scope, receive, send)

    with serve(AuthFailureMiddleware(authenticated(inner))) as url:
        yield url


@pytest.mark.parametrize(("reason", "name"), CASES)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "HEAD"])
def test_answer_over_a_real_server(server: str, reason: str, name: str, method: str) -> None:
    """Every method gets the same refusal, octet for octet as it was made; HEAD without the body."""
    response = httpx2.request(method, server, headers=bearer(TOKENS[reason][name]))
    expected = english(reason, scopes=SCOPES if reason == "insufficient_scope" else (), resource_metadata_url=METADATA)
    assert response.status_code == expected.status
    own = {name: value for name, value in response.headers.items() if name not in {"date", "server"}}
    assert own == {name.lower(): value for name, value in expected.headers.items()}
    assert response.content == (b"" if method == "HEAD" else expected.body)


def test_credentials_that_are_none_over_a_real_server(server: str) -> None:
    """Octets that no client should send are answered like any other."""
    for value in (b"Bearer", b"Bearer \xff\xfe", b"\xff", b"bearer\tx", b"Bearer a b c", b"Basic eDp5"):
        answer = on_the_wire(server, b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: %b\r\n\r\n" % value)
        assert answer.status == 401
        assert answer.reason in {"no_token", "unverified"}


# --- what it needs --------------------------------------------------------------------------------------------------


def test_needs_the_standard_library_alone() -> None:
    """Beside this package and what it depends on, importing the middleware loads the standard library alone."""
    script = """
import sys
asked = set()

class Finder:
    def find_spec(name, path=None, target=None):
        asked.add(name.partition(".")[0])

sys.meta_path.insert(0, Finder)
import mcp_auth_failures.asgi
print(*(asked & sys.modules.keys()) - sys.stdlib_module_names, file=sys.stderr)
"""
    assert set(run(script).split()) <= {"mcp_auth_failures", "yaml", "babel"}


def test_one_for_many_threads() -> None:
    """One middleware may serve event loops of several threads at once."""
    app = AuthFailureMiddleware(Inner(recorded=["expired"]))
    reasons: list[str] = []
    threads = [
        threading.Thread(target=lambda: reasons.extend(ask(app, content=CALL).reason for _ in range(20)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert reasons == ["expired"] * 160
