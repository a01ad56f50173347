"""The operator's YAML: what a file may say, what is refused and how it is told. Reading it again: test_reload.py."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from itertools import islice, product
from pathlib import Path
from string import ascii_lowercase

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from servers import GIVE_UP_ROOT

from mcp_auth_failures import DataError, load_catalog
from mcp_auth_failures.overrides import OverrideFile, read_override
from mcp_auth_failures.text import fill

CASES = Path(__file__).parent / "cases" / "overrides"
CATALOG = load_catalog()
DETAILS = ("server", "contact")
REASONS = ", ".join(CATALOG.reasons)

Texts = dict[tuple[str, str | None], str]


def _read(path: Path) -> OverrideFile:
    return read_override(str(path), CATALOG, DETAILS)


def _texts(file: OverrideFile) -> Texts:
    """What a file says, by reason and language, as it is written there."""
    layers: list[tuple[str | None, Mapping]] = [(None, file.everywhere), *file.by_language.items()]
    return {
        (reason, language): fill(text.parts, {name: f"{{{name}}}" for name in text.names})
        for language, texts in layers
        for reason, text in texts.items()
    }


def _faults(path: Path, details: tuple[str, ...] = DETAILS) -> list[str]:
    """What is told about a file that is refused, without its name."""
    with pytest.raises(DataError) as raised:
        read_override(str(path), CATALOG, details)
    return [line.removeprefix(f"{path}:").strip() for line in str(raised.value).splitlines()]


def _write(folder: Path, content: str | bytes) -> Path:
    path = folder / "acme.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# --- the case files -------------------------------------------------------------------------------------------------

READ: dict[str, Texts] = {
    "good_block_scalar.yaml": {
        ("surface_disabled", "fr"): "Acme est arrêté sur ce déploiement. Se reconnecter n'y changera rien."
    },
    "good_comment_only.yaml": {},
    "good_empty.yaml": {},
    "good_every_language.yaml": {
        ("expired", None): "Your Acme session ended. Reconnect Acme in your assistant's settings."
    },
    "good_two_languages.yaml": {
        ("not_provisioned", "en"): "Acme is not ready yet. Write to {contact}.",
        ("not_provisioned", "de"): "Acme ist noch nicht bereit. Schreiben Sie an {contact}.",
    },
    "warn_comment_eats_text.yaml": {("expired", None): "Ask in"},
}

REFUSED = {
    "bad_changes_action.yaml": ["4:13: messages.expired.action: is not wording: only what is said can be changed here"],
    "bad_language.yaml": [
        "4:12: messages.expired.e n: 'e n' is not a language tag such as en or pt-BR (did you mean 'en'?)"
    ],
    "bad_latin1.yaml": ["3: is not UTF-8: byte 0xe9 at offset 39"],
    "bad_list.yaml": ["3:12: messages.expired: expected a text in quotes, found a list"],
    "bad_misspelt_field.yaml": [
        "1:1: messages: is missing",
        "2:1: mesages: 'mesages' is not one of version, messages (did you mean 'messages'?)",
    ],
    "bad_misspelt_reason.yaml": [
        f"3:3: messages.expird: 'expird' is not one of {REASONS} (did you mean 'expired'?)",
    ],
    "bad_nothing.yaml": ["3:11: messages.expired: expected a text in quotes, found nothing"],
    "bad_number.yaml": ["3:12: messages.expired: expected a text in quotes, found the number '12:30:00'"],
    "bad_placeholder.yaml": [
        "3:12: messages.expired: the placeholder 'kontakt' is not one of server, contact (did you mean 'contact'?)"
    ],
    "bad_recursive_alias.yaml": ["3:12: the alias *m is not allowed; write the text out"],
    "bad_scope_where_none.yaml": ["3:12: messages.expired: the placeholder 'scope' is not one of server, contact"],
    "bad_tab.yaml": ["3:1: a tab is not allowed here; indent with spaces"],
    "bad_top_level_list.yaml": ["1:1: expected a mapping, found a list"],
    "bad_two_documents.yaml": ["3:1: a second document begins here; a file holds one"],
    "bad_version.yaml": ["1:10: version: '2' is not one of 1"],
}


def test_every_case_has_a_row() -> None:
    """The tables name every case file, and no other."""
    assert {path.name for path in CASES.iterdir()} == {*READ, *REFUSED}


@pytest.mark.parametrize(("name", "texts"), READ.items())
def test_case_is_read(name: str, texts: Texts) -> None:
    """A case that loads says exactly this."""
    assert _texts(_read(CASES / name)) == texts


@pytest.mark.parametrize(("name", "faults"), REFUSED.items())
def test_case_is_refused(name: str, faults: list[str]) -> None:
    """A case that is refused is told with line, column, path, what was found and what is allowed."""
    assert _faults(CASES / name) == faults


# --- what a message may be ------------------------------------------------------------------------------------------

MESSAGES: dict[str, tuple[str, Texts]] = {
    "quoted": ('"a"', {("expired", None): "a"}),
    "single quotes": ("'it''s'", {("expired", None): "it's"}),
    "not quoted": ("a#b: c".replace(": ", ":"), {("expired", None): "a#b:c"}),
    "over two lines": ('"a\n    b"', {("expired", None): "a b"}),
    "literal block of one line": ("|\n    a\n", {("expired", None): "a"}),
    "folded block": (">+\n\n    a\n    b\n\n\n", {("expired", None): "a b"}),
    "white space round it": ('"  a  "', {("expired", None): "a"}),
    "details": ('"{server}, {contact}"', {("expired", None): "{server}, {contact}"}),
    "braces": ('"{{x}} }}{{"', {("expired", None): "{x} }{"}),
    "one language": ("{de: a}", {("expired", "de"): "a"}),
    "a language that reads as a boolean": ("{no: a, NO-no: b}", {("expired", "no"): "a", ("expired", "no-NO"): "b"}),
    "languages as gettext spells them": (
        "{pt_br: a, ZH_hant: b}",
        {("expired", "pt-BR"): "a", ("expired", "zh-Hant"): "b"},
    ),
    "a language that is not shipped": ("{gl: a}", {("expired", "gl"): "a"}),
    "no language at all": ("{}", {}),
    "a word that only looks like a boolean": ('"yes"', {("expired", None): "yes"}),
    "beyond the basic plane": ('"🔑"', {("expired", None): "🔑"}),
}


@pytest.mark.parametrize(("written", "texts"), MESSAGES.values(), ids=MESSAGES)
def test_message_is_read(tmp_path: Path, written: str, texts: Texts) -> None:
    """A message is a text for every language, or a mapping of languages."""
    assert _texts(_read(_write(tmp_path, f"version: 1\nmessages:\n  expired: {written}\n"))) == texts


NOT_A_TEXT = "messages.expired: expected a text in quotes, found"
NO_PLACEHOLDER = "messages.expired: a brace that is no {placeholder} in"
BRACE = "write {{ or }} for a brace"
NOT_WORDING = "is not wording: only what is said can be changed here"

BAD_MESSAGES = {
    "a boolean": ("yes", [f"3:12: {NOT_A_TEXT} the boolean 'yes'"]),
    "a null": ("~", [f"3:12: {NOT_A_TEXT} nothing"]),
    "a date": ("2026-01-01", [f"3:12: {NOT_A_TEXT} the date '2026-01-01'"]),
    "a number": ("1.5", [f"3:12: {NOT_A_TEXT} the number '1.5'"]),
    "an empty text": ("''", [f"3:12: {NOT_A_TEXT} an empty one"]),
    "a blank text": ('" "', [f"3:12: {NOT_A_TEXT} an empty one"]),
    "a mapping too deep": (
        "{en: {de: a}}",
        ["3:17: messages.expired.en: expected a text in quotes, found a mapping"],
    ),
    "two lines": ("|\n    a\n    b", ["3:12: messages.expired: a line break is not allowed in a text"]),
    "two paragraphs": (">\n    a\n\n    b", ["3:12: messages.expired: a line break is not allowed in a text"]),
    "an escaped line break": (r'"a\nb"', ["3:12: messages.expired: a line break is not allowed in a text"]),
    "an escaped tab": (r'"a\tb"', ["3:12: messages.expired: a tab is not allowed in a text"]),
    "an escaped NUL": (r'"\0"', ["3:12: messages.expired: the control character U+0000 is not allowed in a text"]),
    "an escaped bidirectional control": (
        r'"\u202e"',
        ["3:12: messages.expired: the bidirectional control U+202E is not allowed in a text"],
    ),
    "an escaped surrogate": (r'"\ud800"', ["3:15: is not YAML: found invalid Unicode character escape code"]),
    "a NUL": ("a\0", ["3:13: the control character U+0000 is not allowed here"]),
    "a bidirectional control": ('"\u202ea"', ["3:13: the bidirectional control U+202E is not allowed here"]),
    "a tag": ("!!str a", ["3:12: the tag tag:yaml.org,2002:str is not allowed; put a text in quotes"]),
    "a tag that runs code": (
        "!!python/object/apply:os.system [ls]",
        ["3:12: the tag tag:yaml.org,2002:python/object/apply:os.system is not allowed; put a text in quotes"],
    ),
    "an attribute": ('"{scope.__class__}"', [f"3:12: {NO_PLACEHOLDER} '{{scope.__class__}}'; {BRACE}"]),
    "a format": ('"{scope:>99999999}"', [f"3:12: {NO_PLACEHOLDER} '{{scope:>99999999}}'; {BRACE}"]),
    "a conversion": ('"{server!r}"', [f"3:12: {NO_PLACEHOLDER} '{{server!r}}'; {BRACE}"]),
    "an index": ('"{server[0]}"', [f"3:12: {NO_PLACEHOLDER} '{{server[0]}}'; {BRACE}"]),
    "a number in braces": ('"{0}"', [f"3:12: {NO_PLACEHOLDER} '{{0}}'; {BRACE}"]),
    "nothing in braces": ('"{}"', [f"3:12: {NO_PLACEHOLDER} '{{}}'; {BRACE}"]),
    "an open brace": ('"a {"', [f"3:12: {NO_PLACEHOLDER} 'a {{'; {BRACE}"]),
    "an odd brace": ('"{{server}"', [f"3:12: {NO_PLACEHOLDER} '{{{{server}}'; {BRACE}"]),
    "another case": (
        '"{Server}"',
        ["3:12: messages.expired: the placeholder 'Server' is not one of server, contact (did you mean 'server'?)"],
    ),
    "one language twice": (
        "{pt_br: a, pt-BR: b}",
        ["3:30: messages.expired.pt-BR: pt-BR is here twice: it is messages.expired.pt_br already"],
    ),
    "one key twice": ("{de: a, de: b}", ["3:20: messages.expired.de: is here twice: it is on line 3 already"]),
    "a boolean for a language": (
        "{yes: a}",
        ["3:18: messages.expired.yes: 'yes' is in no language that is known (did you mean 'es'?)"],
    ),
    "a file name for a language": (
        '{"../de": a}',
        ["3:22: messages.expired.../de: '../de' is not a language tag such as en or pt-BR"],
    ),
    "a locale of POSIX": (
        "{de_DE.UTF-8: a}",
        [
            "3:26: messages.expired.de_DE.UTF-8: 'de_DE.UTF-8' is not a language tag such as en or pt-BR "
            "(did you mean 'de'?)"
        ],
    ),
    "all that is no wording": (
        "{action: a, challenge: a, header: a, recoverable: a, status: 400}",
        [
            f"3:21: messages.expired.action: {NOT_WORDING}",
            f"3:35: messages.expired.challenge: {NOT_WORDING}",
            f"3:46: messages.expired.header: {NOT_WORDING}",
            f"3:62: messages.expired.recoverable: {NOT_WORDING}",
            f"3:73: messages.expired.status: {NOT_WORDING}",
        ],
    ),
    "one language right and three wrong": (
        "{en: a, de: '{scope}', fr: '{x}', es: 5}",
        [
            "3:24: messages.expired.de: the placeholder 'scope' is not one of server, contact",
            "3:39: messages.expired.fr: the placeholder 'x' is not one of server, contact",
            "3:50: messages.expired.es: expected a text in quotes, found the number '5'",
        ],
    ),
}


@pytest.mark.parametrize(("written", "faults"), BAD_MESSAGES.values(), ids=BAD_MESSAGES)
def test_message_is_refused(tmp_path: Path, written: str, faults: list[str]) -> None:
    """Whatever else a message is, it is told with its place and what was found there."""
    assert _faults(_write(tmp_path, f"version: 1\nmessages:\n  expired: {written}\n")) == faults


@pytest.mark.parametrize("reason", CATALOG.reasons)
def test_placeholders_are_those_that_the_catalog_allows(tmp_path: Path, reason: str) -> None:
    """A text may name what the catalog allows for its reason; any other name is refused with those that it may."""
    allowed = CATALOG[reason].placeholders
    for name in CATALOG.placeholders:
        path = _write(tmp_path, f'version: 1\nmessages:\n  {reason}: "a {{{name}}} b"\n')
        if name in allowed:
            assert _read(path).everywhere[reason].parts == ("a ", name, " b")
        else:
            fault = (
                f"3:{len(reason) + 5}: messages.{reason}: the placeholder '{name}' is not one of {', '.join(allowed)}"
            )
            assert _faults(path) == [fault]


def test_detail_without_a_value_names_argument_and_variable(tmp_path: Path) -> None:
    """A text that uses a detail which was given nowhere is refused with both ways to give it; scopes need none."""
    path = _write(
        tmp_path,
        "version: 1\nmessages:\n"
        '  expired: {en: "{server}: {contact}", de: "{contact}"}\n'
        '  insufficient_scope: "{scope}, {server}"\n',
    )
    missing = "uses {{{0}}}, which has no value: give Wording({0}=…) or MCP_AUTH_FAILURES_{1}".format
    assert _faults(path, ()) == [
        f"3:17: messages.expired.en: {missing('contact', 'CONTACT')}",
        f"3:44: messages.expired.de: {missing('contact', 'CONTACT')}",
        f"4:23: messages.insufficient_scope: {missing('server', 'SERVER')}",
    ]
    assert _faults(path, ("contact",)) == [
        f"3:17: messages.expired.en: {missing('server', 'SERVER')}",
        f"4:23: messages.insufficient_scope: {missing('server', 'SERVER')}",
    ]


# --- what a file may be ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n\n",
        "# nothing yet\n",
        "\ufeff",
        "\ufeff# nothing yet",
        "---\n# nothing yet\n",
        "version: 1\nmessages: {}\n",
    ],
)
def test_nothing_overrides_nothing(tmp_path: Path, content: str) -> None:
    """A file that is empty, holds comments alone or names no reason overrides nothing."""
    assert _texts(_read(_write(tmp_path, content))) == {}


WHOLE = 'version: 1\nmessages:\n  expired: "a"\n'


@pytest.mark.parametrize(
    "content",
    [
        WHOLE,
        "\ufeff" + WHOLE,
        WHOLE.replace("\n", "\r\n"),
        WHOLE.replace("\n", "\r"),
        WHOLE.rstrip(),
        f"---\n{WHOLE}...\n",
        WHOLE.replace("1", '"1"'),
        '{"messages": {"expired": "a"}, "version": 1}',
    ],
)
def test_one_file_in_many_forms(tmp_path: Path, content: str) -> None:
    """A byte order mark, either way to end a line, start and end markers and JSON make no difference."""
    assert _texts(_read(_write(tmp_path, content))) == {("expired", None): "a"}


FILES = {
    "a text": ("text", ["1:1: expected a mapping, found the text 'text'"]),
    "an empty mapping": ("{}", ["1:1: version: is missing", "1:1: messages: is missing"]),
    "no version": ("messages: {}", ["1:1: version: is missing"]),
    "another version": ("version: 1.0\nmessages: {}", ["1:10: version: '1.0' is not one of 1"]),
    "a list of versions": ("version: [1]\nmessages: {}", ["1:10: version: expected one of 1, found a list"]),
    "no messages": ("version: 1\n", ["1:1: messages: is missing"]),
    "a list of messages": (
        "version: 1\nmessages:\n  - expired: a\n",
        ["3:3: messages: expected a mapping, found a list"],
    ),
    "messages twice": (
        "version: 1\nmessages: {}\nmessages: {}\n",
        ["3:1: messages: is here twice: it is on line 2 already"],
    ),
    "a reason twice": (
        "version: 1\nmessages:\n  expired: a\n  expired: b\n",
        ["4:3: messages.expired: is here twice: it is on line 3 already"],
    ),
    "other sections of the catalog": (
        "version: 1\nmessages: {}\nactions: {}\nreasons: {}\nchallenges: {}\n",
        [
            f"{line}:1: {name}: '{name}' is not one of version, messages"
            for line, name in [(3, "actions"), (4, "reasons"), (5, "challenges")]
        ],
    ),
    "a reason in capitals": (
        "version: 1\nmessages:\n  EXPIRED: a\n",
        [f"3:3: messages.EXPIRED: 'EXPIRED' is not one of {REASONS} (did you mean 'expired'?)"],
    ),
    "a merge": (
        "version: 1\nmessages:\n  <<: {expired: a}\n",
        [f"3:3: messages.<<: '<<' is not one of {REASONS}"],
    ),
    "a list for a key": (
        "version: 1\nmessages:\n  ? [expired]\n  : a\n",
        ["3:5: messages: expected a name, found a list"],
    ),
    "two byte order marks": (f"\ufeff\ufeff{WHOLE}", ["1:1: a second byte order mark is not allowed here"]),
    "UTF-16": (WHOLE.encode("utf-16"), ["1: is not UTF-8: byte 0xff at offset 0"]),
    "faults of every kind": (
        "version: 3\nmessages:\n  expird: a\n  unverified: {status: 200, e n: b, de: c}\n  no_token: 5\n"
        '  incomplete: "{contakt}"\nmesages: {}\n',
        [
            "1:10: version: '3' is not one of 1",
            f"3:3: messages.expird: 'expird' is not one of {REASONS} (did you mean 'expired'?)",
            f"4:24: messages.unverified.status: {NOT_WORDING}",
            "4:34: messages.unverified.e n: 'e n' is not a language tag such as en or pt-BR (did you mean 'en'?)",
            "5:13: messages.no_token: expected a text in quotes, found the number '5'",
            "6:15: messages.incomplete: the placeholder 'contakt' is not one of server, contact "
            "(did you mean 'contact'?)",
            "7:1: mesages: 'mesages' is not one of version, messages (did you mean 'messages'?)",
        ],
    ),
}


@pytest.mark.parametrize(("content", "faults"), FILES.values(), ids=FILES)
def test_file_is_refused(tmp_path: Path, content: str | bytes, faults: list[str]) -> None:
    """Every fault of a file is told at once, in its order."""
    assert _faults(_write(tmp_path, content)) == faults


# --- what is read ---------------------------------------------------------------------------------------------------


def test_text_knows_where_it_stands(tmp_path: Path) -> None:
    """Each text has its file and line, and the language that it was given for."""
    path = _write(tmp_path, 'version: 1\nmessages:\n  expired: "a"\n  no_token:\n    de: "b"\n    pt_br:\n      "c"\n')
    file = _read(path)
    assert {
        (reason, language): (found.source, found.language)
        for reason, language in [("expired", "fr"), ("no_token", "de"), ("no_token", "pt-BR")]
        if (found := file.sentence(reason, language))
    } == {
        ("expired", "fr"): (f"{path}:3", None),
        ("no_token", "de"): (f"{path}:5", "de"),
        ("no_token", "pt-BR"): (f"{path}:7", "pt-BR"),
    }
    assert file.sentence("no_token", "en") is None
    assert file.sentence("unverified", "de") is None
    assert file.languages == ("de", "pt-BR")


@pytest.mark.parametrize(
    ("written", "has_scope"),
    [('"{scope}"', True), ('{de: "{scope}"}', True), ('"{{scope}}"', False), ('{de: "{server}"}', False)],
)
def test_file_knows_whether_it_names_scopes(tmp_path: Path, written: str, has_scope: bool) -> None:
    """A file that names the scopes of a refusal anywhere says so."""
    path = _write(tmp_path, f"version: 1\nmessages:\n  insufficient_scope: {written}\n")
    assert _read(path).has_scope is has_scope


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Zs", "Cn"]), min_size=1)
LANGUAGES = st.sampled_from([None, "en", "de", "pt-BR", "zh-Hant", "no", "gl"])


@given(st.dictionaries(st.sampled_from(sorted(CATALOG.reasons)), st.dictionaries(LANGUAGES, TEXT, min_size=1)))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, texts: dict[str, dict]) -> None:
    """Any text, written in quotes with its braces doubled, comes back as it was: JSON is YAML."""
    content = {
        reason: quoted[None] if None in by_language else quoted
        for reason, by_language in texts.items()
        for quoted in [{tag: text.replace("{", "{{").replace("}", "}}") for tag, text in by_language.items()}]
    }
    path = _write(tmp_path_factory.mktemp("any"), json.dumps({"version": 1, "messages": content}, ensure_ascii=False))
    file = _read(path)
    for reason, by_language in texts.items():
        for language, text in by_language.items():
            found = file.sentence(reason, language or "fr")
            assert found
            assert found.parts == (by_language.get(None, text),)


@given(st.binary() | st.text().map(lambda text: f"version: 1\nmessages:\n  expired: {text}".encode()))
@example(b"version: 1\nmessages: &a\n  expired: &a b\n")
@example(b"version: 1\nmessages:\n  expired: \xc2\x85 a\n")
@example("version: 1\nmessages:\n  expired: a\u2028b\n".encode())
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """Whatever stands in a file, it is read or refused with faults that name it; nothing else is raised."""
    path = _write(tmp_path_factory.mktemp("any"), content)
    try:
        told = _texts(_read(path)).keys()
    except DataError as error:
        told = {line.partition(":")[0] for line in (str(error) or "nothing").splitlines()}
    assert told <= {("expired", None)} or told == {str(path)}


# --- hostile files --------------------------------------------------------------------------------------------------


def test_billion_laughs(tmp_path: Path) -> None:
    """Aliases are refused before anything is built out of them, however many there are."""
    lines = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 40)]
    faults = _faults(_write(tmp_path, "\n".join(["l0: &l0 [lol]", *lines, "version: 1", "messages: {expired: *l39}"])))
    assert faults[0] == "2:10: the alias *l0 is not allowed; write the text out"
    assert len(faults) == 101
    assert faults[-1] == "and more: only 100 faults are shown"


@pytest.mark.parametrize("size", [(1 << 20) + 1, 10_000_000])
def test_large_file(tmp_path: Path, size: int) -> None:
    """A file beyond 1 MiB is refused unread, even if it would be a good one."""
    assert _faults(_write(tmp_path, WHOLE + "#" * (size - len(WHOLE)))) == ["is larger than 1,048,576 bytes"]


def test_file_at_the_bound(tmp_path: Path) -> None:
    """A file of 1 MiB with a text of 2,000 characters is read."""
    text = "a" * 2000
    content = WHOLE.replace('"a"', f'"{text}"')
    file = _write(tmp_path, content + "#" * ((1 << 20) - len(content)))
    assert _texts(_read(file)) == {("expired", None): text}


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting(tmp_path: Path, opening: str) -> None:
    """However deep a message is nested, it is one fault and no recursion."""
    (fault,) = _faults(_write(tmp_path, f"version: 1\nmessages:\n  expired:\n    {opening * 100_000}"))
    assert fault.startswith("4:")


def test_many_keys(tmp_path: Path) -> None:
    """Of 200,000 names that are none, the first hundred are told, and that there are more."""
    names = ("".join(name) for name in product(ascii_lowercase, repeat=4))
    faults = _faults(_write(tmp_path, f"version: 1\nmessages: {{{','.join(islice(names, 200_000))}}}\n"))
    assert faults[0] == f"2:12: messages.aaaa: 'aaaa' is not one of {REASONS}"
    assert (len(faults), faults[-1]) == (101, "and more: only 100 faults are shown")


def test_many_repetitions(tmp_path: Path) -> None:
    """Of a reason that is there thousands of times, the first hundred are told, and that there are more."""
    faults = _faults(_write(tmp_path, "version: 1\nmessages:\n" + " expired: a\n" * 5_000))
    assert faults[0] == "4:2: messages.expired: is here twice: it is on line 3 already"
    assert (len(faults), faults[-1]) == (101, "and more: only 100 faults are shown")


def test_many_languages(tmp_path: Path) -> None:
    """Thousands of languages are read like two."""
    tags = [f"de-x-{n}" for n in range(10_000)]
    path = _write(tmp_path, "version: 1\nmessages:\n expired:\n" + "".join(f"  {tag}: a\n" for tag in tags))
    assert _read(path).languages == tuple(tags)


def _folder(path: Path) -> None:
    path.mkdir()


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _nothing(path: Path) -> None:
    path.symlink_to("nowhere")


NO_FILES = [
    (_folder, "it is a folder"),
    (os.mkfifo, "it is not a regular file"),
    (_device, "it is not a regular file"),
    (_loop, "Too many levels of symbolic links"),
    (_nothing, "No such file or directory"),
]


@pytest.mark.parametrize(("make", "why"), NO_FILES, ids=[make.__name__.strip("_") for make, _ in NO_FILES])
def test_no_file(tmp_path: Path, make: Callable[[Path], None], why: str) -> None:
    """What is no regular file is refused with its kind, at once: a FIFO would block and a device never end."""
    path = tmp_path / "acme.yaml"
    make(path)
    assert _faults(path) == [f"cannot be read: {why}"]


def test_nul_in_the_path() -> None:
    """A path that no file can have is a fault like any other."""
    with pytest.raises(DataError) as raised:
        read_override("acme\0.yaml", CATALOG, DETAILS)
    assert str(raised.value) == r"'acme\x00.yaml': cannot be read: no file has such a name"


FORBIDDEN = f"""\
import sys
from mcp_auth_failures import DataError, load_catalog
from mcp_auth_failures.overrides import read_override
{GIVE_UP_ROOT}
for path in sys.argv[1:]:
    try:
        read_override(path, load_catalog(), ())
    except DataError as error:
        print(error)
"""


def test_no_permission(tmp_path: Path) -> None:
    """A file that may not be read, or not even be looked at, is refused with the system's reason."""
    _write(tmp_path, WHOLE).chmod(0)
    closed = tmp_path / "closed"
    closed.mkdir()
    _write(closed, WHOLE)
    closed.chmod(0)
    tmp_path.chmod(0o755)
    run = subprocess.run(
        [sys.executable, "-c", FORBIDDEN, "acme.yaml", "closed/acme.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    closed.chmod(0o755)
    assert run.stdout.splitlines() == [
        "acme.yaml: cannot be read: Permission denied",
        "closed/acme.yaml: cannot be read: Permission denied",
    ]
    assert run.stderr == ""


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """Reading prints nothing, whatever is wrong: stdout belongs to a stdio server's protocol."""
    for name in REFUSED:
        _faults(CASES / name)
    assert capfd.readouterr() == ("", "")
