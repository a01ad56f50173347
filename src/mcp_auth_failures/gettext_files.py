"""gettext's two file formats, read strictly.

Of a header only the charset is looked at, to refuse any other than UTF-8. The rest is never interpreted: it may hold
ten thousand million plural forms, a language in words or a date that was never filled in, and the folder's name says
all that matters.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from mcp_auth_failures.datafile import MAX_BYTES, DataError, Fault, decode, read_bytes

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from babel.messages.catalog import Message

__all__ = ["Translation", "parse_po", "read_language", "read_mo", "read_po"]


@dataclass(frozen=True, slots=True)
class Translation:
    """One translated text: the English it was made from, and where it stands."""

    english: str
    text: str
    line: int | None


def read_language(file: "Path | Traversable") -> Mapping[str, Translation]:
    """Read a ``.po`` or ``.mo``, by context. Raises :class:`DataError` if it cannot be trusted."""
    data = read_bytes(file) if isinstance(file, Path) else file.read_bytes()
    return (read_mo if file.name.endswith(".mo") else read_po)(data, str(file))


def read_po(data: bytes, file: str) -> dict[str, Translation]:
    """The usable entries of a ``.po``, by context (``reasons.expired.message``).

    Entries that are fuzzy, blank, obsolete or have no context count as untranslated. Raises :class:`DataError` for
    what makes the file untrustworthy: not UTF-8, a syntax error, an unclosed quote, an entry that is there twice.
    """
    return {
        message.context: Translation(message.id, message.string, message.lineno)
        for message in parse_po(data, file)
        if message.context
        and isinstance(message.id, str)
        and isinstance(message.string, str)
        and message.string.strip()
        and not message.fuzzy
    }


def parse_po(data: bytes, file: str) -> list["Message"]:
    """The entries of a ``.po`` in its order, the header (an empty ``id``) among them, without the obsolete ones.

    Raises :class:`DataError` as :func:`read_po` does.
    """
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
    # Babel does not know `#~|`, which msgmerge writes
    living = ("" if line.startswith("#~") else line for line in lines)
    try:
        PoFileParser(Entries(charset="utf-8"), abort_invalid=True).parse(living)
    except PoFileError as error:
        _refuse(file, error.lineno + 1, f"is not a .po: {str(error).rsplit(' on ', 1)[0]}")
    except (ValueError, IndexError, AttributeError, TypeError) as error:  # `msgstr` first, a text before any keyword, …
        _refuse(file, None, f"is not a .po: {error}")
    _check_charset("\n".join(str(message.string) for message in entries if not message.id), lines, file)
    seen: dict[tuple[object, object], int] = {}
    for message in entries:
        key = message.context, message.id
        if key in seen:
            name = message.context or message.id or "the header"
            _refuse(file, message.lineno, f"{name} is here twice: it is on line {seen[key]} already")
        seen[key] = message.lineno or 0
    return entries


# Babel takes what it finds between the first and the last character for the text, quotes or not.
_TEXT = r'"(?:[^"\\]|\\.)*"'
_LINE = re.compile(rf"(?:(?:msgctxt|msgid|msgid_plural|msgstr(?:\[[0-9]\])?) +)?{_TEXT}")


def _why(line: str) -> str:
    if line.startswith(("<<<<<<<", "=======", ">>>>>>>")):
        return "a merge conflict is left here"
    if '"' in line:
        return "a text is not closed by a quote, or a quote in it lacks its backslash"
    return repr(line[:40])


_CHARSET = re.compile(r"charset=([^\s;\\\"]+)", re.IGNORECASE)
_UTF_8 = {"utf-8", "utf8", "us-ascii", "ascii", "charset"}  # the last stands in a template and is never filled in


def _check_charset(header: str, lines: list[str], file: str) -> None:
    charset = _CHARSET.search(header)
    if charset and charset[1].lower() not in _UTF_8:
        line = next((number for number, line in enumerate(lines, 1) if charset[0] in line), None)
        _refuse(file, line, f"says it is in {charset[1]:.40}; save it as UTF-8")


def _refuse(file: str, line: int | None, message: str) -> NoReturn:
    raise DataError([Fault(file, line, None, "", message)]) from None


def read_mo(data: bytes, file: str) -> dict[str, Translation]:
    """The entries of a ``.mo``, by context. Raises :class:`DataError` if it is torn or not UTF-8.

    Read here, since the standard library's reader compiles the header's plural rule and Babel's believes its charset.
    """
    try:
        pairs = dict(_mo_pairs(data))
        _check_charset(pairs.get("", ""), [], file)
        return {
            context: Translation(english, text, None)
            for key, text in pairs.items()
            if "\0" not in key
            for context, separator, english in [key.partition("\x04")]  # how gettext joins msgctxt and msgid
            if separator and text.strip()
        }
    except DataError:
        raise
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
