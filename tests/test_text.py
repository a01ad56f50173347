"""What a sentence may be made of: characters and placeholders."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_auth_failures.text import Sentence, character_faults, fill, placeholders, split

BIDIRECTIONAL = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def test_which_characters_are_refused() -> None:
    """Of all Unicode: controls, surrogates, bidirectional controls, line separators, byte order marks; nothing else."""
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    expected = {character for character in everything if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}}
    expected |= {*BIDIRECTIONAL, "\ufeff", "\ufffe", "\uffff"}
    assert [index for index, _ in character_faults(everything)] == sorted(map(ord, expected))


NAMES = [
    ("\t", "a tab"),
    ("\n", "a line break"),
    ("\r", "a carriage return"),
    ("\ufeff", "a second byte order mark"),
    ("\0", "the control character U+0000"),
    ("\x1b", "the control character U+001B"),
    ("\x7f", "the control character U+007F"),
    ("\x85", "the control character U+0085"),
    ("\u2028", "the control character U+2028"),
    ("\ud800", "the lone surrogate U+D800"),
    ("\udfff", "the lone surrogate U+DFFF"),
    *((character, f"the bidirectional control U+{ord(character):04X}") for character in BIDIRECTIONAL),
]


@pytest.mark.parametrize(("character", "name"), NAMES, ids=[name for _, name in NAMES])
def test_refused_character_is_named(character: str, name: str) -> None:
    """A refused character comes with its place and a name a person understands, each time it stands there."""
    assert list(character_faults(f"{character}ab{character}")) == [(0, name), (3, name)]


def test_allowed_characters_are_passed_over() -> None:
    """What a caller allows is no fault, and all else remains one."""
    assert list(character_faults("a\nb\r\tc", allowed="\n\r")) == [(4, "a tab")]


@pytest.mark.parametrize(
    "text", ["", "Ask — in “Settings”…", "ação 你好 שלום \u200d\u200c 😀", "a\u00a0b\u202fc\u00ad"]
)
def test_writing_of_every_script_passes(text: str) -> None:
    """Letters, joiners, typographic punctuation and emoji are what sentences are made of."""
    assert list(character_faults(text)) == []


# --- placeholders ---------------------------------------------------------------------------------------------------

SPLIT = [
    ("", [""]),
    ("plain", ["plain"]),
    ("{a}", ["", "a", ""]),
    ("to {server}, or {contact}.", ["to ", "server", ", or ", "contact", "."]),
    ("{a}{a}", ["", "a", "", "a", ""]),
    ("{{a}}", ["{a}"]),
    ("{{{a}}}", ["{", "a", "}"]),
    ("{{}}", ["{}"]),
    ("a}}b{{c", ["a}b{c"]),
    ("{_x9}", ["", "_x9", ""]),
]


@pytest.mark.parametrize(("text", "parts"), SPLIT)
def test_split(text: str, parts: list[str]) -> None:
    """A text comes apart into literals with names between them; doubled braces are braces."""
    assert split(text) == parts
    assert placeholders(text) == set(parts[1::2])


BAD = [
    ("{", "'{'"),
    ("}", "'}'"),
    ("{}", "'{}'"),
    ("{0}", "'{0}'"),
    ("{a b}", "'{a b}'"),
    ("{ a }", "'{ a }'"),
    ("{é}", "'{é}'"),
    ("{a", "'{a'"),
    ("a}", "'a}'"),
    ("{{a}", "'{{a}'"),
    ("{scope.__class__}", "'{scope.__class__}'"),
    ("{scope[0]}", "'{scope[0]}'"),
    ("{scope:>99999999}", "'{scope:>99999999}'"),
    ("{scope!r}", "'{scope!r}'"),
    ("Write to the {IT desk} of the company, please.", "'te to the {IT desk} of the comp'"),
]


@pytest.mark.parametrize(("text", "around"), BAD)
def test_brace_that_is_no_placeholder(text: str, around: str) -> None:
    """Anything but a plain name in braces is refused: it never reaches ``str.format``."""
    for function in (split, placeholders):
        with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole message is compared
            function(text)
        assert str(raised.value) == f"a brace that is no {{placeholder}} in {around}; write {{{{ or }}}} for a brace"


def test_fill_puts_plain_values_in() -> None:
    """A value is put in as it is, whatever it holds: it is not read for placeholders again."""
    parts = split("{server}: ask {contact} ({{now}})")
    assert (
        fill(parts, {"server": "{contact}", "contact": "{0.__class__} %s"}) == "{contact}: ask {0.__class__} %s ({now})"
    )


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)


@given(st.lists(st.tuples(st.text("{}ab é", max_size=8), names), max_size=5), st.text("{}ab é", max_size=8))
def test_split_reverses_writing(pairs: list[tuple[str, str]], last: str) -> None:
    """What is written with doubled braces and names in braces comes apart into just these, and fills to them again."""
    parts = [part for pair in pairs for part in pair] + [last]
    literals = [part.replace("{", "{{").replace("}", "}}") for part in parts[::2]]
    text = literals[0] + "".join(
        f"{{{name}}}{literal}" for name, literal in zip(parts[1::2], literals[1:], strict=True)
    )
    assert split(text) == parts
    assert fill(parts, {name: f"{{{name}}}" for name in parts[1::2]}) == "".join(
        f"{{{part}}}" if index % 2 else part for index, part in enumerate(parts)
    )


@given(st.text("{}a_0. ", max_size=30))
def test_split_gives_parts_or_value_error(text: str) -> None:
    """Any text comes apart at an odd number of parts, or is refused with ``ValueError``."""
    try:
        parts = split(text)
    except ValueError:
        return
    assert len(parts) % 2
    assert all(name.isidentifier() for name in parts[1::2])


def test_names_of_a_sentence() -> None:
    """A sentence knows its placeholders."""
    assert Sentence(tuple(split("{b} {a} {b}")), "en", "x.yaml:3").names == {"a", "b"}
    assert Sentence(("plain",), None, "x.yaml:3").names == frozenset()
