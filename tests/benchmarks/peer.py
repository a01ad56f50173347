"""The official SDK's server with authentication, alone and inside ``AuthFailureMiddleware``."""

import json
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from pydantic import AnyHttpUrl

from mcp_auth_failures import Wording
from mcp_auth_failures.asgi import AuthFailureMiddleware, refuse
from mcp_auth_failures.mcp import ClaimsVerifier, pyjwt_decoder

App = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]
]

ISSUER = "https://issuer.example"
AUDIENCE = "https://mcp.example/mcp"
METADATA = "https://mcp.example/.well-known/oauth-protected-resource/mcp"
SCOPES = ["mcp:use"]

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC = KEY.public_key()


def _signed(expires: int) -> str:
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "client_id": "agent", "scope": " ".join(SCOPES)}
    return jwt.encode({**claims, "exp": expires}, KEY, "RS256")


GOOD = _signed(int(time.time()) + 86_400)
EXPIRED = _signed(int(time.time()) - 600)

CALL = json.dumps(
    {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "hi"}}}
).encode()


class LookingUp:
    """Verifies nothing, so that the SDK's own time stands alone in the ratio: the hardest peer there can be."""

    accepted: Mapping[str, AccessToken] = {
        GOOD: AccessToken(token=GOOD, client_id="agent", scopes=SCOPES, resource=AUDIENCE, subject="alice")
    }

    async def verify_token(self, token: str) -> AccessToken | None:
        return self.accepted.get(token)


class LookingUpAndTelling(LookingUp):
    async def verify_token(self, token: str) -> AccessToken | None:
        if token not in self.accepted:
            refuse("expired")
            return None
        return self.accepted[token]


class Verifying:
    """What a server author writes: PyJWT judges the signature and every claim."""

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            claims = jwt.decode(token, PUBLIC, ["RS256"], audience=AUDIENCE, issuer=ISSUER)
        except jwt.InvalidTokenError:
            return None
        return AccessToken(
            token=token,
            client_id=claims["client_id"],
            scopes=claims["scope"].split(),
            expires_at=claims["exp"],
            resource=claims["aud"],
            subject=claims["sub"],
        )


def verifying_and_telling() -> ClaimsVerifier:
    """What a server author writes in its place to tell why."""
    decode = pyjwt_decoder(PUBLIC, ["RS256"])
    return ClaimsVerifier(decode, issuer=ISSUER, audience=AUDIENCE, required_scopes=SCOPES)


def sdk(verifier: Any) -> App:
    """The SDK's own application: one tool, no session, plain JSON answers."""
    server = MCPServer(
        "peer",
        token_verifier=verifier,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(ISSUER),
            resource_server_url=AnyHttpUrl(AUDIENCE),
            required_scopes=SCOPES,
            validate_token_resource=True,
        ),
        log_level="CRITICAL",
    )

    @server.tool()
    def echo(text: str) -> str:
        return text

    return server.streamable_http_app(stateless_http=True, json_response=True)


class Swapping:
    """Puts one answer, made beforehand, in a refusal's place: what no middleware that says as much can undercut."""

    def __init__(self, app: App) -> None:
        self.app = app
        refusal = Wording(env=False).refusal("expired", resource_metadata_url=METADATA, request_id=7)
        headers = [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
        self._start = {"type": "http.response.start", "status": refusal.status, "headers": headers}
        self._body = {"type": "http.response.body", "body": refusal.body}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def swap(message: Any) -> None:
            await send(self._start if message["type"] == "http.response.start" else self._body)

        await self.app(scope, receive, swap if scope["type"] == "http" else send)


def alone() -> App:
    """For uvicorn: the SDK alone."""
    return sdk(LookingUp())


def swapped() -> App:
    """For uvicorn: the SDK, with an answer made beforehand in its place."""
    return Swapping(sdk(LookingUp()))


def told() -> App:
    """For uvicorn: the SDK inside our middleware."""
    return AuthFailureMiddleware(sdk(LookingUpAndTelling()))
