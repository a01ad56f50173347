"""Files that people write for us: read within bounds, and what is wrong with one: located, and all of it at once."""

import os
import re
import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from mcp_auth_failures.text import character_faults, split

__all__ = [
    "MAX_BYTES",
    "DataError",
    "Fault",
    "decode",
    "missing_detail",
    "one_of",
    "placeholder_fault",
    "read_bytes",
    "text_fault",
]

MAX_BYTES = 1 << 20
_MAX_TEXT = 2000
_MAX_PLACEHOLDERS = 10

_MAX_SHOWN = 1000
_UNSEEN = r"[\s\u00ad\u180e\u200b-\u200d\u2060-\u2064]*"  # white space, soft hyphen, joiners and other nothings


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a file: where it is, and what was found and expected there.

    ``line`` and ``column`` count from 1 and are ``None`` where a fault has no place; ``path`` is the way through
    the data, such as ``reasons.expired.action``, or empty. Path and message may quote whatever the file holds, and go
    to logs and terminals: they are one line of at most 1,000 characters each, escaped as in Python.
    """

    file: str
    line: int | None
    column: int | None
    path: str
    message: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", _shown(self.path))
        object.__setattr__(self, "message", _shown(self.message))

    @property
    def place(self) -> str:
        """The file, with line and column where they are known, as editors and terminals link it."""
        return ":".join(str(part) for part in (_shown(self.file), self.line, self.column) if part is not None)

    def __str__(self) -> str:
        return ": ".join(part for part in (self.place, self.path, self.message) if part)


def _shown(text: str) -> str:
    """A text as Python would show it in quotes, so that it neither forges a line nor moves a cursor, and cut."""
    if not text.isprintable():
        text = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text[: _MAX_SHOWN + 1])
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"


class DataError(ValueError):
    """A file, a setting or an argument that cannot be used. ``faults`` holds everything found, in the file's order."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))

    def __reduce__(self) -> tuple[type["DataError"], tuple[tuple[Fault, ...]]]:
        return type(self), (self.faults,)


def one_of(found: str, allowed: Collection[str]) -> str:
    """Say that a name is none of the known ones, and which of them it comes nearest to."""
    import difflib  # only a fault needs it

    if not allowed:
        return f"{found[:80]!r} is not known: there are none"
    near = difflib.get_close_matches(found[:80], allowed, n=1) or [
        name for name in allowed if name.casefold() == found.casefold()
    ]
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{found[:80]!r} is not one of {', '.join(allowed)}{hint}"


def text_fault(text: str) -> str | None:
    """Say what keeps a text from being said, its placeholders apart, or ``None`` if nothing does."""
    if len(text) > _MAX_TEXT:
        return f"is longer than {_MAX_TEXT:,} characters"
    if wrong := next(character_faults(text), None):
        return f"{wrong[1]} is not allowed in a text"
    if not any(map(str.isalnum, text)) and re.fullmatch(_UNSEEN, text):  # nearly all begin with a letter
        return "holds nothing that can be seen"
    return None


def placeholder_fault(text: str, allowed: Collection[str]) -> str | None:
    """Say which placeholder a text may not have, or which brace is none, or ``None`` if all is well."""
    try:
        names = split(text)[1::2]
    except ValueError as error:
        return str(error)
    if len(names) > _MAX_PLACEHOLDERS:  # each may stand for 500 characters, or for scopes of any length
        return f"has {len(names)} placeholders, and may have {_MAX_PLACEHOLDERS}"
    unknown = [name for name in names if name not in allowed]
    if not unknown:
        return None
    name = min(unknown)
    return f"the placeholder {one_of(name, allowed)}" if allowed else f"{name!r} is a placeholder where none is allowed"


def missing_detail(names: Collection[str], given: Collection[str]) -> str | None:
    """Say which placeholder of a text has no value, and how to give it one, or ``None`` if all have."""
    for name in sorted(set(names) - set(given) - {"scope"}):  # a refusal brings its scopes itself
        return f"uses {{{name}}}, which has no value: give Wording({name}=…) or MCP_AUTH_FAILURES_{name.upper()}"
    return None


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a regular file of at most ``MAX_BYTES``. Raises :class:`DataError` for whatever stands in the way.

    A FIFO would block for ever and ``/dev/zero`` never ends, so that neither is opened.
    """
    file = os.fspath(path)
    try:
        mode = os.stat(file).st_mode
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            raise DataError([Fault(file, None, None, "", f"cannot be read: it is {kind}")])
        with open(file, "rb", opener=_open_without_waiting) as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise DataError([Fault(file, None, None, "", f"cannot be read: {error.strerror}")]) from None
    except DataError:
        raise
    except ValueError:  # a NUL in the name, which each version of Python complains of in words of its own
        raise DataError([Fault(repr(file), None, None, "", "cannot be read: no file has such a name")]) from None
    if len(data) > MAX_BYTES:
        raise DataError([Fault(file, None, None, "", f"is larger than {MAX_BYTES:,} bytes")])
    return data


def _open_without_waiting(file: str, flags: int) -> int:
    # a FIFO may have taken the file's place since it was looked at; Windows has neither FIFOs nor the flag
    return os.open(file, flags | getattr(os, "O_NONBLOCK", 0))


def decode(data: bytes, file: str) -> str:
    """Decode UTF-8, dropping one byte order mark. Raises :class:`DataError` with the place of the first bad byte."""
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise DataError([Fault(file, line, None, "", f"is not UTF-8: {found}")]) from None
