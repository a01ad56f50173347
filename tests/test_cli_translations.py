"""``mcp-auth-failures translations …``: a translator's day, as the terminal shows it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_gettext_files import BAD, CASES
from test_translating import GERMAN, PLACE, TOTAL, copy_of_ours

from mcp_auth_failures import load_catalog
from mcp_auth_failures.catalog import packaged
from mcp_auth_failures.cli import main
from mcp_auth_failures.gettext_files import read_po
from mcp_auth_failures.translating import extract
from mcp_auth_failures.translations import DOMAIN

LOCALES = Path(str(packaged("locales")))
TEXTS = load_catalog().texts
LAST_OF_GERMAN = read_po(GERMAN, "a.po")["reasons.insufficient_scope.message"].text.encode()


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A copy of our folder with four languages."""
    return copy_of_ours(tmp_path / "locales", "de", "fr", "ja", "zh-Hans")


class Terminal:
    """Runs the command here, and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        """The exit code, the output and the errors of ``mcp-auth-failures translations …``."""
        try:
            code = main(["translations", *map(str, arguments)])
        except SystemExit as error:
            code = int(error.code or 0)
        return (code, *self._capsys.readouterr())

    def refusal(self, *arguments: object) -> str:
        """The last line of errors of a wrong use, after the name of the command."""
        code, out, errors = self(*arguments)
        assert (code, out) == (2, "")
        return errors.splitlines()[-1].partition(": error: ")[2]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Terminal:
    """What a translator types."""
    return Terminal(capsys)


def po(root: Path, locale: str) -> Path:
    """The file of a locale."""
    return root / locale / "LC_MESSAGES" / f"{DOMAIN}.po"


def everything(root: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


# --- wrong use ------------------------------------------------------------------------------------------------------


def test_help_names_every_command(run: Terminal) -> None:
    """Each command is there, with what it does."""
    code, out, _ = run("--help")
    assert code == 0
    for command in ("extract", "update", "new", "status", "check"):
        assert f"    {command} " in out
        code, more, _ = run(command, "--help")
        assert code == 0
        assert "--locales FOLDER" in more


def test_no_command(run: Terminal) -> None:
    """Without a command nothing is done."""
    assert run.refusal() == "the following arguments are required: COMMAND"


@pytest.mark.parametrize(
    "command", [["extract"], ["update"], ["new", "gl"], ["status"], ["check"]], ids=lambda it: it[0]
)
def test_wrong_folder(run: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    """A folder that is not there is said, whether it was named or is the checkout's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    for folder, arguments in [
        ("locales", []),
        ("nowhere", ["--locales", "nowhere"]),
        ("file", ["--locales", "file"]),
        ("", ["--locales", ""]),
        ("a\0b", ["--locales", "a\0b"]),
    ]:
        assert run.refusal(*command, *arguments) == (
            f"argument --locales: there is no folder {folder!r} here; work in a checkout, or name it"
        )
    assert everything(tmp_path) == {"file": b""}


def test_folder_of_a_checkout_is_the_default(run: Terminal, ours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout no folder need be named."""
    monkeypatch.chdir(ours.parent)
    assert run("check") == (0, "", "nothing to mend\n")


# --- status ---------------------------------------------------------------------------------------------------------


def test_status_table(run: Terminal, ours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line a language, with its own name and its English one."""
    monkeypatch.setenv("COLUMNS", "80")
    po(ours, "de").write_bytes(GERMAN.replace(LAST_OF_GERMAN, b""))
    po(ours, "fr").write_bytes((CASES / "bad_unclosed_quote.po").read_bytes())
    po(ours, "ja").write_bytes(po(ours, "ja").read_bytes().replace(PLACE, PLACE + b"#, fuzzy\n"))
    assert run("status", "--locales", ours) == (
        0,
        "LANGUAGE  COMPLETE  FUZZY  MISSING  FAULTY  NAME\n"
        f"de        {TOTAL - 1}        0      1        0       Deutsch (German)\n"
        f"fr        0         0      {TOTAL}       1       français (French)\n"
        f"ja        {TOTAL - 1}        1      0        0       日本語 (Japanese)\n"
        f"zh-Hans   {TOTAL}        0      0        0       中文 (简体) (Chinese (Simplified))\n",
        "",
    )


@pytest.mark.parametrize("columns", ["1", "40", "60", "200", "0", "x"])
def test_status_table_fits_the_terminal(run: Terminal, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    """Whatever the terminal's width, each shipped language begins a line and no name is cut."""
    monkeypatch.setenv("COLUMNS", columns)
    code, out, errors = run("status", "--locales", LOCALES)
    assert (code, errors) == (0, "")
    head, *rows = (line for line in out.splitlines() if not line.startswith(" "))
    assert head.split() == ["LANGUAGE", "COMPLETE", "FUZZY", "MISSING", "FAULTY", "NAME"]
    assert [row.split()[0].replace("-", "_") for row in rows] == sorted(
        path.parts[-3] for path in LOCALES.glob("*/*/*.po")
    )
    assert all(row.split()[1:5] == [str(TOTAL), "0", "0", "0"] for row in rows)
    assert "Norwegian Bokmål" in " ".join(out.split())


def test_status_json(run: Terminal, ours: Path) -> None:
    """For a program the same, as JSON."""
    code, out, errors = run("status", "--locales", ours, "--format", "json")
    assert (code, errors) == (0, "")
    assert json.loads(out)[2:] == [
        {
            "language": "ja",
            "name": "日本語",
            "english_name": "Japanese",
            "complete": TOTAL,
            "fuzzy": 0,
            "missing": 0,
            "faulty": 0,
        },
        {
            "language": "zh-Hans",
            "name": "中文 (简体)",
            "english_name": "Chinese (Simplified)",
            "complete": TOTAL,
            "fuzzy": 0,
            "missing": 0,
            "faulty": 0,
        },
    ]
    assert "日本語" in out


def test_status_of_nothing(run: Terminal, tmp_path: Path) -> None:
    """A folder without languages is an empty table, and an empty list."""
    assert run("status", "--locales", tmp_path) == (0, "LANGUAGE  COMPLETE  FUZZY  MISSING  FAULTY  NAME\n", "")
    assert run("status", "--locales", tmp_path, "--format", "json") == (0, "[]\n", "")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_status_on_a_terminal_of_another_charset(encoding: str) -> None:
    """Where the output takes no Unicode, as when Windows writes to a file, there is still a table."""
    command = [sys.executable, "-m", "mcp_auth_failures", "translations", "status", "--locales", str(LOCALES)]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, encoding=encoding)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) > len(list(LOCALES.glob("*/*/*.po")))


# --- check ----------------------------------------------------------------------------------------------------------


def test_check_of_what_is_shipped(run: Terminal) -> None:
    """There is nothing to mend in what we ship."""
    assert run("check", "--locales", LOCALES) == (0, "", "nothing to mend\n")


def test_check(run: Terminal, ours: Path) -> None:
    """Everything is said at once, and the exit code is 1."""
    (ours / f"{DOMAIN}.pot").write_bytes(b"")
    po(ours, "de").write_bytes(GERMAN.replace(LAST_OF_GERMAN, LAST_OF_GERMAN[:-1]))
    po(ours, "fr").write_bytes((CASES / "bad_unclosed_quote.po").read_bytes())
    stale = f"{ours / (DOMAIN + '.pot')}: is not what the catalog says now; run `translations update`"
    line = GERMAN[: GERMAN.index(LAST_OF_GERMAN)].count(b"\n")  # of the msgid
    german = f"{po(ours, 'de')}:{line}: reasons.insufficient_scope.message: does not end in '.'"
    french = f"{po(ours, 'fr')}{BAD['bad_unclosed_quote.po']}"
    assert run("check", "--locales", ours) == (1, "", f"{stale}\n{german}\n{french}\n")
    assert run("check", "--locales", ours, "de") == (1, "", f"{stale}\n{german}\n")
    (ours / f"{DOMAIN}.pot").write_bytes(extract())
    assert run("check", "de", "ja", "--locales", ours) == (1, "", f"{german}\n")
    assert run("check", "ja", "zh-hans", "ZH_HANS", "--locales", ours) == (0, "", "nothing to mend\n")


def test_check_of_a_language_that_is_not_there(run: Terminal, ours: Path) -> None:
    """A language that the folder has not is not found to be in order."""
    code, out, errors = run("check", "gl", "--locales", ours)
    assert code != 0
    assert out == ""
    assert "gl" in errors.splitlines()[-1]


def test_check_of_an_unknown_language(run: Terminal, ours: Path) -> None:
    """What is no language is refused, with the nearest."""
    assert run.refusal("check", "xx", "--locales", ours) == "argument LOCALE: 'xx' is in no language that is known"
    assert run.refusal("check", "de@euro", "--locales", ours) == (
        "argument LOCALE: 'de@euro' is not a language tag such as en or pt-BR (did you mean 'de'?)"
    )


# --- update ---------------------------------------------------------------------------------------------------------


def test_update_of_what_is_up_to_date(run: Terminal, tmp_path: Path) -> None:
    """Where nothing changed nothing is written, and nothing is said."""
    shutil.copytree(LOCALES, tmp_path / "locales")
    before = everything(tmp_path)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert run("update", "--locales", tmp_path / "locales") == (0, "", "")
    assert everything(tmp_path) == before
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == times


def test_update(run: Terminal, ours: Path) -> None:
    """The template and every stale file are written, whole, with the rights that they had; the second time none is."""
    up_to_date = everything(ours)
    (ours / f"{DOMAIN}.pot").unlink()
    stale = po(ours, "de")
    stale.write_bytes(GERMAN.replace(PLACE, b":1\n"))
    stale.chmod(0o600)
    assert run("update", "--locales", ours) == (0, "", f"wrote {ours / (DOMAIN + '.pot')}\nwrote {stale}\n")
    assert everything(ours) == up_to_date
    assert stale.stat().st_mode & 0o777 == 0o600
    assert run("update", "--locales", ours) == (0, "", "")


def test_update_passes_over_a_broken_file(run: Terminal, ours: Path) -> None:
    """A file that cannot be read is left as it is and said, and the others are updated all the same."""
    broken = (CASES / "bad_merge_conflict.po").read_bytes()
    po(ours, "de").write_bytes(broken)
    po(ours, "zh_Hans").write_bytes(po(ours, "zh_Hans").read_bytes().replace(PLACE, b":1\n"))
    assert run("update", "--locales", ours) == (
        1,
        "",
        f"wrote {po(ours, 'zh_Hans')}\n{po(ours, 'de')}{BAD['bad_merge_conflict.po']}\n",
    )
    assert po(ours, "de").read_bytes() == broken
    assert [path.name for path in po(ours, "de").parent.iterdir()] == [f"{DOMAIN}.po"]


def test_update_does_not_touch_a_compiled_file(run: Terminal, ours: Path) -> None:
    """A language that is there as ``.mo`` alone is not written over with text."""
    compiled = po(ours, "de").with_suffix(".mo")
    po(ours, "de").unlink()
    compiled.write_bytes(b"\xde\x12\x04\x95")
    code, out, errors = run("update", "--locales", ours)
    assert (code, out) == (1, "")
    assert errors.startswith(f"{compiled}:")
    assert compiled.read_bytes() == b"\xde\x12\x04\x95"


# --- new ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "locale", "name"),
    [
        ("gl", "gl", "Galician"),
        ("pt-br", "pt_BR", "Portuguese (Brazil)"),
        ("ZH_hant", "zh_Hant", "Chinese (Traditional)"),
        ("sr_latn", "sr_Latn", "Serbian (Latin)"),
        ("es_419", "es_419", "Spanish (Latin America)"),
    ],
)
def test_new(run: Terminal, ours: Path, given: str, locale: str, name: str) -> None:
    """A language begins with a folder, spelled as gettext's are, and a file whose texts are all to be translated."""
    file = po(ours, locale)
    assert run("new", given, "--locales", ours) == (0, "", f"wrote {file}\n{name} begins in {file}\n")
    assert file.read_text(encoding="utf-8").startswith(f"# {name} messages of mcp-auth-failures.\n#\nmsgid")
    assert f'"Language: {locale}\\n"' in file.read_text(encoding="utf-8")
    code, _, errors = run("check", locale, "--locales", ours)
    assert code == 1
    assert len(errors.splitlines()) == TOTAL
    assert all(line.endswith("is not translated") for line in errors.splitlines())


@pytest.mark.parametrize("locale", ["de", "DE", "zh", "zh_Hans", "zh-hans", "ja"])
def test_new_of_what_is_there(run: Terminal, ours: Path, locale: str) -> None:
    """A language that is there, under whatever name, is not begun again."""
    before = everything(ours)
    there = {"zh": "zh_Hans", "zh-hans": "zh_Hans", "DE": "de"}.get(locale, locale)
    spelled = {"zh": "zh"}.get(locale, there)
    assert run.refusal("new", locale, "--locales", ours) == f"{spelled} is there already: {po(ours, there)}"
    assert everything(ours) == before


@pytest.mark.parametrize(
    ("locale", "message"),
    [
        ("xx", "'xx' is in no language that is known"),
        ("qqq", "'qqq' is in no language that is known"),
        ("gallego", "'gallego' is in no language that is known"),
        ("", "'' is not a language tag such as en or pt-BR"),
        ("../gl", "'../gl' is not a language tag such as en or pt-BR"),
        (".", "'.' is not a language tag such as en or pt-BR"),
        ("gl.UTF-8", "'gl.UTF-8' is not a language tag such as en or pt-BR (did you mean 'gl'?)"),
        ("gl;q=1", "'gl;q=1' is not a language tag such as en or pt-BR (did you mean 'gl'?)"),
        ("gl_XX", "'gl_XX' is not one of gl, gl_ES (did you mean 'gl'?)"),
    ],
)
def test_new_of_an_unknown_locale(run: Terminal, ours: Path, locale: str, message: str) -> None:
    """What CLDR does not know is refused, with the nearest, and nothing is written anywhere."""
    before = everything(ours.parent)
    refusal = run.refusal("new", locale, "--locales", ours)
    assert refusal == f"argument LOCALE: {message}"
    assert everything(ours.parent) == before


def test_new_of_a_locale_by_its_older_name(run: Terminal, ours: Path) -> None:
    """``zh_CN`` and ``zh_TW`` are how many know Chinese: the nearest is the script that is meant."""
    for locale, near in (("zh_CN", "zh_Hans"), ("zh_TW", "zh_Hant")):
        assert f"did you mean '{near}" in run.refusal("new", locale, "--locales", ours)


def test_new_of_part_of_a_tag(run: Terminal, ours: Path) -> None:
    """Of a tag no part is dropped without a word: ``zh_yue`` is Cantonese and ``pt_BRA`` is no locale."""
    for locale in ("zh_yue", "pt_BRA", "gl_ESP"):
        assert locale in run.refusal("new", locale, "--locales", ours)


# --- extract --------------------------------------------------------------------------------------------------------


def test_extract(run: Terminal, ours: Path, tmp_path: Path) -> None:
    """The template is written into the folder, or where it is said, if it is not there already."""
    template = ours / f"{DOMAIN}.pot"
    assert run("extract", "--locales", ours) == (0, "", "")
    template.write_bytes(b"old")
    assert run("extract", "--locales", ours) == (0, "", f"wrote {template}\n")
    assert template.read_bytes() == extract()
    assert run("extract", "--locales", ours, "-o", tmp_path / "a.pot") == (0, "", f"wrote {tmp_path / 'a.pot'}\n")
    assert (tmp_path / "a.pot").read_bytes() == extract()


def test_file_beside_the_written_one_is_left(run: Terminal, ours: Path) -> None:
    """What a person keeps beside a file, under whatever name, is not written over."""
    (ours / f"{DOMAIN}.pot").write_bytes(b"old")
    (ours / f"{DOMAIN}.pot.new").write_bytes(b"mine")
    names = {path.name for path in ours.iterdir()}
    assert run("extract", "--locales", ours)[0] == 0
    assert (ours / f"{DOMAIN}.pot.new").read_bytes() == b"mine"
    assert {path.name for path in ours.iterdir()} == names


def test_extract_to_the_screen(capsysbinary: pytest.CaptureFixture[bytes], ours: Path) -> None:
    """``-o -`` prints it, byte for byte, and writes nothing."""
    before = everything(ours)
    assert main(["translations", "extract", "--locales", str(ours), "-o", "-"]) == 0
    assert capsysbinary.readouterr() == (extract(), b"")
    assert everything(ours) == before


@pytest.mark.parametrize("place", ["nowhere/a.pot", "locales", "file/a.pot"])
def test_extract_to_where_it_cannot_be_written(run: Terminal, ours: Path, place: str) -> None:
    """A place that cannot be written to is said in a line, and nothing is left behind."""
    (ours.parent / "file").touch()
    before = everything(ours.parent)
    code, out, errors = run("extract", "--locales", ours, "-o", ours.parent / place)
    assert code in {1, 2}
    assert out == ""
    assert str(ours.parent / place) in errors.splitlines()[-1]
    assert everything(ours.parent) == before


# --- a day ----------------------------------------------------------------------------------------------------------


def test_a_translators_day(
    run: Terminal, ours: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Begin a language, translate, check, see the result, and find it complete."""
    monkeypatch.setenv("COLUMNS", "1000")
    assert run("new", "gl", "--locales", ours)[0] == 0
    file = po(ours, "gl")
    filled = file.read_text(encoding="utf-8")
    for text in TEXTS.values():
        filled = filled.replace(
            f'msgid "{text.english}"\nmsgstr ""', f'msgid "{text.english}"\nmsgstr "Ola: {text.english}"'
        )
    file.write_text(filled, encoding="utf-8")
    assert len(read_po(file.read_bytes(), "gl.po")) == TOTAL
    assert run("check", "gl", "--locales", ours) == (0, "", "nothing to mend\n")
    assert run("update", "--locales", ours) == (0, "", "")
    row = run("status", "--locales", ours)[1].splitlines()[3]
    assert row.split() == ["gl", str(TOTAL), "0", "0", "0", "galego", "(Galician)"]
    assert main(["explain", "no_token", "--language", "gl-ES", "--translations", str(ours)]) == 0
    shown = capsys.readouterr().out
    assert f"Ola: {TEXTS['reasons.no_token.message'].english}" in shown
    assert f"gl ({file}:" in shown
