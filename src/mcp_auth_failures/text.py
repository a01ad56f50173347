"""What a sentence may be made of: which characters, and which ``{placeholders}``.

The same rules hold for every text a person writes for us, whether in the catalog, an override file or a ``.po``.
Never ``str.format``: ``{scope.__class__}`` would leak and ``{scope:>99999999}`` would take 100 MB.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

__all__ = ["Sentence", "character_faults", "fill", "placeholders", "split"]

_BIDIRECTIONAL = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Unicode's Bidi_Control, all twelve
_FORBIDDEN = rf"[\x00-\x1f\x7f-\x9f{_BIDIRECTIONAL}\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]"
_BRACES = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")

_NAMES = {"\t": "a tab", "\n": "a line break", "\r": "a carriage return", "\ufeff": "a second byte order mark"}


def character_faults(text: str, *, allowed: str = "") -> Iterator[tuple[int, str]]:
    """Yield ``(index, name)`` for each character that no sentence may hold, save those in ``allowed``.

    Refused are control characters, line breaks, tabs, bidirectional controls (a text that is shown in another
    order than it is stored can say the opposite), lone surrogates (no JSON can carry them) and byte order marks.
    """
    if text.replace("\n", "").isprintable() and ("\n" in allowed or "\n" not in text):
        return  # as nearly all are: the expression below takes a millisecond to compile
    for found in re.finditer(_FORBIDDEN, text):
        character = found[0]
        if character not in allowed:
            yield found.start(), _NAMES.get(character) or f"{_kind(character)} U+{ord(character):04X}"


def _kind(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return "the lone surrogate"
    return "the bidirectional control" if re.match(f"[{_BIDIRECTIONAL}]", character) else "the control character"


def split(text: str) -> list[str]:
    """Take a text apart at its placeholders: literal, name, literal, name, …, literal.

    ``{{`` and ``}}`` stand for braces. Raises ``ValueError``, saying what was found, for anything else in
    braces than a plain name.
    """
    if "{" not in text and "}" not in text:
        return [text]
    parts, literal, end = [], "", 0
    for found in _BRACES.finditer(text):
        literal += text[end : found.start()]
        end = found.end()
        if found[1]:
            parts += [literal, found[1]]
            literal = ""
        elif found[0] in {"{{", "}}"}:
            literal += found[0][0]
        else:
            around = text[max(0, found.start() - 10) : found.end() + 20]
            raise ValueError(f"a brace that is no {{placeholder}} in {around!r}; write {{{{ or }}}} for a brace")
    return [*parts, literal + text[end:]]


def placeholders(text: str) -> frozenset[str]:
    """The names a text has in braces. Raises ``ValueError`` as :func:`split` does."""
    return frozenset(split(text)[1::2])


def fill(parts: Iterable[str], details: Mapping[str, str]) -> str:
    """Put the details in the places that :func:`split` found. The reverse of it, once every name has a value."""
    return "".join(details[part] if index % 2 else part for index, part in enumerate(parts))


class Sentence(NamedTuple):
    """A text someone wrote, and where: ``source`` is a file and line, ``language`` a BCP 47 tag if it has one."""

    parts: tuple[str, ...]
    language: str | None
    source: str

    @property
    def names(self) -> frozenset[str]:
        """The placeholders it has."""
        return frozenset(self.parts[1::2])
