"""The format of a ``.po``: read strictly, entry by entry, and written with the lines that an entry had.

It is that of GNU gettext's manual, "The Format of PO Files". Babel's own reader is too lenient for sentences that
people act on (it takes a text without its ``msgid`` for the next entry's, and a missing quote for a letter too many);
nor does it know ``#~|``, or keep a comment as it is.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

__all__ = ["PoEntry", "PoError", "entries_of", "quoted"]


class PoError(ValueError):
    """A syntax error.

    :ivar line: where it was found, from 1.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(slots=True)
class PoEntry:
    """One entry of a ``.po``. Texts are by keyword, as the quoted lines that the file has or shall have.

    :ivar comments: a translator's own lines (``# …``), as they are.
    :ivar notes: for the translator (``#. …``).
    :ivar places: where the text comes from (``#: …``).
    :ivar flags: such as ``fuzzy``, in order (``#, …``).
    :ivar previous: the texts that a fuzzy translation was made from (``#| …``).
    :ivar texts: ``msgctxt``, ``msgid``, ``msgstr`` and so on.
    :ivar obsolete: whether the texts are commented out (``#~ …``).
    :ivar line: where its ``msgid`` stands.
    """

    comments: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    previous: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    obsolete: bool = False
    line: int = 0

    def text(self, keyword: str) -> str | None:
        """The text of a keyword, ``None`` where there is none."""
        return _unquoted(self.texts.get(keyword))

    @property
    def previous_english(self) -> str | None:
        """The English that a fuzzy translation was made from, where the file says it."""
        return _unquoted(self.previous.get("msgid"))

    @property
    def is_header(self) -> bool:
        """Whether it is the entry that describes the file."""
        return self.text("msgid") == "" and "msgctxt" not in self.texts and not self.obsolete

    @property
    def is_fuzzy(self) -> bool:
        """Whether its translation has yet to be reviewed."""
        return "fuzzy" in self.flags

    @property
    def is_translated(self) -> bool:
        """Whether it has any translation."""
        return any(self.text(keyword) for keyword in self.texts if keyword.startswith("msgstr"))

    def unwrapped(self) -> "PoEntry":
        """The same entry with each text on one line, or on as many as the text itself has."""
        texts, previous = (
            {keyword: quoted(_unquoted(lines) or "") for keyword, lines in those.items()}
            for those in (self.texts, self.previous)
        )
        return replace(self, texts=texts, previous=previous)

    def lines(self) -> Iterator[str]:
        """The lines of the entry: the reverse of :func:`entries_of`."""
        yield from self.comments
        yield from (f"#. {note}".rstrip() for note in self.notes)
        yield from (f"#: {place}" for place in self.places)
        if self.flags:
            yield f"#, {', '.join(self.flags)}"
        mark = "~" if self.obsolete else ""
        yield from (f"#{mark}| {line}" for line in _with_keywords(self.previous))
        yield from (f"#~ {line}" if self.obsolete else line for line in _with_keywords(self.texts))


def _with_keywords(texts: dict[str, list[str]]) -> Iterator[str]:
    for keyword, (first, *more) in texts.items():
        yield f"{keyword} {first}"
        yield from more


_MARK = re.compile(r"#(?:~\|?|[|,.:]?)")
_KEYWORD = r"msgctxt|msgid_plural|msgid|msgstr(?:\[[0-5]\])?"  # no language has more than six plural forms
_LINE = re.compile(rf'({_KEYWORD})?\s*("[^"\\]*(?:\\.[^"\\]*)*")')
_CLOSED = re.compile(r'(?<!\\)(?:\\\\)*"$')
_WITH_QUOTE = re.compile(rf'(?:(?:{_KEYWORD})(?=[\s"]).*)?"')

# What may come first in an entry, and what after each keyword.
_NEXT: dict[str | None, tuple[str, ...]] = {
    None: ("msgctxt", "msgid"),
    "msgctxt": ("msgid",),
    "msgid": ("msgid_plural", "msgstr"),
    "msgid_plural": ("msgstr[0]",),
    "msgstr": ("msgctxt", "msgid"),
    **{f"msgstr[{n}]": (f"msgstr[{n + 1}]", "msgctxt", "msgid") for n in range(6)},
}


def entries_of(text: str, *, comments: bool = True) -> Iterator[PoEntry]:
    """The entries of a file, in order. Comments after the last one are an entry without texts.

    Without ``comments`` those at the head of an entry are passed over: a server says nothing of them, and they are a
    third of the work.

    Raises :class:`PoError` for a line that is none, and for one that is missing, out of place or there twice.
    """
    lines: list[tuple[int, str]] = []
    complete = False
    for number, raw in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        line = raw.lstrip()
        content = line[2:].lstrip() if line.startswith("#~") else line
        if not content:
            continue
        if complete and content.startswith(("#", "|", "msgctxt", "msgid")):
            yield _entry(lines)
            lines, complete = [], False
        if not (comments or lines) and line.startswith(("# ", "#.", "#:")):
            continue
        complete = complete or content.startswith("msgstr")
        # a comment that is commented out is a comment
        lines.append((number, content if content[0] == "#" else line))
    if lines:
        yield _entry(lines)


def _entry(lines: Iterable[tuple[int, str]]) -> PoEntry:
    entry = PoEntry()
    broken: list[str] = []
    since = number = 0
    for number, line in lines:
        mark = _MARK.match(line)[0] if line[0] == "#" else ""  # type: ignore[index]  # it matches at least "#"
        content = line[len(mark) :].strip()
        if mark in {"", "#~"}:
            if entry.texts and entry.obsolete != (mark == "#~"):
                raise PoError(number, "is not a .po: only a part of an entry is marked with #~")
            entry.obsolete = mark == "#~"
            if _add(entry.texts, content, number) == "msgid":
                entry.line = number
            continue
        if entry.texts:
            raise _misplaced("a comment", entry.texts, number)
        match mark:
            case "#":
                entry.comments.append(line)
            case "#.":
                entry.notes.append(content)
            case "#:":
                entry.places.append(content)
            case "#,":
                entry.flags += filter(None, map(str.strip, content.split(",")))
            case _:
                since = since if broken else number
                broken.append(content)
                if _CLOSED.search(content):  # pybabel breaks a long text between two words
                    _add(entry.previous, " ".join(broken), since)
                    broken = []
    if broken:
        raise _no_line(" ".join(broken), since)
    if entry.texts and "msgctxt" not in _NEXT[_last(entry.texts)]:
        raise _misplaced("the end of the file", entry.texts, number)
    return entry


def _add(texts: dict[str, list[str]], line: str, number: int) -> str | None:
    found = _LINE.fullmatch(line)
    if not found:
        raise _no_line(line, number)
    keyword: str | None = found[1]
    last = _last(texts)
    if keyword in _NEXT[last]:
        texts[str(keyword)] = [found[2]]
    elif last and not keyword:
        texts[last].append(found[2])
    else:
        raise _misplaced(keyword or "a text", texts, number)
    return keyword


def _last(texts: dict[str, list[str]]) -> str | None:
    return next(reversed(texts), None)


def _no_line(line: str, number: int) -> PoError:
    if line.startswith(("<<<<<<<", "=======", ">>>>>>>")):
        why = "a merge conflict is left here"
    elif _WITH_QUOTE.match(line):
        why = "a text is not closed by a quote, or a quote in it lacks its backslash"
    else:
        why = repr(line[:40])
    return PoError(number, f"is not a line of a .po: {why}")


def _misplaced(found: str, texts: dict[str, list[str]], number: int) -> PoError:
    return PoError(number, f"is not a .po: {found} stands where {' or '.join(_NEXT[_last(texts)])} should")


_ESCAPES = dict(zip('\\"\a\b\f\n\r\t\v', r"\"abfnrtv", strict=True))
_ESCAPED = re.compile(r'\\([\\"abfnrtv])')
_CHARACTERS = {escape: character for character, escape in _ESCAPES.items()}


def quoted(text: str) -> list[str]:
    """A text as the lines of a ``.po``: one, unless the text itself has several."""
    lines = [
        '"' + "".join(f"\\{_ESCAPES[each]}" if each in _ESCAPES else each for each in line) + '"'
        for line in re.findall(r"[^\n]*\n|[^\n]+", text)
    ]
    return lines if len(lines) == 1 else ['""', *lines]


def _unquoted(lines: list[str] | None) -> str | None:
    """The reverse of :func:`quoted`."""
    if lines is None:
        return None
    text = "".join([line[1:-1] for line in lines])
    return _ESCAPED.sub(lambda found: _CHARACTERS[found[1]], text) if "\\" in text else text
