"""What an application answers by itself: what its challenge asks, and which of its headers hold for our answer too."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, get_args

from mcp_auth_failures.challenge import Challenge, other_challenges, parse_challenges, url_fault
from mcp_auth_failures.failure import ErrorCode
from mcp_auth_failures.recording import say_once, sendable
from mcp_auth_failures.refusal import Refusal

__all__ = ["Asked", "Headers", "Inner", "merged_headers", "read_challenges"]

Headers = Iterable[tuple[bytes, bytes]]

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
_MERGED = {b"access-control-expose-headers", b"vary"}


class Asked(NamedTuple):
    """What a refusal asks for: in our challenge, and in those of other schemes."""

    scopes: tuple[str, ...]
    url: str | None
    others: tuple[bytes, ...]


class Inner(NamedTuple):
    """What the application's own ``WWW-Authenticate`` lines come to."""

    is_bearer: bool
    lacks_scope: bool
    scopes: tuple[str, ...]
    url: str | None
    others: tuple[bytes, ...]


@lru_cache(maxsize=64)  # an application has a few of them, unless RequireScopes names what each caller did
def read_challenges(lines: tuple[bytes, ...]) -> Inner | None:
    """Read an answer's lines; ``None`` where a Bearer challenge has an error that is not RFC 6750's."""
    values = [line.decode("latin-1") for line in lines]
    bearers = [parameters for value in values for scheme, parameters in parse_challenges(value) if scheme == "Bearer"]
    errors = {parameters.get("error") or None for parameters in bearers}
    if not errors <= _OUR_ERRORS:
        return None
    merged = {name: value for parameters in reversed(bearers) for name, value in parameters.items()}
    url = merged.get("resource_metadata")
    if url and (fault := url_fault(url)):
        say_once(f"resource_metadata of the application's own challenge is left out: {fault}")
        url = None
    others = tuple(other.encode("latin-1") for other in other_challenges(values))
    scopes = Challenge(scope=sendable(merged.get("scope", ""))).scope
    return Inner(bool(bearers), "insufficient_scope" in errors, scopes, url or None, others)


def merged_headers(refusal: Refusal, inner: Headers, others: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    """Those of the refusal, other schemes' challenges, and those of the inner answer that still hold."""
    headers = refusal.raw_headers
    if refusal.failure.header != "none":
        headers += [(b"www-authenticate", value) for value in others]
    there: dict[bytes, list[bytes]] = {}
    for name, value in inner:
        lower = name.lower()
        if lower in _MERGED:
            there.setdefault(lower, []).append(value)
        elif lower not in _REPLACED and not lower.startswith(b"content-"):
            headers.append((name, value))
    if there:
        headers = [(name, _merged(there.pop(name, []), value)) for name, value in headers]
        headers += [(name, value) for name, values in there.items() for value in values]
    return headers


def _merged(values: list[bytes], ours: bytes) -> bytes:
    if not values:
        return ours
    members = [member.strip() for value in values for member in value.split(b",") if member.strip()]
    if b"*" in members or ours.lower() in (member.lower() for member in members):
        return b", ".join(members)
    return b", ".join([*members, ours])
