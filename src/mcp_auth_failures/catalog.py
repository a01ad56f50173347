"""The catalog: every reason with its challenge, action and English message, read and checked from one YAML file."""

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, cast, get_args

from mcp_auth_failures.datafile import DataError, one_of, placeholder_fault, read_bytes
from mcp_auth_failures.document import Document, found, join

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import yaml

__all__ = [
    "AuthFailure",
    "AuthFailureData",
    "Catalog",
    "DataError",
    "Entry",
    "Reason",
    "Recovery",
    "auth_failure_data",
    "load_catalog",
    "packaged",
    "read_catalog",
]

Reason = Literal[
    "no_token", "expired", "unverified", "incomplete", "not_provisioned", "surface_disabled", "insufficient_scope"
]
"""The shipped reasons, for type checkers; ``load_catalog().reasons`` holds them at run time, with any a host added."""

Recovery = Literal["refresh", "reconnect", "contact_operator"]
"""What can be done about a failure: the vocabulary that a client may automate on, closed for that purpose."""

ErrorCode = Literal["invalid_token", "insufficient_scope"]
"""RFC 6750 §3.1, without ``invalid_request``: that is no refusal of a token."""

HeaderRule = Literal["error", "bare", "none"]
"""Whether ``WWW-Authenticate`` names the error, is a challenge without one (RFC 6750 §3.1), or is not sent."""


@dataclass(frozen=True, slots=True)
class AuthFailure:
    """Why a call was refused and what can be done about it, with the sentence to say in one language.

    :ivar reason: the stable id, such as ``expired``.
    :ivar challenge: the ``error`` of the Bearer challenge (RFC 6750 §3.1), for the OAuth machinery.
    :ivar action: for a client that automates.
    :ivar message: one sentence that an agent relays to a person.
    :ivar recoverable: whether anything on the caller's side can help.
    :ivar status: the HTTP status of the refusal.
    :ivar language: BCP 47 tag of the message; ``None`` where the operator's one text stands for every language.
    :ivar header: whether ``WWW-Authenticate`` names the error (``error``), only challenges (``bare``), or is not sent
        (``none``).
    :ivar description: ASCII English for developers, the ``error_description`` (RFC 6750 §3); ``None`` if there is none.
        It takes no part in comparisons.
    """

    reason: str
    challenge: str
    action: Recovery
    message: str
    recoverable: bool
    status: int
    language: str | None
    header: HeaderRule
    description: str | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.message, self.reason))


class AuthFailureData(TypedDict):
    """The machine-readable half of a failure."""

    reason: str
    action: Recovery
    recoverable: bool


def auth_failure_data(failure: AuthFailure) -> AuthFailureData:
    """The part of a failure that a client may act on, ready for ``error.data`` or ``_meta``; never its wording."""
    return {"reason": failure.reason, "action": failure.action, "recoverable": failure.recoverable}


class Entry(NamedTuple):
    """A reason as the catalog states it: its failure, in English as written there, and what surrounds it.

    :ivar failure: with the English message, placeholders not yet filled.
    :ivar meaning: when this reason applies, for people who read the catalog.
    :ivar note: for the translator of the message.
    :ivar placeholders: the names that a message for this reason may have in braces.
    :ivar line: where the message stands in the file.
    """

    failure: AuthFailure
    meaning: str
    note: str
    placeholders: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Catalog:
    """All that one catalog file says, by name and in its order. ``path`` is where it was read."""

    path: "Path | Traversable"
    challenges: Mapping[str, str]
    actions: Mapping[str, str]
    placeholders: Mapping[str, str]
    reasons: Mapping[str, Entry]

    def __getitem__(self, reason: str) -> Entry:
        """The entry of a reason. Raises ``KeyError`` that names the known reasons, and the nearest."""
        try:
            return self.reasons[reason]
        except (KeyError, TypeError):
            raise KeyError(f"reason {one_of(str(reason), self.reasons)}") from None


def packaged(folder: str) -> "Path | Traversable":
    """The packaged data folder of that name (``catalog``, ``locales``): inside a wheel, in a checkout, or in a zip."""
    here = Path(__file__).parent
    for candidate in (here / "_data" / folder, here.parents[1] / folder):
        if candidate.is_dir():
            return candidate
    from importlib.resources import files  # 16 ms that only a zip on sys.path is worth

    return files(__package__) / "_data" / folder


def load_catalog(path: str | os.PathLike[str] | None = None) -> Catalog:
    """Read and check a catalog file: the host's own, or without a path the shipped one.

    A host's catalog has the shipped one's format and must hold its reasons; it may add others and set another status.
    Raises :class:`DataError` with every fault of the file.
    """
    if path is None:
        return SHIPPED
    return read_catalog(Path(path), read_bytes(path))


def read_catalog(path: "Path | Traversable", data: bytes) -> Catalog:
    """As :func:`load_catalog`, from the file's bytes."""
    document = Document.parse(data, str(path))
    top = _fields(document, document.root, "", ("version", "challenges", "actions", "placeholders", "reasons"))
    if "version" in top:
        document.choice(top["version"], "version", ("1",))
    challenges = {
        name: document.text(node, join("challenges", name)) or ""
        for name, node in _fields(document, top.get("challenges"), "challenges", get_args(ErrorCode)).items()
    }
    placeholders = {
        name: document.text(node, join("placeholders", name)) or ""
        for name, node in document.mapping(top.get("placeholders"), "placeholders", known=_PLACEHOLDERS).items()
    }
    actions: dict[str, tuple[str, bool]] = {}
    for name, node in _fields(document, top.get("actions"), "actions", get_args(Recovery)).items():
        path_ = join("actions", name)
        action = _fields(document, node, path_, ("meaning", "recoverable"))
        recoverable = document.choice(action.get("recoverable"), join(path_, "recoverable"), ("true", "false"))
        actions[name] = (document.text(action.get("meaning"), join(path_, "meaning")) or "", recoverable == "true")
    reasons = {
        name: entry
        for name, node in document.mapping(top.get("reasons"), "reasons", required=get_args(Reason)).items()
        if (entry := _entry(document, node, name, actions, placeholders))
    }
    document.finish()
    return Catalog(
        path,
        MappingProxyType(challenges),
        MappingProxyType({name: meaning for name, (meaning, _) in actions.items()}),
        MappingProxyType(placeholders),
        MappingProxyType(reasons),
    )


def _fields(document: Document, node: "yaml.Node | None", path: str, names: tuple[str, ...]) -> dict[str, "yaml.Node"]:
    return document.mapping(node, path, known=names, required=names)


_PLACEHOLDERS = ("server", "contact", "scope")  # those that Wording and a refusal have values for
_ID = re.compile(r"[a-z][a-z0-9_]{0,63}")
_FIELDS = ("meaning", "challenge", "action", "status", "header", "message", "note", "placeholders")


def _entry(
    document: Document,
    node: "yaml.Node",
    reason: str,
    actions: Mapping[str, tuple[str, bool]],
    placeholders: Collection[str],
) -> Entry | None:
    path = join("reasons", reason)
    if not _ID.fullmatch(reason):
        document.fault(node, path, "an id is made of lower-case letters, digits and _, at most 64")
    values = _fields(document, node, path, _FIELDS)

    def at(name: str) -> tuple["yaml.Node | None", str]:
        return values.get(name), join(path, name)

    challenge = document.choice(*at("challenge"), get_args(ErrorCode))
    action = document.choice(*at("action"), get_args(Recovery))
    header = document.choice(*at("header"), get_args(HeaderRule))
    status = _status(document, *at("status"), header)
    allowed = [
        name
        for item_path, item in document.items(*at("placeholders"))
        if (name := document.choice(item, item_path, placeholders))
    ]
    meaning, message, note = (document.text(*at(name)) for name in ("meaning", "message", "note"))
    if message and (fault := placeholder_fault(message, [name for name in allowed if name != "scope"])):
        # {scope} has a value in some refusals only, and the English is what is said when nothing else can be
        document.fault(*at("message"), fault)
    if not (challenge and action and header and status and meaning and message and note and action in actions):
        return None
    failure = AuthFailure(
        reason=reason,
        challenge=challenge,
        action=cast("Recovery", action),
        message=message,
        recoverable=actions[action][1],
        status=status,
        language="en",
        header=cast("HeaderRule", header),
    )
    return Entry(failure, meaning, note, tuple(allowed), values["message"].start_mark.line + 1)


def _status(document: Document, node: "yaml.Node | None", path: str, header: str | None) -> int | None:
    if node is None:
        return None
    if not re.fullmatch("[45][0-9][0-9]", str(node.value)):
        document.fault(node, path, f"expected an HTTP status from 400 to 599, found {found(node)}")
        return None
    status = int(node.value)
    if header == "none" and status == 401:
        document.fault(node, path, "a 401 needs a challenge (RFC 9110 §15.5.2): header error or bare")
    elif header in {"error", "bare"} and status not in {401, 403}:
        document.fault(node, path, f"a challenge goes with 401 or 403 (RFC 6750 §3.1), not {status}: header none")
    return status


_path = packaged("catalog") / "failures.yaml"
SHIPPED = read_catalog(_path, _path.read_bytes())
