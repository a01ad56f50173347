"""gettext's two file formats, as far as a file can be trusted.

Of a header only the charset is looked at, to refuse any other than UTF-8. The rest is never interpreted: it may hold
ten thousand million plural forms, a language in words or a date that was never filled in, and the folder's name says
all that matters.
"""

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from mcp_auth_failures.datafile import MAX_BYTES, DataError, Fault, decode, read_bytes
from mcp_auth_failures.po_lines import PoEntry, PoError, entries_of

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["Translation", "parse_po", "read_language", "read_mo", "read_po"]

_UNKNOWN: Mapping[str, str] = MappingProxyType({})


class Translation(NamedTuple):
    """One translated text: the English it was made from, and where it stands."""

    english: str
    text: str
    line: int | None


def read_language(file: "Path | Traversable", english: Mapping[str, str] = _UNKNOWN) -> Mapping[str, Translation]:
    """Read a ``.po`` or ``.mo``, by context. Raises :class:`DataError` if it cannot be trusted.

    A file may hold a text for today's English beside one for an older. Of two in one context the one for the
    ``english`` of that context counts.
    """
    data = read_bytes(file) if isinstance(file, Path) else file.read_bytes()
    return (read_mo if file.name.endswith(".mo") else read_po)(data, str(file), english)


def read_po(data: bytes, file: str, english: Mapping[str, str] = _UNKNOWN) -> dict[str, Translation]:
    """The usable entries of a ``.po``, by context (``reasons.expired.message``).

    Entries that are fuzzy, blank, obsolete, have plurals or no context count as untranslated. Raises
    :class:`DataError` for what makes the file untrustworthy: not UTF-8, a syntax error, an entry that is there twice.
    """
    found = (
        (context, Translation(msgid or "", entry.text("msgstr") or "", entry.line))
        for (context, msgid), entry in _keyed(data, file, comments=False)
        if context and not (entry.obsolete or entry.is_fuzzy)
    )
    return _by_context(found, english)


def _by_context(found: Iterable[tuple[str, Translation]], english: Mapping[str, str]) -> dict[str, Translation]:
    usable = ((context, each) for context, each in found if each.text.strip())
    return dict(sorted(usable, key=lambda pair: pair[1].english == english.get(pair[0])))


def parse_po(data: bytes, file: str) -> list[PoEntry]:
    """All entries of a ``.po`` in its order, the header and the obsolete ones among them.

    Raises :class:`DataError` as :func:`read_po` does.
    """
    return [entry for _, entry in _keyed(data, file)]


_Key = tuple[str | None, str | None]
"""``msgctxt`` and ``msgid``."""


def _keyed(data: bytes, file: str, *, comments: bool = True) -> list[tuple[_Key, PoEntry]]:
    if len(data) > MAX_BYTES:
        _refuse(file, None, f"is larger than {MAX_BYTES:,} bytes")
    text = decode(data, file)
    try:
        entries = [
            ((entry.text("msgctxt"), entry.text("msgid")), entry) for entry in entries_of(text, comments=comments)
        ]
    except PoError as error:
        _refuse(file, error.line, str(error))
    lines: dict[_Key, int] = {}
    for key, entry in entries:
        if key == (None, "") and not entry.obsolete:
            _check_charset(entry.text("msgstr") or "", text, file)
        if not entry.obsolete and lines.setdefault(key, entry.line) != entry.line:
            name = key[0] or key[1] or "the header"
            _refuse(file, entry.line, f"{name[:80]} is here twice: it is on line {lines[key]} already")
    return entries


_CHARSET = re.compile(r"charset=([^\s;\\\"]+)", re.IGNORECASE)
_UTF_8 = {"utf-8", "utf8", "us-ascii", "ascii", "charset"}  # the last stands in a template and is never filled in


def _check_charset(header: str, source: str, file: str) -> None:
    charset = _CHARSET.search(header)
    if charset and charset[1].lower() not in _UTF_8:
        before, found, _ = source.partition(charset[0])
        line = before.count("\n") + 1 if found else None
        _refuse(file, line, f"says it is in {charset[1]:.40}; save it as UTF-8")


def _refuse(file: str, line: int | None, message: str) -> NoReturn:
    raise DataError([Fault(file, line, None, "", message)]) from None


def read_mo(data: bytes, file: str, english: Mapping[str, str] = _UNKNOWN) -> dict[str, Translation]:
    """The entries of a ``.mo``, by context. Raises :class:`DataError` if it is torn or not UTF-8.

    Read here, since the standard library's reader compiles the header's plural rule and Babel's believes its charset.
    """
    try:
        pairs = dict(_mo_pairs(data))
    except (struct.error, ValueError) as error:
        _refuse(file, None, f"is not a .mo: {error}")
    _check_charset(pairs.get("", ""), "", file)
    found = (
        (context, Translation(msgid, text, None))
        for key, text in pairs.items()
        if "\0" not in key  # between the two of a plural
        for context, separator, msgid in [key.partition("\x04")]
        if separator
    )
    return _by_context(found, english)


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
