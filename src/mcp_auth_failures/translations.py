"""gettext files, read strictly: ``<locale>/LC_MESSAGES/mcp_auth_failures.po`` or ``.mo`` in, sentences out.

A header is never interpreted. It may name a charset that does not exist, ten thousand million plural forms, a
language in words or a date that was never filled in, and none of it tells us anything: the folder names the language
and UTF-8 is required.
"""

import logging
import re
import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from mcp_auth_failures.catalog import Catalog
from mcp_auth_failures.datafile import (
    MAX_BYTES,
    DataError,
    Fault,
    decode,
    missing_detail,
    placeholder_fault,
    read_bytes,
)
from mcp_auth_failures.languages import canonical
from mcp_auth_failures.text import Sentence, character_faults, placeholders, split

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from babel.messages.catalog import Message

__all__ = ["DOMAIN", "Folder", "Translation", "installed", "parse_po", "read_language", "read_mo", "read_po"]

DOMAIN = "mcp_auth_failures"

_log = logging.getLogger("mcp_auth_failures")


@dataclass(frozen=True, slots=True)
class Translation:
    """One translated text: the English it was made from, and where it stands."""

    english: str
    text: str
    line: int | None


def installed(folder: "Path | Traversable") -> tuple[dict[str, "Path | Traversable"], list[Fault]]:
    """The files of a gettext folder by BCP 47 tag, a ``.po`` before its ``.mo``, and the folders that name no language.

    Only what the folder lists exists: a language never becomes a path.
    """
    files: dict[str, Path | Traversable] = {}
    faults: list[Fault] = []
    for locale in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if locale.name == "LC_MESSAGES" or not (locale / "LC_MESSAGES").is_dir():
            continue
        candidates = [locale / "LC_MESSAGES" / f"{DOMAIN}.{ending}" for ending in ("po", "mo")]
        file = next((candidate for candidate in candidates if candidate.is_file()), None)
        if file is None:
            continue
        try:
            files.setdefault(canonical(locale.name), file)
        except ValueError as error:
            faults.append(Fault(str(locale), None, None, "", str(error)))
    return files, faults


def read_language(file: "Path | Traversable") -> Mapping[str, Translation]:
    """Read one file that :func:`installed` found, by context. Raises :class:`DataError` if it cannot be trusted."""
    data = read_bytes(file) if isinstance(file, Path) else file.read_bytes()
    return (read_mo if file.name.endswith(".mo") else read_po)(data, str(file))


def read_po(data: bytes, file: str) -> dict[str, Translation]:
    """The usable entries of a ``.po``, by context (``reasons.expired.message``).

    Entries that are fuzzy, blank, obsolete or have no context count as untranslated. Raises :class:`DataError` for
    what makes the file untrustworthy: not UTF-8, a syntax error, an unclosed quote, an entry that is there twice.
    """
    return {
        message.context: Translation(message.id, message.string, message.lineno)
        for message in parse_po(data, file).entries
        if message.context
        and isinstance(message.id, str)
        and isinstance(message.string, str)
        and message.string.strip()
        and not message.fuzzy
    }


class PoFile(NamedTuple):
    """The entries of a ``.po`` in its order, the header (an empty ``id``) among them, and the obsolete ones."""

    entries: list["Message"]
    obsolete: list["Message"]


def parse_po(data: bytes, file: str) -> PoFile:
    """Read a ``.po`` with all that is in it. Raises :class:`DataError` as :func:`read_po` does."""
    from babel.messages.catalog import Catalog  # 30 ms that only a server with another language than English pays
    from babel.messages.pofile import PoFileError, PoFileParser

    class Entries(Catalog):
        """Takes every entry as it comes: Babel's own would interpret the header and keep one of two duplicates."""

        num_plurals = 6  # the most that any language has

        def __setitem__(self, key: object, message: "Message") -> None:
            entries.append(message)

    if len(data) > MAX_BYTES:
        _refuse(file, None, f"is larger than {MAX_BYTES:,} bytes")
    entries: list[Message] = []
    lines = [line.strip() for line in decode(data, file).split("\n")]
    for number, line in enumerate(lines, 1):
        if line and line[0] != "#" and not _LINE.fullmatch(line):
            _refuse(file, number, f"is not a line of a .po: {_why(line)}")
    catalog = Entries(charset="utf-8")
    try:
        PoFileParser(catalog, abort_invalid=True).parse(lines)
    except PoFileError as error:
        _refuse(file, error.lineno + 1, f"is not a .po: {str(error).rsplit(' on ', 1)[0]}")
    except (ValueError, IndexError, AttributeError, TypeError) as error:  # `msgstr` first, a text before any keyword, …
        _refuse(file, None, f"is not a .po: {error}")
    seen: dict[tuple[object, object], int] = {}
    for message in entries:
        key = message.context, message.id
        if key in seen:
            name = message.context or message.id or "the header"
            _refuse(file, message.lineno, f"{name} is here twice: it is on line {seen[key]} already")
        seen[key] = message.lineno or 0
    return PoFile(entries, list(catalog.obsolete.values()))


# Babel takes what it finds between the first and the last character for the text, quotes or not.
_TEXT = r'"(?:[^"\\]|\\.)*"'
_LINE = re.compile(rf"(?:(?:msgctxt|msgid|msgid_plural|msgstr(?:\[[0-9]\])?) +)?{_TEXT}")


def _why(line: str) -> str:
    if line.startswith(("<<<<<<<", "=======", ">>>>>>>")):
        return "a merge conflict is left here"
    if '"' in line:
        return "a text is not closed by a quote, or a quote in it lacks its backslash"
    return repr(line[:40])


def _refuse(file: str, line: int | None, message: str) -> NoReturn:
    raise DataError([Fault(file, line, None, "", message)]) from None


def read_mo(data: bytes, file: str) -> dict[str, Translation]:
    """The entries of a ``.mo``, by context. Raises :class:`DataError` if it is torn or not UTF-8.

    Read here, since the standard library's reader compiles the header's plural rule and Babel's believes its charset.
    """
    try:
        return {
            context: Translation(english, text, None)
            for key, text in _mo_pairs(data)
            if "\0" not in key
            for context, separator, english in [key.partition("\x04")]  # how gettext joins msgctxt and msgid
            if separator and text.strip()
        }
    except (struct.error, ValueError) as error:
        _refuse(file, None, f"is not a .mo: {error}")


def _mo_pairs(data: bytes) -> Iterator[tuple[str, str]]:
    """The format of GNU gettext's manual, "The Format of GNU MO Files"."""
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(data[:4])
    if order is None:
        raise ValueError("it begins with other bytes")
    if len(data) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES:,} bytes")
    _, count, keys, texts = struct.unpack_from(f"{order}4I", data, 4)
    left = len(data)

    def string(table: int, index: int) -> str:
        nonlocal left
        length, start = struct.unpack_from(f"{order}2I", data, table + 8 * index)
        left -= length
        if start + length > len(data) or left < 0:  # a hundred thousand entries may all point at the same megabyte
            raise ValueError("it is cut short, or its texts overlap")
        return data[start : start + length].decode("utf-8")

    for index in range(count):
        yield string(keys, index), string(texts, index)


class Folder:
    """The languages of one gettext folder, each read when it is first asked for. A file is read once.

    What is wrong with a file is logged then: it costs that language alone (that text alone, where only a text is
    wrong), and nothing that a ``previous`` reading of the same folder had.

    :ivar missing: texts that have a placeholder without a value, among those read so far.
    """

    def __init__(
        self,
        root: "Path | Traversable",
        catalog: Catalog,
        details: Collection[str],
        *,
        builtin: bool = False,
        previous: "Folder | None" = None,
    ) -> None:
        self.missing: list[Fault] = []
        self._catalog = catalog
        self._details = details
        self._builtin = builtin
        self._previous = previous
        self._files, faults = installed(root)
        self._read: dict[str, Mapping[str, Sentence]] = {}
        _report(faults, "a folder that names no language is passed over")

    @property
    def languages(self) -> tuple[str, ...]:
        """The BCP 47 tags there are files for."""
        return tuple(self._files)

    @property
    def has_scope(self) -> bool:
        """Whether any text read so far names the scopes of a refusal; none of the shipped ones does."""
        return any("scope" in text.names for texts in self._read.values() for text in texts.values())

    def sentence(self, reason: str, language: str) -> Sentence | None:
        """The translated message of a reason in exactly this language."""
        return self.texts(language).get(reason)

    def texts(self, language: str) -> Mapping[str, Sentence]:
        """The translated messages of one language, by reason."""
        texts = self._read.get(language)
        if texts is None:
            texts = self._read[language] = self._texts(language) if language in self._files else {}
        return texts

    def _texts(self, language: str) -> Mapping[str, Sentence]:
        file = self._files[language]
        try:
            translations = read_language(file)
        except (DataError, OSError) as error:
            kept = self._previous.texts(language) if self._previous else {}
            _log.error("%s is left %s:\n%s", language, "as it was" if kept else "out", error)
            return kept
        texts: dict[str, Sentence] = {}
        faults: list[Fault] = []
        older: list[str] = []
        for reason, entry in self._catalog.reasons.items():
            context = f"reasons.{reason}.message"
            translation = translations.get(context)
            if translation is None:
                continue
            if translation.english != entry.failure.message:
                if self._builtin:
                    continue
                older.append(context)
            text = translation.text.strip()
            wrong = next((name for _, name in character_faults(text)), None)
            # a shipped sentence has the placeholders of its English alone, so that it can be said without any detail
            allowed = placeholders(translation.english) if self._builtin else entry.placeholders
            fault = f"{wrong} is not allowed in a text" if wrong else placeholder_fault(text, allowed)
            if fault:
                faults.append(Fault(str(file), translation.line, None, context, fault))
                continue
            parts = tuple(split(text))
            if unfilled := missing_detail(parts[1::2], self._details):
                self.missing.append(Fault(str(file), translation.line, None, context, unfilled))
            source = "shipped" if self._builtin else f"{file}:{translation.line}" if translation.line else str(file)
            texts[reason] = Sentence(parts, language, source)
        _report(faults, "a text that cannot be used is left out")
        if older:
            _log.warning(
                "%s was translated from an older English text and is used as it is: %s", file, ", ".join(older)
            )
        return texts


def _report(faults: list[Fault], what: str) -> None:
    for fault in faults:
        _log.error("%s: %s", what, fault)
