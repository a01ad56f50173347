"""What several tests stand up: a real server on loopback, one request without any, and tokens of every kind."""

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from pydantic import AnyHttpUrl
from starlette.middleware.authentication import AuthenticationMiddleware

from mcp_auth_failures import Refusal, diagnose
from mcp_auth_failures.asgi import refuse

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
Headers = Iterable[tuple[str, str]]

CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "echo", "arguments": {}}}
"""A JSON-RPC request as an MCP client sends it."""


# --- a server -------------------------------------------------------------------------------------------------------


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


@contextmanager
def serve(app: App) -> Iterator[str]:
    """Run an ASGI app in a uvicorn of its own, on a free port of loopback. Gives its base URL; stops it at the end."""
    server = _Server(
        uvicorn.Config(app, http="h11", ws="none", log_config=None, log_level="critical", timeout_graceful_shutdown=5)
    )
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        thread = threading.Thread(target=server.run, args=([listener],), name="uvicorn")
        thread.start()
        try:
            assert server.up.wait(30), "the application did not start"
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive(), "the application did not stop"


@dataclass(frozen=True)
class Answer:
    """One HTTP answer, wherever it came from; ``messages`` are those of ASGI, where it came from there."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    messages: list[Message] = field(default_factory=list)

    def lines(self, name: str) -> list[str]:
        """The lines of one header field, in order."""
        return [value for key, value in self.headers if key.lower() == name]

    @property
    def refusal(self) -> Refusal:
        """The refusal that this answer is."""
        refusal = Refusal.from_response(self.status, self.headers, self.body)
        assert refusal, self
        return refusal

    @property
    def reason(self) -> str:
        """The reason that it gives."""
        return self.refusal.failure.reason

    @property
    def content(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def connect(url: str) -> socket.socket:
    """A connection to a server."""
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname or "", parts.port or 80), timeout=30)


def on_the_wire(url: str, request: bytes) -> Answer:
    """Send exactly these octets to a server, keep the connection open, and read one answer."""
    with connect(url) as connection:
        connection.sendall(request)
        response = http.client.HTTPResponse(connection, method=request.split(b" ")[0].decode())
        response.begin()
        with response:
            return Answer(response.status, response.getheaders(), response.read())


# --- one request ----------------------------------------------------------------------------------------------------


async def exchange(
    app: App,
    *,
    method: str = "POST",
    path: str = "/mcp",
    headers: Headers = (),
    content: object = None,
    receive: Receive | None = None,
    **scope: object,
) -> Answer:
    """Give an ASGI app one request, as a server would, and keep every message that it sends.

    ``content`` is sent as JSON with the headers for it. When the request has been read, the connection stays open:
    ``receive`` waits, as it does in a server.
    """
    body = b"" if content is None else json.dumps(content).encode()
    described = [] if content is None else [("content-type", "application/json"), ("content-length", str(len(body)))]
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Message:
        return waiting.pop() if waiting else await asyncio.Future()

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    http_scope: Message = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in [*described, *headers]],
        **scope,
    }
    await app(http_scope, receive or read, send)
    starts = [message for message in sent if message["type"] == "http.response.start"]
    return Answer(
        status=starts[0]["status"],
        headers=[(name.decode(), value.decode("latin-1")) for name, value in starts[0].get("headers", ())],
        body=b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body"),
        messages=sent,
    )


def ask(app: App, **request: Any) -> Answer:
    """:func:`exchange`, in an event loop of its own."""
    return asyncio.run(exchange(app, **request))


def bearer(token: str | None) -> list[tuple[str, str]]:
    """The header that carries a token; none for none."""
    return [] if token is None else [("authorization", f"Bearer {token}")]


# --- tokens ---------------------------------------------------------------------------------------------------------

ISSUER = "https://issuer.example"
AUDIENCE = "https://mcp.example/mcp"
METADATA = "https://mcp.example/.well-known/oauth-protected-resource/mcp"
SCOPES = ["mcp:use", "files:read"]

KEY, OTHER_KEY = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
PEM = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
NOW = int(time.time())


def token(key: rsa.RSAPrivateKey = KEY, **claims: object) -> str:
    """A signed token that this server accepts, but for what is said; a claim that is ``None`` is left out."""
    whole: dict[str, object] = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "alice",
        "client_id": "agent-1",
        "scope": " ".join(SCOPES),
        "iat": NOW - 7200,
        "exp": NOW + 36_000,
        **claims,
    }
    return jwt.encode({name: value for name, value in whole.items() if value is not None}, key, "RS256")


GOOD = token()

TOKENS: Mapping[str, Mapping[str, str | None]] = {
    "no_token": {"none": None},
    "expired": {
        "expired": token(exp=NOW - 600),
        "expired, without the scope": token(exp=NOW - 600, scope="other"),
        "expired, without an identity": token(exp=NOW - 600, sub=None, client_id=None),
    },
    "unverified": {
        "signed by another": token(OTHER_KEY),
        "for another audience": token(aud="https://other.example/mcp"),
        "of another issuer": token(iss="https://other.example"),
        "expired and for another audience": token(exp=NOW - 600, aud="https://other.example/mcp"),
        "expired and signed by another": token(OTHER_KEY, exp=NOW - 600),
        "not yet valid": token(nbf=NOW + 36_000),
        "without exp": token(exp=None),
        "no token at all": "garbage",
    },
    "incomplete": {
        "without an identity": token(sub=None, client_id=None),
        "with a blank identity": token(sub=" ", client_id=""),
    },
    "insufficient_scope": {
        "without the scope": token(scope="other"),
        "with one scope of two": token(scope=SCOPES[0]),
        "without any scope": token(scope=None),
    },
}
"""Tokens by the reason that refuses them. What refuses every token (the deployment's own reasons) is not here."""

CASES = [(reason, name) for reason, tokens in TOKENS.items() for name in tokens]


class Verifier:
    """A ``TokenVerifier`` of the official SDK, as a server author writes it. Without a key nothing can be verified."""

    def __init__(self) -> None:
        self.key: rsa.RSAPublicKey | None = KEY.public_key()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Accept a token, or record why not."""
        if self.key is None:
            refuse("not_provisioned")
            return None
        try:
            claims = jwt.decode(
                token,
                self.key,
                ["RS256"],
                # these are diagnose()'s to judge
                options={
                    "verify_aud": False,
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_iss": False,
                    "verify_nbf": False,
                    "verify_sub": False,
                },
            )
        except jwt.InvalidTokenError:
            refuse("unverified")
            return None
        if reason := diagnose(claims, issuer=ISSUER, audience=AUDIENCE, required_scopes=SCOPES):
            refuse(reason, scopes=SCOPES)
            return None
        return AccessToken(
            token=token,
            client_id=claims["client_id"],
            scopes=claims["scope"].split(),
            expires_at=claims["exp"],
            resource=AUDIENCE,
            subject=claims["sub"],
            claims=claims,
        )


async def expired(scope: Message, receive: Receive, send: Send) -> None:
    """An application that refuses whatever it is asked, for a token that has expired."""
    refuse("expired")
    challenge = (b"www-authenticate", b'Bearer error="invalid_token"')
    await send({"type": "http.response.start", "status": 401, "headers": [challenge]})
    await send({"type": "http.response.body", "body": b""})


def authenticated(app: App, *, verifier: Verifier | None = None, around: Callable[[App], App] = lambda app: app) -> App:
    """An app behind the official SDK's authentication; ``around`` stands between reading the token and requiring it."""
    guarded = around(RequireAuthMiddleware(app, SCOPES, AnyHttpUrl(METADATA)))
    return AuthenticationMiddleware(guarded, backend=BearerAuthBackend(verifier or Verifier()))


# --- a process ------------------------------------------------------------------------------------------------------

GIVE_UP_ROOT = """
import ctypes, os
if os.geteuid() == 0:  # without two of its capabilities permissions bind the superuser too (Linux, capabilities(7))
    libc, header, data = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, data) == 0
    data[0] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    assert libc.capset(header, data) == 0
"""
"""Lines of a child's program, after which files that may not be read cannot be."""
