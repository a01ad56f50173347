"""The official SDK, 2 and 1.30: claims become its ``AccessToken`` or a reason, a refusal its ``CallToolResult``."""

import inspect
import json
import logging
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.types import CallToolResult

from mcp_auth_failures.asgi import refuse
from mcp_auth_failures.challenge import Challenge
from mcp_auth_failures.diagnosis import diagnose, granted_scopes
from mcp_auth_failures.refusal import Refusal

if TYPE_CHECKING:
    from joserfc.jwk import KeyFlexible
    from jwt import PyJWK, PyJWKClient
    from jwt.algorithms import AllowedPublicKeys

__all__ = ["ClaimsVerifier", "NotProvisionedError", "call_tool_result", "joserfc_decoder", "pyjwt_decoder"]

Decode = Callable[[str], object]
"""A token in, its claims out, or an awaitable of them."""

_log = logging.getLogger("mcp_auth_failures")


class NotProvisionedError(Exception):
    """For a ``decode`` to raise where there is no key at all: every token is ``not_provisioned``.

    It is no ``KeyError`` and no ``None``, since decoders give those by accident. The middleware's ``gate`` can tell the
    same to callers who bring no token.
    """


class ClaimsVerifier(TokenVerifier):
    """A token verifier for the official SDK that says why it refuses.

    The signature is the host's to verify, the claims are judged here::

        MCPServer(token_verifier=ClaimsVerifier(pyjwt_decoder(key, ["RS256"]), issuer=…, audience=…), auth=…)

    :param decode: ``decode(token)``, plain or async, verifies the signature *alone* and returns the claims:
        :func:`pyjwt_decoder`, :func:`joserfc_decoder` or the host's own. Whatever it raises is logged at ``DEBUG``
        and makes the token ``unverified``, but for :class:`NotProvisionedError`.
    :param issuer: the accepted issuer or issuers.
    :param audience: this server's identifier or identifiers. The first is the ``resource`` of every accepted token, so
        it is ``AuthSettings.resource_server_url`` where ``validate_token_resource`` is set.
    :param required_scopes: what every call needs; a refusal names all of them.
    :param identity: the claims of which at least one must be a non-empty string.
    :param require_exp: whether a token without ``exp`` is refused.
    :param leeway: seconds of clock skew allowed, for the SDK's check of ``AccessToken.expires_at`` as well.
    :param now: the clock, in seconds since the epoch.

    Raises ``ValueError`` for a scope that cannot stand in a challenge.
    """

    def __init__(
        self,
        decode: Decode,
        *,
        issuer: str | Collection[str],
        audience: str | Sequence[str],
        required_scopes: str | Collection[str] = (),
        identity: Collection[str] = ("sub", "client_id", "azp"),
        require_exp: bool = True,
        leeway: float = 0,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._decode = decode
        self._resource = audience if isinstance(audience, str) else audience[0]
        self._scopes = tuple(required_scopes.split() if isinstance(required_scopes, str) else required_scopes)
        Challenge(scope=self._scopes)
        self._names = ("client_id", "azp", "sub", *identity)
        self._leeway = leeway
        self._diagnose = partial(
            diagnose,
            issuer=issuer,
            audience=audience,
            required_scopes=self._scopes,
            identity=identity,
            require_exp=require_exp,
            leeway=leeway,
            now=now,
        )

    async def verify_token(self, token: str) -> AccessToken | None:
        """Accept a token, or record why not. Never raises, whatever the token is or ``decode`` does."""
        reason: str | None
        try:
            claims = self._decode(token)
            if inspect.isawaitable(claims):
                claims = await claims
            if not isinstance(claims, Mapping):
                raise TypeError(f"decode returned {type(claims).__name__}, not claims")
            reason = self._diagnose(claims)
            if reason is None:
                return self._access_token(token, claims)
            if reason == "unverified":  # which of them it was is for the operator alone
                _log.debug(
                    "a token's claims: %.400r", {name: claims.get(name) for name in ("iss", "aud", "exp", "nbf")}
                )
        except NotProvisionedError:
            reason = "not_provisioned"
        except Exception as error:
            _log.debug("a token did not verify: %s: %.200r", type(error).__name__, _without(token, str(error)))
            reason = "unverified"
        refuse(reason, scopes=self._scopes)
        return None

    def _access_token(self, token: str, claims: Mapping[str, object]) -> AccessToken:
        names = [claims.get(name) for name in self._names]
        expiry, subject = claims.get("exp"), claims.get("sub")
        return AccessToken(
            token=token,
            client_id=next(name for name in names if isinstance(name, str) and name.strip()),
            scopes=sorted(filter(None, granted_scopes(claims) or ())),
            # the SDK drops what is past it, without a reason
            expires_at=math.ceil(expiry) + math.ceil(self._leeway) if isinstance(expiry, int | float) else None,
            resource=self._resource,
            subject=subject if isinstance(subject, str) else None,
            claims=dict(claims),
        )


def _without(token: str, text: str) -> str:
    for part in (token, *token.split(".")):
        text = text.replace(part, "…") if len(part) >= 8 else text
    return text


def pyjwt_decoder(
    key: "AllowedPublicKeys | PyJWK | PyJWKClient | str | bytes | None", algorithms: Collection[str]
) -> Decode:
    """``decode`` by PyJWT, verifying the signature and nothing else.

    ``jwt.decode`` judges ``exp`` before the audience, and so would tell "expired" of a token for somebody else.

    :param key: what PyJWT takes as a key, or a ``PyJWKClient``, which fetches in a thread; ``None`` or ``""`` where
        there is none.
    :param algorithms: those that the issuer signs with.

    Raises ``ValueError`` for ``none``, and for HMAC beside other algorithms.
    """
    import jwt  # not for a server that brings another library

    names, signature = _checked(algorithms), jwt.PyJWS()

    async def decode(token: str) -> object:
        if not key:
            raise NotProvisionedError
        if isinstance(key, jwt.PyJWKClient):
            found = await anyio.to_thread.run_sync(key.get_signing_key_from_jwt, token)
            return json.loads(signature.decode(token, found, names))
        return json.loads(signature.decode(token, key, names))

    return decode


def joserfc_decoder(key: "KeyFlexible | None", algorithms: Collection[str]) -> Decode:
    """``decode`` by joserfc, verifying the signature and nothing else.

    :param key: a key or ``KeySet`` of ``joserfc.jwk``, or a function that finds one; ``None`` where there is none.
    :param algorithms: those that the issuer signs with.

    Raises ``ValueError`` for ``none``, and for HMAC beside other algorithms.
    """
    from joserfc import jws, jwt  # not a dependency of the SDK

    names = _checked(algorithms)
    # RFC 7515 §4: header parameters that are not understood must be ignored, but for those that crit names
    registry = jws.JWSRegistry(algorithms=names, strict_check_header=False)

    def decode(token: str) -> object:
        if key is None:
            raise NotProvisionedError
        return jwt.decode(token, key, names, registry).claims

    return decode


def _checked(algorithms: Collection[str]) -> list[str]:
    """RFC 8725 §2.1: neither an unsigned token, nor a public key that is taken for an HMAC secret."""
    names = [algorithms] if isinstance(algorithms, str) else list(algorithms)
    if not names or "none" in map(str.lower, names) or len({name.startswith("HS") for name in names}) > 1:
        raise ValueError(f"algorithms: {names!r} should be those that the issuer signs with, such as ['RS256']")
    return names


def call_tool_result(refusal: Refusal) -> CallToolResult:
    """The refusal as a tool's result, for one that is decided in the tool.

    A tool of ``MCPServer`` or ``FastMCP`` returns it, and so does a handler of the low-level ``Server``.
    """
    return CallToolResult.model_validate(refusal.tool_result)
