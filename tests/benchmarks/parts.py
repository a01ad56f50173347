"""Where the time of one refused request goes: the same request again and again, each time without one part."""

import asyncio
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import peer
from measure import Row, alternate, row
from middleware import exchange, request, requests_of, start

from mcp_auth_failures import Wording, asgi
from mcp_auth_failures.asgi import AuthFailureMiddleware
from mcp_auth_failures.inner import Asked
from mcp_auth_failures.request import Request

REFUSAL = Wording(env=False).refusal("expired", resource_metadata_url=peer.METADATA, request_id=7)
START = {"type": "http.response.start", "status": REFUSAL.status, "headers": REFUSAL.raw_headers}


async def read(*_: Any) -> tuple[int, None]:
    return 7, None


async def answer(_middleware: Any, _reason: str, _asked: Any, _request: Any, send: Any, _inner: Any) -> None:
    await send(START)
    await send({"type": "http.response.body", "body": REFUSAL.body})


def recognize(_middleware: Any, status: int, *_: Any) -> Any:
    return ("expired", Asked((), None, ())) if status == 401 else None


def rows() -> Iterator[Row]:
    """The whole, and what is left without each part."""
    parts: dict[str, Any] = {
        "a refused request, whole": nullcontext(),
        "without reading the id from its body": patch.object(Request, "read", read),
        "without recognizing the SDK's answer": patch.object(AuthFailureMiddleware, "recognize", recognize),
        "without choosing and filling a text": patch.object(Wording, "refusal", lambda *_, **__: REFUSAL),
        "without bringing the headers together": patch.object(asgi, "merged_headers", lambda *_: REFUSAL.raw_headers),
        "without all of these: watching alone": patch.multiple(
            AuthFailureMiddleware, recognize=recognize, answer=answer
        ),
    }
    alone, told = peer.sdk(peer.LookingUp()), peer.sdk(peer.LookingUpAndTelling())
    ours, scope = AuthFailureMiddleware(told), request(peer.EXPIRED)
    with asyncio.Runner() as loop:
        stop = asyncio.Event()
        running = [loop.run(start(app, stop)) for app in (alone, told)]
        for what, part in parts.items():
            with part:
                if loop.run(exchange(ours, scope))[0]["status"] != 401:
                    raise RuntimeError(f"not refused: {what}")
                timed = requests_of(ours, scope, loop), requests_of(alone, scope, loop)
                yield row(what, "the SDK alone", alternate(*timed, 101, (200, 200)))
        stop.set()
        loop.run(asyncio.wait(running))
