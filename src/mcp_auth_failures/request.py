"""What a refused HTTP request tells about itself: credentials, JSON-RPC id, language. Bounded, and never raises."""

import asyncio
import base64
import json
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from mcp_auth_failures.refusal import usable_id

__all__ = ["App", "Message", "Receive", "Request", "Scope", "Send", "pause"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_MAX_BODY = 65_536
_READ_SECONDS = 1.0

_BEARER = re.compile(rb"bearer +[^ ]", re.IGNORECASE)  # RFC 9110 §11.1: a scheme's case does not matter
_JSON = re.compile(r"application/json[ \t]*(;|$)", re.IGNORECASE)
_LENGTH = re.compile("[1-9][0-9]{0,4}")
_BASE64 = re.compile(r"=\?base64\?(.*)\?=")

_LOCALE_KEYS = ("openai/locale", "webplus/i18n")


class Request:
    """One request, and whether the application has begun to read it."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self._receive = receive
        self._begun = False

    async def receive(self) -> Message:
        """The ``receive`` to give to the application."""
        self._begun = True
        return await self._receive()

    def header(self, name: bytes) -> str | None:
        """The value of a header field, its lines joined (RFC 9110 §5.3); ``None`` if it is absent."""
        values = [value.decode("latin-1") for key, value in self.scope.get("headers") or () if key.lower() == name]
        return ", ".join(values) if values else None

    @property
    def has_bearer(self) -> bool:
        """Whether there are Bearer credentials; another scheme's, or none after the word, are not."""
        return any(
            key.lower() == b"authorization" and _BEARER.match(value.strip())
            for key, value in self.scope.get("headers") or ()
        )

    @property
    def mcp_name(self) -> str | None:
        """What ``Mcp-Name`` says (MCP 2026-07-28), out of its base64 wrapping; ``None`` where it says nothing."""
        value = self.header(b"mcp-name")
        wrapped = _BASE64.fullmatch(value or "")
        if not wrapped:
            return value
        try:
            return base64.b64decode(wrapped[1], validate=True).decode()
        except ValueError:
            return None

    async def read(self) -> tuple[int | str | None, str | None]:
        """The JSON-RPC id and the locale that the body names, each ``None`` where it cannot be had.

        Only a JSON body of 1 to 65,536 announced octets is read, which nobody has begun to read and the client does not
        hold back, and for one second at most: a caller who is refused shall not make us wait or remember.
        """
        try:
            return _id_and_locale(json.loads(await self._body()))
        except Exception:  # a caller's bytes, a server's receive(): the refusal goes out all the same, without an id
            return None, None

    async def _body(self) -> bytes:
        announced = self.header(b"content-length") or ""
        if (
            self._begun
            or self.scope.get("method") != "POST"
            or not _JSON.match(self.header(b"content-type") or "")
            or not _LENGTH.fullmatch(announced)
            or int(announced) > _MAX_BODY
            or self.header(b"expect") is not None
        ):
            return b""
        body = b""
        async with asyncio.timeout(_READ_SECONDS):
            while len(body) <= _MAX_BODY:
                message = await self._receive()
                if message["type"] != "http.request":
                    break
                body += message.get("body") or b""
                if not message.get("more_body"):
                    return body
        return b""


async def pause() -> None:
    """Let others run, where asyncio runs."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    await asyncio.sleep(0)


def _id_and_locale(request: object) -> tuple[int | str | None, str | None]:
    """JSON-RPC 2.0: a request is an object with a method. A batch and a notification have no id to answer to."""
    if not isinstance(request, Mapping) or not isinstance(request.get("method"), str):
        return None, None
    params = request.get("params")
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    found = [meta.get(key) for key in _LOCALE_KEYS] if isinstance(meta, Mapping) else []
    return usable_id(request.get("id")), next((value for value in found if isinstance(value, str)), None)
