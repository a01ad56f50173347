"""What holds of all that is sent, whatever it was made of: grammars, schema, bounds, and what readers make of it.

For Hypothesis and for the fuzzers alike.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import httpx2
import mcp_types
from mcp.client.auth.utils import extract_field_from_www_auth

from mcp_auth_failures import Challenge, Refusal
from mcp_auth_failures.catalog import Catalog
from mcp_auth_failures.challenge import parse_challenges
from mcp_auth_failures.datafile import Fault

MAX_HEADER = 4096
"""Octets of a challenge, all of it: a longer one is a 502 behind nginx."""
MAX_FIELD = 1024
"""Octets of any other header field of ours."""
MAX_BODY = 1 << 15
"""Octets of a body, where a call needs no scopes."""
MOST_SCOPES = 11
"""How often a body may name those that it needs."""
MAX_FAULTS = 101
"""Faults that are shown of a file."""
MAX_FAULT = 1000
"""Characters of its path, and of its message, each on its one line."""

# RFC 9110 §5.6.2, §5.6.4, §11.3 and §11.6.1
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_QUOTED = r'"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"'
_PARAMETER = rf"{_TOKEN}[ \t]*=[ \t]*(?:{_TOKEN}|{_QUOTED})"
_CHALLENGE = re.compile(rf"{_TOKEN}(?: +{_PARAMETER}(?:[ \t]*,[ \t]*{_PARAMETER})*)?")

# RFC 9110 §5.5: visible characters, with white space between them alone
_FIELD_VALUE = re.compile(r"(?:[\x21-\x7e](?:[\t \x21-\x7e]*[\x21-\x7e])?)?")

# RFC 6750 §3, and RFC 9728 §5.1 for the metadata, whose value is a URL
_SCOPE_TOKEN = r"[\x21\x23-\x5b\x5d-\x7e]+"
_URL = re.compile(r"(?i:https?)://[\x21\x23-\x5b\x5d-\x7e]+")
_ALPHABETS = {
    "error": re.compile(r"[\x20\x21\x23-\x5b\x5d-\x7e]+"),
    "scope": re.compile(rf"{_SCOPE_TOKEN}(?: {_SCOPE_TOKEN})*"),
    "resource_metadata": _URL,
    "error_description": re.compile(r"[\x20\x21\x23-\x5b\x5d-\x7e]+"),
    "error_uri": _URL,
}
PARAMETERS = tuple(_ALPHABETS)


def check_header(header: str, limit: int = MAX_HEADER) -> dict[str, str]:
    """One line of the grammar, read alike by everyone; gives its parameters."""
    assert len(header) < limit
    assert _FIELD_VALUE.fullmatch(header), header
    assert _CHALLENGE.fullmatch(header), header
    [(scheme, parameters)] = parse_challenges(header)
    assert scheme == "Bearer"
    assert list(parameters) == [name for name in PARAMETERS if name in parameters]
    for name, value in parameters.items():
        assert _ALPHABETS[name].fullmatch(value), (name, value)
    written = ", ".join(f'{name}="{value}"' for name, value in parameters.items())
    assert header == f"Bearer {written}".strip()
    assert {name: read for name in PARAMETERS if (read := by_python(header, name)) is not None} == parameters
    return parameters


def by_python(header: str, name: str) -> str | None:
    """A parameter as the official Python SDK reads it."""
    return extract_field_from_www_auth(httpx2.Response(401, headers={"WWW-Authenticate": header}), name)


def check_challenge(challenge: Challenge) -> str:
    """A challenge and its header say the same, but for what the header is too small for; gives the header."""
    header = challenge.to_header()
    parameters = check_header(header)
    wanted = {
        name: " ".join(value) if isinstance(value, tuple) else value
        for name in PARAMETERS
        if (value := getattr(challenge, name))
    }
    assert parameters.items() <= wanted.items()
    dropped = [
        name for name in ("error_description", "error_uri", "scope") if name in wanted.keys() - parameters.keys()
    ]
    assert wanted.keys() == parameters.keys() | {*dropped}
    if dropped:
        # not before it had to be: with what was left out last, it would be too long
        last = {name: wanted[name] for name in PARAMETERS if name in parameters or name == dropped[-1]}
        assert len("Bearer " + ", ".join(f'{name}="{value}"' for name, value in last.items())) >= MAX_HEADER
    else:
        assert Challenge.from_header(header) == challenge
    return header


def check_refusal(refusal: Refusal, catalog: Catalog | None = None) -> None:
    """A complete HTTP answer within its bounds, of MCP's schema, that reads back as it was."""
    headers, body = refusal.headers, refusal.body
    check_fields(headers.items())
    if "WWW-Authenticate" in headers:
        check_header(headers["WWW-Authenticate"])
    content = check_body(body, refusal.status)
    assert content["error"]["message"] == refusal.failure.message
    assert content["error"]["code"] == refusal.status
    assert content["error"]["data"].keys() <= {"reason", "action", "recoverable", "language", "scope", "help"}
    assert headers["Content-Length"] == str(len(body))
    assert headers.get("Content-Language") == content["error"]["data"]["language"]
    read = Refusal.from_response(refusal.status, headers, body, catalog=catalog)
    assert read == refusal, (read, refusal)
    result = refusal.tool_result
    mcp_types.CallToolResult.model_validate(result, strict=True)
    for header in result["_meta"].get("mcp/www_authenticate", ()):  # type: ignore[attr-defined]
        parameters = check_header(header, len(body) + MAX_HEADER)
        assert parameters["error"]


def check_fields(headers: Iterable[tuple[str, str]]) -> None:
    """Header fields that any server sends and any client reads, each on one line and within its bound."""
    names = []
    for name, value in headers:
        names.append(name.lower())
        assert re.fullmatch(_TOKEN, name), name
        assert _FIELD_VALUE.fullmatch(value), (name, value)
        assert len(value) < (MAX_HEADER if name.lower() == "www-authenticate" else MAX_FIELD), (name, len(value))
    assert len(names) == len({*names}), names


def check_body(body: bytes, status: int) -> Mapping[str, Any]:
    """A JSON-RPC error response as MCP's schema has it, in raw UTF-8 and within its bound."""
    content: dict[str, Any] = json.loads(body.decode(), parse_constant=_refuse)
    assert len(body) <= MAX_BODY + MOST_SCOPES * len(content["error"]["data"].get("scope", "")), len(body)
    assert content.keys() == {"jsonrpc", "id", "error"}
    message = mcp_types.JSONRPCError.model_validate(content, strict=True)
    assert message.error.code == status
    assert message.error.message.strip()
    return content


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON (RFC 8259 §6)")


def check_faults(faults: Sequence[Fault]) -> None:
    """What is said of a broken file: each fault on one line that a terminal shows as it is, and not too much of it."""
    assert len(faults) <= MAX_FAULTS, len(faults)
    for fault in faults:
        for text in (fault.path, fault.message):
            assert len(text) <= MAX_FAULT, (len(text), text[:200])
        check_line(str(fault))


def check_line(text: str) -> None:
    """A line of a log that is one line, and shown in the order in which it is written."""
    assert not _UNPRINTABLE.search(text), text


# what forges lines of a log, or moves a terminal's cursor: controls, line separators, bidirectional controls
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
