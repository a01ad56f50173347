"""One failure happening now: a complete HTTP answer, a JSON-RPC error, a tool result, and the way back. No I/O."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
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

_LANGUAGE = re.compile("[A-Za-z0-9-]{1,100}")  # RFC 5646 §4.4.1: 35 characters hold every tag but the oddest

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
    raw_headers: tuple[tuple[bytes, bytes], ...] = field(compare=False)
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
        tokens = scopes if isinstance(scopes, str | tuple) else tuple(scopes)
        answer = _answered(failure, failure.description, tokens, resource_metadata_url, help_url, _challenged)
        _fill(self, answer, request_id)

    @classmethod
    def repeated(
        cls,
        failure: AuthFailure,
        scopes: tuple[str, ...],
        resource_metadata_url: str | None,
        request_id: object,
        help_url: str | None,
    ) -> "Refusal":
        """As the constructor, for what a host refuses again and again: all but the id is made once, and kept."""
        refusal: Refusal = object.__new__(cls)
        answer = _kept_answer(failure, failure.description, scopes, resource_metadata_url, help_url)
        _fill(refusal, answer, request_id)
        return refusal

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
    def raw_headers(self) -> list[tuple[bytes, bytes]]:
        """:attr:`headers` as ASGI has them: in bytes, names in lower case."""
        return [*self._answer.raw_headers, (b"content-length", b"%d" % len(self.body))]

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
            meta["mcp/www_authenticate"] = [self._challenge().to_header(limit=_MAX_BODY)]
        return {"content": [{"type": "text", "text": self.failure.message}], "isError": True, "_meta": meta}

    def _challenge(self) -> Challenge:
        return Challenge(
            error=self.failure.challenge,
            scope=self.scopes,
            resource_metadata=self.resource_metadata_url,
            error_description=self.failure.description,
            error_uri=self.help_url,
        )

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
        try:
            content = _content(status, body)
            return _read(content["error"], catalog or SHIPPED, _bearer(headers), content.get("id")) if content else None
        except Exception:  # a body may be anything
            return None

    @classmethod
    def from_error(cls, error: object, *, catalog: Catalog | None = None) -> "Refusal | None":
        """Read a JSON-RPC error back, or ``None`` where it is none of ours.

        ``error`` is the ``{"code", "message", "data"}`` of a response, an object with such attributes, or an
        exception that carries one as ``error`` (the official SDK's ``MCPError``). Header and id are not part of it.
        Never raises. The reverse of :attr:`json_rpc_error`.
        """
        try:
            return _read(getattr(error, "error", error), catalog or SHIPPED, Challenge(), None)
        except Exception:  # an object of any client's, with attributes that do anything
            return None


def _fill(refusal: Refusal, answer: _Answer, request_id: object) -> None:
    if type(request_id) is int and -_MAX_INTEGER <= request_id <= _MAX_INTEGER:
        body = b'{"jsonrpc":"2.0","id":%d%b' % (request_id, answer.after_id)
    else:
        request_id = usable_id(request_id)
        body = b'{"jsonrpc":"2.0","id":%b%b' % (_json.encode(request_id).encode(), answer.after_id)
    _set_answer(refusal, answer)
    _set_request_id(refusal, request_id)
    _set_body(refusal, body)


def _answered(
    failure: AuthFailure,
    description: str | None,
    scopes: str | tuple[str, ...],
    url: str | None,
    help_url: str | None,
    challenged: Callable[..., tuple[tuple[str, ...], str]],
) -> _Answer:
    if help_url is not None and (fault := url_fault(help_url)):
        raise ValueError(f"help_url: {fault}")
    names = (failure.challenge, description, help_url) if failure.header == "error" else (None, None, None)
    scopes, header = challenged(scopes, url, *names)
    data: dict[str, object] = {**auth_failure_data(failure), "language": failure.language}
    if scopes:
        data["scope"] = " ".join(scopes)
    if help_url:
        data["help"] = help_url
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store", "Vary": "Accept-Language"}
    if failure.language:
        headers["Content-Language"] = failure.language
    if failure.header != "none":
        headers |= {"WWW-Authenticate": header, "Access-Control-Expose-Headers": "WWW-Authenticate"}
    error = _json.encode({"code": failure.status, "message": failure.message, "data": data})
    return _Answer(
        failure=failure,
        scopes=scopes,
        resource_metadata_url=url if failure.header != "none" else None,
        help_url=help_url,
        headers=headers,
        raw_headers=tuple((name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()),
        after_id=b',"error":%b}' % error.encode(),
    )


def _challenged(
    scopes: str | tuple[str, ...], url: str | None, error: str | None, description: str | None, help_url: str | None
) -> tuple[tuple[str, ...], str]:
    """The scopes and the header of a challenge."""
    challenge = Challenge(error, scopes, url, description, help_url)  # type: ignore[arg-type]  # a text is refused there
    return challenge.scope, challenge.to_header()


# Keyed by what a host's code and files say, and bounded since its code may put a caller's words in a scope. The
# description is a key of its own, since two failures that differ in it alone are equal.
_kept_challenged = lru_cache(maxsize=256)(_challenged)  # the same in every language: the first in one need not wait
_kept_answer = lru_cache(maxsize=1024)(partial(_answered, challenged=_kept_challenged))


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


# The slots themselves; object.__setattr__, which a frozen dataclass's own constructor calls, looks each up by name.
_set_answer, _set_request_id, _set_body = (getattr(Refusal, name).__set__ for name in ("_answer", "request_id", "body"))

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))  # raw, since TypeScript clients show it as it is


def _content(status: int, body: bytes | str) -> dict[str, Any] | None:
    text = body if isinstance(body, str) else bytes(body).decode()
    content = json.loads(text) if status >= 400 and len(text) <= _MAX_BODY else None
    return content if isinstance(content, dict) and "error" in content else None


def _bearer(headers: Any) -> Challenge:
    try:
        for pair in headers.items() if hasattr(headers, "items") else headers:
            name, value = (part.decode("latin-1") if isinstance(part, bytes) else part for part in pair)
            if name.lower() == "www-authenticate" and (challenge := Challenge.from_header(value)):
                return challenge
        return Challenge()
    except Exception:  # headers may be anything, from any HTTP library, and the body says the most
        return Challenge()


def _read(error: object, catalog: Catalog, challenge: Challenge, request_id: object) -> Refusal | None:
    message, data = _member(error, "message"), _member(error, "data")
    if not isinstance(message, str) or not _is_unicode(message) or not isinstance(data, Mapping):
        return None
    reason, action, recoverable = (data.get(name) for name in ("reason", "action", "recoverable"))
    language, scope, help_url = (data.get(name) for name in ("language", "scope", "help"))
    if not isinstance(reason, str) or reason not in catalog.reasons or action not in get_args(Recovery):
        return None
    if not isinstance(recoverable, bool) or not (language is None or _LANGUAGE.fullmatch(language)):
        return None
    known = catalog[reason].failure
    failure = replace(
        known,
        action=cast("Recovery", action),
        message=message,
        recoverable=recoverable,
        language=language,
        description=challenge.error_description,
    )
    scopes = scope.split(" ") if isinstance(scope, str) else challenge.scope
    return Refusal(
        failure,
        [scope for scope in scopes if not scope_fault(scope)],
        challenge.resource_metadata,
        request_id,
        help_url if isinstance(help_url, str) and not url_fault(help_url) else None,
    )


def _member(error: object, name: str) -> object:
    return error.get(name) if isinstance(error, Mapping) else getattr(error, name, None)
