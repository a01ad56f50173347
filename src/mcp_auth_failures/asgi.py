"""Around any MCP server that speaks ASGI: turns its bare refusals into ones that say why. Standard library only."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable

from mcp_auth_failures.challenge import Challenge
from mcp_auth_failures.inner import Asked, Headers, merged_headers, read_challenges
from mcp_auth_failures.recording import Record, recording, refuse
from mcp_auth_failures.refusal import Refusal
from mcp_auth_failures.request import App, Message, Receive, Request, Scope, Send, pause
from mcp_auth_failures.require_scopes import RequireScopes
from mcp_auth_failures.wording import Languages, Wording

__all__ = ["AuthFailureMiddleware", "RequireScopes", "refuse"]

Gate = Callable[[Scope], str | Awaitable[str | None] | None]

_log = logging.getLogger("mcp_auth_failures")


class AuthFailureMiddleware:
    """ASGI middleware that gives a refused MCP call its reason, action and sentence.

    It stands outside authentication, and inside CORS where there is any (a CORS middleware that sets
    ``Access-Control-Expose-Headers`` itself has to name ``WWW-Authenticate`` there)::

        uvicorn.run(AuthFailureMiddleware(server.streamable_http_app()))

    A 401 or 403 with a Bearer challenge of RFC 6750, and a 401 without a challenge after :func:`refuse`, is answered
    anew. Everything else passes untouched and unbuffered.

    :param app: the ASGI application.
    :param wording: what is said; by default :class:`~mcp_auth_failures.Wording` as the environment sets it, which
        raises ``DataError`` here if that is faulty.
    :param gate: ``gate(scope)``, plain or async, is asked first for every request but ``OPTIONS`` and
        ``/.well-known/…``. A reason that it returns is refused at once, and ``None`` lets the request in. What it
        raises propagates.
    :param languages: ``languages(scope)`` gives a caller's languages, before those that the request itself names.
    :param scopes: scopes for the challenge where the application names none.
    :param resource_metadata_url: for the challenge where the application names none (RFC 9728 §5.1).
    :param on_refusal: ``on_refusal(refusal, scope)`` is called for each; what it raises is logged and ignored.

    Raises ``ValueError`` for a scope or a URL that cannot stand in a challenge.
    """

    def __init__(
        self,
        app: App,
        wording: Wording | None = None,
        *,
        gate: Gate | None = None,
        languages: Callable[[Scope], Languages] | None = None,
        scopes: str | Iterable[str] = (),
        resource_metadata_url: str | None = None,
        on_refusal: Callable[[Refusal, Scope], object] | None = None,
    ) -> None:
        scopes = tuple(scopes.split() if isinstance(scopes, str) else scopes)
        self.app = app
        self.wording = Wording() if wording is None else wording
        self.wording.load()
        self._gate = gate
        self._languages = languages
        challenge = Challenge(scope=scopes, resource_metadata=resource_metadata_url)
        self._asked = Asked(challenge.scope, challenge.resource_metadata, ())
        self._on_refusal = on_refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        with recording(scope) as record:
            if scope["type"] != "http" or scope.get("method") == "OPTIONS":
                await self.app(scope, receive, send)
                return
            request = Request(scope, receive)
            reason = None if self._gate is None or _is_well_known(scope) else await _ask(self._gate, scope)
            if reason is None:
                await self.app(scope, request.receive, _Responder(self, request, record, send).send)
            else:
                record.answered = True
                await self._close(reason, request, send)

    async def _close(self, reason: str, request: Request, send: Send) -> None:
        if reason in self.wording.catalog:
            await self.answer(reason, self._asked, request, send)
            return
        _log.error("the gate returned a reason that is none: %r", reason)
        await send({"type": "http.response.start", "status": 500, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    def recognize(self, status: int, headers: Headers, request: Request, record: Record) -> tuple[str, Asked] | None:
        """The reason that an inner answer stands for, and what its challenge asks; ``None`` if it is not for us."""
        if status not in {401, 403} or record.answered:
            return None
        lines = tuple([bytes(value) for name, value in headers if name.lower() == b"www-authenticate"])
        inner = read_challenges(lines)
        if inner is None or not (inner.is_bearer or (status == 401 and not lines and record.reasons)):
            return None
        reason = self._reason(status == 403 and inner.lacks_scope, request, record)
        scopes = (record.scopes if reason == "insufficient_scope" else ()) or inner.scopes or self._asked.scopes
        return reason, Asked(scopes, inner.url or self._asked.url, inner.others)

    def _reason(self, lacks_scope: bool, request: Request, record: Record) -> str:
        catalog = self.wording.catalog
        known = [reason for reason in record.reasons if reason in catalog]
        if len(known) < len(record.reasons):
            _log.error("refuse() was given a reason that is none: %r", {*record.reasons} - {*known})
        if lacks_scope:
            return "insufficient_scope"
        if known:
            return next((reason for reason in known if reason != "unverified"), "unverified")
        return "unverified" if request.has_bearer else "no_token"

    async def answer(self, reason: str, asked: Asked, request: Request, send: Send, inner: Headers = ()) -> None:
        """Send the refusal of one request, with those of the inner answer's headers that still hold."""
        self.wording.check()
        request_id, locale = await request.read()
        refusal = self.wording.refusal(
            reason,
            self._preferences(request, locale),
            scopes=asked.scopes,
            resource_metadata_url=asked.url,
            request_id=request_id,
        )
        self._tell(refusal, request.scope)
        headers = merged_headers(refusal, inner, asked.others)
        await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        body = b"" if request.scope.get("method") == "HEAD" else refusal.body
        await send({"type": "http.response.body", "body": body})

    def _preferences(self, request: Request, locale: str | None) -> Languages:
        header = request.header(b"accept-language")
        if self._languages is None and not locale:
            return header
        own: list[str] = []
        if self._languages is not None:
            try:
                languages = self._languages(request.scope)
                own = [languages] if isinstance(languages, str) else list(languages or ())
            except Exception:  # the host's code, and a caller waits for an answer
                _log.exception("languages() failed; the request's own are used")
        return [*own, *filter(None, (locale, header))]

    def _tell(self, refusal: Refusal, scope: Scope) -> None:
        failure = refusal.failure
        # every MCP connection begins with a request that carries no token
        level = logging.DEBUG if failure.header == "bare" else logging.INFO if failure.recoverable else logging.WARNING
        if _log.isEnabledFor(level):
            method, path = (f"{scope.get(key, '')!s:.200}" for key in ("method", "path"))
            method = method if method.isalpha() else repr(method)
            _log.log(level, "refused: %s (%d) %s %r", failure.reason, refusal.status, method, path)
        if self._on_refusal is not None:
            try:
                self._on_refusal(refusal, scope)
            except Exception:  # the host's code, and a caller waits for an answer
                _log.exception("on_refusal() failed")


class _Responder:
    """Watches the inner answer of one request, and puts a refusal in its place."""

    def __init__(self, middleware: AuthFailureMiddleware, request: Request, record: Record, send: Send) -> None:
        self._middleware = middleware
        self._request = request
        self._record = record
        self._send = send
        self._started = False
        self._refused = False

    async def send(self, message: Message) -> None:
        """The ``send`` to give to the application."""
        if self._refused:
            if message.get("more_body"):
                await pause()  # the inner answer goes on, perhaps for ever and without a pause of its own
            return
        if not self._started and message["type"] == "http.response.start":
            self._started = True
            headers = message.get("headers") or ()
            if not isinstance(headers, list | tuple):  # ASGI allows what can be read only once
                headers = list(headers)
                message = {**message, "headers": headers}
            if recognized := self._middleware.recognize(message["status"], headers, self._request, self._record):
                self._refused = self._record.answered = True
                await self._middleware.answer(*recognized, self._request, self._send, headers)
                return
        await self._send(message)


async def _ask(gate: Gate, scope: Scope) -> str | None:
    reason = gate(scope)
    return await reason if inspect.isawaitable(reason) else reason


def _is_well_known(scope: Scope) -> bool:
    path = str(scope.get("path", ""))
    return "/.well-known/" in (path[:13], path.removeprefix(str(scope.get("root_path", "")))[:13])
