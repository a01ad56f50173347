"""What a refused HTTP request tells about itself: credentials, JSON-RPC id, language. Bounded, and never raises."""

import asyncio
import base64
import json
import re
from codecs import BOM_UTF8
from collections.abc import Awaitable, Callable, Coroutine, Generator, MutableMapping, Sequence
from functools import partial
from types import coroutine
from typing import Any, TypeVar, cast

from mcp_auth_failures.refusal import usable_id

__all__ = ["App", "Message", "Receive", "Request", "Scope", "Send", "pause"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

T = TypeVar("T")

_MAX_BODY = 65_536
_READ_SECONDS = 1.0

_BEARER = re.compile(rb"bearer +[^ ]", re.IGNORECASE)  # RFC 9110 §11.1: a scheme's case does not matter
_JSON = re.compile(rb"application/json[ \t]*(;|$)", re.IGNORECASE)
_LENGTH = re.compile(b"[1-9][0-9]{0,4}")
_BASE64 = re.compile(r"=\?base64\?(.*)\?=")

_decode = json.JSONDecoder().decode  # json.loads() first guesses an encoding; it is UTF-8 (RFC 8259 §8.1)

_LOCALE_KEYS = ("openai/locale", "webplus/i18n")


class Request:
    """One request, and whether the application has begun to read it."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self._receive = receive
        self._begun = False
        self._fields: dict[bytes, list[bytes]] | None = None

    async def receive(self) -> Message:
        """The ``receive`` to give to the application."""
        self._begun = True
        return await self._receive()

    def header(self, name: bytes) -> str | None:
        """The value of a header field, its lines joined (RFC 9110 §5.3); ``None`` if it is absent."""
        lines = self._lines(name)
        return b", ".join(lines).decode("latin-1") if lines else None

    def _lines(self, name: bytes) -> Sequence[bytes]:
        fields = self._fields
        if fields is None:
            self._fields = fields = {}
            for key, value in self.scope.get("headers") or ():
                lower = key.lower()
                if lower in fields:
                    fields[lower].append(value)
                else:
                    fields[lower] = [value]
        return fields.get(name, ())

    @property
    def has_bearer(self) -> bool:
        """Whether there are Bearer credentials; another scheme's, or none after the word, are not."""
        return any(_BEARER.match(value.strip()) for value in self._lines(b"authorization"))

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
            if self._is_readable:
                body = await _within(_READ_SECONDS, self._body)
                return _id_and_locale(_decode(body.removeprefix(BOM_UTF8).decode()))
        except Exception:  # a caller's bytes, a server's receive(): the refusal goes out all the same, without an id
            return None, None
        return None, None

    @property
    def _is_readable(self) -> bool:
        kinds, lengths = self._lines(b"content-type"), self._lines(b"content-length")
        return bool(
            not self._begun
            and self.scope.get("method") == "POST"
            and (len(kinds), len(lengths)) == (1, 1)
            and _JSON.match(kinds[0])
            and _LENGTH.fullmatch(lengths[0])
            and int(lengths[0]) <= _MAX_BODY
            and not self._lines(b"expect")
        )

    async def _body(self) -> bytes:
        body = b""
        while len(body) <= _MAX_BODY:
            message = await self._receive()
            if message["type"] != "http.request":
                break
            body += message.get("body") or b""
            if not message.get("more_body"):
                return body
        return b""


async def _within(seconds: float, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """As :func:`asyncio.timeout`, but without a clock for what need not wait: mostly, a server has the body already."""
    asyncio.get_running_loop()  # another library's has no use for asyncio's clock
    steps = work().__await__()
    try:
        waits_for = next(steps)
    except StopIteration as end:
        return cast("T", end.value)
    async with asyncio.timeout(seconds):
        return await _rest(steps, waits_for)


@coroutine
def _rest(steps: Generator[Any, Any, T], waits_for: object) -> Generator[object, Any, T]:
    """What ``yield from steps`` is (PEP 380), after its first step."""
    while True:
        try:
            result = yield waits_for
        except BaseException as error:  # the clock's CancelledError, or the server's
            step: Callable[[], object] = partial(steps.throw, error)
        else:
            step = partial(steps.send, result)
        try:
            waits_for = step()
        except StopIteration as end:
            return cast("T", end.value)


async def pause() -> None:
    """Let others run, where asyncio runs."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    await asyncio.sleep(0)


def _id_and_locale(request: object) -> tuple[int | str | None, str | None]:
    """JSON-RPC 2.0: a request is an object with a method. A batch and a notification have no id to answer to."""
    if not isinstance(request, dict) or not isinstance(request.get("method"), str):
        return None, None
    params = request.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    found = [value for key in _LOCALE_KEYS if isinstance(value := meta.get(key), str)] if isinstance(meta, dict) else []
    return usable_id(request.get("id")), found[0] if found else None
