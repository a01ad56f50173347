"""What to look at in a text although it could be used: one small function a rule.

A rule takes a :class:`Text` and returns what is odd about it, or ``None``.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from mcp_auth_failures.catalog import Entry
from mcp_auth_failures.challenge import to_description
from mcp_auth_failures.datafile import text_fault
from mcp_auth_failures.tags import script_of
from mcp_auth_failures.text import placeholders

__all__ = ["FOR_OPERATORS", "FOR_TRANSLATORS", "Text", "findings"]


@dataclass(frozen=True, slots=True)
class Text:
    """A text, the language it is for (``None`` for every language), the reason that it is said of, if it is of one, and
    the shipped text that it replaces or translates.
    """

    text: str
    language: str | None
    entry: Entry | None
    shipped: str

    @property
    def is_sentence(self) -> bool:
        """Whether it has to be one, and not a heading or a label."""
        return self.shipped.endswith(".")


Rule = Callable[[Text], str | None]


def findings(text: Text, rules: Iterable[Rule]) -> Iterator[str]:
    """What the rules have to say about a text."""
    return filter(None, (rule(text) for rule in rules))


def cannot_travel(text: Text) -> str | None:
    """English goes into ``error_description`` too, where it can (RFC 6750 §3)."""
    if text.language in {None, "en"} and "scope" not in placeholders(text.text) and to_description(text.text) is None:
        return (
            "cannot travel in the header, whose error_description keeps the shipped English: "
            "it has other letters than ASCII, a backslash or a word followed by ="
        )
    return None


def reads_as_parameter(text: Text) -> str | None:
    """Clients search a header for these wherever they stand."""
    found = re.search(r"(?:scope|error|resource_metadata)=", text.text, re.IGNORECASE)
    return f"holds {found[0]!r}, which clients read as a parameter of the challenge" if found else None


def starts_a_login(text: Text) -> str | None:
    """Some clients decide by words in the text that a login is needed, and begin one that cannot help."""
    if text.entry is None or text.entry.failure.recoverable:
        return None
    found = re.search(r"unauthori[sz]ed|authentication required|invalid[_ ]token", text.text, re.IGNORECASE)
    return f"holds {found[0]!r}, which makes some clients start a login that cannot help" if found else None


def is_far_longer(text: Text) -> str | None:
    """An agent relays one sentence, not a page."""
    longest = 3 * len(text.shipped)
    return (
        f"is {len(text.text)} characters long, where the shipped text has {len(text.shipped)}"
        if len(text.text) > longest
        else None
    )


def is_far_shorter(text: Text) -> str | None:
    """A translation that is cut off; Chinese takes a quarter of the characters of English."""
    return "is so short that something seems to be missing" if len(text.text) * 8 < len(text.shipped) else None


def cannot_be_said(text: Text) -> str | None:
    """A text that no server takes: of great length, or with control or bidirectional characters."""
    return text_fault(text.text)


def has_outer_space(text: Text) -> str | None:
    """Space round a text is not seen by who writes it."""
    return "begins or ends with white space" if text.text != text.text.strip() else None


def lacks_placeholder(text: Text) -> str | None:
    """A name in braces that the English has, or one that it has not."""
    try:
        here, there = placeholders(text.text), placeholders(text.shipped)
    except ValueError as error:
        return str(error)
    if missing := sorted(there - here):
        return f"lacks {{{missing[0]}}}, which the English has"
    if added := sorted(here - there):
        return f"has {{{added[0]}}}, which the English has not"
    return None


def is_english(text: Text) -> str | None:
    """An untranslated copy, which hides that something is left to do."""
    words = [word for word in _words(text.text) if not word.isupper()]
    may_be_equal = len(words) < 2 and not text.is_sentence  # as the label "HTTP status" is in some languages
    return "is a copy of the English" if text.text == text.shipped and not may_be_equal else None


# How a sentence ends, by script; in all others with a full stop. Thai writes none; Urdu has its own in a shared script.
_FULL_STOPS = {"Beng": "।", "Deva": "।", "Hans": "。", "Hant": "。", "Jpan": "。", "Thai": "", "ur": "۔"}


def ends_unlike_its_script(text: Text) -> str | None:
    """A sentence that ends in another script's full stop or in none, or a heading that ends in one."""
    language = text.language or "en"
    stop = _FULL_STOPS.get(language.partition("-")[0], _FULL_STOPS.get(script_of(language), "."))
    if not text.is_sentence:
        return f"ends in {stop!r}, where the English does not" if stop and text.text.endswith(stop) else None
    if stop and not text.text.endswith(stop):
        return f"does not end in {stop!r}"
    if not stop and unicodedata.category(text.text[-1]) == "Po":  # neither a bracket nor a closing quote
        return "ends in a punctuation mark, where this language writes none"
    return None


# The words with which Unicode's character names begin, by the ISO 15924 code of a language's script.
_NAMES = {
    "Arab": ("ARABIC",),
    "Beng": ("BENGALI",),
    "Cyrl": ("CYRILLIC",),
    "Deva": ("DEVANAGARI",),
    "Grek": ("GREEK",),
    "Hans": ("CJK",),
    "Hant": ("CJK",),
    "Hebr": ("HEBREW",),
    "Jpan": ("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "CJK"),
    "Kore": ("HANGUL",),
    "Latn": ("LATIN",),
    "Taml": ("TAMIL",),
    "Thai": ("THAI",),
}
# Which legacy charset has the characters of one way of writing Chinese, and which those of the other.
_CHARSETS = {"Hans": ("gb2312", "big5"), "Hant": ("big5", "gb2312")}


def is_in_another_script(text: Text) -> str | None:
    """Most letters are of another script, or one of them looks like a letter of the right one."""
    script = script_of(text.language or "en")
    expected = _NAMES.get(script)
    words = _words(text.text)
    if not expected or not words:
        return None
    # names such as OAuth, which stay as they are, tell nothing
    telling = [word for word in words if word not in _words(text.shipped)] or words
    names = [_script(letter) for word in telling for letter in word]
    # a Japanese sentence is told from a Chinese one by its kana
    is_chinese = script == "Jpan" and text.is_sentence and {"HIRAGANA", "KATAKANA"}.isdisjoint(names)
    if is_chinese or sum(name in expected for name in names) * 2 < len(names):
        return f"is not written in the script of {text.language} ({script})"
    for word in words:
        scripts = {_script(letter) for letter in word} & {"LATIN", "CYRILLIC", "GREEK"}
        if len(scripts) > 1:
            return f"mixes {' and '.join(map(str.title, sorted(scripts)))} letters in {word!r}"
    if script in _CHARSETS:
        own, other = _CHARSETS[script]
        for character in "".join(words):
            if _script(character) == "CJK" and not _encodes(character, own) and _encodes(character, other):
                return f"has {character!r}, which is of the other Chinese script"
    return None


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text)


def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").split(" ")[0]


def _encodes(character: str, charset: str) -> bool:
    try:
        character.encode(charset)
    except UnicodeEncodeError:
        return False
    return True


FOR_OPERATORS: tuple[Rule, ...] = (cannot_travel, reads_as_parameter, starts_a_login, is_far_longer)
FOR_TRANSLATORS: tuple[Rule, ...] = (
    cannot_be_said,
    has_outer_space,
    lacks_placeholder,
    is_english,
    ends_unlike_its_script,
    is_in_another_script,
    is_far_longer,
    is_far_shorter,
    reads_as_parameter,
    starts_a_login,
)
