"""Strict YAML: what a document may be, and how its nodes are read. The catalog's own rules: test_catalog.py."""

from collections.abc import Callable

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_auth_failures import document
from mcp_auth_failures.datafile import DataError
from mcp_auth_failures.document import Document, found, join

LOADERS = [loader for name in ("SafeLoader", "CSafeLoader") if (loader := getattr(yaml, name, None))]


@pytest.fixture(params=LOADERS, ids=lambda loader: loader.__name__)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules hold with either parser; a few builds of PyYAML lack libyaml's."""
    monkeypatch.setattr(document, "_Loader", request.param)


def _parse(data: str | bytes) -> Document:
    return Document.parse(data if isinstance(data, bytes) else data.encode(), "a.yaml")


Read = Callable[[Document], object]


def _faults(data: str | bytes, read: Read = lambda parsed: None) -> list[str]:
    """What is wrong with a file, as such or to one who reads it so."""
    try:
        parsed = _parse(data)
        read(parsed)
        parsed.finish()
    except DataError as error:
        return str(error).splitlines()
    return []


# --- one document ---------------------------------------------------------------------------------------------------

WHOLE = {
    "plain": "a: b\n",
    "with start and end": "%YAML 1.1\n---\na: b\n...\n",
    "with CRLF": "# note\r\na: b\r\n",
    "with one byte order mark": "\ufeffa: b\n",
    "JSON": '{"a": "b"}',
    "without a last line break": "a: b",
    "sixteen levels": "[" * 16 + "]" * 16,
}


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_one_document_is_read(text: str) -> None:
    """A file of one document is a tree."""
    parsed = _parse(text)
    parsed.finish()
    assert isinstance(parsed.root, yaml.CollectionNode)


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("text", ["", "\n\n", "# note", "  # note\n", "\ufeff", "---\n...\n"])
def test_nothing_is_no_tree(text: str) -> None:
    """A file that is empty, or holds comments alone, is no fault by itself: its reader decides."""
    parsed = _parse(text)
    parsed.finish()
    assert found(parsed.root) == "nothing"


LAUGHS = "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n"

REFUSED: dict[str, tuple[str | bytes, list[str]]] = {
    "two documents": ("a: b\n---\na: b\n", ["a.yaml:2:1: a second document begins here; a file holds one"]),
    "an alias": (
        "a: &x b\nc: *x\nd: *x\n",
        [
            "a.yaml:2:4: the alias *x is not allowed; write the text out",
            "a.yaml:3:4: the alias *x is not allowed; write the text out",
        ],
    ),
    "an alias that holds itself": (
        "a: &x\n  b: *x\n",
        ["a.yaml:2:6: the alias *x is not allowed; write the text out"],
    ),
    "an alias of nothing": ("a: *x\n", ["a.yaml:1:4: the alias *x is not allowed; write the text out"]),
    "aliases of aliases": (
        LAUGHS,
        [
            f"a.yaml:{line}:{column}: the alias *{name} is not allowed; write the text out"
            for line, column, name in [(2, 8, "a"), (2, 12, "a"), (3, 5, "b"), (3, 9, "b")]
        ],
    ),
    "a tag": (
        "a: !!str b\nc: !x d\n",
        [
            "a.yaml:1:4: the tag tag:yaml.org,2002:str is not allowed; put a text in quotes",
            "a.yaml:2:4: the tag !x is not allowed; put a text in quotes",
        ],
    ),
    "a tag that runs code": (
        "a: !!python/object/apply:os.system [ls]\n",
        [
            "a.yaml:1:4: the tag tag:yaml.org,2002:python/object/apply:os.system is not allowed; put a text in quotes",
        ],
    ),
    "a tag on the whole": (
        "!!map {a: b}\n",
        ["a.yaml:1:1: the tag tag:yaml.org,2002:map is not allowed; put a text in quotes"],
    ),
    "seventeen levels": ("a: " + "[" * 16 + "]" * 16, ["a.yaml:1:19: is nested more than 16 levels deep"]),
    "levels of a block": (
        "".join(" " * depth + "a:\n" for depth in range(50)),
        ["a.yaml:17:17: is nested more than 16 levels deep"],
    ),
    "levels of keys": ("? " * 17 + "a", ["a.yaml:1:33: is nested more than 16 levels deep"]),
    "a tab that indents": ("a:\n\tb: c\n", ["a.yaml:2:1: a tab is not allowed here; indent with spaces"]),
    "a tab in a text": ('a: "b\tc"\n', ["a.yaml:1:6: a tab is not allowed here; indent with spaces"]),
    "a control character": ("a: b\n# \x1b[31m\n", ["a.yaml:2:3: the control character U+001B is not allowed here"]),
    "a NUL": ("a: b\0\n", ["a.yaml:1:5: the control character U+0000 is not allowed here"]),
    "a delete": ("a: b\x7f\n", ["a.yaml:1:5: the control character U+007F is not allowed here"]),
    "a line separator": ('a: "b\u2028c"\n', ["a.yaml:1:6: the control character U+2028 is not allowed here"]),
    "bidirectional controls": (
        "a: b\u202ec\n\u2066d: e\n",
        [
            "a.yaml:1:5: the bidirectional control U+202E is not allowed here",
            "a.yaml:2:1: the bidirectional control U+2066 is not allowed here",
        ],
    ),
    "a second byte order mark": (
        "\ufeff\ufeffa: b\n",
        ["a.yaml:1:1: a second byte order mark is not allowed here"],
    ),
    "a byte order mark within": ("a: b\n\ufeffc: d\n", ["a.yaml:2:1: a second byte order mark is not allowed here"]),
    "Latin-1": ("a: caf\u00e9\n".encode("latin-1"), ["a.yaml:1: is not UTF-8: byte 0xe9 at offset 6"]),
    "UTF-16": ("a: b\n".encode("utf-16"), ["a.yaml:1: is not UTF-8: byte 0xff at offset 0"]),
    "UTF-16 without a mark": (
        "a:".encode("utf-16-le"),
        [f"a.yaml:1:{column}: the control character U+0000 is not allowed here" for column in (2, 4)],
    ),
    "UTF-32": ("a: b\n".encode("utf-32"), ["a.yaml:1: is not UTF-8: byte 0xff at offset 0"]),
    "a surrogate in UTF-8": (b"a: \xed\xa0\x80\n", ["a.yaml:1: is not UTF-8: byte 0xed at offset 3"]),
}


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(("data", "faults"), REFUSED.values(), ids=REFUSED)
def test_what_strict_yaml_refuses(data: str | bytes, faults: list[str]) -> None:
    """Each fault of the file as such is told with its place, all of them at once."""
    assert _faults(data) == faults


def test_faults_of_several_kinds_come_at_once() -> None:
    """A tag, a bad character and a fault of syntax after them are told together, in the file's order."""
    assert _faults("a: !x b\nc: \u202ed\ne: ]\n") == [
        "a.yaml:1:4: the tag !x is not allowed; put a text in quotes",
        "a.yaml:2:4: the bidirectional control U+202E is not allowed here",
        "a.yaml:3:4: is not YAML: did not find expected node content",
    ]


SYNTAX = [
    ("a: b\n c: d\n", 2),
    ("a: 'b\n", 2),
    ("a: [b\n", 2),
    ("a: ]\n", 1),
    ("a: b: c\n", 1),
    ("a: @b\n", 1),
    ('a: "\\x"\n', 1),
    ("%YAML 3.0\n---\na: b\n", 1),
]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(("text", "line"), SYNTAX)
def test_what_is_not_yaml_is_told_with_its_line(text: str, line: int) -> None:
    """A fault of syntax is one fault, at its line, with the parser's own reason on the same line."""
    (fault,) = _faults(text)
    assert fault.startswith(f"a.yaml:{line}:")
    assert ": is not YAML: " in fault


@pytest.mark.usefixtures("loader")
def test_repeated_anchor_is_not_called_a_second_document() -> None:
    """An anchor without an alias means nothing, twice the same one neither; what is said of it is true."""
    assert not any("a second document" in fault for fault in _faults("a: &x b\nc: &x d\n"))


# --- bounds ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 100_000])
def test_deep_nesting_is_one_fault(text: str) -> None:
    """However deep a file is nested, it is one fault on its first line, and no recursion."""
    (fault,) = _faults(text)
    assert fault.startswith("a.yaml:1:")


@pytest.mark.parametrize(("number", "last"), [(99, "x98"), (100, "x99"), (101, None), (5000, None)])
def test_a_hundred_faults_are_told(number: int, last: str | None) -> None:
    """Up to a hundred faults are all told; that there are more is said only where there are."""
    text = "".join(f"x{index}: y\n" for index in range(number))
    more = "a.yaml: and more: only 100 faults are shown"
    expected = f"a.yaml:{number}:1: {last}: '{last}' is not one of version" if last else more
    assert _faults(text, lambda parsed: parsed.mapping(parsed.root, "", known=("version",)))[-1] == expected


def test_long_names_are_cut() -> None:
    """A name of half a megabyte does not make a fault of half a megabyte."""
    faults = _faults(f'? "{"k" * 500_000}"\n: "{"v" * 500_000}"\n', _choices)
    assert [len(fault) < 250 for fault in faults] == [True]
    assert len(_faults(f"a: {'v' * 500_000}", _items)[0]) < 250


# --- reading nodes --------------------------------------------------------------------------------------------------


def _text(parsed: Document) -> object:
    return parsed.text(parsed.root, "p")


def _choice(parsed: Document) -> object:
    return parsed.choice(parsed.root, "p", ("refresh", "1", "true"))


def _items(parsed: Document) -> object:
    return [(path, found(node)) for path, node in parsed.items(parsed.root, "p")]


def _mapping(parsed: Document) -> object:
    values = parsed.mapping(parsed.root, "p", known=("no", "yes", "a"), required=("a",))
    return {name: found(node) for name, node in values.items()}


def _choices(parsed: Document) -> object:
    return [parsed.choice(node, join("", name), ("a",)) for name, node in parsed.mapping(parsed.root, "").items()]


def _texts(parsed: Document) -> object:
    return [parsed.text(node, path) for path, node in parsed.items(parsed.root, "p")]


def _backwards(parsed: Document) -> object:
    parsed.fault(None, "", "has no place")
    return [parsed.text(node, name) for name, node in reversed(parsed.mapping(parsed.root, "").items())]


GOOD: list[tuple[Read, str, object]] = [
    (_text, '"a"', "a"),
    (_text, "plain words", "plain words"),
    (_text, "'it''s'", "it's"),
    (_text, '"yes"', "yes"),
    (_text, "'12:30'", "12:30"),
    (_text, '" padded "', "padded"),
    (_text, "|\n  a\n", "a"),
    (_text, ">\n  a\n  b\n\n", "a b"),
    (_text, '"a\n  b"', "a b"),
    (_text, '"\\U0001F600 \\u00e9"', "😀 é"),
    (_text, "ação 你好 שלום 😀", "ação 你好 שלום 😀"),
    (_text, '"a\\u200d\\u00a0"', "a\u200d\u00a0"),
    (_choice, "refresh", "refresh"),
    (_choice, '"1"', "1"),
    (_choice, "1", "1"),
    (_choice, "true", "true"),
    (_items, "[]", []),
    (_items, "- a\n- [b]\n", [("p[0]", "the text 'a'"), ("p[1]", "a list")]),
    (_mapping, "no: a\na: {}\n", {"no": "the text 'a'", "a": "a mapping"}),
    (_mapping, "a: 1\nyes: no\n", {"a": "the number '1'", "yes": "the boolean 'no'"}),
]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(("read", "text", "value"), GOOD, ids=lambda each: getattr(each, "__name__", None))
def test_node_is_read(read: Read, text: str, value: object) -> None:
    """A node that is what it should be comes back, and is no fault. An unquoted ``no:`` is the name ``no``."""
    parsed = _parse(text)
    assert read(parsed) == value
    assert parsed.faults == []


BAD: list[tuple[Read, str, list[str]]] = [
    (_text, "42", ["1:1: p: expected a text in quotes, found the number '42'"]),
    (_text, "0x1F", ["1:1: p: expected a text in quotes, found the number '0x1F'"]),
    (_text, "1.5", ["1:1: p: expected a text in quotes, found the number '1.5'"]),
    (_text, ".inf", ["1:1: p: expected a text in quotes, found the number '.inf'"]),
    (_text, "12:30", ["1:1: p: expected a text in quotes, found the number '12:30'"]),
    (_text, "12:30:45", ["1:1: p: expected a text in quotes, found the number '12:30:45'"]),
    (_text, "yes", ["1:1: p: expected a text in quotes, found the boolean 'yes'"]),
    (_text, "Off", ["1:1: p: expected a text in quotes, found the boolean 'Off'"]),
    (_text, "2026-01-01", ["1:1: p: expected a text in quotes, found the date '2026-01-01'"]),
    (_text, "2026-01-01 12:00:00", ["1:1: p: expected a text in quotes, found the date '2026-01-01 12:00:00'"]),
    (_text, "~", ["1:1: p: expected a text in quotes, found nothing"]),
    (_text, "null", ["1:1: p: expected a text in quotes, found nothing"]),
    (_text, "[a]", ["1:1: p: expected a text in quotes, found a list"]),
    (_text, "{a: b}", ["1:1: p: expected a text in quotes, found a mapping"]),
    (_text, '""', ["1:1: p: expected a text in quotes, found an empty one"]),
    (_text, '" \n "', ["1:1: p: expected a text in quotes, found an empty one"]),
    (_text, "|\n  a\n  b\n", ["1:1: p: a line break is not allowed in a text"]),
    (_text, '"a\\nb"', ["1:1: p: a line break is not allowed in a text"]),
    (_text, '"a\\tb"', ["1:1: p: a tab is not allowed in a text"]),
    (_text, '"a\\0b"', ["1:1: p: the control character U+0000 is not allowed in a text"]),
    (_text, '"a\\eb"', ["1:1: p: the control character U+001B is not allowed in a text"]),
    (_text, '"a\\Lb"', ["1:1: p: the control character U+2028 is not allowed in a text"]),
    (_text, '"\\u00a0"', ["1:1: p: holds nothing that can be seen"]),
    (_text, "x" * 2001, ["1:1: p: is longer than 2,000 characters"]),
    (_text, '"a\\u202eb"', ["1:1: p: the bidirectional control U+202E is not allowed in a text"]),
    (_text, '"a\\ufeffb"', ["1:1: p: a second byte order mark is not allowed in a text"]),
    (_text, '"\\u2066a\\u2069\\t"', ["1:1: p: the bidirectional control U+2066 is not allowed in a text"]),
    (_text, '"a\u202eb"', ["1:3: the bidirectional control U+202E is not allowed here"]),
    (_text, '!x "a"', ["1:1: the tag !x is not allowed; put a text in quotes"]),
    (_choice, "refesh", ["1:1: p: 'refesh' is not one of refresh, 1, true (did you mean 'refresh'?)"]),
    (_choice, "yes", ["1:1: p: 'yes' is not one of refresh, 1, true"]),
    (_choice, "~", ["1:1: p: '~' is not one of refresh, 1, true"]),
    (_choice, "''", ["1:1: p: expected one of refresh, 1, true, found the text ''"]),
    (_choice, "[refresh]", ["1:1: p: expected one of refresh, 1, true, found a list"]),
    (_choice, "{}", ["1:1: p: expected one of refresh, 1, true, found a mapping"]),
    (_items, "a", ["1:1: p: expected a list, found the text 'a'"]),
    (_items, "{}", ["1:1: p: expected a list, found a mapping"]),
    (_mapping, "a", ["1:1: p: expected a mapping, found the text 'a'"]),
    (_mapping, "- a\n", ["1:1: p: expected a mapping, found a list"]),
    (_mapping, "no: b\n", ["1:1: p.a: is missing"]),
    (_mapping, "a: b\nb: c\n", ["2:1: p.b: 'b' is not one of no, yes, a"]),
    (_mapping, "a: b\nYes: c\n", ["2:1: p.Yes: 'Yes' is not one of no, yes, a (did you mean 'yes'?)"]),
    (_mapping, 'a: b\n\n"a": c\n', ["3:1: p.a: is here twice: it is on line 1 already"]),
    (
        _mapping,
        "a: b\na: c\nno: d\na: e\n",
        ["2:1: p.a: is here twice: it is on line 1 already", "4:1: p.a: is here twice: it is on line 1 already"],
    ),
    (_mapping, "a: b\n[no]: c\n", ["2:1: p: expected a name, found a list"]),
    (_mapping, "a: b\n? {no: d}\n: c\n", ["2:3: p: expected a name, found a mapping"]),
    (_mapping, "a: b\n<<: {yes: c}\n", ["2:1: p.<<: '<<' is not one of no, yes, a"]),
]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(("read", "text", "faults"), BAD, ids=lambda each: getattr(each, "__name__", None))
def test_node_is_refused(read: Read, text: str, faults: list[str]) -> None:
    """A node that is something else is one fault, with its place, what was found and what is allowed there."""
    assert _faults(text, read) == [f"a.yaml:{fault}" for fault in faults]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("escape", ["\\ud800", "\\udfff", "\\U0000D800"])
def test_escaped_lone_surrogate_is_refused(escape: str) -> None:
    """No JSON can carry a lone surrogate: it is refused at its line, by libyaml itself or after it."""
    (fault,) = _faults(f'- "fine"\n- "a{escape}b"\n', _texts)
    place, _, message = fault.partition(": ")
    assert (place, message) in {
        ("a.yaml:2:7", "is not YAML: found invalid Unicode character escape code"),
        ("a.yaml:2:3", f"p[1]: the lone surrogate U+{escape[-4:].upper()} is not allowed in a text"),
    }


SEVERAL: list[tuple[Read, str, list[str]]] = [
    (
        _mapping,
        "a: !x b\nb: c\n",
        ["1:4: the tag !x is not allowed; put a text in quotes", "2:1: p.b: 'b' is not one of no, yes, a"],
    ),
    (
        _texts,
        '# \u2066\n- "a\\tb"\n# \u2066\n',
        [
            "1:3: the bidirectional control U+2066 is not allowed here",
            "2:3: p[0]: a tab is not allowed in a text",
            "3:3: the bidirectional control U+2066 is not allowed here",
        ],
    ),
    (
        _texts,
        '- "a\\tb\n  \u202e"\n- 42\n',
        [
            "2:3: the bidirectional control U+202E is not allowed here",
            "3:3: p[1]: expected a text in quotes, found the number '42'",
        ],
    ),
]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(("read", "text", "faults"), SEVERAL)
def test_fault_of_the_file_hides_none_of_its_data(read: Read, text: str, faults: list[str]) -> None:
    """What is wrong with the file as such and with its data is told together; one character is told once."""
    assert _faults(text, read) == [f"a.yaml:{fault}" for fault in faults]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_is_counted_however_it_ends(end: str) -> None:
    """Lines are counted alike for every fault, with the line ends of Unix, Windows and the oldest Macs."""
    text = end.join(["a: 1", "b: \u202e", "c: !x d", "e: f", "a: g", ""])
    assert [fault.partition(" ")[0] for fault in _faults(text, _choices)] == [
        "a.yaml:1:4:", "a.yaml:2:4:", "a.yaml:2:4:", "a.yaml:3:4:", "a.yaml:3:4:", "a.yaml:4:4:", "a.yaml:5:1:",
    ]  # fmt: skip


def test_path_of_a_key_is_cut() -> None:
    """A key below a path is joined with a dot, and shown to its 80th character."""
    assert join("", "a" * 80) == "a" * 80
    assert join("reasons", "a" * 81) == "reasons." + "a" * 80


def test_faults_come_in_the_files_order() -> None:
    """Whatever order nodes are read in, their faults come from top to bottom and from left to right."""
    said = _faults("{a: 1, b: 2,\n c: 3}\n", _backwards)
    assert [fault.partition(" ")[0] for fault in said] == ["a.yaml:1:5:", "a.yaml:1:11:", "a.yaml:2:5:", "a.yaml:"]


def test_finish_of_a_good_file_is_silent() -> None:
    """Without a fault there is nothing to raise."""
    assert _parse("a: b").finish() is None  # type: ignore[func-returns-value]


pieces = st.sampled_from([
    "a", ": ", "\n", "  ", "- ", "[", "]", "{", "}", ",", '"', "'", "&x ", "*x", "!!str ", "|\n", ">\n", "#", "? ",
    "\t", "---\n", "...\n", "%YAML 1.1\n", "<<", "~", "yes", "12:30", "\\ud800", "\u202e", "\ufeff", "\0",
    "é", "@", "`",
])  # fmt: skip


@given(st.lists(pieces, max_size=25).map(lambda parts: "".join(parts).encode()) | st.binary(max_size=60))
@example(b"a: &x [*x]")
@example(b"a: &x b\nc: &x d\n")
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Whatever bytes a file holds, it is read or refused with ``DataError``; nothing else comes out."""
    for read in (_text, _choice, _items, _mapping):
        assert all(fault.startswith("a.yaml") for fault in _faults(data, read))
