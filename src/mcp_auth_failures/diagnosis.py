"""Why verified claims do not suffice: claims in, a reason or ``None`` out. Pure, for any JWT library."""

import math
import time
from collections.abc import Callable, Collection, Mapping
from typing import Literal, TypeGuard

__all__ = ["diagnose", "granted_scopes"]

Diagnosis = Literal["unverified", "expired", "incomplete", "insufficient_scope"]


def diagnose(
    claims: Mapping[str, object],
    *,
    issuer: str | Collection[str],
    audience: str | Collection[str],
    required_scopes: str | Collection[str] = (),
    identity: Collection[str] = ("sub", "client_id", "azp"),
    require_exp: bool = True,
    leeway: float = 0,
    now: float | Callable[[], float] | None = None,
) -> Diagnosis | None:
    """Say which reason refuses these claims, or ``None`` if none does.

    Give it claims whose *signature is verified* and whose expiry and audience are *not judged yet*: a library that
    checks ``exp`` first and raises would tell "expired" of a token that was never meant for this server.

    The first that applies wins: ``unverified`` (issuer, audience, ``nbf``, no ``exp`` where one is required, a
    malformed claim), ``expired`` (fine until its ``exp`` passed), ``incomplete`` (no usable identity),
    ``insufficient_scope``.

    :param claims: RFC 7519 claims: ``aud`` a string or a list; scopes in ``scope`` (RFC 8693 §4.2, a string or a list)
        or ``scp``.
    :param issuer: the accepted issuer or issuers (``iss``), compared exactly.
    :param audience: this server's identifier or identifiers; one of them must be in ``aud``.
    :param required_scopes: all of them must be granted; a text holds several, separated by spaces.
    :param identity: the claims of which at least one must be a non-empty string.
    :param require_exp: whether a token without ``exp`` is refused.
    :param leeway: seconds of clock skew allowed, for ``exp`` and ``nbf``.
    :param now: seconds since the epoch, or a clock that returns them; the system's clock by default.

    Never raises, whatever the claims hold. All of them are looked at, whichever does not hold.
    """
    if not isinstance(claims, Mapping):
        return "unverified"
    moment = now() if callable(now) else time.time() if now is None else now
    expiry, start = claims.get("exp"), claims.get("nbf")
    granted = granted_scopes(claims)
    verified = (
        _matches(claims.get("iss"), issuer, several=False),
        _matches(claims.get("aud"), audience, several=True),
        _is_date(expiry) or (expiry is None and not require_exp),
        start is None or (_is_date(start) and start <= moment + leeway),
    )
    if granted is None or not all(verified):
        return "unverified"
    if _is_date(expiry) and expiry <= moment - leeway:
        return "expired"
    if not any(isinstance(name := claims.get(claim), str) and name.strip() for claim in identity):
        return "incomplete"
    if not granted.issuperset(required_scopes.split() if isinstance(required_scopes, str) else required_scopes):
        return "insufficient_scope"
    return None


def _matches(claim: object, accepted: str | Collection[str], *, several: bool) -> bool:
    wanted = {accepted} if isinstance(accepted, str) else set(accepted)
    values = claim if several and isinstance(claim, list | tuple) else [claim]
    return all(isinstance(value, str) for value in values) and not wanted.isdisjoint(values)


def _is_date(claim: object) -> TypeGuard[int | float]:
    """RFC 7519 §2, NumericDate: a JSON number."""
    if isinstance(claim, float):
        return math.isfinite(claim)
    return isinstance(claim, int) and not isinstance(claim, bool)


def granted_scopes(claims: Mapping[str, object]) -> frozenset[str] | None:
    """The scopes that claims grant (RFC 8693 §4.2, and ``scp``), or ``None`` where the claim is malformed."""
    claim = claims["scope"] if claims.get("scope") is not None else claims.get("scp")
    values = claim.split(" ") if isinstance(claim, str) else [] if claim is None else claim
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        return None
    return frozenset(values)
