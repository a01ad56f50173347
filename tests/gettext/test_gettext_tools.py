"""gettext's own tools and Babel's, on what we ship and on what our tools write. Needs Debian's package ``gettext``."""

import gettext
import io
import shutil
import subprocess
import sys
from email import message_from_string
from pathlib import Path

import pytest
from babel.messages.pofile import read_po as babel_read_po
from babel.messages.pofile import write_po
from test_gettext_files import HEAD, MIXED_UP, POEDIT, WEBLATE, texts
from test_translating import COMMENTS, FILES, GERMAN, TAILS, before_expired, catalog, english, usable

from mcp_auth_failures import Catalog, load_catalog
from mcp_auth_failures.catalog import packaged
from mcp_auth_failures.gettext_files import read_language, read_mo
from mcp_auth_failures.translating import extract, update
from mcp_auth_failures.translations import DOMAIN

LOCALES = Path(str(packaged("locales")))
TEMPLATE = LOCALES / f"{DOMAIN}.pot"
REASONS = tuple(load_catalog().reasons)
TEXTS = load_catalog().texts

each_language = pytest.mark.parametrize("language", FILES)


def tool(name: str, *arguments: object, data: bytes | None = None) -> bytes:
    """What a tool prints; it may not complain of anything."""
    result = subprocess.run([name, *map(str, arguments)], input=data, capture_output=True)
    assert (result.returncode, result.stderr.decode()) == (0, "")
    return result.stdout


def merged(data: bytes, template: bytes, folder: Path, *options: str) -> bytes:
    """What msgmerge makes of a ``.po`` and a template."""
    (folder / "a.po").write_bytes(data)
    (folder / "a.pot").write_bytes(template)
    return tool("msgmerge", "--quiet", "--no-wrap", *options, folder / "a.po", folder / "a.pot")


def accepted(data: bytes) -> None:
    """Gettext's tools take a ``.po`` as it is, and leave it so."""
    assert tool("msgcat", "--no-wrap", "-", data=data) == data
    tool("msgfmt", "--check", "--check-accelerators", "-o", "/dev/null", "-", data=data)


# --- what is shipped ------------------------------------------------------------------------------------------------


def test_template_is_left_as_it_is() -> None:
    """The template is as msgcat writes it."""
    assert tool("msgcat", "--no-wrap", TEMPLATE) == TEMPLATE.read_bytes()


@each_language
def test_shipped_file_is_left_as_it_is(language: str, tmp_path: Path) -> None:
    """Msgcat and msgmerge change no byte of a shipped file, and msgfmt finds nothing."""
    data = FILES[language].read_bytes()
    accepted(data)
    for options in ([], ["--previous"], ["--no-fuzzy-matching"]):
        assert merged(data, TEMPLATE.read_bytes(), tmp_path, *options) == data


@each_language
def test_nothing_is_left_to_do(language: str) -> None:
    """By gettext's own count every text is translated."""
    result = subprocess.run(
        ["msgfmt", "--statistics", "-o", "/dev/null", str(FILES[language])], capture_output=True, env={"LC_ALL": "C"}
    )
    assert result.stderr.decode() == f"{len(TEXTS)} translated messages.\n"


@each_language
def test_babel_writes_what_it_read(language: str) -> None:
    """A round trip through Babel keeps every entry's bytes; of the header, which it writes anew, each field."""
    data = FILES[language].read_bytes()
    read = babel_read_po(io.BytesIO(data), abort_invalid=True)
    written = io.BytesIO()
    write_po(written, read, width=1 << 31, include_previous=True)
    before, after = (text.decode().partition("\n\n") for text in (data, written.getvalue()))
    assert after[2].strip() == before[2].strip()
    comment = before[0].partition("msgid")[0]
    assert after[0].startswith(comment.rstrip("#\n"))
    fields = [message_from_string(eval_fields(head[0])) for head in (before, after)]
    # which tool wrote a file, and when the template was made, Babel says of itself
    for name in set(fields[0].keys()) - {"Content-Type", "Last-Translator", "Language-Team", "Report-Msgid-Bugs-To"}:
        assert fields[1][name] == fields[0][name], name
    assert fields[1]["Last-Translator"] == fields[0]["Last-Translator"]
    assert fields[1]["Content-Type"].lower() == fields[0]["Content-Type"].lower()
    assert not fields[1]["Report-Msgid-Bugs-To"].strip() or "@" in fields[1]["Report-Msgid-Bugs-To"]


def eval_fields(head: str) -> str:
    """The header fields of a ``.po``, as mail writes them."""
    lines = [line for line in head.splitlines() if line.startswith('"')]
    return "".join(line[1:-1] for line in lines).replace("\\n", "\n")


@each_language
@pytest.mark.parametrize("order", ["little", "big"])
def test_compiled_by_msgfmt(language: str, order: str, tmp_path: Path) -> None:
    """A ``.mo`` of either byte order, hashed or not, says what the ``.po`` says, to us and to the standard library."""
    expected = texts(read_language(FILES[language]))
    for options in ([], ["--no-hash"], ["--alignment=64"]):
        tool("msgfmt", f"--endianness={order}", *options, "-o", tmp_path / "a.mo", FILES[language])
        assert texts(read_mo((tmp_path / "a.mo").read_bytes(), "a.mo")) == expected
    with (tmp_path / "a.mo").open("rb") as file:
        theirs = gettext.GNUTranslations(file)
    assert {context: theirs.pgettext(context, pair[0]) for context, pair in expected.items()} == {
        context: text for context, (_, text) in expected.items()
    }


def test_compiled_by_msgfmt_is_cut(tmp_path: Path) -> None:
    """No torn ``.mo`` of msgfmt's gives another text than the whole."""
    tool("msgfmt", "-o", tmp_path / "a.mo", FILES["de"])
    data = (tmp_path / "a.mo").read_bytes()
    whole = read_mo(data, "a.mo")
    for end in range(len(data)):
        try:
            found = read_mo(data[:end], "a.mo")
        except ValueError:
            continue
        assert found == whole


# --- what our tools write -------------------------------------------------------------------------------------------

EDITIONS: dict[str, Catalog] = {
    "other English": catalog({"expired": "Something else.", "no_token": 'Say "no"\\, please — now.'}),
    "all English other": catalog(dict.fromkeys(REASONS, "Something else.")),
    "more reasons": catalog(added={"one": "At {server}.", "two": "{{Two}}."}),
    "a placeholder more": catalog({"expired": "Expired at {server}; ask {contact}."}),
}


@pytest.mark.parametrize("name", EDITIONS)
def test_updated_file_is_accepted(name: str, tmp_path: Path) -> None:
    """After the catalog changed, gettext's tools take the updated file as it is, and have nothing to add to it."""
    template = extract(EDITIONS[name])
    assert tool("msgcat", "--no-wrap", "-", data=template) == template
    for file in FILES.values():
        updated = update(file.read_bytes(), "a.po", EDITIONS[name])
        accepted(updated)
        assert merged(updated, template, tmp_path, "--previous", "--no-fuzzy-matching") == updated


def test_file_with_obsolete_entries_is_accepted(tmp_path: Path) -> None:
    """What came and went stays as gettext's tools write it, marked or not."""
    more = EDITIONS["more reasons"]
    data = update(GERMAN, "a.po", more)
    data = data.replace(b'"At {server}."\nmsgstr ""', b'"At {server}."\nmsgstr "Bei {server}."')
    marked = update(data, "a.po", catalog(added={"one": "In {server}.", "two": "{{Two}}."}))
    for stage in (data, marked):
        gone = update(stage, "a.po")
        accepted(gone)
        assert merged(gone, TEMPLATE.read_bytes(), tmp_path, "--previous") == gone


@pytest.mark.parametrize("name", COMMENTS)
def test_comment_is_one_of_gettexts(name: str) -> None:
    """The comments that update has to keep are kept by msgcat, too."""
    accepted(before_expired(COMMENTS[name]))


@pytest.mark.parametrize("name", TAILS)
def test_tail_is_one_of_gettexts(name: str) -> None:
    """The obsolete tails that update has to keep are kept by msgcat, too."""
    accepted(GERMAN + b"\n" + TAILS[name].encode())


@pytest.mark.parametrize("data", [POEDIT, WEBLATE], ids=["Poedit", "Weblate"])
def test_sample_is_one_of_gettexts(data: str) -> None:
    """Our samples of what others write are real files."""
    tool("msgcat", "-", data=data.encode())
    tool("msgfmt", "-o", "/dev/null", "-", data=data.replace("YEAR-MO-DA HO:MI+ZONE", "2026-01-02 03:04+0000").encode())


@pytest.mark.parametrize("name", MIXED_UP)
def test_gettext_refuses_mixed_up_entries(name: str) -> None:
    """What we have to refuse as a syntax error is one for msgcat, too."""
    assert subprocess.run(["msgcat", "-"], input=MIXED_UP[name].encode(), capture_output=True).returncode == 1


# --- with their tools and ours in turn ------------------------------------------------------------------------------


def test_msgmerge_then_update(tmp_path: Path) -> None:
    """Where msgmerge found the change itself, update leaves what it made."""
    changed = catalog({"expired": english("expired").replace("has expired", "ran out")})
    theirs = merged(GERMAN, extract(changed), tmp_path, "--previous")
    assert b"#, fuzzy\n#| msgctxt" in theirs
    assert update(theirs, "a.po", changed) == update(GERMAN, "a.po", changed)


def test_msgmerge_that_gave_up_then_update(tmp_path: Path) -> None:
    """Where msgmerge made a text obsolete, since its English changed much, update takes it up again."""
    changed = catalog({"expired": "Quite another thing."})
    theirs = merged(GERMAN, extract(changed), tmp_path, "--no-fuzzy-matching")
    assert b'#~ msgctxt "reasons.expired.message"' in theirs
    assert update(theirs, "a.po", changed) == update(GERMAN, "a.po", changed)


def test_msgmerge_of_a_removed_reason_then_update(tmp_path: Path) -> None:
    """What msgmerge made obsolete comes back, marked as it was."""
    more = catalog(added={"one": "One."})
    data = update(GERMAN, "a.po", more).replace(b'"One."\nmsgstr ""', b'"One."\nmsgstr "Eins."')
    for start in (data, update(data, "a.po", catalog(added={"one": "Eleven."}))):
        edition = more if start == data else catalog(added={"one": "Eleven."})
        theirs = merged(start, TEMPLATE.read_bytes(), tmp_path, "--previous")
        assert b"#~ msgctxt" in theirs
        assert update(theirs, "a.po") == theirs
        assert update(theirs, "a.po", edition) == start


def test_language_begun_with_msginit(tmp_path: Path) -> None:
    """A file that gettext's own tool began is one that ours goes on with, header and all."""
    command = ["msginit", "--no-translator", "--no-wrap", "-l", "gl_ES", "-i", TEMPLATE, "-o", tmp_path / "gl.po"]
    subprocess.run(command, check=True, capture_output=True)
    data = (tmp_path / "gl.po").read_bytes()
    assert update(data, "gl.po") == data


@each_language
def test_wrapped_by_gettext_and_joined_by_us(language: str) -> None:
    """A file that a tool has wrapped comes back byte for byte."""
    data = FILES[language].read_bytes()
    wrapped = tool("msgcat", "--width=60", "-", data=data)
    assert wrapped != data
    assert texts(read_language(FILES[language])) == usable(wrapped)
    head = wrapped.partition(b"\n\n")[0]
    assert update(wrapped, "a.po").partition(b"\n\n")[2] == data.partition(b"\n\n")[2]
    assert update(wrapped, "a.po").partition(b"\n\n")[0] == head


# --- pybabel --------------------------------------------------------------------------------------------------------


def pybabel(folder: Path, *arguments: str) -> None:
    """Run pybabel."""
    subprocess.run(
        [sys.executable, "-m", "babel.messages.frontend", *arguments], cwd=folder, check=True, capture_output=True
    )


def test_pybabel_update(tmp_path: Path) -> None:
    """``pybabel update`` keeps every text of a copy, and after ours the entries are as they were."""
    shutil.copytree(LOCALES, tmp_path / "locales")
    pybabel(tmp_path, "update", "-D", DOMAIN, "-i", f"locales/{DOMAIN}.pot", "-d", "locales", "--no-wrap", "--previous")
    for language, file in FILES.items():
        copy = tmp_path / "locales" / file.relative_to(LOCALES)
        assert texts(read_language(copy)) == texts(read_language(file))
        ours = update(copy.read_bytes(), "a.po")
        assert ours.partition(b"\n\n")[2] == file.read_bytes().partition(b"\n\n")[2], language


def test_pybabel_compile(tmp_path: Path) -> None:
    """``pybabel compile`` makes of a copy what a host may install in place of the ``.po``."""
    shutil.copytree(LOCALES, tmp_path / "locales")
    pybabel(tmp_path, "compile", "-D", DOMAIN, "-d", "locales")
    for file in FILES.values():
        compiled = (tmp_path / "locales" / file.relative_to(LOCALES)).with_suffix(".mo")
        assert texts(read_language(compiled)) == texts(read_language(file))


def test_pybabel_update_of_changed_english(tmp_path: Path) -> None:
    """After ``pybabel update`` to other English, no text is lost to ours."""
    changed = catalog({"expired": english("expired").replace("has expired", "ran out")})
    (tmp_path / "a.pot").write_bytes(extract(changed))
    (tmp_path / "a.po").write_bytes(GERMAN)
    pybabel(tmp_path, "update", "-i", "a.pot", "-o", "a.po", "-l", "de", "--no-wrap", "--previous")
    ours = update((tmp_path / "a.po").read_bytes(), "a.po", changed)
    assert ours.partition(b"\n\n")[2] == update(GERMAN, "a.po", changed).partition(b"\n\n")[2]


def test_header_only_file_is_accepted() -> None:
    """A file with a header alone is one, for them and for us: every text comes in, to be translated."""
    updated = update(HEAD.encode(), "a.po")
    assert usable(updated) == {}
    assert updated.count(b"msgctxt") == len(TEXTS)
    tool("msgcat", "-", data=updated)
