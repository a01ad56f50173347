"""Real servers that refuse tokens, one for each way of verifying them, and a server in a process of its own."""

import json
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import jwt
from fastmcp import FastMCP
from fastmcp.server.auth.providers.jwt import JWTVerifier
from joserfc import jwk
from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from pydantic import AnyHttpUrl
from scripts import ENVIRONMENT, command
from servers import AUDIENCE, ISSUER, NOW, SCOPES, App, Message, Receive, Send
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcp_auth_failures import Wording
from mcp_auth_failures.asgi import AuthFailureMiddleware, RequireScopes
from mcp_auth_failures.fastmcp import with_reasons
from mcp_auth_failures.mcp import ClaimsVerifier, Decode, joserfc_decoder, pyjwt_decoder

KID = "kid-of-the-issuer"


# --- one server for each way of verifying a token -------------------------------------------------------------------


def _official(verifier: TokenVerifier) -> App:
    auth = AuthSettings(
        issuer_url=AnyHttpUrl(ISSUER),
        resource_server_url=AnyHttpUrl(AUDIENCE),
        required_scopes=SCOPES,
        validate_token_resource=True,
    )
    app = MCPServer("Files", token_verifier=verifier, auth=auth).streamable_http_app(stateless_http=True)
    # inside authentication, the scopes of one tool
    needed = Middleware(RequireScopes, scopes_for=lambda method, name: ["files:write"] if name == "write" else [])
    app.user_middleware.append(needed)
    return AuthFailureMiddleware(app, Wording(env=False))


def _judging(decode: Decode) -> App:
    return _official(ClaimsVerifier(decode, issuer=ISSUER, audience=AUDIENCE, required_scopes=SCOPES))


def _fastmcp(**key: str) -> App:
    auth = JWTVerifier(issuer=ISSUER, audience=AUDIENCE, required_scopes=SCOPES, **key)  # type: ignore[arg-type]
    server = FastMCP("Files", auth=with_reasons(auth))
    return AuthFailureMiddleware(server.http_app(), Wording(env=False))


def _set(pem: str) -> jwk.KeySet:
    return jwk.KeySet([jwk.import_key(pem, "RSA", {"kid": KID, "alg": "RS256", "use": "sig"})])


GUARDED: Mapping[str, Callable[[str, str], App]] = {
    "SDK, PyJWT, one key": lambda pem, _: _judging(pyjwt_decoder(pem, ["RS256"])),
    "SDK, PyJWT, key set": lambda _, url: _judging(pyjwt_decoder(jwt.PyJWKClient(url, cache_keys=True), ["RS256"])),
    "SDK, joserfc, key set": lambda pem, _: _judging(joserfc_decoder(_set(pem), ["RS256"])),
    "FastMCP, one key": lambda pem, _: _fastmcp(public_key=pem),
    "FastMCP, key set": lambda _, url: _fastmcp(jwks_uri=url),
}
"""Servers by name, made from this server's public key in PEM and the URL of its key set."""


def key_set(pem: str) -> App:
    """The issuer's key set, as a server fetches it."""
    keys = json.loads(json.dumps(_set(pem).as_dict(private=False)))

    async def jwks(request: Request) -> Response:
        return JSONResponse(keys)

    return Starlette(routes=[Route("/jwks", jwks)])


def from_environment() -> App:
    """One of them for ``uvicorn --factory``, in a process that shares no key with ours but by its environment."""
    return GUARDED[os.environ["GUARDED"]](os.environ["GUARDED_PEM"], os.environ["GUARDED_JWKS"])


# --- our code alone, from claims to bytes ---------------------------------------------------------------------------

_FINE = {"iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "scope": " ".join(SCOPES), "exp": NOW + 36_000}
_PAST = NOW - 600

BRANCHES: Mapping[str, Mapping[str, object]] = {
    "issuer": {**_FINE, "iss": "https://issuer.invalid"},
    "issuer, again": {**_FINE, "iss": "https://issuer.invalid"},
    "audience": {**_FINE, "aud": "https://other.example/mc"},
    "audience, expired": {**_FINE, "aud": "https://other.example/mc", "exp": _PAST},
    "audience, expired, no scope": {**_FINE, "aud": "https://other.example/mc", "exp": _PAST, "scope": ""},
    "not yet valid": {**_FINE, "nbf": NOW + 36_000},
    "no exp": {name: value for name, value in _FINE.items() if name != "exp"},
    "malformed scope": {**_FINE, "scope": 7},
}
"""Claims by what makes them ``unverified``. Two are alike, and show what is noise."""


def branching() -> App:
    """An app that judges the claims which its path numbers, and refuses; wrapped. No library verifies anything."""
    branches = list(BRANCHES.values())

    def decode(number: str) -> object:
        return branches[int(number)]

    verifier = ClaimsVerifier(decode, issuer=ISSUER, audience=AUDIENCE, required_scopes=SCOPES)

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        assert await verifier.verify_token(scope["path"][1:]) is None
        challenge = (b"www-authenticate", b'Bearer error="invalid_token"')
        await send({"type": "http.response.start", "status": 401, "headers": [challenge]})
        await send({"type": "http.response.body", "body": b""})

    return AuthFailureMiddleware(app, Wording(env=False))


# --- a process of its own -------------------------------------------------------------------------------------------


@dataclass
class Process:
    """A running server, and what it has written to its terminal so far."""

    url: str
    process: subprocess.Popen[bytes]
    output: Path
    begun: int

    @property
    def written(self) -> str:
        """Everything on standard output and error since it was up."""
        return self.output.read_bytes()[self.begun :].decode(errors="replace")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and wait for the end; gives the exit status."""
        self.process.send_signal(number)
        return self.process.wait(30)


@contextmanager
def uvicorn_process(factory: str, *, python: tuple[str, ...] = (), quiet: bool = True, **env: str) -> Iterator[Process]:
    """Run ``module:function`` of this folder by uvicorn; unless it is to be ``quiet``, with uvicorn's own log.

    The socket is made here, so that no other process can be taken for this one.
    """
    with tempfile.NamedTemporaryFile() as output:
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
            port, descriptor = listener.getsockname()[1], listener.fileno()
            process = subprocess.Popen(
                command("served.py", factory, descriptor, int(quiet), python=python),
                env=ENVIRONMENT | env,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[descriptor],
            )
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
                connection.sendall(b"OPTIONS / HTTP/1.0\r\n\r\n")  # passes everything of ours, and waits for the start
                assert connection.recv(1), Path(output.name).read_text()
            yield Process(f"http://127.0.0.1:{port}", process, Path(output.name), Path(output.name).stat().st_size)
        finally:
            process.kill()
            process.wait()
