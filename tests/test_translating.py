"""The translator's tools: nothing that anyone wrote is lost, and a change of one sentence is a small change."""

import difflib
import io
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from babel.localedata import locale_identifiers
from babel.messages.extract import DEFAULT_KEYWORDS
from babel.messages.extract import extract as babel_extract
from babel.messages.plurals import get_plural
from hypothesis import given
from hypothesis import strategies as st
from test_gettext_files import BAD, CASES, HEAD, POEDIT, WEBLATE

from mcp_auth_failures import Catalog, DataError, load_catalog
from mcp_auth_failures.catalog import CatalogText, Entry, message_context, packaged
from mcp_auth_failures.gettext_files import parse_po, read_po
from mcp_auth_failures.translating import check, extract, extract_messages, new, status, twin, update
from mcp_auth_failures.translations import DOMAIN, installed

CATALOG = load_catalog()
REASONS = tuple(CATALOG.reasons)
YAML = Path(str(CATALOG.path)).read_text(encoding="utf-8")
LOCALES = Path(str(packaged("locales")))
PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
FILES = {language: Path(str(file)) for language, file in installed(LOCALES)[0].items()}
GERMAN = FILES["de"].read_bytes()
EXPIRED = "reasons.expired.message"
TOTAL = len(CATALOG.texts)
PLACE = f":{CATALOG.texts[EXPIRED].line}\n".encode()


def english(reason: str) -> str:
    """The shipped English of a reason."""
    return CATALOG[reason].failure.message


def catalog(changed: Mapping[str, str] = {}, added: Mapping[str, str] = {}) -> Catalog:
    """The shipped catalog, but with other English for some reasons, and with more reasons after them."""
    reasons, texts = dict(CATALOG.reasons), dict(CATALOG.texts)
    for reason, message in changed.items():
        context = message_context(reason)
        reasons[reason] = reasons[reason]._replace(failure=replace(reasons[reason].failure, message=message))
        texts[context] = texts[context]._replace(english=message)
    for line, (reason, message) in enumerate(added.items(), 1000):
        context = message_context(reason)
        failure = replace(CATALOG["expired"].failure, reason=reason, message=message)
        reasons[reason] = Entry(failure, "A test.", ("server", "contact"))
        texts[context] = CatalogText(context, message, f"A note on {reason}.", line)
    return replace(CATALOG, reasons=reasons, texts=texts)


def difference(before: bytes, after: bytes) -> list[str]:
    """The lines that went and came."""
    lines = difflib.unified_diff(before.decode().splitlines(), after.decode().splitlines(), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def all_texts(data: bytes) -> Counter[str]:
    """Every translation of a file, obsolete ones too."""
    return Counter(
        text
        for entry in parse_po(data, "a.po")
        for keyword in entry.texts
        if keyword.startswith("msgstr") and not entry.is_header and (text := entry.text(keyword))
    )


def usable(data: bytes) -> dict[str, tuple[str, str]]:
    """The translations of a file that can be used, by context, with their English."""
    return {context: (each.english, each.text) for context, each in read_po(data, "a.po").items()}


def entry(data: bytes, context: str) -> str:
    """The lines of one entry."""
    return next(block for block in data.decode().split("\n\n") if f'msgctxt "{context}"' in block)


# --- the template ---------------------------------------------------------------------------------------------------

HEAD_OF_TEMPLATE = r"""# Messages of mcp-auth-failures, the template for translations.
#
msgid ""
msgstr ""
"Project-Id-Version: mcp-auth-failures\n"
"Report-Msgid-Bugs-To: \n"
"PO-Revision-Date: YEAR-MO-DA HO:MI+ZONE\n"
"Last-Translator: FULL NAME <EMAIL@ADDRESS>\n"
"Language-Team: LANGUAGE <LL@li.org>\n"
"Language: \n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"

"""


def test_template() -> None:
    """The template is its head and, in the catalog's order, each text with its note and its place; no date, no tool."""
    lines = YAML.splitlines()
    entries = [
        f"#. {it.note}\n#: catalog/failures.yaml:{it.line}\n"
        + "#, python-brace-format\n" * ("{" in it.english)
        + f'msgctxt "{it.context}"\nmsgid "{it.english}"\nmsgstr ""\n'
        for it in CATALOG.texts.values()
    ]
    assert extract() == (HEAD_OF_TEMPLATE + "\n".join(entries)).encode()
    for it in CATALOG.texts.values():
        assert f'{it.context.split(".")[-1]}: "{it.english}"' in lines[it.line - 1]


def test_template_of_a_text_with_placeholders() -> None:
    """A text with a placeholder is flagged, quotes and backslashes are escaped, doubled braces are no placeholder."""
    texts = {"one": 'Say "no" to {server}.', "two": "A \\ and {{braces}}."}
    entries = extract(catalog(added=texts)).decode().split("\n\n")[-2:]
    assert "\n\n".join(entries) == (
        "#. A note on one.\n"
        "#: catalog/failures.yaml:1000\n"
        "#, python-brace-format\n"
        'msgctxt "reasons.one.message"\n'
        'msgid "Say \\"no\\" to {server}."\n'
        'msgstr ""\n'
        "\n"
        "#. A note on two.\n"
        "#: catalog/failures.yaml:1001\n"
        'msgctxt "reasons.two.message"\n'
        'msgid "A \\\\ and {{braces}}."\n'
        'msgstr ""\n'
    )


@pytest.mark.parametrize("method", ["mcp_auth_failures", extract_messages], ids=["by name", "as a function"])
def test_babel_extracts(method: object) -> None:
    """Babel finds our extractor by its name, and the texts, contexts, notes and lines with it."""
    with open(str(CATALOG.path), "rb") as file:
        found = list(babel_extract(method, file, DEFAULT_KEYWORDS))  # type: ignore[arg-type]
    assert found == [(it.line, it.english, [it.note], it.context) for it in CATALOG.texts.values()]


def test_pybabel_extract(tmp_path: Path) -> None:
    """``pybabel extract`` works from ``pyproject.toml`` alone, and finds what our template has, at the same places."""
    shutil.copy(PYPROJECT, tmp_path)
    (tmp_path / "catalog").mkdir()
    shutil.copy(str(CATALOG.path), tmp_path / "catalog")
    command = [sys.executable, "-m", "babel.messages.frontend", "extract", "-F", "pyproject.toml", "-o", "a.pot", "."]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    theirs, ours = (parse_po(data, "a.pot")[1:] for data in ((tmp_path / "a.pot").read_bytes(), extract()))
    assert [(it.text("msgctxt"), it.text("msgid"), " ".join(it.notes), it.places, it.flags) for it in theirs] == [
        (it.text("msgctxt"), it.text("msgid"), " ".join(it.notes), it.places, it.flags) for it in ours
    ]


def test_babel_is_told_of_a_broken_catalog(tmp_path: Path) -> None:
    """A catalog with a fault gives no half template."""
    (tmp_path / "failures.yaml").write_text(YAML.replace("refresh\n", "refesh\n"), encoding="utf-8")
    with open(tmp_path / "failures.yaml", "rb") as file, pytest.raises(DataError, match="'refesh' is not one of"):
        list(babel_extract(extract_messages, file, DEFAULT_KEYWORDS))


# --- update: what stays ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", FILES)
def test_shipped_file_is_left_as_it_is(language: str) -> None:
    """On a file that is up to date, nothing changes, not a byte."""
    data = FILES[language].read_bytes()
    assert update(data, "a.po") == data
    assert update(data.replace(b"\n", b"\r\n"), "a.po") == data
    assert update(b"\xef\xbb\xbf" + data, "a.po") == data
    assert update(data.rstrip(), "a.po") == data


def before_expired(lines: str) -> bytes:
    """The German file with lines before the notes of its second entry."""
    return GERMAN.replace(b"#. Said to the assistant. 'Renew", lines.encode() + b"#. Said to the assistant. 'Renew", 1)


COMMENTS = {
    "one": "# Geprüft von A.\n",
    "several": "# Geprüft von A.\n# Und von B.\n",
    "with a blank line between": "# Geprüft von A.\n#\n# Und von B.\n",
    "that is blank": "#\n",
    "indented": "# Liste:\n#   - eins\n",
    "with a tab": "# a\tb\n",
    "very long": f"# {'lang ' * 60}ende\n",
    "in another script": "# Проверено, مراجَع\n",
    "with blanks behind it": "# a  \n",
    "like a flag": "# , fuzzy\n",
    "like a place": "# : a:1\n",
    "with a bar": "# | a | b |\n",
}


@pytest.mark.parametrize("name", COMMENTS)
def test_comment_survives(name: str) -> None:
    """A translator's comment stays as it is, also when its English changes and when its reason comes and goes."""
    data = before_expired(COMMENTS[name])
    assert update(data, "a.po") == data
    changed = catalog({"expired": "Other."})
    assert COMMENTS[name].encode() in update(data, "a.po", changed)
    assert update(update(data, "a.po", changed), "a.po", changed) == update(data, "a.po", changed)


def test_flags_survive() -> None:
    """A flag that a translator set stays, ``fuzzy`` among them."""
    for flags in ("fuzzy", "no-wrap", "fuzzy, no-wrap"):
        data = GERMAN.replace(PLACE, PLACE + f"#, {flags}\n".encode())
        assert data != GERMAN
        assert update(data, "a.po") == data


HEADERS = {
    "as shipped": lambda head: head,
    "marked fuzzy": lambda head: head.replace('msgid ""', '#, fuzzy\nmsgid ""'),
    "of Poedit": lambda _: POEDIT.partition("\n\n")[0],
    "of Weblate": lambda _: WEBLATE.partition("\n\n")[0],
    "on one line": lambda _: '# Ja\nmsgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"',
    "without a comment": lambda head: head[head.index("msgid") :],
    "with blank comment lines": lambda head: "#\n#\n" + head,
    "that was never filled in": lambda _: HEAD_OF_TEMPLATE.rstrip(),
    "with a language in words": lambda head: head.replace("Language: de\\n", "Language: arabic (عربي)\\n"),
    "with fields that no one knows": lambda head: head + '\n"X-One: a: b; c=\\"d\\"\\n"\n"no colon\\n"\n"\\n"',
    "with a billion plural forms": lambda head: head.replace("nplurals=2", "nplurals=1000000000"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_header_survives(name: str) -> None:
    """The header is never interpreted: it stays, comments, unknown fields and all."""
    head, _, entries = GERMAN.decode().partition("\n\n")
    data = f"{HEADERS[name](head)}\n\n{entries}".encode()
    assert update(data, "a.po") == data
    changed = update(data, "a.po", catalog({"expired": "Other."}))
    assert changed.decode().partition("\n\n")[0] == HEADERS[name](head)


@pytest.mark.parametrize(
    "data",
    [
        b"\n" + GERMAN,
        b"\r\n\r\n" + GERMAN,
        GERMAN.replace(b'#\nmsgid ""', b'#\n\nmsgid ""'),
        GERMAN.replace(b'msgid ""\nmsgstr ""\n', b'msgid  ""\nmsgstr ""\n'),
        GERMAN.replace(b'"\n\n#.', b'"\n\n\n\n#.'),
    ],
    ids=["a blank line first", "two blank lines first", "a blank line in it", "two spaces", "blank lines after it"],
)
def test_header_is_tidied(data: bytes) -> None:
    """Blank lines that an editor left round the header do not hinder, and go."""
    assert data != GERMAN
    assert update(data, "a.po") == GERMAN


def test_texts_over_lines_are_joined() -> None:
    """A file that a tool has wrapped comes out as ours are, and nothing else about it changes."""
    wrapped = GERMAN.replace(
        b'msgstr "Das Zugriffstoken ist abgelaufen. ', b'msgstr ""\n"Das Zugriffstoken ist "\n"abgelaufen. '
    )
    assert wrapped != GERMAN
    assert update(wrapped, "a.po") == GERMAN


def test_entries_stand_in_the_order_of_the_catalog() -> None:
    """Wherever a tool has put an entry, it comes back to its place, with all that is its own."""
    head, *entries = before_expired("# Geprüft.\n").decode().rstrip("\n").split("\n\n")
    assert update("\n\n".join([head, *reversed(entries)]).encode(), "a.po") == before_expired("# Geprüft.\n")


# --- update: the English changes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", REASONS)
def test_changed_english(reason: str) -> None:
    """The text is kept and marked, with the English it was made from: four lines of difference. Twice is once."""
    changed = catalog({reason: "Something else."})
    for file in FILES.values():
        data = file.read_bytes()
        updated = update(data, "a.po", changed)
        assert difference(data, updated) == [
            "+#, fuzzy",
            f'+#| msgid "{english(reason)}"',
            f'-msgid "{english(reason)}"',
            '+msgid "Something else."',
        ]
        assert all_texts(updated) == all_texts(data)
        assert f"reasons.{reason}.message" not in read_po(updated, "a.po")
        assert update(updated, "a.po", changed) == updated


def test_english_that_is_changed_back() -> None:
    """Where the English is again what was translated, the mark goes, at once, in every language."""
    other, another = (catalog(dict.fromkeys(REASONS, text)) for text in ("Something else.", "Something else again."))
    for file in FILES.values():
        data = file.read_bytes()
        once = update(data, "a.po", other)
        twice = update(once, "a.po", another)
        assert update(once, "a.po") == data
        assert update(twice, "a.po") == data


def test_english_that_is_changed_twice() -> None:
    """The previous English is the one that was translated, however often it has changed since."""
    first = update(GERMAN, "a.po", catalog({"expired": "Second."}))
    second = update(first, "a.po", catalog({"expired": "Third."}))
    assert difference(first, second) == ['-msgid "Second."', '+msgid "Third."']
    assert f'#| msgid "{english("expired")}"\n' in entry(second, EXPIRED)
    assert update(second, "a.po", catalog({"expired": "Third."})) == second


@pytest.mark.parametrize("kept", [False, True], ids=["without the previous", "with the previous left in"])
def test_text_that_is_approved(*, kept: bool) -> None:
    """Once a translator has taken the mark off, the text is good, and of the English that stands there."""
    changed = catalog({"expired": "Second."})
    marked = update(GERMAN, "a.po", changed).decode()
    previous = f'#| msgid "{english("expired")}"\n'
    approved = marked.replace("#, fuzzy\n", "").replace("" if kept else previous, "").encode()
    assert read_po(update(approved, "a.po", changed), "a.po")[EXPIRED].english == "Second."
    third = catalog({"expired": "Third."})
    assert '#, fuzzy\n#| msgid "Second."\nmsgctxt' in entry(update(approved, "a.po", third), EXPIRED)


def test_text_marked_by_a_translator_stays_marked() -> None:
    """A mark without the previous English is a person's: no change of the English takes it off, nor back."""
    marked = GERMAN.replace(PLACE, PLACE + b"#, fuzzy\n")
    changed = update(marked, "a.po", catalog({"expired": "Other."}))
    assert "#| " not in entry(changed, EXPIRED)
    assert update(changed, "a.po") == marked


def test_flags_stand_as_gettext_has_them() -> None:
    """``fuzzy`` first, then the format, then how to wrap."""
    two = catalog(added={"one": "At {server}."})
    data = update(GERMAN, "a.po", two).replace(
        b'#, python-brace-format\nmsgctxt "reasons.one', b'#, fuzzy, no-wrap\nmsgctxt "reasons.one'
    )
    assert "\n#, fuzzy, python-brace-format, no-wrap\n" in entry(update(data, "a.po", two), "reasons.one.message")


def test_previous_english_over_lines() -> None:
    """The previous English may be wrapped, with its context, as other tools write it."""
    previous = b'#, fuzzy\n#| msgctxt "reasons.expired.message"\n#| msgid ""\n#| "The \\"old\\" "\n#| "text."\n'
    data = GERMAN.replace(PLACE, PLACE + previous)
    assert '#, fuzzy\n#| msgid "The \\"old\\" text."\nmsgctxt' in entry(update(data, "a.po"), EXPIRED)


def test_untranslated_entry_is_not_marked() -> None:
    """Where nothing is translated, there is nothing to review."""
    empty = new("de", datetime(2026, 1, 2, tzinfo=UTC))
    changed = catalog(dict.fromkeys(REASONS, "Something else."))
    assert b"fuzzy" not in update(empty, "a.po", changed)
    assert update(update(empty, "a.po", changed), "a.po") == empty


def test_placeholder_that_comes_and_goes() -> None:
    """The flag of a text with placeholders follows the English."""
    data = update(GERMAN, "a.po", catalog(added={"one": "At {server}."}))
    data = data.replace(b'msgid "At {server}."\nmsgstr ""', b'msgid "At {server}."\nmsgstr "Bei {server}."')
    without = update(data, "a.po", catalog(added={"one": "Here."}))
    assert '\n#, fuzzy\n#| msgid "At {server}."\nmsgctxt' in entry(without, "reasons.one.message")
    assert update(without, "a.po", catalog(added={"one": "At {server}."})) == data


# --- update: reasons come and go ------------------------------------------------------------------------------------

TWO = catalog(added={"one": "One.", "two": "Two."})
WITH_TWO = (
    update(before_expired("# Geprüft.\n"), "a.po", TWO)
    .replace(b'msgid "One."\nmsgstr ""', b'msgid "One."\nmsgstr "Eins."')
    .replace(b'msgid "Two."\nmsgstr ""', b'msgid "Two."\nmsgstr "Zwei."')
    .replace(b"#. A note on one", b"# Hm.\n#. A note on one")
)


def test_new_reason_is_to_be_translated() -> None:
    """A reason that is new comes at its place, untranslated, and changes nothing else."""
    added = catalog(added={"one": "One."})
    assert difference(GERMAN, update(GERMAN, "a.po", added))[1:] == [
        "+#. A note on one.",
        "+#: catalog/failures.yaml:1000",
        '+msgctxt "reasons.one.message"',
        '+msgid "One."',
        '+msgstr ""',
    ]


def test_removed_reason_is_obsolete_and_comes_back() -> None:
    """A reason that is gone stays at the end of the file, and comes back as it was when its reason does."""
    without = update(WITH_TWO, "a.po")
    assert without == before_expired("# Geprüft.\n") + (
        b'\n# Hm.\n#~ msgctxt "reasons.one.message"\n#~ msgid "One."\n#~ msgstr "Eins."\n'
        b'\n#~ msgctxt "reasons.two.message"\n#~ msgid "Two."\n#~ msgstr "Zwei."\n'
    )
    assert update(without, "a.po") == without
    assert update(without, "a.po", TWO) == WITH_TWO
    assert b'msgid "One."' not in update(GERMAN, "a.po")


def test_untranslated_reason_that_is_removed() -> None:
    """What was never translated may go or stay; the rest is not touched."""
    updated = update(update(GERMAN, "a.po", TWO), "a.po")
    assert updated.startswith(GERMAN)
    assert all_texts(updated) == all_texts(GERMAN)
    assert update(updated, "a.po") == updated


def test_text_of_several_lines_comes_and_goes() -> None:
    """Each line of a text is commented out, and comes back."""
    data = WITH_TWO.replace(b'msgstr "Eins."', b'msgstr ""\n"Eins.\\n"\n"Zwei."')
    away = update(data, "a.po")
    assert away.decode().count('\n#~ msgstr ""\n#~ "Eins.\\n"\n#~ "Zwei."\n') == 1
    assert update(away, "a.po", TWO) == data


def test_comment_on_what_is_untranslated_is_not_lost() -> None:
    """A translator's question about a reason that goes stays with it; a comment at the end of a file stays there."""
    data = WITH_TWO.replace(b'msgstr "Eins."', b'msgstr ""') + b"\n# Ende.\n"
    away = update(data, "a.po")
    assert b'\n# Hm.\n#~ msgctxt "reasons.one.message"\n#~ msgid "One."\n#~ msgstr ""\n' in away
    assert away.endswith(b'"Zwei."\n\n# Ende.\n')
    assert update(away, "a.po") == away
    assert update(away, "a.po", TWO) == data


def test_removed_reason_comes_back_with_other_english() -> None:
    """It is marked, as if it had changed in the meantime."""
    back = update(update(WITH_TWO, "a.po"), "a.po", catalog(added={"one": "Eleven.", "two": "Two."}))
    assert '#, fuzzy\n#| msgid "One."\nmsgctxt "reasons.one.message"\nmsgid "Eleven."\nmsgstr "Eins."' in back.decode()


def test_marked_text_stays_marked_while_its_reason_is_away() -> None:
    """What nobody has reviewed does not become good by being obsolete for a while."""
    changed = catalog(added={"one": "Eleven.", "two": "Two."})
    marked = update(WITH_TWO, "a.po", changed)
    away = update(marked, "a.po")
    assert update(away, "a.po") == away
    assert update(away, "a.po", changed) == marked
    assert update(away, "a.po", TWO) == WITH_TWO


# What is left in a file by gettext's tools, and by people.
TAILS = {
    "obsolete": '#~ msgctxt "reasons.gone.message"\n#~ msgid "Gone."\n#~ msgstr "Weg."\n',
    "obsolete without context": '#~ msgid "Gone."\n#~ msgstr "Weg."\n',
    "obsolete with a comment": '# Ja.\n#~ msgctxt "reasons.gone.message"\n#~ msgid "Gone."\n#~ msgstr "Weg."\n',
    "obsolete and marked": '#, fuzzy\n#~ msgctxt "reasons.gone.message"\n#~ msgid "Gone."\n#~ msgstr "Weg."\n',
    "obsolete with the previous English": (
        '#, fuzzy\n#~| msgid "Was."\n#~ msgctxt "reasons.gone.message"\n#~ msgid "Gone."\n#~ msgstr "Weg."\n'
    ),
    "obsolete with plurals": (
        '#~ msgctxt "reasons.gone.message"\n#~ msgid "Gone."\n#~ msgid_plural "Gones."\n'
        '#~ msgstr[0] "Weg."\n#~ msgstr[1] "Wege."\n'
    ),
    "obsolete of a living reason": '#~ msgctxt "reasons.expired.message"\n#~ msgid "Old."\n#~ msgstr "Alt."\n',
    "two obsolete of one context": (
        '#~ msgctxt "reasons.gone.message"\n#~ msgid "Gone."\n#~ msgstr "Weg."\n\n'
        '#~ msgctxt "reasons.gone.message"\n#~ msgid "Away."\n#~ msgstr "Fort."\n'
    ),
}


@pytest.mark.parametrize("name", TAILS)
def test_obsolete_tail_survives(name: str) -> None:
    """What is obsolete stays as it is."""
    data = GERMAN + b"\n" + TAILS[name].encode()
    assert update(data, "a.po") == data


def test_text_that_msgmerge_made_obsolete_is_taken_up() -> None:
    """Msgmerge gives up a text whose English changed much, and leaves it in the tail: there it is found again."""
    gave_up = GERMAN.replace(english("expired").encode(), b"Something else.")
    old = read_po(GERMAN, "a.po")[EXPIRED].text
    gave_up = gave_up.replace(f'"{old}"'.encode(), b'""') + (
        f'\n#~ msgctxt "{EXPIRED}"\n#~ msgid "{english("expired")}"\n#~ msgstr "{old}"\n'.encode()
    )
    changed = catalog({"expired": "Something else."})
    assert update(gave_up, "a.po", changed) == update(GERMAN, "a.po", changed)


ODD = {
    "without a context": 'msgid "Hello."\nmsgstr "Hallo."\n',
    "of another context": 'msgctxt "menu"\nmsgid "Hello."\nmsgstr "Hallo."\n',
    "of a blank context": 'msgctxt ""\nmsgid "Hello."\nmsgstr "Hallo."\n',
    "of a living reason and older English": f'msgctxt "{EXPIRED}"\nmsgid "Old."\nmsgstr "Hallo."\n',
    "with plurals": 'msgid "Hello."\nmsgid_plural "Hellos."\nmsgstr[0] "Hallo."\nmsgstr[1] "Hallos."\n',
    "with plurals of a gone reason": (
        'msgctxt "reasons.gone.message"\nmsgid "Hello."\nmsgid_plural "Hellos."\n'
        'msgstr[0] "Hallo."\nmsgstr[1] "Hallos."\n'
    ),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("first", [False, True])
def test_odd_entry_is_not_lost(name: str, *, first: bool) -> None:
    """An entry that is none of ours stays, be it as obsolete, and takes no text from one that is."""
    head, _, entries = GERMAN.decode().partition("\n\n")
    data = "\n\n".join([head, ODD[name], entries] if first else [head, entries, ODD[name]]).encode()
    updated = update(data, "a.po")
    assert all_texts(updated) == all_texts(data)
    assert usable(updated).items() >= usable(GERMAN).items()
    assert update(updated, "a.po") == updated


def test_plurals_in_the_place_of_a_text() -> None:
    """One of our texts given as plurals is no reason to fall over, nor to lose what is there."""
    old = read_po(GERMAN, "a.po")[EXPIRED].text
    data = GERMAN.replace(
        f'msgstr "{old}"'.encode(), f'msgid_plural "Many."\nmsgstr[0] "{old}"\nmsgstr[1] "Viele."'.encode()
    )
    updated = update(data, "a.po")
    assert old.encode() in updated
    assert b"Viele." in updated
    assert update(updated, "a.po") == updated


@pytest.mark.parametrize("name", BAD)
def test_broken_file_is_refused(name: str) -> None:
    """A file that cannot be read is not rewritten."""
    with pytest.raises(DataError) as raised:
        update((CASES / name).read_bytes(), "a.po")
    assert str(raised.value) == f"a.po{BAD[name]}"


@pytest.mark.parametrize("data", [b"", b"# Ja\n", b'msgctxt "a"\nmsgid "b"\nmsgstr "c"\n'])
def test_file_without_a_header(data: bytes) -> None:
    """Without a header there is none to keep, and none is made up."""
    with pytest.raises(DataError) as raised:
        update(data, "a.po")
    assert str(raised.value) == "a.po:1: does not begin with a header: an entry whose msgid is empty"


# --- properties of update -------------------------------------------------------------------------------------------

_WORDS = st.text(st.sampled_from('ab Ä字."\\{}\n\t'), min_size=1, max_size=12).filter(lambda text: text.strip())
_ENGLISH = st.one_of(
    st.sampled_from(REASONS).map(english),
    st.text(st.sampled_from("ab Ä—\"\\'"), min_size=1).map(str.strip).filter(bool),
)
_CATALOGS = st.builds(
    catalog,
    st.dictionaries(st.sampled_from(REASONS), _ENGLISH, max_size=3),
    st.dictionaries(st.sampled_from(["one", "two"]), _ENGLISH, max_size=2),
)


@given(st.lists(_CATALOGS, min_size=1, max_size=4), st.sampled_from(sorted(FILES)))
def test_any_history_of_the_english_loses_nothing(history: list[Catalog], language: str) -> None:
    """Through whatever edits of the English: no text is lost, twice is once, and back at the start all is as it was."""
    start = FILES[language].read_bytes()
    data = start
    for edition in history:
        updated = update(data, "a.po", edition)
        assert all_texts(updated) == all_texts(data)
        assert update(updated, "a.po", edition) == updated
        data = updated
    assert usable(update(data, "a.po")) == usable(start)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")


@st.composite
def _files(draw: st.DrawFn) -> bytes:
    """A ``.po`` that a translator with a simple editor may leave behind."""
    blocks = [HEAD.rstrip()]
    keys = st.tuples(st.sampled_from([*REASONS, "gone", "away"]), st.booleans())
    for reason, obsolete in draw(st.lists(keys, unique_by=lambda key: key[0], max_size=8)):
        today = english(reason) if reason in REASONS else "Gone."
        lines = [
            f'msgctxt "reasons.{reason}.message"',
            f'msgid "{_escaped(draw(st.sampled_from([today, "Older.", "Oldest."])))}"',
            f'msgstr "{_escaped(draw(st.one_of(st.just(""), _WORDS)))}"',
        ]
        if obsolete:
            lines = [f"#~ {line}" for line in lines]
        elif draw(st.booleans()):
            lines = ["#, fuzzy", *draw(st.sampled_from([[], ['#| msgid "Oldest."']])), *lines]
        blocks.append(
            "\n".join([*(f"# {comment}" for comment in draw(st.lists(st.sampled_from("abc"), max_size=2))), *lines])
        )
    return ("\n\n".join(blocks) + "\n").encode()


@given(_files(), _CATALOGS)
def test_any_file_loses_nothing(data: bytes, edition: Catalog) -> None:
    """Whatever a translator left behind: no text is lost, and twice is once."""
    updated = update(data, "a.po", edition)
    assert all_texts(updated) == all_texts(data)
    assert update(updated, "a.po", edition) == updated


# --- new ------------------------------------------------------------------------------------------------------------


def test_new_language() -> None:
    """A new file is the template with a header that says whose it is."""
    header = r"""# Galician messages of mcp-auth-failures.
#
msgid ""
msgstr ""
"Project-Id-Version: mcp-auth-failures\n"
"Report-Msgid-Bugs-To: \n"
"PO-Revision-Date: 2026-01-02 03:04+0000\n"
"Last-Translator: FULL NAME <EMAIL@ADDRESS>\n"
"Language-Team: Galician\n"
"Language: gl\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"
"""
    entries = extract().decode().partition("\n\n")[2]
    assert new("gl", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)).decode() == f"{header}\n{entries}"


def test_new_language_of_any_locale() -> None:
    """Whatever locale CLDR knows can be begun: named, with its plural rule, readable and up to date."""
    files = {locale: new(locale, datetime(2026, 1, 2, tzinfo=UTC)) for locale in locale_identifiers()}
    assert [locale for locale, data in files.items() if b"None" in data] == []
    for locale, data in files.items():
        assert f'"Language: {locale}\\n"\n'.encode() in data
        assert f'"Plural-Forms: {get_plural(locale).plural_forms}\\n"\n'.encode() in data
        assert read_po(data, "a.po") == {}
        assert update(data, "a.po") == data


@pytest.mark.parametrize(
    ("language", "there", "expected"),
    [
        ("zh", "zh-Hans zh-Hant", "zh-Hans"),
        ("zh-Hans", "zh-Hant", None),
        ("zh-Hant", "zh-Hans zh-Hant", "zh-Hant"),
        ("iw", "he", "he"),
        ("sr-Cyrl", "sr", "sr"),
        ("sr-Latn", "sr", None),
        ("pt", "pt-BR pt-PT", None),
        ("pt-BR", "pt", None),
        ("de", "de", "de"),
        ("gl", "es pt-BR", None),
        ("gl", "", None),
    ],
)
def test_twin(language: str, there: str, expected: str | None) -> None:
    """A language that is there under another name is known; the same language elsewhere is another."""
    assert twin(language, there.split()) == expected


# --- status and check -----------------------------------------------------------------------------------------------


def copy_of_ours(root: Path, *languages: str) -> Path:
    """A copy of our gettext folder, with these languages."""
    root.mkdir(exist_ok=True)
    (root / f"{DOMAIN}.pot").write_bytes(extract())
    for language in languages:
        file = root / language.replace("-", "_") / "LC_MESSAGES" / f"{DOMAIN}.po"
        file.parent.mkdir(parents=True)
        file.write_bytes(FILES[language].read_bytes())
    return root


def edited(root: Path, language: str, edit: Mapping[bytes, bytes]) -> Path:
    """Make an edit in the file of a language."""
    file = root / language.replace("-", "_") / "LC_MESSAGES" / f"{DOMAIN}.po"
    data = file.read_bytes()
    for old, now in edit.items():
        assert data.count(old) == 1
        data = data.replace(old, now)
    file.write_bytes(data)
    return file


GERMAN_EXPIRED = read_po(GERMAN, "a.po")[EXPIRED].text.encode()
LINE = GERMAN[: GERMAN.index(GERMAN_EXPIRED)].count(b"\n")  # of the msgid

# An edit of the German file: (what is edited; fuzzy, missing and faulty; what check says of it).
EDITS: dict[str, tuple[dict[bytes, bytes], tuple[int, int, int], list[str]]] = {
    "nothing": ({}, (0, 0, 0), []),
    "fuzzy": (
        {PLACE: PLACE + b"#, fuzzy\n"},
        (1, 0, 0),
        [f"{LINE + 1}: reasons.expired.message: is fuzzy: does it still say what the English says?"],
    ),
    "missing": ({GERMAN_EXPIRED: b""}, (0, 1, 0), [f"{LINE}: reasons.expired.message: is not translated"]),
    "blank": ({GERMAN_EXPIRED: b" \\n "}, (0, 1, 0), [f"{LINE}: reasons.expired.message: is not translated"]),
    "an entry that is gone": (
        {b'"reasons.expired.message"': b'"reasons.other.message"'},
        (0, 1, 0),
        [" reasons.expired.message: is not translated"],
    ),
    "of older English": (
        {english("expired").encode(): b"Older."},
        (1, 0, 0),
        [f"{LINE}: reasons.expired.message: is of an older English; run `translations update`"],
    ),
    "faulty": (
        {GERMAN_EXPIRED: GERMAN_EXPIRED[:-1]},
        (0, 0, 1),
        [f"{LINE}: reasons.expired.message: does not end in '.'"],
    ),
    "faulty in two ways": (
        {GERMAN_EXPIRED: b" Ja"},
        (0, 0, 3),
        [
            f"{LINE}: reasons.expired.message: begins or ends with white space",
            f"{LINE}: reasons.expired.message: does not end in '.'",
            f"{LINE}: reasons.expired.message: is so short that something seems to be missing",
        ],
    ),
    "fuzzy and faulty": (
        {GERMAN_EXPIRED: b"Ja", PLACE: PLACE + b"#, fuzzy\n"},
        (1, 0, 0),
        [f"{LINE + 1}: reasons.expired.message: is fuzzy: does it still say what the English says?"],
    ),
    "broken": (
        {GERMAN_EXPIRED + b'"': GERMAN_EXPIRED},
        (0, TOTAL, 1),
        [f"{LINE + 1}: is not a line of a .po: a text is not closed by a quote, or a quote in it lacks its backslash"],
    ),
    "an obsolete tail": (
        {
            b"\n\n#. Said to the assistant. 'Renew": b'\n\n#~ msgid "a"\n#~ msgstr "b"'
            + b"\n\n#. Said to the assistant. 'Renew"
        },
        (0, 0, 0),
        [],
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_status(tmp_path: Path, name: str) -> None:
    """The numbers of a language add up to all texts, and faults are counted beside them."""
    edit, numbers, _ = EDITS[name]
    root = copy_of_ours(tmp_path, "de", "fr")
    edited(root, "de", edit)
    german, french = status(root)
    assert (german.fuzzy, german.missing, german.faulty) == numbers
    assert german.complete + german.fuzzy + german.missing == TOTAL
    assert (french.complete, french.fuzzy, french.missing, french.faulty) == (TOTAL, 0, 0, 0)


@pytest.mark.parametrize("name", EDITS)
def test_check(tmp_path: Path, name: str) -> None:
    """Each fault is said with file, line and context, and those of other languages are not asked for."""
    edit, _, expected = EDITS[name]
    root = copy_of_ours(tmp_path, "de", "fr")
    file = edited(root, "de", edit)
    complaints = [f"{file}:{line}" for line in expected]
    assert [str(fault) for fault in check(root)] == complaints
    assert [str(fault) for fault in check(root, ["de"])] == complaints
    assert list(check(root, ["fr"])) == []


def test_names_of_a_language(tmp_path: Path) -> None:
    """A language is named by its tag, in itself and in English."""
    root = copy_of_ours(tmp_path / "a", "pt-BR", "sr", "zh-Hant")
    assert [(each.language, each.name, each.english_name) for each in status(root)] == [
        ("pt-BR", "português (Brasil)", "Portuguese (Brazil)"),
        ("sr", "српски", "Serbian"),
        ("zh-Hant", "中文 (繁體)", "Chinese (Traditional)"),
    ]


@pytest.mark.parametrize("locale", ["sh", "prs", "iw", "tl", "ca_valencia", "de_ZZ", "de_Latn_AT_1996", "mww", "deu"])
def test_folder_by_an_odd_name_is_counted(tmp_path: Path, locale: str) -> None:
    """Whatever names a language has a line, with some name."""
    copy_of_ours(tmp_path, "de")
    (tmp_path / "de").rename(tmp_path / locale)
    (only,) = status(tmp_path)
    assert only.language.lower().replace("-", "_") == locale.lower()
    assert only.complete == TOTAL
    assert only.name
    assert only.english_name


def test_stale_template(tmp_path: Path) -> None:
    """A template that is not what the catalog says is a fault, and so is one that is not there."""
    root = copy_of_ours(tmp_path, "de")
    template = root / f"{DOMAIN}.pot"
    expected = f"{template}: is not what the catalog says now; run `translations update`"
    template.write_bytes(extract() + b"\n")
    assert [str(fault) for fault in check(root)] == [expected]
    template.unlink()
    assert [str(fault) for fault in check(root)] == [expected]


def test_folder_that_names_no_language_is_a_fault(tmp_path: Path) -> None:
    """Check tells of a folder that is passed over."""
    root = copy_of_ours(tmp_path, "de")
    (root / "de").rename(root / "deutsch")
    assert [str(fault) for fault in check(root)] == [f"{root / 'deutsch'}: 'deutsch' is in no language that is known"]
    assert list(status(root)) == []


def test_language_in_two_folders_is_a_fault(tmp_path: Path) -> None:
    """Of two folders that name one language only one is read; check says so."""
    root = copy_of_ours(tmp_path, "pt-BR")
    shutil.copytree(root / "pt_BR", root / "pt-br")
    assert len(list(check(root))) == 1


def test_nothing_is_there(tmp_path: Path) -> None:
    """A folder without languages has no status, and lacks its template."""
    assert list(status(tmp_path)) == []
    assert len(list(check(tmp_path))) == 1


def test_own_catalog(tmp_path: Path) -> None:
    """The tools serve a host's own catalog as they serve ours."""
    root = copy_of_ours(tmp_path, "de")
    added = catalog(added={"one": "At {server}."})
    (german,) = status(root, added)
    assert (german.complete, german.missing) == (TOTAL, 1)
    file = root / "de" / "LC_MESSAGES" / f"{DOMAIN}.po"
    file.write_bytes(
        update(file.read_bytes(), "a.po", added).replace(
            b'msgid "At {server}."\nmsgstr ""', b'msgid "At {server}."\nmsgstr "Hier."'
        )
    )
    (root / f"{DOMAIN}.pot").write_bytes(extract(added))
    found = [str(fault) for fault in check(root, catalog=added)]
    line = file.read_bytes().partition(b'msgid "At {server}."')[0].count(b"\n") + 1
    assert found == [f"{file}:{line}: reasons.one.message: lacks {{server}}, which the English has"]


def test_extracted_template_is_read_by_babel() -> None:
    """What we write is a file of gettext's, for Babel too."""
    from babel.messages.pofile import read_po as babel_read_po

    found = babel_read_po(io.BytesIO(extract()), abort_invalid=True)
    assert [message.context for message in found if message.id] == list(CATALOG.texts)
