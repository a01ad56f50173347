"""One ``WWW-Authenticate`` value, written and read.

Written strictly, in the one form that every measured client reads right; read tolerantly, since what comes from the
network may be anything.

Facts about readers, measured: the official Python and TypeScript clients search ``name=`` anywhere in the header,
also inside a quoted value, and take the first match; they see neither ``error = "x"`` nor ``ERROR=``; an escaped
quote ends their value. Hence the fixed order of parameters (text last), lower-case names, no white space round
``=``, nothing that needs escaping, and no ``name=`` inside a value.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlsplit

from mcp_auth_failures.host import is_host

__all__ = [
    "MAX_HEADER",
    "Challenge",
    "other_challenges",
    "parse_challenges",
    "scope_fault",
    "to_description",
    "url_fault",
    "usable_scopes",
]

MAX_HEADER = 4096  # octets: nginx's default buffer for a whole upstream header; a longer one becomes a 502

_MAX_URL = 2048
_MAX_ERROR = 64
_MAX_SCOPE = 1024  # a URL, at most; a caller's own words may be in it, where a host makes scopes of names

# RFC 6750 §3: scope-token and the characters of error_uri are %x21 / %x23-5B / %x5D-7E; error and error_description
# add the space. That is printable ASCII without `"` and `\`.
_TOKEN = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
_TEXT = re.compile(r"[\x20\x21\x23-\x5b\x5d-\x7e]+")
_PARAMETER_IN_VALUE = re.compile(r"(?:error|error_description|error_uri|scope|resource_metadata)=", re.IGNORECASE)
_PARAMETER_IN_TEXT = re.compile(r"\w=")

_ASCII = str.maketrans(
    {"—": "-", "–": "-", "‐": "-", "‑": "-", "−": "-", "…": "...", "\u00a0": " ", "\u202f": " "}
    | dict.fromkeys('‘’‚‛“”„«»‹›"', "'")  # a double quote would end the value
)

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def scope_fault(scope: object) -> str | None:
    """Say why a scope cannot stand in a challenge (RFC 6750 §3: a scope-token), or ``None`` if it can."""
    if not isinstance(scope, str) or not _TOKEN.fullmatch(scope):
        return f"{_short(scope)} is not a scope-token: printable ASCII without space, '\"' and '\\'"
    if len(scope) > _MAX_SCOPE:
        return f"{_short(scope)} is longer than {_MAX_SCOPE:,} characters"
    return _hijacks(scope)


def usable_scopes(scopes: object) -> tuple[tuple[str, ...], list[str]]:
    """The scope-tokens of a text or a sequence, each once, and what is wrong with the rest.

    ``offline_access`` is left out: it asks for a refresh token and grants nothing here (MCP authorization).
    """
    values = scopes.split() if isinstance(scopes, str) else scopes if isinstance(scopes, Iterable) else [scopes]
    usable: dict[str, None] = {}
    faults: list[str] = []
    for value in values:
        if fault := scope_fault(value):
            faults.append(fault)
        elif value != "offline_access":
            usable[str(value)] = None
    return tuple(usable), faults


def url_fault(url: object) -> str | None:
    """Say why a URL cannot stand in a challenge, or ``None`` if it can.

    It must be absolute ``https`` (``http`` on loopback), ASCII, without user information and fragment
    (RFC 9728 §3.1, RFC 6750 §3), and of a host that every client reads alike.
    """
    if not isinstance(url, str) or len(url) > _MAX_URL or not _TOKEN.fullmatch(url):
        return f"{_short(url)} is not a URL of at most {_MAX_URL:,} printable ASCII characters"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return f"{_short(url)} is not a URL: {error}"
    if parts.scheme != "https" and not (parts.scheme == "http" and host in _LOOPBACK):
        return f"{_short(url)} is not an absolute https URL (http is for loopback alone)"
    if not host:
        return f"{_short(url)} names no host"
    if "@" in parts.netloc or "#" in url:
        return f"{_short(url)} has user information or a fragment"
    if not is_host(parts.netloc):
        return f"{_short(url)} has a host that clients would refuse or read otherwise"
    return _hijacks(url)


def _hijacks(value: str) -> str | None:
    inner = _PARAMETER_IN_VALUE.search(value)
    return f"{_short(value)} contains {inner[0]!r}, which clients would read as that parameter" if inner else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def to_description(text: str) -> str | None:
    """Spell an English text in the alphabet of ``error_description``, or ``None`` where that cannot be done.

    Typographic dashes, quotes and spaces have an ASCII spelling; other letters do not, and a text with ``name=`` in
    it would be read as that parameter.
    """
    ascii_text = text.translate(_ASCII)
    if _TEXT.fullmatch(ascii_text) and not _PARAMETER_IN_TEXT.search(ascii_text):
        return ascii_text
    return None


@dataclass(frozen=True, slots=True)
class Challenge:
    """A Bearer challenge (RFC 6750 §3). Only what every client reads right can be made.

    :param error: the error code, such as ``invalid_token``.
    :param scope: scope-tokens, all that the operation needs.
    :param resource_metadata: URL of the protected resource metadata (RFC 9728 §5.1).
    :param error_description: for developers, ASCII (RFC 6750 §3); see :func:`to_description`.
    :param error_uri: URL of a page about the error.

    Raises ``ValueError`` for a value that cannot stand in its parameter. ``offline_access`` is left out of ``scope``:
    it asks for a refresh token and grants nothing here (MCP authorization).
    """

    error: str | None = None
    scope: tuple[str, ...] = ()
    resource_metadata: str | None = None
    error_description: str | None = None
    error_uri: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.scope, str):
            raise ValueError(f"scope is a sequence of scope-tokens, not the text {self.scope!r}")
        for name, value in self._values():
            if fault := _fault(name, tuple(value) if name == "scope" else value):
                raise ValueError(f"{name}: {fault}")
        object.__setattr__(self, "scope", usable_scopes(self.scope)[0])

    def _values(self) -> Iterator[tuple[str, Any]]:
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            if value is not None and value != ():
                yield parameter.name, value

    def to_header(self, *, limit: int = MAX_HEADER) -> str:
        """The value of ``WWW-Authenticate``, on one line of less than 4 kB. The reverse of :meth:`from_header`.

        Where it would reach the ``limit``, the description goes first, then ``error_uri``, then ``scope``.
        """
        values = {name: " ".join(value) if isinstance(value, tuple) else value for name, value in self._values()}
        for spare in (None, "error_description", "error_uri", "scope"):
            values.pop(spare or "", None)
            header = "Bearer " + ", ".join(f'{name}="{value}"' for name, value in values.items())
            if len(header) < limit:
                break
        return header.rstrip()  # h11 refuses a value that ends in white space, and the whole answer with it

    @classmethod
    def from_header(cls, value: str) -> "Challenge | None":
        """The first Bearer challenge of a value, or ``None``. The reverse of :meth:`to_header`.

        Never raises: a parameter that could not be written is left out.
        """
        for scheme, parameters in parse_challenges(value):
            if scheme == "Bearer":
                return cls.from_parameters(parameters)
        return None

    @classmethod
    def from_parameters(cls, parameters: dict[str, str]) -> "Challenge":
        """The challenge that one of :func:`parse_challenges` describes, without what cannot be written."""
        scopes = tuple(scope for scope in parameters.get("scope", "").split(" ") if not scope_fault(scope))
        others = {
            name: value
            for name in ("error", "resource_metadata", "error_description", "error_uri")
            if (value := parameters.get(name)) and not _fault(name, value)
        }
        return cls(scope=scopes, **others)


def _fault(name: str, value: object) -> str | None:
    if isinstance(value, tuple):
        return next(filter(None, map(scope_fault, value)), None)
    if name in {"resource_metadata", "error_uri"}:
        return url_fault(value)
    if name == "error" and isinstance(value, str) and len(value) > _MAX_ERROR:
        return f"{_short(value)} is longer than {_MAX_ERROR} characters"
    if not isinstance(value, str) or not _TEXT.fullmatch(value):
        return f"{_short(value)} is not printable ASCII without '\"' and '\\'"
    return _hijacks(value)


# RFC 9110 §11.6.1: a list of challenges, each a scheme with a token68 or with a list of parameters of its own, so that
# one comma means two things. Between two commas stands a parameter (a word, `=`, a value), or a scheme with the first
# of what belongs to it. Parameters with white space alone between them are against the grammar, and are seen.
_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_ELEMENT = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*(?:"|\\?\Z))+', re.DOTALL)  # an unclosed quote swallows the rest
_SCHEME = re.compile(rf"[ \t]*({_WORD})(?:[ \t]+(?!=)|\Z)(?:[A-Za-z0-9._~+/-]+=*[ \t]*\Z)?")
_PARAMETER = re.compile(rf'[ \t]*({_WORD})[ \t]*=[ \t]*(?:({_WORD})|"((?:[^"\\]|\\.)*)")(?=[ \t]|\Z)', re.DOTALL)
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)


def parse_challenges(value: str) -> list[tuple[str, dict[str, str]]]:
    """Read one ``WWW-Authenticate`` value into ``(scheme, parameters)``, in order (RFC 9110 §11.6.1).

    Scheme and names are case-insensitive: names come in lower case, and ``bearer`` as ``Bearer``. The first of two
    equal parameters counts. Never raises and takes linear time: what is not whole is left out.
    """
    return [(scheme, parameters) for scheme, parameters, _ in _scan(value)]


def other_challenges(values: Iterable[str]) -> list[str]:
    """The challenges of other schemes than Bearer, each as it was written."""
    return [raw for value in values for scheme, _, raw in _scan(value) if scheme != "Bearer"]


def _scan(value: str) -> list[tuple[str, dict[str, str], str]]:
    """As :func:`parse_challenges`, each with the text it was read from."""
    challenges: list[tuple[str, dict[str, str], int]] = []
    ends: list[int] = []
    for element in _ELEMENT.finditer(value):
        text, start = element[0], element.start()
        position = 0
        if first := _SCHEME.match(text):
            scheme = "Bearer" if first[1].lower() == "bearer" else first[1]
            challenges.append((scheme, {}, start + first.start(1)))
            position = first.end()
            ends.append(start + position)
        while challenges and (parameter := _PARAMETER.match(text, position)):
            name, word, quoted = parameter.groups()
            challenges[-1][1].setdefault(name.lower(), word if quoted is None else _QUOTED_PAIR.sub(r"\1", quoted))
            position = parameter.end()
            ends[-1] = start + position
    return [
        (scheme, parameters, value[start:end].rstrip(" \t"))
        for (scheme, parameters, start), end in zip(challenges, ends, strict=True)
    ]
