"""One real MCP server and its stub authorization server, in which one thing goes wrong, and a record of what was asked.

A case goes wrong when it is *armed*: before the client starts, or as its first ``tools/call`` comes in. From then on
the rules are others (the clock has moved on, the key has been changed, …), and the token that the client holds no
longer meets them. A token issued after that meets them again where the case says that renewing mends it.
"""

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import jwt
import uvicorn
from authorization_server import AuthorizationServer
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_auth_failures import Wording, diagnose
from mcp_auth_failures.asgi import AuthFailureMiddleware, RequireScopes, refuse

if TYPE_CHECKING:
    from concurrent.futures import Future

BASE = ["mcp:use"]
NEEDED = ["mcp:use", "files:write"]
HELD = ["mcp:use", "notes:read"]  # what the client was granted before: a step-up must not lose notes:read
GATED = {"not_provisioned", "surface_disabled"}
WORDING = Wording(env=False)
STREAM_CAP = 30

_OLD_KEY, _NEW_KEY = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))


@dataclass(frozen=True, kw_only=True)
class Case:
    """What goes wrong, when, and what renewing the token is worth.

    :param reason: the reason of the refusal.
    :param moment: at the first request of all; at the first call of a tool; at that of the ``tool`` that needs more
        than the rest, for which nothing is armed; ``stream`` drops the open GET stream at the first call and refuses
        every GET from then on.
    :param renewal: whether a renewed token is accepted (``mends``), is refused like the first (``useless``), or the
        refresh token has been ``revoked`` so that only a new sign-in mends it; ``widened`` adds the missing scope at
        refresh.
    :param refresh: whether the client holds a refresh token.
    :param tool: ``echo``, which anyone may call, or ``write``, which needs a scope of its own.
    :param shipped: the server without this library.
    :param stream: what a refused GET is answered: what the library answers, or a status to try in its place.
    """

    reason: str
    moment: Literal["connect", "call", "tool", "stream"] = "call"
    renewal: Literal["mends", "useless", "revoked", "widened"] = "mends"
    refresh: bool = True
    tool: Literal["echo", "write"] = "echo"
    shipped: bool = False
    stream: Literal["ours", "403", "405", "503", "405 from the third on"] = "ours"


class World:
    """The server of one case: ``url`` to connect to, and ``requests`` made since the case was armed."""

    def __init__(self, case: Case, port: int) -> None:
        self.case = case
        self.url = f"http://127.0.0.1:{port}/mcp"
        self.requests: Counter[str] = Counter()
        self.changed = threading.Event()
        self._armed = case.moment == "connect"
        self._called = False
        self._streaming = asyncio.Event()
        self._dropped = asyncio.Event()
        self._required = NEEDED if case.reason == "insufficient_scope" and case.tool == "echo" else BASE
        self.authorization = AuthorizationServer(
            f"http://127.0.0.1:{port}/as",
            self._mint,
            revoked=lambda: self._armed and case.renewal == "revoked",
            widen=("files:write",) if case.renewal == "widened" else (),
        )
        self._app = self._mcp_app()

    def token(self) -> str:
        """The token that the client holds at the start."""
        return self._mint(HELD, new=False)[0]

    def stored(self, redirect_uri: str) -> dict[str, dict[str, object]]:
        """The sign-in that the client remembers, token included; empty where it has never signed in."""
        if self.case.reason == "no_token":
            return {}
        armed, self._armed = self._armed, False
        stored = self.authorization.stored(HELD, redirect_uri, refresh=self.case.refresh)
        self._armed = armed
        return stored

    # What the rules are

    def _now(self, *, new: bool) -> float:
        return time.time() + (7200 if new and self.case.reason == "expired" else 0)

    def _key(self, *, new: bool) -> rsa.RSAPrivateKey:
        return _NEW_KEY if new and self.case.reason == "unverified" else _OLD_KEY

    def _mint(self, scopes: list[str], *, new: bool | None = None) -> tuple[str, list[str]]:
        if new is None:
            new = self._armed and self.case.renewal != "useless"
        if self._armed and self.case.renewal == "useless":
            scopes = [scope for scope in scopes if scope in HELD]
        claims: dict[str, object] = {
            "iss": self.authorization.issuer,
            "aud": self.url,
            "sub": "alice",
            "client_id": "client-1",
            "exp": int(self._now(new=new)) + 3600,
            "scope": " ".join(scopes or BASE),
        }
        if new:
            claims["employee"] = "4711"
        return jwt.encode(claims, self._key(new=new), "RS256"), scopes or BASE

    async def verify_token(self, token: str) -> AccessToken | None:
        """The server author's verifier, as the README shows it; as shipped, it can only say no."""
        reason, claims = self._diagnose(token)
        granted = str(claims.get("scope", "")).split()
        if reason and not (self.case.shipped and reason == "insufficient_scope"):
            if not self.case.shipped:
                refuse(reason, scopes=self._required)
            return None
        if not self._armed:
            granted += self._required
        return AccessToken(
            token=token,
            client_id="client-1",
            scopes=granted,
            subject="alice",
            expires_at=int(str(claims["exp"])),
            claims=claims,
            resource=self.url,
        )

    def _diagnose(self, token: str) -> tuple[str | None, dict[str, object]]:
        off = dict.fromkeys(("verify_exp", "verify_aud", "verify_iss", "verify_nbf", "verify_iat"), False)
        if self.case.shipped and self._armed and self.case.reason in GATED:
            return "unverified", {}
        try:
            claims = jwt.decode(token, self._key(new=self._armed).public_key(), ["RS256"], options=off)
        except jwt.InvalidTokenError:
            return "unverified", {}
        reason = diagnose(
            claims,
            issuer=self.authorization.issuer,
            audience=self.url,
            required_scopes=self._required if self._armed else BASE,
            identity=("employee",) if self._armed and self.case.reason == "incomplete" else ("sub",),
            now=self._now(new=self._armed),
        )
        return reason, claims

    def _gate(self, scope: Scope) -> str | None:
        if self._armed and self.case.reason in GATED:
            return self.case.reason
        if self._dropped.is_set() and scope["method"] == "GET":
            return self.case.reason
        return None

    # The server

    def _mcp_app(self) -> ASGIApp:
        metadata = self.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
        server = MCPServer(
            "under test",
            log_level="CRITICAL",
            token_verifier=self,
            auth=AuthSettings(
                issuer_url=self.authorization.issuer,
                resource_server_url=self.url,
                required_scopes=self._required,
                validate_token_resource=False,
            ),
        )

        @server.tool()
        async def echo(x: str) -> str:
            return x

        @server.tool()
        async def write(x: str, ctx: Context) -> CallToolResult:
            if set(NEEDED) <= set(ctx.request_context.request.user.scopes):
                return CallToolResult.model_validate({"content": [{"type": "text", "text": x}]})
            if self.case.shipped:
                raise PermissionError("files:write is missing")
            refusal = WORDING.refusal("insufficient_scope", scopes=NEEDED, resource_metadata_url=metadata)
            return CallToolResult.model_validate(refusal.tool_result)

        app = server.streamable_http_app()
        if self.case.shipped:
            return app
        # appended, since Starlette's add_middleware() would put it outside authentication
        app.user_middleware.append(
            Middleware(RequireScopes, scopes_for=lambda _, name: NEEDED if name == "write" else BASE)
        )
        return AuthFailureMiddleware(
            app, WORDING, gate=self._gate, scopes=self._required, resource_metadata_url=metadata
        )

    # The record

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Record one request and pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        kind = _kind(scope["path"])
        if kind != "mcp":
            self._note(kind)
            inner = self._app if kind == "resource metadata" else self.authorization
            await inner(scope, receive, send)
        elif scope["method"] == "POST":
            message = await _whole(receive)
            method = json.loads(message["body"])["method"]
            if method == "tools/call":
                await self._first_call()
            self._note(f"POST {method}")
            await self._app(scope, _replay(message, receive), send)
        elif scope["method"] == "GET" and self.case.moment == "stream":
            self._note("GET")
            await self._stream(scope, receive, send)
        else:
            self._note(scope["method"])
            await self._app(scope, receive, send)

    async def _first_call(self) -> None:
        if self._called:
            return
        self._called = True
        if self.case.moment == "connect":
            return
        self._armed = self.case.moment == "call"
        if self.case.moment == "stream":
            await self._streaming.wait()
            self._dropped.set()
        self.requests.clear()

    def _note(self, kind: str) -> None:
        self.requests[kind] += 1
        self.changed.set()

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The GET stream: the first is dropped at the first call, and the rest are refused, up to the cap."""
        if self._dropped.is_set():
            await self._refuse_stream(scope, receive, send)
            return

        async def opening(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.start":
                await send({"type": "http.response.body", "body": b"retry: 50\n\n", "more_body": True})
                self._streaming.set()

        inner = asyncio.ensure_future(self._app(scope, receive, opening))
        dropped = asyncio.ensure_future(self._dropped.wait())
        await asyncio.wait({inner, dropped}, return_when=asyncio.FIRST_COMPLETED)
        for task in (inner, dropped):
            task.cancel()
        await asyncio.gather(inner, dropped, return_exceptions=True)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _refuse_stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self.requests["GET"]
        tried = {"403": 403, "405": 405, "503": 503, "405 from the third on": 405 if refused > 2 else None}
        status = 405 if refused > STREAM_CAP else tried.get(self.case.stream)
        if status:
            await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body"})
            return
        if self.case.shipped:  # there is no gate: the token that it takes away is what makes the server refuse
            scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"authorization"]}
        await self._app(scope, receive, send)


def _kind(path: str) -> str:
    if path.startswith("/.well-known/oauth-protected-resource"):
        return "resource metadata"
    if path.startswith("/.well-known/"):
        return "server metadata"
    return path.rsplit("/", 1)[-1]  # mcp, register, authorize or token


async def _whole(receive: Receive) -> Message:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return {"type": "http.request", "body": body, "more_body": False}


def _replay(first: Message, rest: Receive) -> Receive:
    messages = [first]

    async def receive() -> Message:
        return messages.pop() if messages else await rest()

    return receive


class Worlds:
    """One event loop in a thread, on which any number of worlds are served, each on its own port."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._serving: list[Future[None]] = []

    def close(self) -> None:
        """Wait for every server to end, and stop the loop."""
        for serving in self._serving:
            serving.result(timeout=60)
        asyncio.run_coroutine_threadsafe(_cancel_rest(), self._loop).result(timeout=60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @contextlib.contextmanager
    def serve(self, case: Case) -> Iterator[World]:
        """The world of one case while the block lasts."""
        listener = socket.create_server(("127.0.0.1", 0))  # the server closes it
        world = World(case, listener.getsockname()[1])
        server = uvicorn.Server(
            uvicorn.Config(world, log_config=None, access_log=False, timeout_graceful_shutdown=1, ws="none")
        )
        self._serving.append(asyncio.run_coroutine_threadsafe(server.serve(sockets=[listener]), self._loop))
        try:
            yield world
        finally:
            server.should_exit = server.force_exit = True


async def _cancel_rest() -> None:
    """End what a server that was cut short has left running."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
