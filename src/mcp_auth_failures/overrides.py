"""The operator's YAML: reading and checking it, and when to look at it again."""

import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import yaml

from mcp_auth_failures.catalog import Catalog
from mcp_auth_failures.datafile import DataError, Fault, missing_detail, placeholder_fault, read_bytes
from mcp_auth_failures.document import Document, found, join
from mcp_auth_failures.tags import canonical
from mcp_auth_failures.text import Sentence, split

__all__ = ["CHECK_SECONDS", "OverrideFile", "OverrideFiles", "Written", "read_override", "written"]

CHECK_SECONDS = 2.0
"""How long a running server goes without looking at its files."""

_log = logging.getLogger("mcp_auth_failures")

_FIELDS = ("version", "messages")
_NOT_WORDING = ("action", "challenge", "header", "recoverable", "status")


@dataclass(frozen=True, slots=True)
class OverrideFile:
    """One override file as it was read: per reason one text for every language, or one per language."""

    everywhere: Mapping[str, Sentence]
    by_language: Mapping[str, Mapping[str, Sentence]]

    @property
    def languages(self) -> tuple[str, ...]:
        """The BCP 47 tags that any reason has a text of its own for."""
        return tuple(self.by_language)

    @property
    def has_scope(self) -> bool:
        """Whether any text names the scopes of a refusal."""
        return any(
            "scope" in text.names for texts in (self.everywhere, *self.by_language.values()) for text in texts.values()
        )

    def text(self, context: str, language: str) -> None:
        """Nothing: an override file has messages alone."""

    def sentence(self, reason: str, language: str) -> Sentence | None:
        """The text of this file for a reason in exactly this language."""
        return self.everywhere.get(reason) or self.by_language.get(language, {}).get(reason)


def read_override(path: str, catalog: Catalog, details: Collection[str]) -> OverrideFile:
    """Read and check an override file; ``details`` names the placeholders that have a value.

    An empty file, or one of comments alone, overrides nothing. Raises :class:`DataError` with every fault.
    """
    return parse_override(read_bytes(path), path, catalog, details)


def parse_override(data: bytes, path: str, catalog: Catalog, details: Collection[str]) -> OverrideFile:
    """As :func:`read_override`, from the file's bytes."""
    document = Document.parse(data, path)
    everywhere: dict[str, Sentence] = {}
    by_language: dict[str, dict[str, Sentence]] = {}
    for text in written(document, catalog):
        parts = tuple(split(text.text))
        if fault := missing_detail(parts[1::2], details):
            document.fault(text.node, text.path, fault)
        sentence = Sentence(parts, text.language, f"{path}:{text.node.start_mark.line + 1}")
        texts = by_language.setdefault(text.language, {}) if text.language else everywhere
        texts[text.reason] = sentence
    document.finish()
    return OverrideFile(everywhere, by_language)


class Written(NamedTuple):
    """One text of an override file: its place, and the reason and language (``None``: every one) it is for."""

    node: yaml.Node
    path: str
    reason: str
    language: str | None
    text: str


def written(document: Document, catalog: Catalog) -> Iterator[Written]:
    """Walk through an override file. What is wrong on the way is noted in the document and passed over."""
    if document.root is None or found(document.root) == "nothing":
        return
    top = document.mapping(document.root, "", known=_FIELDS, required=_FIELDS)
    if "version" in top:
        document.choice(top["version"], "version", ("1",))
    messages = top.get("messages")
    if messages is not None and found(messages) == "nothing":  # all that stood below it was deleted
        return
    for reason, node in document.mapping(messages, "messages", known=catalog.reasons).items():
        path = join("messages", reason)
        languages: dict[str | None, str] = {}
        for language, text_node, text_path in _languages(document, node, path):
            text = document.text(text_node, text_path)
            if language in languages:
                document.fault(text_node, text_path, f"{language} is here twice: it is {languages[language]} already")
            elif text and (fault := placeholder_fault(text, catalog[reason].placeholders)):
                document.fault(text_node, text_path, fault)
            elif text:
                yield Written(text_node, text_path, reason, language, text)
            languages[language] = text_path


def _languages(document: Document, node: yaml.Node, path: str) -> Iterator[tuple[str | None, yaml.Node, str]]:
    if not isinstance(node, yaml.MappingNode):
        yield None, node, path
        return
    for name, text_node in document.mapping(node, path).items():
        if name in _NOT_WORDING:
            document.fault(text_node, join(path, name), "is not wording: only what is said can be changed here")
            continue
        try:
            yield canonical(name), text_node, join(path, name)
        except ValueError as error:
            document.fault(text_node, join(path, name), str(error))


Use = Callable[[tuple[OverrideFile, ...]], None]
"""What is to be done with files that were read."""

_Signature = tuple[int, int, int, int] | None


def _signature(path: str) -> _Signature:
    """What changes when a file does: device, inode, size and time of what the path leads to in the end.

    A Kubernetes ConfigMap swaps a symlink above the file, so that size and time may stay and the link itself does.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class _UnreadError(DataError):
    """A file could not be read, which may be otherwise at the next look though nothing of the file has changed."""


class OverrideFiles:
    """The override files of one :class:`~mcp_auth_failures.wording.Wording`, in order, and when to read them.

    What is read is given to a function ``use``, as a whole; if that raises, the files count as not read. To be called
    by one thread at a time, but for :attr:`is_due`.
    """

    def __init__(self, paths: Sequence[str], catalog: Catalog, details: Collection[str]) -> None:
        self._paths = tuple(paths)
        self._catalog = catalog
        self._details = details
        self._next_check = time.monotonic() + CHECK_SECONDS
        self._seen: tuple[_Signature, ...] = ()
        self._pending: tuple[_Signature, ...] | None = None
        self._told: tuple[tuple[_Signature, ...], str] | None = None

    @property
    def is_due(self) -> bool:
        """Whether it is time for the next :meth:`check`."""
        return bool(self._paths) and time.monotonic() >= self._next_check

    def reload(self, use: Use, faults: Iterable[Fault] = ()) -> None:
        """Read every file now. Raises :class:`DataError` with all their faults after those given."""
        seen = self._signatures()
        use(self._read(faults))
        self._seen, self._told = seen, None

    def check(self, use: Use) -> None:
        """Look whether a file has changed, at most every ``CHECK_SECONDS``, and take up what it says. Never raises.

        A change is read once two looks in a row have seen the same of it, so that a torn write is not taken for an
        edit. A file that is gone, empty or faulty is logged once and changes nothing. One that could not be read is
        tried again at every look: a disk or a right that comes back leaves its file as it was.
        """
        if not self.is_due:
            return
        self._next_check = time.monotonic() + CHECK_SECONDS
        seen = self._signatures()
        if seen == self._seen:
            self._pending = self._told = None
        elif seen != self._pending:
            self._pending = seen
        else:
            self._take(seen, use)

    def _take(self, seen: tuple[_Signature, ...], use: Use) -> None:
        try:
            files = self._read(running=True)
            if self._signatures() == seen:  # else it was changed while it was read: the next look begins anew
                use(files)
                self._seen, self._told = seen, None
        except Exception as error:  # whatever is wanting, from memory to the library itself
            if self._signatures() != seen:
                return
            if type(error) is DataError:
                self._seen = seen
            what = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {str(error)!r:.200}"
            if (seen, what) != self._told:
                _log.error("the wording stays as it was; the changed override files cannot be used:\n%s", what)
            self._told = seen, what

    def _signatures(self) -> tuple[_Signature, ...]:
        return tuple(map(_signature, self._paths))

    def _read(self, faults: Iterable[Fault] = (), *, running: bool = False) -> tuple[OverrideFile, ...]:
        files: list[OverrideFile] = []
        faults, kind = list(faults), DataError
        for path in self._paths:
            try:
                data = read_bytes(path)
            except DataError as error:
                faults, kind = [*faults, *error.faults], _UnreadError
                continue
            if running and not data:  # what a writer leaves while it writes; at start it is an operator's choice
                faults.append(Fault(path, None, None, "", "is empty"))
            try:
                files.append(parse_override(data, path, self._catalog, self._details))
            except DataError as error:
                faults += error.faults
        if faults:
            raise kind(faults)
        return tuple(files)
