"""Around any MCP server that speaks ASGI: turns its bare refusals into ones that say why. Standard library only."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import get_args

from mcp_auth_failures.catalog import ErrorCode
from mcp_auth_failures.challenge import Challenge, other_challenges, parse_challenges, scope_fault, url_fault
from mcp_auth_failures.refusal import Refusal
from mcp_auth_failures.request import Message, Receive, Request, Scope
from mcp_auth_failures.wording import Languages, Wording

__all__ = ["AuthFailureMiddleware", "RequireScopes", "refuse"]

Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]

_log = logging.getLogger("mcp_auth_failures")

_OUR_ERRORS = {None, *get_args(ErrorCode)}

# What describes the inner answer's body (RFC 9110 §8), or asks for what the new answer does not mean.
_REPLACED = {
    b"cache-control",
    b"etag",
    b"last-modified",
    b"retry-after",
    b"trailer",
    b"transfer-encoding",
    b"www-authenticate",
}


@dataclass(slots=True)
class _Holder:
    """What was recorded for one request. Mutable, since a ``ContextVar`` set below the middleware is lost to it."""

    reasons: list[str] = field(default_factory=list)
    scopes: tuple[str, ...] = ()
    seen: bool = False
    answered: bool = False

    def __del__(self) -> None:
        if self.reasons and not self.seen:  # the request is over, and nothing will ever say why it was refused
            _say_once(
                "refuse() was called where no AuthFailureMiddleware is: wrap the app in AuthFailureMiddleware(app)"
            )


_holder: ContextVar[_Holder | None] = ContextVar("mcp_auth_failures", default=None)


@lru_cache(maxsize=64)
def _say_once(message: str) -> None:
    _log.warning("%s", message)


def refuse(reason: str, *, scopes: Iterable[str] = ()) -> None:
    """Record why the current request is about to be refused, for the middleware that answers it. Never raises.

    For a token verifier, just before it says no. Several may record; the first reason other than ``unverified`` counts.

    :param reason: a reason of the catalog.
    :param scopes: all scopes that the operation needs. They count for ``insufficient_scope`` alone: on another reason
        they would tell a token of the wrong audience from a forged one.
    """
    holder = _holder.get()
    if holder is None:
        holder = _Holder()
        _holder.set(holder)
    holder.reasons.append(reason)
    if reason == "insufficient_scope":
        holder.scopes = holder.scopes or tuple(scopes)


class AuthFailureMiddleware:
    """ASGI middleware that gives a refused MCP call its reason, action and sentence.

    It stands outside authentication, and inside CORS where there is any::

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
        gate: Callable[[Scope], str | Awaitable[str | None] | None] | None = None,
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
        self._challenge = Challenge(scope=scopes, resource_metadata=resource_metadata_url)
        self._on_refusal = on_refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http" or scope.get("method") == "OPTIONS":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        if self._gate and not _is_well_known(scope):
            reason = self._gate(scope)
            if inspect.isawaitable(reason):
                reason = await reason
            if reason is not None:
                await self._close(reason, request, send)
                return
        # Inside authentication the verifier has run already, and refuse() has made a holder that nobody has seen. One
        # that was seen belongs to another of these middlewares further out.
        holder = _holder.get() or _Holder()
        shared = holder.seen
        holder.seen = True
        _holder.set(holder)
        try:
            await self.app(scope, request.receive, _Responder(self, request, holder, send).send)
        finally:
            if not shared:
                _holder.set(None)

    async def _close(self, reason: str, request: Request, send: Send) -> None:
        if reason in self.wording.catalog.reasons:
            await self.answer(reason, self._challenge, request, send)
            return
        _log.error("the gate returned a reason that is none: %r", reason)
        await send({"type": "http.response.start", "status": 500, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    def recognize(self, message: Message, request: Request, holder: _Holder) -> tuple[str, Challenge] | None:
        """The reason that an inner answer stands for, and what its challenge asks; ``None`` if it is not for us."""
        status = message.get("status")
        if status not in {401, 403} or holder.answered:
            return None
        values = _values(message.get("headers") or (), b"www-authenticate")
        challenges = [
            parameters for value in values for scheme, parameters in parse_challenges(value) if scheme == "Bearer"
        ]
        errors = {parameters.get("error") or None for parameters in challenges}
        if not errors <= _OUR_ERRORS or not (challenges or (status == 401 and not values and holder.reasons)):
            return None
        reason = self._reason(status == 403 and "insufficient_scope" in errors, request, holder)
        merged = {name: value for parameters in reversed(challenges) for name, value in parameters.items()}
        inner = Challenge.from_parameters(merged)
        _tell_dropped(merged, inner)
        scopes = (holder.scopes if reason == "insufficient_scope" else ()) or inner.scope or self._challenge.scope
        return reason, Challenge(
            scope=tuple(scope for scope in scopes if not scope_fault(scope)),
            resource_metadata=inner.resource_metadata or self._challenge.resource_metadata,
        )

    def _reason(self, lacks_scope: bool, request: Request, holder: _Holder) -> str:
        known = [reason for reason in holder.reasons if reason in self.wording.catalog.reasons]
        if len(known) < len(holder.reasons):
            _log.error("refuse() was given a reason that is none: %r", set(holder.reasons) - set(known))
        if lacks_scope:
            return "insufficient_scope"
        if known:
            return next((reason for reason in known if reason != "unverified"), "unverified")
        return "unverified" if request.has_bearer else "no_token"

    async def answer(
        self, reason: str, challenge: Challenge, request: Request, send: Send, inner: Headers = ()
    ) -> None:
        """Send the refusal of one request, with those of the inner answer's headers that still hold."""
        self.wording.check()
        request_id, locale = await request.read()
        refusal = self.wording.refusal(
            reason,
            self._preferences(request, locale),
            scopes=challenge.scope,
            resource_metadata_url=challenge.resource_metadata,
            request_id=request_id,
        )
        self._tell(refusal, request.scope)
        await send({"type": "http.response.start", "status": refusal.status, "headers": _headers(refusal, inner)})
        body = b"" if request.scope.get("method") == "HEAD" else refusal.body
        await send({"type": "http.response.body", "body": body})

    def _preferences(self, request: Request, locale: str | None) -> list[str]:
        hosts: Languages = None
        if self._languages:
            try:
                hosts = self._languages(request.scope)
            except Exception:
                _log.exception("languages() failed; the request's own are used")
        first = [hosts] if isinstance(hosts, str) else list(hosts or ())
        return [*first, *filter(None, (locale, request.header(b"accept-language")))]

    def _tell(self, refusal: Refusal, scope: Scope) -> None:
        failure = refusal.failure
        # every MCP connection begins with a request that carries no token
        level = logging.DEBUG if failure.header == "bare" else logging.INFO if failure.recoverable else logging.WARNING
        method, path = f"{scope.get('method', '')!s:.20}", f"{scope.get('path', '')!s:.200}"
        _log.log(level, "refused: %s (%d) %s %r", failure.reason, refusal.status, method, path)
        if self._on_refusal:
            try:
                self._on_refusal(refusal, scope)
            except Exception:
                _log.exception("on_refusal() failed")


class _Responder:
    """Watches the inner answer of one request, and puts a refusal in its place."""

    def __init__(self, middleware: AuthFailureMiddleware, request: Request, holder: _Holder, send: Send) -> None:
        self._middleware = middleware
        self._request = request
        self._holder = holder
        self._send = send
        self._started = False
        self._refused = False

    async def send(self, message: Message) -> None:
        if self._refused:
            return  # the inner answer goes on, perhaps for ever; ours is complete
        if not self._started and message["type"] == "http.response.start":
            self._started = True
            if recognized := self._middleware.recognize(message, self._request, self._holder):
                self._refused = self._holder.answered = True
                reason, challenge = recognized
                await self._middleware.answer(
                    reason, challenge, self._request, self._send, message.get("headers") or ()
                )
                return
        await self._send(message)


def _is_well_known(scope: Scope) -> bool:
    path = str(scope.get("path", ""))
    return "/.well-known/" in (path[:13], path.removeprefix(str(scope.get("root_path", "")))[:13])


def _values(headers: Headers, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


def _headers(refusal: Refusal, inner: Headers) -> list[tuple[bytes, bytes]]:
    ours = refusal.headers
    for name in ("Vary", "Access-Control-Expose-Headers"):
        if name in ours:
            ours[name] = _merged(_values(inner, name.lower().encode()), ours[name])
    replaced = {name.lower().encode() for name in ours} | _REPLACED
    kept = [
        (name, value)
        for name, value in inner
        if name.lower() not in replaced and not name.lower().startswith(b"content-")
    ]
    others = other_challenges(_values(inner, b"www-authenticate")) if "WWW-Authenticate" in ours else []
    return [
        *((name.lower().encode(), value.encode("latin-1")) for name, value in ours.items()),
        *((b"www-authenticate", value.encode("latin-1")) for value in others),
        *kept,
    ]


def _merged(values: list[str], ours: str) -> str:
    members = [member.strip() for value in values for member in value.split(",") if member.strip()]
    if "*" in members or ours.lower() in (member.lower() for member in members):
        return ", ".join(members)
    return ", ".join([*members, ours])


def _tell_dropped(parameters: dict[str, str], challenge: Challenge) -> None:
    for name in ("scope", "resource_metadata"):
        if parameters.get(name) and not getattr(challenge, name):
            fault = url_fault(parameters[name]) if name == "resource_metadata" else "no scope-token in it"
            _say_once(f"{name} of the application's own challenge is left out: {fault}")


class RequireScopes:
    """Refuse a call early, with the scopes that this very operation needs, so that OAuth clients step up for it.

    This tells early; it never replaces the check in the tool itself. Requests of protocol versions before 2026-07-28 do
    not say in a header what they call, and pass.

    It stands inside authentication, around the MCP endpoint, with :class:`AuthFailureMiddleware` outside.

    :param app: the ASGI application.
    :param scopes_for: ``scopes_for(method, name)`` gives all scopes that an operation needs; it is asked with the
        request's ``Mcp-Method`` (``tools/call``) and ``Mcp-Name`` (the tool's name, or ``""``), which the server itself
        compares with the body.
    """

    def __init__(self, app: App, scopes_for: Callable[[str, str], Iterable[str]]) -> None:
        self.app = app
        self._scopes_for = scopes_for

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        request = Request(scope, receive)
        granted = getattr(scope.get("auth"), "scopes", None)
        method = request.header(b"mcp-method") if scope["type"] == "http" else None
        if granted is None or not method:
            await self.app(scope, receive, send)
            return
        needed = tuple(self._scopes_for(method, request.mcp_name or ""))
        if set(needed) <= set(granted):
            await self.app(scope, receive, send)
            return
        refuse("insufficient_scope", scopes=needed)
        header = Challenge(error="insufficient_scope", scope=needed).to_header()
        headers = [(b"www-authenticate", header.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
