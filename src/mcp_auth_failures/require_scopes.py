"""Step-up per operation: refuse a call before it is read, with the scopes that this very operation needs."""

from collections.abc import Callable, Iterable

from mcp_auth_failures.challenge import Challenge
from mcp_auth_failures.recording import refuse, sendable
from mcp_auth_failures.request import App, Receive, Request, Scope, Send

__all__ = ["RequireScopes"]


class RequireScopes:
    """Refuse a call early, with the scopes that this very operation needs, so that OAuth clients step up for it.

    This tells early; it never replaces the check in the tool itself. Requests of protocol versions before 2026-07-28 do
    not say in a header what they call, and pass.

    It stands inside authentication, with :class:`AuthFailureMiddleware` outside. With the official SDK that is the last
    of the app's own middlewares::

        app = server.streamable_http_app()
        app.user_middleware.append(Middleware(RequireScopes, scopes_for=scopes_for))
        app = AuthFailureMiddleware(app)

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
        # a caller who is nobody yet is refused for that by the authentication itself
        if granted is None or not method or not getattr(scope.get("user"), "is_authenticated", True):
            await self.app(scope, receive, send)
            return
        needed = self._scopes_for(method, request.mcp_name or "")
        needed = needed.split() if isinstance(needed, str) else list(needed)
        if all(each in list(granted) for each in needed):
            await self.app(scope, receive, send)
            return
        refuse("insufficient_scope", scopes=needed)
        header = Challenge(error="insufficient_scope", scope=sendable(needed)).to_header()
        headers = [(b"www-authenticate", header.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
