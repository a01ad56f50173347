"""A ``.po`` taken apart at its entries, so that a program can change one and lose nothing of the rest.

Babel reads a comment word by word, keeps of a header what it knows, and breaks a long ``#| msgid`` when it writes one.
Here each entry keeps its own lines.
"""

import re
from collections.abc import Iterable, Iterator

from babel.messages.pofile import denormalize, normalize

__all__ = ["PoEntry", "entries_of", "keyword_line"]

_MARKS = ("#~|", "#~", "#|", "#,", "#.", "#:", "#", "")  # the manual of GNU gettext, "The Format of PO Files"
_KEYWORD = re.compile(r"(msgctxt|msgid_plural|msgid|msgstr(?:\[[0-9]\])?) *(?=\")")


class PoEntry:
    """One entry of a ``.po``.

    :ivar comments: a translator's own lines (``# …``), as they are.
    :ivar flags: such as ``fuzzy``, in order.
    :ivar obsolete: whether its texts are commented out (``#~``).
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.comments: list[str] = []
        self.flags: list[str] = []
        self.obsolete = False
        self._texts: dict[str, list[str]] = {}
        self._previous: dict[str, list[str]] = {}
        for line in lines:
            mark = next(mark for mark in _MARKS if line.startswith(mark))
            content = line[len(mark) :].strip()
            self.obsolete |= mark.startswith("#~")
            if mark in {"", "#~"}:
                _add(self._texts, content)
            elif mark in {"#|", "#~|"}:
                _add(self._previous, content)
            elif mark == "#,":
                self.flags += filter(None, map(str.strip, content.split(",")))
            elif mark == "#":
                self.comments.append(line)

    def text(self, keyword: str) -> str | None:
        """The text of a keyword, ``None`` where there is none."""
        return _joined(self._texts.get(keyword))

    @property
    def previous(self) -> str | None:
        """The English that a fuzzy text was made from (``#| msgid``)."""
        return _joined(self._previous.get("msgid"))

    @property
    def is_header(self) -> bool:
        """Whether it is the entry that describes the file."""
        return self.text("msgid") == "" and self.text("msgctxt") is None and not self.obsolete

    @property
    def is_translated(self) -> bool:
        """Whether any text is there that would be a loss."""
        return any(self.text(keyword) for keyword in self._texts if keyword.startswith("msgstr"))

    def header_lines(self) -> list[str]:
        """The lines of a header, each field on its own as it was."""
        flags = [f"#, {', '.join(self.flags)}"] if self.flags else []
        texts = [f"{keyword} " + "\n".join(lines) for keyword, lines in self._texts.items()]
        return [*self.comments, *flags, *texts]

    def obsolete_lines(self) -> list[str]:
        """The lines of the entry, commented out."""
        flags = [f"#, {', '.join(self.flags)}"] if self.flags else []
        previous = [f"#~| {keyword_line(keyword, _joined(lines) or '')}" for keyword, lines in self._previous.items()]
        texts = [f"#~ {keyword_line(keyword, _joined(lines) or '')}" for keyword, lines in self._texts.items()]
        return [*self.comments, *flags, *previous, *texts]


def keyword_line(keyword: str, text: str) -> str:
    """A keyword and its text, on one line unless the text has several."""
    return f"{keyword} {normalize(text, width=0)}"


def entries_of(text: str) -> Iterator[PoEntry]:
    """The entries of a file, in order, the header first where there is one."""
    lines: list[str] = []
    complete = False
    for line in map(str.strip, text.split("\n")):
        content = line.removeprefix("#~").strip()
        begins = (line.startswith("#") and not line.startswith("#~")) or content.startswith(("msgctxt", "msgid ", "|"))
        if complete and (not line or begins):
            yield PoEntry(lines)
            lines, complete = [], False
        complete |= content.startswith("msgstr")
        if line:
            lines.append(line)
    if complete:
        yield PoEntry(lines)


def _add(texts: dict[str, list[str]], content: str) -> None:
    if found := _KEYWORD.match(content):
        texts[found[1]] = [content[found.end() :]]
    elif texts:
        texts[next(reversed(texts))].append(content)


def _joined(lines: list[str] | None) -> str | None:
    return None if lines is None else denormalize("\n".join(lines))
