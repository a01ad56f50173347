"""What the middleware adds to one request, in process: refused, accepted, and refused for the first time."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import peer
from measure import Row, Timed, alternate, clock, row

from mcp_auth_failures.asgi import AuthFailureMiddleware

CHROME = b"de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7"
TURN = 10
"""Requests between two looks at the clock, which costs as much as a twentieth of one."""


def request(token: str | None, languages: bytes | None = None) -> dict[str, Any]:
    """A call as an MCP client in Python sends it, as uvicorn hands it on."""
    headers = [
        (b"host", b"127.0.0.1:8000"),
        (b"accept", b"application/json, text/event-stream"),
        (b"accept-encoding", b"gzip, deflate"),
        (b"connection", b"keep-alive"),
        (b"user-agent", b"python-httpx/0.28.1"),
        (b"mcp-protocol-version", b"2025-11-25"),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(peer.CALL)).encode()),
        *([(b"authorization", b"Bearer " + token.encode())] if token else []),
        *([(b"accept-language", languages)] if languages else []),
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "root_path": "",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8000),
    }


async def exchange(app: peer.App, scope: dict[str, Any]) -> list[Any]:
    """Give the app one request, and collect what it sends."""
    waiting = [{"type": "http.request", "body": peer.CALL, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return waiting.pop() if waiting else await asyncio.Future()

    async def send(message: Any) -> None:
        sent.append(message)

    await app(dict(scope), receive, send)
    return sent


def requests_of(app: peer.App, scope: dict[str, Any], loop: asyncio.Runner) -> Timed:
    """Requests one after the other, with a turn of the loop after every few, as in a server."""

    async def often(number: int) -> float:
        spent = 0.0
        for _ in range(number // TURN):
            start = clock()
            for _ in range(TURN):
                await exchange(app, scope)
            spent += clock() - start
            await asyncio.sleep(0)
        return spent

    return lambda number: loop.run(often(number))


async def start(app: Any, stop: asyncio.Event) -> asyncio.Task[None]:
    """Start an app and keep it up, in a task of its own as a server does."""
    up = asyncio.Event()

    async def lifespan() -> None:
        async with app.router.lifespan_context(app):
            up.set()
            await stop.wait()

    task = asyncio.create_task(lifespan())
    await up.wait()
    return task


def rows() -> Iterator[Row]:
    """The rows of whole requests. Of the log nothing is turned off: a refusal's line is INFO, which nobody asks for."""
    logging.getLogger("mcp.server.auth").setLevel(logging.CRITICAL)
    alone, told = peer.sdk(peer.LookingUp()), peer.sdk(peer.LookingUpAndTelling())
    alone_verifying, told_verifying = peer.sdk(peer.Verifying()), peer.sdk(peer.verifying_and_telling())
    ours, ours_verifying = AuthFailureMiddleware(told), AuthFailureMiddleware(told_verifying)
    refused, accepted = request(peer.EXPIRED), request(peer.GOOD)
    browser = request(peer.EXPIRED, CHROME)
    cases: tuple[tuple[str, peer.App, peer.App, dict[str, Any], float | None], ...] = (
        ("a refused request through SDK + our middleware, in process: no token", ours, alone, request(None), 1.2),
        ("the same, an expired token that the verifier looks up", ours, alone, refused, 1.2),
        ("the same, with a browser's Accept-Language", ours, alone, browser, 1.2),
        ("the same, its RS256 signature verified, no Accept-Language", ours_verifying, alone_verifying, refused, 1.2),
        ("for comparison: an answer made beforehand, in the SDK's place", peer.Swapping(alone), alone, refused, None),
        ("an accepted request through SDK + our middleware, in process", ours, alone, accepted, 1.05),
    )
    with asyncio.Runner() as loop:
        stop = asyncio.Event()
        running = [loop.run(start(app, stop)) for app in (alone, told, alone_verifying, told_verifying)]
        for what, one, other, scope, goal in cases:
            statuses = {loop.run(exchange(app, scope))[0]["status"] for app in (one, other)}
            if statuses != {200 if scope is accepted else 401}:
                raise RuntimeError(f"{what}: {statuses}")
            rounds, calls = (501, 10) if scope is accepted else (101, 200)
            timed = requests_of(one, scope, loop), requests_of(other, scope, loop)
            alternate(*timed, 5, (calls, calls))
            yield row(what, "the SDK alone", alternate(*timed, rounds, (calls, calls)), goal)
        stop.set()
        loop.run(asyncio.wait(running))
