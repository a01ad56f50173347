"""The first refusal in each language after the start, beside later ones: pairs of nanoseconds as JSON.

Run in a process of its own, since what makes a refusal cold is there once in each. The machine itself is warmed by
refusals in English, so that the first of a language differs from a later one in its language alone.
"""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from mcp_auth_failures.asgi import AuthFailureMiddleware

URL = "https://mcp.example/.well-known/oauth-protected-resource/mcp"
CHALLENGE = f'Bearer error="invalid_token", error_description="Authentication required", resource_metadata="{URL}"'
BODY = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{}}}'


async def refuses(scope: Any, receive: Any, send: Any) -> None:
    """An application that does nothing but refuse, so that its own time hides none of ours."""
    headers = [(b"content-type", b"application/json"), (b"www-authenticate", CHALLENGE.encode())]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": b"{}"})


async def receive() -> dict[str, Any]:
    return {"type": "http.request", "body": BODY}


async def send(message: Any) -> None:
    pass


async def pairs(refusal: Callable[[str], Awaitable[None]], languages: tuple[str, ...]) -> list[tuple[float, float]]:
    """For each language the time of the first, and the middle of the later ones."""

    async def once(language: str) -> int:
        start = time.thread_time_ns()
        await refusal(language)
        return time.thread_time_ns() - start

    for _ in range(1000):
        await once("en")
    return [
        (await once(tag), statistics.median([await once(tag) for _ in range(25)])) for tag in languages if tag != "en"
    ]


async def main(what: str) -> None:
    app = AuthFailureMiddleware(refuses)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(BODY)).encode()),
        (b"authorization", b"Bearer x"),
    ]

    async def through_the_middleware(language: str) -> None:
        named = [*headers, (b"accept-language", language.encode())]
        await app({"type": "http", "method": "POST", "path": "/mcp", "headers": named}, receive, send)

    async def made_by_hand(language: str) -> None:
        refusal = app.wording.refusal("expired", language, scopes=["mcp:use"], resource_metadata_url=URL, request_id=7)
        _ = refusal.status, refusal.headers, refusal.body

    refusal = {"middleware": through_the_middleware, "wording": made_by_hand}[what]
    print(json.dumps(await pairs(refusal, app.wording.languages)))


asyncio.run(main(sys.argv[1]))
