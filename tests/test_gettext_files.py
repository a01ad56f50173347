"""gettext's two file formats, read strictly: what others wrote is readable, and nothing that comes can hurt."""

import io
import random
import struct
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import normalize, unescape
from babel.messages.pofile import read_po as babel_read_po
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_auth_failures import DataError, load_catalog
from mcp_auth_failures.catalog import packaged
from mcp_auth_failures.gettext_files import Translation, parse_po, read_language, read_mo, read_po
from mcp_auth_failures.po_lines import PoEntry, entries_of, quoted

CASES = Path(__file__).parent / "cases" / "po"
SHIPPED = sorted(Path(str(packaged("locales"))).glob("*/LC_MESSAGES/mcp_auth_failures.po"))
CONTEXT = "reasons.expired.message"
ENGLISH = load_catalog()["expired"].failure.message
SWEDISH = "Åtkomsttoken har gått ut."

HEAD = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'
ENTRY = 'msgctxt "c"\nmsgid "one"\nmsgstr "ett"\n'
READ = {"c": ("one", "ett")}
MIB = 1 << 20


@pytest.fixture(autouse=True)
def silent(capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Nothing is ever printed: stdout is the channel of a stdio server."""
    yield
    assert capsys.readouterr() == ("", "")


def entry(text: str, context: str | None = "c", english: str = "one") -> str:
    """One entry of a ``.po``."""
    return (f'msgctxt "{context}"\n' if context is not None else "") + f'msgid "{english}"\nmsgstr "{text}"\n\n'


def texts(translations: Mapping[str, Translation]) -> dict[str, tuple[str, str]]:
    """English and text of each, by context."""
    return {context: (each.english, each.text) for context, each in translations.items()}


def refused(data: bytes) -> str:
    """What a ``.po`` is refused with."""
    with pytest.raises(DataError) as raised:
        read_po(data, "a.po")
    return str(raised.value)


# --- the shared cases -----------------------------------------------------------------------------------------------

GOOD = {
    "good_crlf.po": (ENGLISH, 8),
    "older_english.po": ("The token has expired.", 8),
    "pot_header_unfilled.po": (ENGLISH, 9),
}
BAD = {
    "bad_charset.po": ":3: says it is in rot13; save it as UTF-8",
    "bad_duplicate.po": ":11: reasons.expired.message is here twice: it is on line 7 already",
    "bad_merge_conflict.po": ":6: is not a line of a .po: a merge conflict is left here",
    "bad_unclosed_quote.po": (
        ":8: is not a line of a .po: a text is not closed by a quote, or a quote in it lacks its backslash"
    ),
}


def test_every_case_is_known() -> None:
    """Each shared case stands in one of the two tables."""
    assert {path.name for path in CASES.iterdir()} == GOOD.keys() | BAD.keys()


@pytest.mark.parametrize("name", GOOD)
def test_good_case_is_read(name: str) -> None:
    """Real files that others wrote are readable."""
    english, line = GOOD[name]
    assert read_language(CASES / name) == {CONTEXT: Translation(english, SWEDISH, line - 1)}


@pytest.mark.parametrize("name", BAD)
def test_bad_case_is_refused(name: str) -> None:
    """A file that cannot be trusted is refused with its line."""
    with pytest.raises(DataError) as raised:
        read_language(CASES / name)
    assert str(raised.value) == f"{CASES / name}{BAD[name]}"


# --- what others wrote ----------------------------------------------------------------------------------------------

POEDIT = r"""# Svensk översättning.
# Copyright (C) 2026
#
#, fuzzy
msgid ""
msgstr ""
"Project-Id-Version: acme 1.0\n"
"POT-Creation-Date: 2026-03-01 10:00+0100\n"
"PO-Revision-Date: 2026-03-02 11:22+0100\n"
"Last-Translator: \n"
"Language-Team: \n"
"Language: sv_SE\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"
"X-Generator: Poedit 3.5\n"
"X-Poedit-Basepath: ../..\n"
"X-Poedit-KeywordsList: _;gettext;pgettext:1c,2\n"
"X-Poedit-SearchPath-0: .\n"
"X-Poedit-SearchPathExcluded-0: tests\n"
"X-Poedit-SourceCharset: UTF-8\n"
"X-Poedit-Bookmarks: 3,-1,-1,-1,-1,-1,-1,-1,-1,-1\n"

#. A note for the translator.
#. Over two lines.
#: catalog/failures.yaml:55 catalog/failures.yaml:56
#: src/a file.py
#, python-brace-format, no-wrap
msgctxt "reasons.expired.message"
msgid ""
"The access token has expired. A client that holds a refresh token should "
"renew it and retry."
msgstr ""
"Åtkomsttoken har gått ut. En klient som har en \"refresh token\" bör förnya "
"den och försöka igen.\n"
"C:\\temp\t."

# Är det här rätt?
#, fuzzy
#| msgctxt "reasons.no_token.message"
#| msgid ""
#| "This request carried "
#| "no token."
msgctxt "reasons.no_token.message"
msgid "This request carried no access token."
msgstr "Förfrågan saknade token."

msgctxt "reasons.unverified.message"
msgid "Not verified."
msgstr ""

msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d fil"
msgstr[1] "%d filer"

#~ msgctxt "reasons.gone.message"
#~ msgid "Gone."
#~ msgstr "Borta."

# Kvar för minnet.
#, fuzzy
#~| msgid "Older."
#~ msgid "Old."
#~ msgid_plural "Olds."
#~ msgstr[0] "Gammal."
#~ msgstr[1] "Gamla."
"""

WEBLATE = r"""# SOME DESCRIPTIVE TITLE.
# Copyright (C) YEAR THE PACKAGE'S COPYRIGHT HOLDER
# This file is distributed under the same license as the acme package.
# Åsa Öberg <asa@example.org>, 2026.
# Anonymous <noreply@weblate.org>, 2026.
msgid ""
msgstr ""
"Project-Id-Version: acme\n"
"Report-Msgid-Bugs-To: https://bugs.example.org/?a=b;c=d\n"
"POT-Creation-Date: 2026-11-01 06:00+0000\n"
"PO-Revision-Date: 2026-11-02 07:14+0000\n"
"Last-Translator: Åsa Öberg <asa@example.org>\n"
"Language-Team: Swedish <https://translate.example.org/projects/acme/messages/"
"sv/>\n"
"Language: sv\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=utf-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Plural-Forms: nplurals=2; plural=n != 1;\n"
"X-Generator: Weblate 5.14-dev\n"

#: catalog/failures.yaml:55
#, python-brace-format, safe-html
msgctxt "reasons.expired.message"
msgid "Expired at {server}."
msgstr "Har gått ut hos {server}."

#, fuzzy
#~| msgid "The MCP surface was off."
#~ msgctxt "reasons.surface_disabled.message"
#~ msgid "The MCP surface is off."
#~ msgstr "MCP-ytan är av."
"""


def test_poedit() -> None:
    """A file that Poedit wrote is read: wrapped texts, previous English, plurals, and an obsolete tail."""
    assert texts(read_po(POEDIT.encode(), "a.po")) == {
        CONTEXT: (
            "The access token has expired. A client that holds a refresh token should renew it and retry.",
            'Åtkomsttoken har gått ut. En klient som har en "refresh token" bör förnya den och försöka igen.\n'
            "C:\\temp\t.",
        )
    }


def test_weblate() -> None:
    """A file that Weblate wrote is read: a wrapped header, flags of its own, an obsolete entry with its old English."""
    assert texts(read_po(WEBLATE.encode(), "a.po")) == {CONTEXT: ("Expired at {server}.", "Har gått ut hos {server}.")}


def header(*fields: str) -> str:
    """A ``.po`` with these header fields and one entry."""
    return 'msgid ""\nmsgstr ""\n' + "".join(f'"{field}\\n"\n' for field in fields) + "\n" + ENTRY


# What is read: (the file, what it says by context).
READABLE: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "nothing": ("", {}),
    "blank lines": (" \n\t\r\n\n", {}),
    "comments alone": ("# a\n#. b\n#: c:1\n#, fuzzy\n", {}),
    "no header": (ENTRY, READ),
    "no last line break": (HEAD + ENTRY.rstrip(), READ),
    "a byte order mark": ("\ufeff" + HEAD + ENTRY, READ),
    "a byte order mark and CRLF": (("\ufeff" + HEAD + ENTRY).replace("\n", "\r\n"), READ),
    "a header on one line": ('msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n' + ENTRY, READ),
    "a header that breaks in a word": (
        'msgid ""\nmsgstr "Content-Type: text/plain; char"\n"set=UTF-8\\n"\n' + ENTRY,
        READ,
    ),
    "a fuzzy header": ("#, fuzzy\n" + HEAD + ENTRY, READ),
    "a header at the end": (ENTRY + "\n" + HEAD, READ),
    "a language in words": (header("Language: arabic (عربي)"), READ),
    "a language that is none": (header("Language: xx_bogus@:;"), READ),
    "dates never filled in": (
        header("POT-Creation-Date: YEAR-MO-DA HO:MI+ZONE", "PO-Revision-Date: 2026-13-45 99:99+9999"),
        READ,
    ),
    "a template's header": (
        header("Content-Type: text/plain; charset=CHARSET", "Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;"),
        READ,
    ),
    "a plural rule that is code": (header("Plural-Forms: nplurals=2; plural=__import__('os').getpid();"), READ),
    "a plural rule too deep": (header(f"Plural-Forms: nplurals=2; plural={'(' * 3000}n{')' * 3000};"), READ),
    "a billion plural forms": (
        header("Plural-Forms: nplurals=1000000000; plural=n;")
        + "".join(f'\nmsgid "{n}"\nmsgid_plural "{n}s"\nmsgstr[0] "{n}"\nmsgstr[1] "{n}"\n' for n in range(1000)),
        READ,
    ),
    "fields that no one knows": (header("X-Generator: ü", "X-Poedit-Basepath: .", "no colon at all", ""), READ),
    "charset in capitals": (header("Content-Type: text/plain; charset=UTF-8"), READ),
    "charset without a hyphen": (header("content-type: text/plain; CHARSET=utf8"), READ),
    "charset ASCII": (header("Content-Type: text/plain; charset=US-ASCII"), READ),
    "a text over lines": ('msgctxt ""\n"c"\nmsgid "o"\n"n"\n"e"\nmsgstr ""\n"e"\n""\n"tt"\n', READ),
    "indented lines": ('  msgctxt "c"\n\tmsgid "one"\n msgstr   "ett"  \n', READ),
    "escapes": (entry(r"a\"b\\n\n\t\\"), {"c": ("one", 'a"b\\n\n\t\\')}),
    "a fuzzy entry": ("#, fuzzy\n" + entry("två", "d") + ENTRY, READ),
    "a fuzzy entry with flags": ("#, python-format, fuzzy,no-wrap\n" + entry("två", "d") + ENTRY, READ),
    "a blank text": (entry("", "d") + entry(" ", "e") + entry(r"\n\t", "f") + entry("\u3000", "g") + ENTRY, READ),
    "no context": (entry("ett", None, "one") + entry("ett", "") + ENTRY, READ),
    "one English in two contexts": (ENTRY + entry("två", "d"), READ | {"d": ("one", "två")}),
    "an obsolete tail": (ENTRY + "\n" + '#~ msgctxt "c"\n#~ msgid "one"\n#~ msgstr "en"\n', READ),
    "an obsolete tail that is there twice": (ENTRY + '\n#~ msgid "x"\n#~ msgstr "y"\n' * 2, READ),
    "an obsolete tail with its previous English": (
        ENTRY
        + '\n#, fuzzy\n#~| msgctxt "d"\n#~| msgid ""\n#~| "older"\n#~ msgctxt "d"\n#~ msgid "old"\n#~ msgstr "x"\n',
        READ,
    ),
    "an obsolete tail over lines": (ENTRY + '\n#~ msgid ""\n#~ "a"\n#~ "b"\n#~ msgstr ""\n#~ "c"\n', READ),
    "an obsolete tail with CRLF": (ENTRY + '\r\n#~ msgid "a"\r\n#~ msgstr "b"\r\n', READ),
    "a comment line of dashes": ("#----------\n# Errors\n#----------\n" + ENTRY, READ),
    "an obsolete tail with a comment in it": ('#~ # a\n#~\n#~ msgid "a"\n#~ msgstr "b"\n\n' + ENTRY, READ),
    "a previous English that Babel broke": (
        '#, fuzzy\n#| msgid "a long\n#| old text"\n' + entry("x", "d") + ENTRY,
        READ,
    ),
    "comments after the last entry": (ENTRY + "\n# a\n\n#, fuzzy\n# b\n", READ),
    "comments of every kind": ('#\n# \n#a\n#! b\n#. c\n#: d e:x f:1\n#, g\n#| msgid "x"\n' + ENTRY, READ),
    "a file name with a space": ("#: \u2068a file.py\u2069:1 b.py:2\n" + ENTRY, READ),
    "characters that end a line elsewhere": (
        entry("a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g"),
        {"c": ("one", "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g")},
    ),
    "a NUL and a bidirectional control": (entry("a\0\u202eb"), {"c": ("one", "a\0\u202eb")}),
    "a text of almost a mebibyte": (entry("x" * (MIB - 100)), {"c": ("one", "x" * (MIB - 100))}),
    "forty thousand entries": ("".join(f'msgid "{n}"\nmsgstr ""\n' for n in range(40_000)) + ENTRY, READ),
}


@pytest.mark.parametrize("name", READABLE)
def test_readable(name: str) -> None:
    """What is odd and still clear is read, and what is not translated is left out."""
    data, expected = READABLE[name]
    assert texts(read_po(data.encode(), "a.po")) == expected


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.parts[-3])
def test_shipped_file_is_read_as_babel_reads_it(file: Path) -> None:
    """Strictness changes no text: Babel's own reader finds the same."""
    expected = {
        message.context: (message.id, message.string)
        for message in babel_read_po(io.BytesIO(file.read_bytes()), abort_invalid=True)
        if message.id
    }
    assert texts(read_language(file)) == expected
    assert texts(read_po(file.read_bytes().replace(b"\n", b"\r\n"), "a.po")) == expected


def test_line_is_that_of_the_english() -> None:
    """A text's place is the line of its ``msgid``."""
    found = read_po((HEAD + "# a\n\n" + ENTRY + "\n" + entry("två", "d")).encode(), "a.po")
    assert {context: each.line for context, each in found.items()} == {"c": 8, "d": 12}


def test_parsed_file_is_whole() -> None:
    """Parsing keeps what reading leaves out: the header, fuzzy, blank and obsolete entries, all in order."""
    entries = parse_po(POEDIT.encode(), "a.po")
    assert [(entry.text("msgctxt"), entry.is_fuzzy, entry.obsolete) for entry in entries] == [
        (None, True, False),
        (CONTEXT, False, False),
        ("reasons.no_token.message", True, False),
        ("reasons.unverified.message", False, False),
        (None, False, False),
        ("reasons.gone.message", False, True),
        (None, True, True),
    ]
    header, expired, no_token, _, plural, _, old = entries
    assert header.is_header
    assert header.comments == ["# Svensk översättning.", "# Copyright (C) 2026", "#"]
    assert expired.notes == ["A note for the translator.", "Over two lines."]
    assert expired.places == ["catalog/failures.yaml:55 catalog/failures.yaml:56", "src/a file.py"]
    assert expired.flags == ["python-brace-format", "no-wrap"]
    assert no_token.previous_english == "This request carried no token."
    assert [plural.text(f"msgstr[{n}]") for n in range(3)] == ["%d fil", "%d filer", None]
    assert old.comments == ["# Kvar för minnet."]
    assert old.previous_english == "Older."
    assert old.text("msgid_plural") == "Olds."


# --- what is refused ------------------------------------------------------------------------------------------------

UNCLOSED = "is not a line of a .po: a text is not closed by a quote, or a quote in it lacks its backslash"
CONFLICT = "is not a line of a .po: a merge conflict is left here"
TOO_LARGE = "a.po: is larger than 1,048,576 bytes"

# What is not: (the file, what it is refused with).
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "UTF-16 with its mark": (b"\xff\xfe" + ENTRY.encode("utf-16-le"), "a.po:1: is not UTF-8: byte 0xff at offset 0"),
    "big-endian UTF-16": (b"\xfe\xff" + ENTRY.encode("utf-16-be"), "a.po:1: is not UTF-8: byte 0xfe at offset 0"),
    "Latin-1": ((HEAD + entry("gått")).encode("latin-1"), "a.po:7: is not UTF-8: byte 0xe5 at offset 97"),
    "Latin-1 that says so": (
        header("Content-Type: text/plain; charset=ISO-8859-1"),
        "a.po:3: says it is in ISO-8859-1; save it as UTF-8",
    ),
    "a surrogate": ((HEAD + "# ").encode() + b"\xed\xa0\x80\n", "a.po:5: is not UTF-8: byte 0xed at offset 66"),
    "an unknown charset": (
        header("Content-Type: text/plain; charset=" + "x" * 100),
        f"a.po:3: says it is in {'x' * 40}; save it as UTF-8",
    ),
    "a byte too many": (ENTRY + "#" + " " * (MIB - len(ENTRY)), TOO_LARGE),
    "10 MB": (ENTRY + "# a\n" * 2_500_000, TOO_LARGE),
    "a million entries": ("".join(f'msgid "{n}"\nmsgstr ""\n\n' for n in range(1_000_000)), TOO_LARGE),
    "a merge conflict": (f"<<<<<<< HEAD\n{ENTRY}=======\n{entry('en')}>>>>>>> theirs\n", f"a.po:1: {CONFLICT}"),
    "the middle of a merge conflict": (ENTRY + "=======\n", f"a.po:4: {CONFLICT}"),
    "the end of a merge conflict": (ENTRY + ">>>>>>> theirs\n", f"a.po:4: {CONFLICT}"),
    "the base of a merge conflict": (ENTRY + "||||||| base\n", "a.po:4: is not a line of a .po: '||||||| base'"),
    "a line of something else": (ENTRY + "a: b\n", "a.po:4: is not a line of a .po: 'a: b'"),
    "a long line of something else": (ENTRY + "a" * 999, f"a.po:4: is not a line of a .po: '{'a' * 40}'"),
    "a keyword alone": (HEAD + "msgid\n", "a.po:5: is not a line of a .po: 'msgid'"),
    "no msgstr": (
        HEAD + 'msgctxt "c"\nmsgid "one"\n\n' + entry("två", "d"),
        "a.po:8: is not a .po: msgctxt stands where msgid_plural or msgstr should",
    ),
    "no msgstr at the end": (
        HEAD + 'msgctxt "c"\nmsgid "one"\n',
        "a.po:6: is not a .po: the end of the file stands where msgid_plural or msgstr should",
    ),
    "a comment inside an entry": (
        HEAD + 'msgctxt "c"\nmsgid "one"\n# a\nmsgstr "ett"\n',
        "a.po:7: is not a .po: a comment stands where msgid_plural or msgstr should",
    ),
    "a text before any keyword": (
        '"ett"\n' + ENTRY,
        "a.po:1: is not a .po: a text stands where msgctxt or msgid should",
    ),
    **{
        f"a text after {comment!r}": (
            f'{ENTRY}{comment}\n"en"\n',
            "a.po:5: is not a .po: a text stands where msgctxt or msgid should",
        )
        for comment in ("# a", "#. a", "#: a:1", "#, a", "#")
    },
    "an entry twice": (ENTRY + "\n" + ENTRY, "a.po:6: c is here twice: it is on line 2 already"),
    "an entry twice, once fuzzy": (ENTRY + "\n#, fuzzy\n" + ENTRY, "a.po:7: c is here twice: it is on line 2 already"),
    "an entry without context twice": (
        entry("ett", None) + entry("en", None),
        "a.po:4: one is here twice: it is on line 1 already",
    ),
    "a header twice": (HEAD + ENTRY + "\n" + HEAD, "a.po:9: the header is here twice: it is on line 1 already"),
    "an unclosed text": (HEAD + 'msgctxt "c"\nmsgid "one"\nmsgstr "ett\n', f"a.po:7: {UNCLOSED}"),
    "an unclosed text in CRLF": ('msgctxt "c"\r\nmsgid "one"\r\nmsgstr "ett\r\n', f"a.po:3: {UNCLOSED}"),
    "an unopened text": ('msgctxt "c"\nmsgid one"\nmsgstr "ett"\n', f"a.po:2: {UNCLOSED}"),
    "an unclosed line of a text": ('msgid "one"\nmsgstr ""\n"e\n"tt"\n', f"a.po:3: {UNCLOSED}"),
    "a quote that is escaped at the end": ('msgid "one"\nmsgstr "ett\\"\n', f"a.po:2: {UNCLOSED}"),
    "a single quote mark": ('msgid "\nmsgstr "ett"\n', f"a.po:1: {UNCLOSED}"),
    "a quote inside": (entry('e"t"t'), f"a.po:3: {UNCLOSED}"),
    "something after a text": ('msgid "one" # a\nmsgstr "ett"\n', f"a.po:1: {UNCLOSED}"),
    "a text in single quotes": ("msgid 'one'\nmsgstr 'ett'\n", "a.po:1: is not a line of a .po: \"msgid 'one'\""),
    "too many plural forms": (
        'msgid "one"\nmsgid_plural "ones"\n' + "".join(f'msgstr[{n}] "ett"\n' for n in range(7)),
        "a.po:9: is not a line of a .po: 'msgstr[6] \"ett\"'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """What makes a file untrustworthy is said, with the line where there is one."""
    data, expected = REFUSED[name]
    assert refused(data if isinstance(data, bytes) else data.encode()) == expected


@pytest.mark.parametrize(
    "line",
    [
        'msgstr[x] "ett"',
        'msgstr[10] "ett"',
        'mgsid "one"',
        'msgid_plurals "ones"',
        '\ufeffmsgid "one"',
        '= "ett"',
        'm\0s\0g\0"\0',
    ],
    ids=ascii,
)
def test_line_that_is_none_is_shown(line: str) -> None:
    """Where the quotes are right and the keyword is wrong, the line is shown and quotes are not blamed."""
    assert refused(f"{ENTRY}{line}\n".encode()) == f"a.po:4: is not a line of a .po: {line!r}"


# gettext's own tools refuse these too; read leniently, one reason would be told in another one's words.
MIXED_UP = {
    "two texts": ENTRY + 'msgstr "en"\n',
    "a text without its English": f'{HEAD}msgctxt "c"\nmsgstr "ett"\n\nmsgctxt "d"\nmsgid "two"\nmsgstr "två"\n',
    "a text alone": f'{HEAD}msgstr "ett"\n\nmsgctxt "d"\nmsgid "two"\nmsgstr "två"\n',
    "two contexts": f'{HEAD}msgctxt "c"\nmsgctxt "d"\nmsgid "one"\nmsgstr "ett"\n',
    "a context at the end": HEAD + ENTRY + '\nmsgctxt "d"\n',
    "a text at the end": HEAD + ENTRY + '\nmsgctxt "d"\nmsgstr "två"\n',
    "a plural form of what has no plural": f'{HEAD}msgctxt "c"\nmsgid "one"\nmsgstr[0] "ett"\n',
    "two plurals": f'{HEAD}msgid "one"\nmsgid_plural "a"\nmsgid_plural "b"\nmsgstr[0] "ett"\n',
    "plurals from the second on": f'{HEAD}msgid "one"\nmsgid_plural "ones"\nmsgstr[1] "ett"\n',
    "half of it obsolete": f'{HEAD}msgid "one"\n#~ msgstr "ett"\n',
    "half of it living": f'{HEAD}#~ msgid "one"\nmsgstr "ett"\n',
    "obsolete and without a text": f'{HEAD}#~ msgid "one"\n',
    "obsolete and not one": f"{HEAD}#~ one\n",
    "a previous English that is none": f"{HEAD}#| one\n{ENTRY}",
    "a previous English that is not closed": f'{HEAD}#| msgid "one\n{ENTRY}',
    "a previous English without its keyword": f'{HEAD}#| "one"\n{ENTRY}',
    "a plural form twice": f'{HEAD}msgid "one"\nmsgid_plural "ones"\nmsgstr[0] "a"\nmsgstr[0] "b"\n',
}


MISPLACED = {
    "two texts": "a.po:4: is not a .po: msgstr stands where msgctxt or msgid should",
    "a text without its English": "a.po:6: is not a .po: msgstr stands where msgid should",
    "two plurals": "a.po:7: is not a .po: msgid_plural stands where msgstr[0] should",
    "a plural form twice": "a.po:8: is not a .po: msgstr[0] stands where msgstr[1] or msgctxt or msgid should",
    "a context at the end": "a.po:9: is not a .po: the end of the file stands where msgid should",
    "half of it obsolete": "a.po:6: is not a .po: only a part of an entry is marked with #~",
    "a previous English that is none": "a.po:5: is not a line of a .po: 'one'",
}


@pytest.mark.parametrize("name", MISPLACED)
def test_place_of_what_is_mixed_up(name: str) -> None:
    """The line that should not be there is named, and what should."""
    assert refused(MIXED_UP[name].encode()) == MISPLACED[name]


@pytest.mark.parametrize("name", MIXED_UP)
def test_mixed_up_entry_is_refused(name: str) -> None:
    """An entry whose lines are missing or there twice is a syntax error, never a guess."""
    assert refused(MIXED_UP[name].encode()).startswith("a.po:")


LONG = "x" * 400_000


@pytest.mark.parametrize(
    "text",
    [
        entry("a", None, LONG) + entry("b", None, LONG),
        entry("a", LONG) + entry("b", LONG),
        f'msgid "{LONG}"\n',
        f'msgid ""\nmsgstr "charset={LONG}"\n',
        f'{LONG} "a"',
        f'"{LONG}"',
        f'msgid "a"\n{LONG}',
        f'#~ msgstr[{"9" * 5000}] "a"\n',
    ],
    ids=["id twice", "context twice", "no msgstr", "charset", "keyword", "text", "line", "number"],
)
def test_complaint_is_short(text: str) -> None:
    """However long what is wrong, a complaint fits a line of a log."""
    assert len(refused(text.encode())) < 500


# --- .mo ------------------------------------------------------------------------------------------------------------


def mo(pairs: Mapping[str, str], order: str = "<", charset: str = "UTF-8") -> bytes:
    """A ``.mo``, as "The Format of GNU MO Files" has it."""
    header = f"Content-Type: text/plain; charset={charset}\nPlural-Forms: nplurals=1000000000; plural=n;\n"
    strings = sorted((key.encode(), text.encode()) for key, text in {"": header, **pairs}.items())
    start = 28 + 16 * len(strings)
    tables: list[bytes] = []
    content = b""
    for column in (0, 1):
        for pair in strings:
            tables.append(struct.pack(f"{order}2I", len(pair[column]), start + len(content)))
            content += pair[column] + b"\0"
    head = struct.pack(f"{order}7I", 0x950412DE, 0, len(strings), 28, 28 + 8 * len(strings), 0, start)
    return head + b"".join(tables) + content


def refused_mo(data: bytes) -> str:
    """What a ``.mo`` is refused with."""
    with pytest.raises(DataError) as raised:
        read_mo(data, "a.mo")
    return str(raised.value)


def compiled(file: Path) -> bytes:
    """What Babel makes of a ``.po``."""
    opened = io.BytesIO()
    write_mo(opened, babel_read_po(io.BytesIO(file.read_bytes())))
    return opened.getvalue()


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.parts[-3])
def test_mo_by_babel_says_what_the_po_says(file: Path) -> None:
    """Compiled, a language is the same."""
    assert texts(read_mo(compiled(file), "a.mo")) == texts(read_language(file))


@pytest.mark.parametrize("order", "<>")
def test_mo_of_either_byte_order(order: str) -> None:
    """A ``.mo`` may come from a machine of the other byte order. Plurals, blanks and texts without context are left."""
    pairs = {"c\x04one": "ett", "d\x04a\0as": "b\0bs", "e\x04x": " ", "one": "ett", "f\x04": "tom"}
    expected = {"c": Translation("one", "ett", None), "f": Translation("", "tom", None)}
    assert read_mo(mo(pairs, order), "a.mo") == expected


SMALL = mo({"c\x04one": "ett", "d\x04two": "två"})


@pytest.mark.parametrize("data", [SMALL, mo({"c\x04one": "ett"}, ">"), compiled(SHIPPED[0])], ids=["<", ">", "shipped"])
def test_mo_cut_at_any_byte(data: bytes) -> None:
    """A torn ``.mo`` is refused, or still whole: what the last byte ends was read before it."""
    whole = read_mo(data, "a.mo")
    for end in range(len(data) - 1):
        assert refused_mo(data[:end]).startswith("a.mo: is not a .mo: ")
    assert read_mo(data[:-1], "a.mo") == whole


@pytest.mark.parametrize("data", [SMALL, compiled(SHIPPED[0])], ids=["small", "shipped"])
def test_mo_with_any_byte_changed(data: bytes) -> None:
    """A ``.mo`` has no checksum: with a byte changed it is refused, or read as texts. Nothing else happens."""
    chance = random.Random(4711)
    for place, value in enumerate(data):
        changed = bytearray(data)
        changed[place] = value ^ chance.randrange(1, 256)
        try:
            found = read_mo(bytes(changed), "a.mo")
        except DataError:
            continue
        assert all(isinstance(each.text, str) and each.text.strip() for each in found.values())


def table(count: int, keys: int, texts: int, content: bytes) -> bytes:
    """A ``.mo`` with these numbers in its head."""
    return struct.pack("<7I", 0x950412DE, 0, count, keys, texts, 0, 0) + content


REFUSED_MO: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "it begins with other bytes"),
    "a .po": (ENTRY.encode(), "it begins with other bytes"),
    "a byte too many": (SMALL.ljust(MIB + 1, b"\0"), "it is larger than 1,048,576 bytes"),
    "texts that overlap": (
        table(100, 28, 28, struct.pack("<2I", 20_000, 828) * 100 + b"x" * 20_000),
        "it is cut short, or its texts overlap",
    ),
    "a text that is longer than the file": (
        table(1, 28, 28, struct.pack("<2I", 0xFFFFFFFF, 0)),
        "it is cut short, or its texts overlap",
    ),
    "a text that begins after the end": (
        table(1, 28, 28, struct.pack("<2I", 1, 0xFFFFFFFF)),
        "it is cut short, or its texts overlap",
    ),
    "not UTF-8": (
        SMALL.replace(b"ett", b"e\xe5t"),
        "'utf-8' codec can't decode byte 0xe5 in position 1: invalid continuation byte",
    ),
}


@pytest.mark.parametrize("name", REFUSED_MO)
def test_refused_mo(name: str) -> None:
    """A ``.mo`` that is torn, lies about its size or is in another charset is refused."""
    data, expected = REFUSED_MO[name]
    assert refused_mo(data) == f"a.mo: is not a .mo: {expected}"


def test_mo_in_another_charset() -> None:
    """A charset is never believed: any other than UTF-8 is refused."""
    assert refused_mo(mo({"c\x04one": "ett"}, charset="rot13")) == "a.mo: says it is in rot13; save it as UTF-8"


@pytest.mark.parametrize("count", [0xFFFFFFFF, 130_000])
def test_mo_of_a_million_entries(count: int) -> None:
    """A table can be no longer than the file, whatever it says."""
    assert refused_mo(table(count, 28, 28, b"\0" * 1_000_000)).startswith("a.mo: is not a .mo: ")


def test_mo_of_empty_texts() -> None:
    """A hundred thousand entries that are all empty are none."""
    assert read_mo(table(100_000, 28, 28, struct.pack("<2I", 0, 0) * 100_000), "a.mo") == {}


# --- a text for today's English and one for an older ---------------------------------------------------------------


def test_text_for_the_english_that_is_meant() -> None:
    """Of two texts in one context the one for the English that is given counts, whichever comes last."""
    pairs = [("one", "ett"), ("once", "en gång")]
    for order in (pairs, pairs[::-1]):
        data = "".join(entry(text, "c", english) for english, text in order).encode()
        compiled = mo({f"c\x04{english}": text for english, text in order})
        for english, text in pairs:
            assert texts(read_po(data, "a.po", {"c": english})) == {"c": (english, text)}
            assert texts(read_mo(compiled, "a.mo", {"c": english})) == {"c": (english, text)}


# --- a file by its name ---------------------------------------------------------------------------------------------


def test_format_goes_by_the_name(tmp_path: Path) -> None:
    """A file is read as its name says, on a disk and in a zip."""
    (tmp_path / "a.po").write_text(HEAD + ENTRY, encoding="utf-8")
    (tmp_path / "a.mo").write_bytes(SMALL)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("a.po", "a.mo"):
            archive.write(tmp_path / name, name)
    for root in (tmp_path, zipfile.Path(tmp_path / "a.zip")):
        assert texts(read_language(root / "a.po")) == READ
        assert texts(read_language(root / "a.mo")) == READ | {"d": ("two", "två")}


def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    """What stands in the way is said, and a large file is not read to its end."""
    (tmp_path / "large.po").write_bytes(b"#\n" * MIB)
    for name, message in [
        ("none.po", "cannot be read: No such file or directory"),
        ("large.po", "is larger than 1,048,576 bytes"),
    ]:
        with pytest.raises(DataError) as raised:
            read_language(tmp_path / name)
        assert str(raised.value) == f"{tmp_path / name}: {message}"


# --- properties -----------------------------------------------------------------------------------------------------

_PIECES = st.sampled_from(
    [
        *("msgid ", "msgstr ", "msgctxt ", "msgid_plural ", "msgstr[0] ", "msgstr[1] ", "msgstr[9] ", "msgstr[x] "),
        *('"a"', '""', '"', '"\\"', '"\\n"', '"{a.b[}"', '"%(a)s"', "\\", "reasons.expired.message", "charset=x"),
        *("# ", "#, fuzzy", "#: ", "#: a:1", "#. ", "#| ", "#~ ", "#~| ", "#-", "#", "\n", "\n", "\n", "\n", "\r"),
        *("\ufeff", "\u2028", "\x0c", "\x1c", "\x85", "\0", "\u2068", "\u2069", " ", "\t", "python-format", "99999"),
    ]
)
_NEARLY_PO = st.lists(_PIECES, max_size=40).map(lambda pieces: "".join(pieces).encode())
_NEARLY_MO = st.builds(
    lambda magic, numbers, rest: magic + b"".join(struct.pack("<I", number) for number in numbers) + rest,
    st.sampled_from([b"\xde\x12\x04\x95", b"\x95\x04\x12\xde"]),
    st.lists(st.one_of(st.integers(0, 100), st.integers(0, 0xFFFFFFFF)), max_size=20),
    st.binary(),
)


@given(st.one_of(st.binary(), _NEARLY_PO, _NEARLY_MO, st.text().map(lambda text: (HEAD + text).encode())))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Whatever comes, nothing is raised but ``DataError``, and what is read is text."""
    for read in (read_po, read_mo):
        try:
            found = read(data, "a")
        except DataError:
            continue
        assert all(each.text.strip() for each in found.values())


_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(_TEXT.filter(bool), st.tuples(_TEXT, _TEXT.filter(str.strip)), max_size=5))
def test_what_babel_writes_is_read_back(expected: dict[str, tuple[str, str]]) -> None:
    """Any text survives the way through a ``.po``."""
    entries = [
        f"msgctxt {normalize(context)}\nmsgid {normalize(english)}\nmsgstr {normalize(text)}\n"
        for context, (english, text) in expected.items()
    ]
    assert texts(read_po("\n".join([HEAD, *entries]).encode(), "a.po")) == {
        context: pair for context, pair in expected.items() if pair[0]
    } | {context: pair for context, pair in expected.items() if not pair[0]}


_KEYWORDS = st.sampled_from(
    [("msgid", "msgstr"), ("msgctxt", "msgid", "msgstr"), ("msgid", "msgid_plural", "msgstr[0]", "msgstr[1]")]
)
_LINES = st.lists(st.text(st.sampled_from("a|b,. "), max_size=5).map(str.strip).filter(bool), max_size=2)
_ENTRIES = st.builds(
    PoEntry,
    comments=_LINES.map(lambda lines: [f"# {line}" for line in lines]),
    notes=_LINES,
    places=_LINES,
    flags=st.lists(st.sampled_from(["fuzzy", "no-wrap"]), unique=True),
    previous=st.dictionaries(st.just("msgid"), _TEXT.map(quoted)),
    texts=_KEYWORDS.flatmap(
        lambda keywords: st.tuples(*(_TEXT.map(quoted) for _ in keywords)).map(
            lambda texts: dict(zip(keywords, texts, strict=True))
        )
    ),
    obsolete=st.booleans(),
)


@given(st.lists(_ENTRIES))
@example([PoEntry(previous={"msgid": quoted("ends in \\")}, texts={"msgid": quoted("a"), "msgstr": quoted("b")})])
def test_entries_that_are_written_are_read_back(entries: list[PoEntry]) -> None:
    """What an entry holds is what its lines say, obsolete or not."""
    read = list(entries_of("\n\n".join("\n".join(entry.lines()) for entry in entries)))
    assert [replace(entry, line=0) for entry in read] == entries
    assert [entry.unwrapped() for entry in read] == read


@given(_TEXT)
def test_quoted_text_is_what_babel_makes_of_it(text: str) -> None:
    """A text is quoted so that Babel reads it back, a line of the file for each of its own."""
    lines = quoted(text)
    assert "".join(map(unescape, lines)) == text
    assert len(lines) <= text.count("\n") + 2


@given(st.dictionaries(_TEXT, st.tuples(_TEXT, _TEXT), max_size=5), st.sampled_from("<>"))
def test_any_mo_is_read_back(expected: dict[str, tuple[str, str]], order: str) -> None:
    """Any text survives the way through a ``.mo``."""
    pairs = {
        context: pair
        for context, pair in expected.items()
        if pair[1].strip() and not {"\0", "\x04"} & set(context) and "\0" not in pair[0]
    }
    data = mo({f"{context}\x04{english}": text for context, (english, text) in pairs.items()}, order)
    assert texts(read_mo(data, "a.mo")) == pairs
