"""One failure happening now: a complete HTTP answer, a JSON-RPC error, a tool result, and the way back. No I/O."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NotRequired, TypedDict, cast, get_args

from mcp_auth_failures.catalog import (
    SHIPPED,
    AuthFailure,
    AuthFailureData,
    Catalog,
    Recovery,
    auth_failure_data,
)
from mcp_auth_failures.challenge import Challenge, scope_fault, url_fault

__all__ = ["JsonRpcError", "Refusal", "ToolResult", "usable_id"]

_MAX_BODY = 1 << 20
_MAX_ID = 256
_MAX_INTEGER = 2**53 - 1  # beyond it JavaScript's numbers are no longer exact


class _Data(AuthFailureData):
    language: str | None
    scope: NotRequired[str]
    help: NotRequired[str]


class JsonRpcError(TypedDict):
    """The ``error`` member of a JSON-RPC response."""

    code: int
    message: str
    data: _Data


class ToolResult(TypedDict):
    """An MCP ``CallToolResult`` that says the call was refused."""

    content: list[dict[str, str]]
    isError: bool
    _meta: dict[str, object]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is the same for every request that is refused alike: all but the id."""

    failure: AuthFailure
    scopes: tuple[str, ...]
    resource_metadata_url: str | None
    help_url: str | None
    headers: Mapping[str, str] = field(compare=False)
    after_id: bytes = field(compare=False)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Refusal:
    """A refused call, ready to send and complete in itself.

    :param failure: why, and the sentence that says so.
    :param scopes: all scopes that the operation needs.
    :param resource_metadata_url: URL of the protected resource metadata (RFC 9728); it travels in the challenge, so
        that a refusal without one has none.
    :param request_id: the JSON-RPC id of the refused request; ``None`` where it is not known or cannot be echoed.
    :param help_url: URL of a page about this failure.
    :ivar body: the HTTP content, a JSON-RPC error response in raw UTF-8. An answer to HEAD leaves it out.

    Raises ``ValueError`` for a scope or a URL that cannot stand in a challenge. Two refusals are equal when what
    travels is equal, so that :meth:`from_response` gives back what was sent.
    """

    _answer: _Answer
    request_id: int | str | None
    body: bytes = field(compare=False)

    def __init__(
        self,
        failure: AuthFailure,
        scopes: Iterable[str] = (),
        resource_metadata_url: str | None = None,
        request_id: object = None,
        help_url: str | None = None,
    ) -> None:
        answer = _answer(failure, tuple(scopes), resource_metadata_url, help_url)
        if type(request_id) is int and -_MAX_INTEGER <= request_id <= _MAX_INTEGER:
            body = b'{"jsonrpc":"2.0","id":%d%b' % (request_id, answer.after_id)
        else:
            request_id = usable_id(request_id)
            body = b'{"jsonrpc":"2.0","id":%b%b' % (_json.encode(request_id).encode(), answer.after_id)
        _set(self, "_answer", answer)
        _set(self, "request_id", request_id)
        _set(self, "body", body)

    def __repr__(self) -> str:
        return f"<Refusal {self.failure.reason} ({self.status}), id {self.request_id!r}>"

    @property
    def failure(self) -> AuthFailure:
        """Why, and the sentence that says so."""
        return self._answer.failure

    @property
    def scopes(self) -> tuple[str, ...]:
        """All scopes that the operation needs."""
        return self._answer.scopes

    @property
    def resource_metadata_url(self) -> str | None:
        """URL of the protected resource metadata (RFC 9728)."""
        return self._answer.resource_metadata_url

    @property
    def help_url(self) -> str | None:
        """URL of a page about this failure."""
        return self._answer.help_url

    @property
    def status(self) -> int:
        """The HTTP status code."""
        return self._answer.failure.status

    @property
    def headers(self) -> dict[str, str]:
        """The HTTP header fields of the whole answer, ``Content-Length`` included.

        ``Vary`` and ``Access-Control-Expose-Headers`` are to be merged with what is there already.
        """
        return {**self._answer.headers, "Content-Length": str(len(self.body))}

    @property
    def json_rpc_error(self) -> JsonRpcError:
        """The JSON-RPC ``error``.

        Its code is the HTTP status: MCP 2026-07-28 allots no new codes in -32000 … -32099 and asks for codes outside
        -32768 … -32000.
        """
        return cast("JsonRpcError", json.loads(self.body)["error"])

    @property
    def tool_result(self) -> ToolResult:
        """The refusal as the result of a tool, for one that is decided after authentication (it travels with HTTP 200).

        The challenge stands in ``_meta["mcp/www_authenticate"]``, always with an error and a description, without
        which ChatGPT starts no login; it is absent where a login cannot help.
        """
        meta: dict[str, object] = {"mcp-auth-failures/failure": self.json_rpc_error["data"]}
        if self.failure.recoverable:
            meta["mcp/www_authenticate"] = [_challenge(self, self.failure.challenge).to_header()]
        return {"content": [{"type": "text", "text": self.failure.message}], "isError": True, "_meta": meta}

    @classmethod
    def from_response(
        cls,
        status: int,
        headers: Mapping[str, str] | Iterable[tuple[str | bytes, str | bytes]],
        body: bytes | str,
        *,
        catalog: Catalog | None = None,
    ) -> "Refusal | None":
        """Read an HTTP answer back into the refusal that made it, or ``None`` where it is none of ours.

        ``headers`` may be any mapping or pairs, of text or bytes. A reason that ``catalog`` does not know (the shipped
        one by default) gives ``None``. Never raises, whatever came. The reverse of :attr:`status`, :attr:`headers` and
        :attr:`body`.
        """
        if not isinstance(status, int) or status < 400:
            return None
        try:
            text = body.decode() if isinstance(body, bytes | bytearray | memoryview) else body
            content = json.loads(text) if len(text) <= _MAX_BODY else None
        except (ValueError, TypeError, AttributeError, RecursionError):
            return None
        if not isinstance(content, dict):
            return None
        challenge = _bearer(headers) or Challenge()
        return _read(
            content.get("error"),
            catalog or SHIPPED,
            challenge=challenge,
            request_id=content.get("id"),
        )

    @classmethod
    def from_error(cls, error: object, *, catalog: Catalog | None = None) -> "Refusal | None":
        """Read a JSON-RPC error back, or ``None`` where it is none of ours.

        ``error`` is the ``{"code", "message", "data"}`` of a response, an object with such attributes, or an
        exception that carries one as ``error`` (the official SDK's ``MCPError``). Header and id are not part of it.
        Never raises. The reverse of :attr:`json_rpc_error`.
        """
        return _read(getattr(error, "error", error), catalog or SHIPPED, challenge=Challenge(), request_id=None)


@lru_cache(maxsize=1024)  # all four come from the host's files and code, never from a caller's header or body
def _answer(failure: AuthFailure, scopes: tuple[str, ...], url: str | None, help_url: str | None) -> _Answer:
    if help_url is not None and (fault := url_fault(help_url)):
        raise ValueError(f"help_url: {fault}")
    bare = failure.header != "error"
    challenge = Challenge(
        error=None if bare else failure.challenge,
        scope=scopes,
        resource_metadata=url,
        error_description=None if bare else failure.description,
        error_uri=None if bare else help_url,
    )
    data: dict[str, object] = {**auth_failure_data(failure), "language": failure.language}
    if challenge.scope:
        data["scope"] = " ".join(challenge.scope)
    if help_url:
        data["help"] = help_url
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store", "Vary": "Accept-Language"}
    if failure.language:
        headers["Content-Language"] = failure.language
    if failure.header != "none":
        headers |= {"WWW-Authenticate": challenge.to_header(), "Access-Control-Expose-Headers": "WWW-Authenticate"}
    error = _json.encode({"code": failure.status, "message": failure.message, "data": data})
    return _Answer(
        failure=failure,
        scopes=challenge.scope,
        resource_metadata_url=url if failure.header != "none" else None,
        help_url=help_url,
        headers=headers,
        after_id=b',"error":%b}' % error.encode(),
    )


def _challenge(refusal: Refusal, error: str) -> Challenge:
    return Challenge(
        error=error,
        scope=refusal.scopes,
        resource_metadata=refusal.resource_metadata_url,
        error_description=refusal.failure.description,
        error_uri=refusal.help_url,
    )


def usable_id(request_id: object) -> int | str | None:
    """The JSON-RPC id to answer with: the request's own where every client can read it back, else ``None``.

    An integer within ±(2⁵³-1) or a string of at most 256 characters without lone surrogates; never ``true``, a float
    or an object.
    """
    if isinstance(request_id, str):
        return request_id if len(request_id) <= _MAX_ID and _is_unicode(request_id) else None
    if isinstance(request_id, int) and not isinstance(request_id, bool):
        return request_id if -_MAX_INTEGER <= request_id <= _MAX_INTEGER else None
    return None


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


_set = object.__setattr__  # what a frozen dataclass's own constructor uses

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))  # raw, since TypeScript clients show it as it is


def _bearer(headers: Any) -> Challenge | None:
    pairs = headers.items() if hasattr(headers, "items") else headers
    try:
        for name, value in pairs:
            name, value = (part.decode("latin-1") if isinstance(part, bytes) else part for part in (name, value))
            if name.lower() == "www-authenticate" and (challenge := Challenge.from_header(value)):
                return challenge
    except (TypeError, ValueError, AttributeError):
        pass  # no headers at all, or none that a server sent
    return None


def _read(error: object, catalog: Catalog, *, challenge: Challenge, request_id: object) -> Refusal | None:
    message, data = _member(error, "message"), _member(error, "data")
    if not isinstance(message, str) or not _is_unicode(message) or not isinstance(data, Mapping):
        return None
    reason, action, recoverable = (data.get(name) for name in ("reason", "action", "recoverable"))
    language, scope, help_url = (data.get(name) for name in ("language", "scope", "help"))
    if not isinstance(reason, str) or reason not in catalog.reasons or action not in get_args(Recovery):
        return None
    if not isinstance(recoverable, bool) or not (language is None or isinstance(language, str)):
        return None
    known = catalog[reason].failure
    failure = AuthFailure(
        reason=reason,
        challenge=known.challenge,
        action=cast("Recovery", action),
        message=message,
        recoverable=recoverable,
        status=known.status,
        language=language,
        header=known.header,
        description=challenge.error_description,
    )
    scopes = scope.split(" ") if isinstance(scope, str) else challenge.scope
    return Refusal(
        failure,
        scopes=tuple(scope for scope in scopes if not scope_fault(scope)),
        resource_metadata_url=challenge.resource_metadata,
        request_id=usable_id(request_id),
        help_url=help_url if isinstance(help_url, str) and not url_fault(help_url) else None,
    )


def _member(error: object, name: str) -> object:
    return error.get(name) if isinstance(error, Mapping) else getattr(error, name, None)
