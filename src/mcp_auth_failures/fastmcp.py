"""FastMCP: its authentication providers say why they refuse a token, and a refusal becomes its ``ToolResult``."""

import logging
import secrets
import time
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from copy import copy
from typing import Any, TypeVar

import httpx2
from fastmcp.server.auth import AccessToken, AuthProvider, MultiAuth, OAuthProxy, RemoteAuthProvider
from fastmcp.server.auth.jwt_issuer import JWTIssuer
from fastmcp.server.auth.providers.introspection import IntrospectionTokenVerifier
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.tools import ToolResult
from joserfc import jwk, jws, jwt

from mcp_auth_failures.asgi import refuse
from mcp_auth_failures.diagnosis import diagnose
from mcp_auth_failures.refusal import Refusal

__all__ = ["tool_result", "with_reasons"]

Auth = TypeVar("Auth", bound=AuthProvider)
Identity = Collection[str]

_log = logging.getLogger("mcp_auth_failures")
_unheard = logging.Logger("unheard", logging.CRITICAL)

_HMAC = "HS256"
_SECRET = secrets.token_bytes(32)


def with_reasons(auth: Auth, *, identity: Identity = ("sub", "client_id", "azp")) -> Auth:
    """Make a FastMCP provider record why it refuses a token, and refuse one that carries no identity.

    It returns the same provider, to be used as before::

        mcp = FastMCP("Files", auth=with_reasons(JWTVerifier(…)))
        app = AuthFailureMiddleware(mcp.http_app())

    - ``JWTVerifier``: ``unverified``, ``expired``, ``incomplete`` or ``insufficient_scope``.
    - ``IntrospectionTokenVerifier``: the same; but of an expired token most authorization servers say only that it is
      not active, which is ``unverified``.
    - Other verifiers: ``unverified`` or ``incomplete``.
    - ``RemoteAuthProvider``, ``MultiAuth`` and ``OAuthProxy``: as the verifiers in them, and of a token that the proxy
      itself has issued, ``expired``.

    :param identity: the claims of which at least one must be a non-empty string.
    """
    _attach(auth, auth, tuple(identity))
    return auth


def _attach(auth: AuthProvider, challenger: AuthProvider, identity: Identity) -> None:
    if isinstance(auth, MultiAuth):
        for source in filter(None, (auth.server, *auth.verifiers)):
            _attach(source, source, identity)
    elif isinstance(auth, RemoteAuthProvider):
        _attach(auth.token_verifier, challenger, identity)
    elif not isinstance(auth.verify_token, _Witness):
        if isinstance(auth, OAuthProxy):
            _attach(auth._token_validator, challenger, identity)
        auth.verify_token = _Witness(auth, challenger, identity)  # type: ignore[method-assign]


class _Witness:
    """Takes the place of a provider's ``verify_token``: asks it, and records the reason where it refuses.

    :param challenger: the provider that knows which scopes a client has to ask the authorization server for.
    """

    def __init__(self, auth: AuthProvider, challenger: AuthProvider, identity: Identity) -> None:
        self._auth = auth
        self._verify = auth.verify_token
        self._challenger = challenger
        self._identity = identity

    async def __call__(self, token: str) -> AccessToken | None:
        auth, listener = self._auth, None
        if isinstance(auth, IntrospectionTokenVerifier):
            listener = _Listener(auth)
        accepted = await (listener.verify_token(token) if listener else self._verify(token))
        if accepted:
            reason = self._of_accepted(accepted)
            if reason is None:
                return accepted
        else:
            try:
                reason = listener.reason(self._identity) if listener else await self._of_refused(token)
            except Exception as error:
                _log.debug("a token did not verify: %s: %.200r", type(error).__name__, str(error))
                reason = None
        refuse(reason or "unverified", scopes=self._challenger.challenge_scopes)
        return None

    def _of_accepted(self, accepted: AccessToken) -> str | None:
        claims = accepted.claims or {}
        if not isinstance(self._auth, JWTVerifier | IntrospectionTokenVerifier):  # whose claims are complete
            claims = {"sub": accepted.subject, "client_id": accepted.client_id, **claims}
        held = {name: claims.get(name) for name in self._identity}
        # what is past its expires_at, the SDK drops without a reason
        return _judge({**held, "exp": accepted.expires_at or None}, self._identity)

    async def _of_refused(self, token: str) -> str | None:
        """Raises, or returns ``None``, where more speaks against a token than date, identity and scopes."""
        auth = self._auth
        if isinstance(auth, JWTVerifier):
            key_type = jws.JWSRegistry.algorithms[auth.algorithm].key_type
            key = jwk.import_key(await auth._get_verification_key(token), key_type)  # type: ignore[call-overload]
            fresh, claims = _in_date(token, key, auth.algorithm)
            judge = copy(auth)
            judge.public_key, judge.algorithm, judge.required_scopes = _SECRET, _HMAC, []
            judge.logger = _unheard  # what it has to say, it has said already
            if accepted := await type(auth).verify_token(judge, fresh):
                return _judge({**claims, "scope": accepted.scopes}, self._identity, auth.required_scopes)
        elif isinstance(auth, OAuthProxy):
            issuer = auth.jwt_issuer
            fresh, claims = _in_date(token, issuer._jwt_key, _HMAC)
            JWTIssuer(issuer.issuer, issuer.audience, _SECRET).verify_token(fresh)
            return _judge(claims, ["client_id"])
        return None


def _in_date(token: str, key: jwk.Key, algorithm: str) -> tuple[str, dict[str, Any]]:
    """A token whose signature holds, as it would be if it had not expired; and its true claims.

    FastMCP judges ``exp`` before issuer and audience. So that it judges these all the same, and by its own rules, it is
    asked again: about the same header and claims, in date and signed with a secret that only this process has.
    """
    verified = jwt.decode(token, key, registry=_registry(algorithm))
    header, claims = {**verified.header, "alg": _HMAC}, {**verified.claims, "exp": int(time.time()) + 60}
    return jwt.encode(header, claims, jwk.OctKey.import_key(_SECRET), registry=_registry(_HMAC)), verified.claims


def _registry(algorithm: str) -> jws.JWSRegistry:
    return jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)


class _Listener:
    """Asks an introspection verifier, standing in for its HTTP client so as to hear the authorization server."""

    def __init__(self, verifier: IntrospectionTokenVerifier) -> None:
        self._verifier = verifier
        self._answer: httpx2.Response | None = None

    async def verify_token(self, token: str) -> AccessToken | None:
        asked = copy(self._verifier)
        asked._http_client = self  # type: ignore[assignment]
        return await type(self._verifier).verify_token(asked, token)

    async def post(self, url: str, **request: Any) -> httpx2.Response:
        given, timeout = self._verifier._http_client, self._verifier.timeout_seconds
        async with nullcontext(given) if given else httpx2.AsyncClient(timeout=timeout) as client:
            self._answer = await client.post(url, **request)
        return self._answer

    def reason(self, identity: Identity) -> str | None:
        """Why the token was refused, as far as the answer says."""
        verifier = self._verifier
        # a subclass may have refused it for something that is not known here
        plain = type(verifier).verify_token is IntrospectionTokenVerifier.verify_token
        if not plain or self._answer is None or self._answer.status_code != 200:
            return None
        claims = self._answer.json()
        return _judge(claims, identity, verifier.required_scopes, verifier.audience) if claims["active"] else None


def _judge(
    claims: Mapping[str, object],
    identity: Identity,
    required_scopes: Collection[str] = (),
    audience: str | list[str] | None = None,
) -> str | None:
    """As :func:`diagnose`, where FastMCP has judged issuer and ``nbf``, and the audience too unless one is given."""
    judged = {"iss": "", "nbf": None} if audience else {"iss": "", "nbf": None, "aud": ""}
    return diagnose(
        {**claims, **judged},
        issuer="",
        audience=audience or "",
        required_scopes=required_scopes,
        identity=identity,
        require_exp=False,
    )


def tool_result(refusal: Refusal) -> ToolResult:
    """The refusal as a tool's result, for one that is decided in the tool.

    FastMCP's own client raises the sentence as ``ToolError`` and drops the rest, unless ``raise_on_error=False``.
    """
    result = refusal.tool_result
    return ToolResult(content=refusal.failure.message, meta=result["_meta"], is_error=result["isError"])
