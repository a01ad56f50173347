"""The catalog: every reason with its challenge, action and English message, read and checked from one YAML file."""

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, cast, get_args

from mcp_auth_failures.datafile import DataError, one_of, placeholder_fault, read_bytes
from mcp_auth_failures.document import Document, found, join
from mcp_auth_failures.failure import (
    AuthFailure,
    AuthFailureData,
    ErrorCode,
    HeaderRule,
    Reason,
    Recovery,
    auth_failure_data,
)

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

    import yaml

__all__ = [
    "LABELS",
    "PAGE_TEXTS",
    "AuthFailure",
    "AuthFailureData",
    "Catalog",
    "CatalogText",
    "DataError",
    "Entry",
    "Reason",
    "Recovery",
    "auth_failure_data",
    "load_catalog",
    "message_context",
    "packaged",
    "read_catalog",
]


class CatalogText(NamedTuple):
    """A text of the catalog that is translated.

    :ivar context: its path in the file, such as ``reasons.expired.message``.
    :ivar english: the text.
    :ivar note: for its translator.
    :ivar line: where it stands in the file.
    """

    context: str
    english: str
    note: str
    line: int


class Entry(NamedTuple):
    """A reason as the catalog states it: its failure, in English as written there, and what surrounds it.

    :ivar failure: with the English message, placeholders not yet filled.
    :ivar meaning: when this reason applies, for people who read the catalog.
    :ivar placeholders: the names that a message for this reason may have in braces.
    """

    failure: AuthFailure
    meaning: str
    placeholders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Catalog:
    """All that one catalog file says, by name and in its order.

    :ivar file: the name of the file it was read from.
    :ivar texts: every text that is translated, by its context.
    """

    file: str
    challenges: Mapping[str, str]
    actions: Mapping[str, str]
    placeholders: Mapping[str, str]
    reasons: Mapping[str, Entry]
    texts: Mapping[str, CatalogText]

    @property
    def path(self) -> "Path":
        """Where it was read."""
        from pathlib import Path  # 2 ms of every import that asks for no path

        return Path(self.file)

    def __contains__(self, reason: object) -> bool:
        return isinstance(reason, str) and reason in self.reasons

    def __getitem__(self, reason: str) -> Entry:
        """The entry of a reason. Raises ``KeyError`` that names the known reasons, and the nearest."""
        try:
            return self.reasons[reason]
        except (KeyError, TypeError):
            raise KeyError(f"reason {one_of(str(reason), self.reasons)}") from None


def message_context(reason: str) -> str:
    """The context of a reason's message, its path in the catalog."""
    return f"reasons.{reason}.message"


def packaged(folder: str) -> "Path | Traversable":
    """The packaged data folder of that name (``catalog``, ``locales``): inside a wheel, in a checkout, or in a zip."""
    from pathlib import Path  # as above

    found = _found(folder)
    return Path(found) if found else _zipped(folder)


def _found(folder: str) -> str | None:
    here = os.path.dirname(os.path.abspath(__file__))
    candidates = (os.path.join(here, "_data", folder), os.path.join(here, "..", "..", folder))
    return next((os.path.normpath(each) for each in candidates if os.path.isdir(each)), None)


def _zipped(folder: str) -> "Traversable":
    from importlib.resources import files  # 16 ms that only a zip on sys.path is worth

    return files(__package__) / "_data" / folder


def load_catalog(path: str | os.PathLike[str] | None = None) -> Catalog:
    """Read and check a catalog file: the host's own, or without a path the shipped one.

    A host's catalog has the shipped one's format and must hold its reasons; it may add others and set another status.
    Raises :class:`DataError` with every fault of the file.
    """
    if path is None:
        return SHIPPED
    return read_catalog(os.fspath(path), read_bytes(path))


def read_catalog(file: str | os.PathLike[str], data: bytes) -> Catalog:
    """As :func:`load_catalog`, from the file's bytes."""
    document = Document.parse(data, os.fspath(file))
    top = _fields(document, document.root, "", _TOP, ("notes", "labels"))
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
    kinds = _fields(document, top.get("notes"), "notes", (), (*PAGE_TEXTS, "label"))
    notes = {kind: document.text(node, join("notes", kind)) or "" for kind, node in kinds.items()}
    texts: dict[str, CatalogText] = {}
    reasons = {
        name: entry
        for name, node in document.mapping(top.get("reasons"), "reasons", required=get_args(Reason)).items()
        if (entry := _entry(document, node, name, actions, placeholders, notes, texts))
    }
    for name, node in _fields(document, top.get("labels"), "labels", (), LABELS).items():
        _add_text(document, texts, node, join("labels", name), notes.get("label", ""), {name} & {"contact"})
    document.finish()
    return Catalog(
        document.file,
        MappingProxyType(challenges),
        MappingProxyType({name: meaning for name, (meaning, _) in actions.items()}),
        MappingProxyType(placeholders),
        MappingProxyType(reasons),
        MappingProxyType(texts),
    )


def _fields(
    document: Document, node: "yaml.Node | None", path: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, "yaml.Node"]:
    return document.mapping(node, path, known=(*required, *optional), required=required)


_TOP = ("version", "challenges", "actions", "placeholders", "reasons")
PAGE_TEXTS = ("title", "you", "operator")
"""What a reason has for the help pages alone, and a host's catalog may leave out."""

LABELS = (
    *("site", "choose", "message", "you", "operator", "developer", "status", "challenge", "action", "body", "none"),
    *("contact", "others", "language"),
)
"""The headings and labels of the help pages."""

_PLACEHOLDERS = ("server", "contact", "scope")  # those that Wording and a refusal have values for
_ID = re.compile(r"[a-z][a-z0-9_]{0,63}")
_FIELDS = ("meaning", "challenge", "action", "status", "header", "message", "note", "placeholders")


def _entry(
    document: Document,
    node: "yaml.Node",
    reason: str,
    actions: Mapping[str, tuple[str, bool]],
    placeholders: Collection[str],
    notes: Mapping[str, str],
    texts: dict[str, CatalogText],
) -> Entry | None:
    path = join("reasons", reason)
    if not _ID.fullmatch(reason):
        document.fault(node, path, "an id is made of lower-case letters, digits and _, at most 64")
    values = _fields(document, node, path, _FIELDS, PAGE_TEXTS)

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
    meaning, note = document.text(*at("meaning")), document.text(*at("note"))
    # {scope} has a value in some refusals only, and the English is what is said when nothing else can be
    details = [name for name in allowed if name != "scope"]
    message = _add_text(document, texts, *at("message"), note or "", details)
    for kind in PAGE_TEXTS:
        _add_text(document, texts, *at(kind), notes.get(kind, ""), ())
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
    return Entry(failure, meaning, tuple(allowed))


def _add_text(
    document: Document,
    texts: dict[str, CatalogText],
    node: "yaml.Node | None",
    path: str,
    note: str,
    placeholders: Collection[str],
) -> str | None:
    english = document.text(node, path)
    if node is None or english is None:
        return None
    if fault := placeholder_fault(english, placeholders):
        document.fault(node, path, fault)
    texts[path] = CatalogText(path, english, note, node.start_mark.line + 1)
    return english


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


def _shipped() -> Catalog:
    if folder := _found("catalog"):
        file = os.path.join(folder, "failures.yaml")
        with open(file, "rb") as opened:
            return read_catalog(file, opened.read())
    zipped = _zipped("catalog") / "failures.yaml"
    return read_catalog(str(zipped), zipped.read_bytes())


SHIPPED = _shipped()
