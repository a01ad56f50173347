"""A stub authorization server on loopback: every sign-in succeeds, and the case decides what a token is worth."""

import base64
import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send


@dataclass
class AuthorizationServer:
    """Metadata (RFC 8414), dynamic registration (RFC 7591), authorization with PKCE, tokens and refresh.

    :param issuer: its identifier; with a path, so that no client can trip over a trailing slash.
    :param mint: makes an access token of the scopes asked for, and says which scopes it granted.
    :param revoked: whether every refresh token has been revoked.
    :param widen: the scopes that a refresh adds, which RFC 6749 §6 forbids and some servers do.
    """

    issuer: str
    mint: Callable[[list[str]], tuple[str, list[str]]]
    revoked: Callable[[], bool] = lambda: False
    widen: tuple[str, ...] = ()
    asked: list[list[str]] = field(default_factory=list)
    _codes: dict[str, tuple[list[str], str]] = field(default_factory=dict)
    _refresh_tokens: dict[str, list[str]] = field(default_factory=dict)

    def stored(self, scopes: list[str], redirect_uri: str, *, refresh: bool = True) -> dict[str, dict[str, object]]:
        """What a client keeps of an earlier sign-in."""
        return {
            "tokens": self._grant(scopes, refresh=refresh),
            "client": {"client_id": "client-1", "redirect_uris": [redirect_uri], "issuer": self.issuer} | _PUBLIC,
        }

    def _grant(self, scopes: list[str], *, refresh: bool = True) -> dict[str, object]:
        token, granted = self.mint(scopes)
        answer: dict[str, object] = {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": 3600,
            "scope": " ".join(granted),
        }
        if refresh:
            answer["refresh_token"] = secrets.token_urlsafe(16)
            self._refresh_tokens[str(answer["refresh_token"])] = granted
        return answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, receive)
        endpoint = request.url.path.rsplit("/", 1)[-1]
        handlers = {"authorize": self._authorize, "register": self._register, "token": self._token}
        response = await handlers[endpoint](request) if endpoint in handlers else self._metadata()
        await response(scope, receive, send)

    def _metadata(self) -> Response:
        return JSONResponse(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "registration_endpoint": f"{self.issuer}/register",
                "response_types_supported": ["code"],
                "grant_types_supported": _PUBLIC["grant_types"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            }
        )

    async def _register(self, request: Request) -> Response:
        return JSONResponse(json.loads(await request.body()) | {"client_id": "client-1"} | _PUBLIC, 201)

    async def _authorize(self, request: Request) -> Response:
        query = request.query_params
        code = secrets.token_urlsafe(16)
        scopes = query.get("scope", "").split()
        self.asked.append(scopes)
        self._codes[code] = (scopes, query["code_challenge"])
        answer = {"code": code} | ({"state": query["state"]} if "state" in query else {})
        return RedirectResponse(f"{query['redirect_uri']}?{urlencode(answer)}", 302)

    async def _token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        if form["grant_type"] == "authorization_code":
            scopes, challenge = self._codes.pop(form["code"])
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            fault = base64.urlsafe_b64encode(digest).decode().rstrip("=") != challenge
        else:
            scopes = [*self._refresh_tokens.pop(form["refresh_token"], []), *self.widen]
            fault = not scopes or self.revoked()
        if fault:
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse(self._grant(scopes), headers={"Cache-Control": "no-store"})


_PUBLIC: dict[str, object] = {
    "token_endpoint_auth_method": "none",
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
}
