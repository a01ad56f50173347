"""The command ``mcp-auth-failures`` as an operator runs it; ``translations``: test_cli_translations.py."""

import json
import os
import subprocess
import sys
import unicodedata
from email.parser import Parser
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mcp_auth_failures import Refusal, Wording, load_catalog
from mcp_auth_failures.catalog import packaged
from mcp_auth_failures.cli import main
from mcp_auth_failures.operating import template

CASES = Path(__file__).parent / "cases" / "overrides"
CATALOG = load_catalog()
SHIPPED = Wording(env=False)
REASONS = ", ".join(CATALOG.reasons)


class Run(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command in this process, on a terminal of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: object) -> Run:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        return Run(code, *capsys.readouterr())

    return run


def _process(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own, as a shell does: its output is buffered."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "mcp_auth_failures", *map(os.fspath, arguments)],
        env={**os.environ, "PYTHONUNBUFFERED": "", "COLUMNS": "100", **environment},
        cwd=cwd,
        capture_output=True,
    )


def _override(path: Path, messages: str) -> Path:
    path.write_text(f"version: 1\nmessages:\n  {messages}\n", "utf-8")
    return path


def _po(folder: Path, locale: str, text: str, english: str = CATALOG["expired"].failure.message) -> Path:
    """A gettext folder with one text; gives the file."""
    file = folder / locale / "LC_MESSAGES" / "mcp_auth_failures.po"
    file.parent.mkdir(parents=True)
    file.write_text(f'msgctxt "reasons.expired.message"\nmsgid "{english}"\nmsgstr "{text}"\n', "utf-8")
    return file


# --- check ----------------------------------------------------------------------------------------------------------

ALL_CASES = f"""\
bad_changes_action.yaml:4:13: error: messages.expired.action: is not wording: only what is said can be changed here
bad_language.yaml:4:12: error: messages.expired.e n: 'e n' is not a language tag such as en or pt-BR (did you mean 'en'?)
bad_latin1.yaml:3: error: is not UTF-8: byte 0xe9 at offset 39
bad_list.yaml:3:12: error: messages.expired: expected a text in quotes, found a list
bad_misspelt_field.yaml:1:1: error: messages: is missing
bad_misspelt_field.yaml:2:1: error: mesages: 'mesages' is not one of version, messages (did you mean 'messages'?)
bad_misspelt_reason.yaml:3:3: error: messages.expird: 'expird' is not one of {REASONS} (did you mean 'expired'?)
bad_nothing.yaml:3:11: error: messages.expired: expected a text in quotes, found nothing
bad_number.yaml:3:12: error: messages.expired: expected a text in quotes, found the number '12:30:00'
bad_placeholder.yaml:3:12: error: messages.expired: the placeholder 'kontakt' is not one of server, contact (did you mean 'contact'?)
bad_recursive_alias.yaml:3:12: error: the alias *m is not allowed; write the text out
bad_scope_where_none.yaml:3:12: error: messages.expired: the placeholder 'scope' is not one of server, contact
bad_tab.yaml:3:1: error: a tab is not allowed here; indent with spaces
bad_top_level_list.yaml:1:1: error: expected a mapping, found a list
bad_two_documents.yaml:3:1: error: a second document begins here; a file holds one
bad_version.yaml:1:10: error: version: '2' is not one of 1
good_comment_only.yaml: note: overrides nothing: it is empty or holds comments alone
good_empty.yaml: note: overrides nothing: it is empty or holds comments alone
good_two_languages.yaml:4:9: note: messages.not_provisioned.en: uses {{contact}}, which has no value: give Wording(contact=…) or MCP_AUTH_FAILURES_CONTACT
good_two_languages.yaml:5:9: note: messages.not_provisioned.de: uses {{contact}}, which has no value: give Wording(contact=…) or MCP_AUTH_FAILURES_CONTACT
warn_comment_eats_text.yaml:3:12: warning: messages.expired: ends where ' #' begins a comment; put the whole text in quotes
"""  # noqa: E501  # as it is printed


def test_check_of_every_case(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every case file is told about in one run, a line for each finding, as editors and CI read them."""
    monkeypatch.chdir(CASES)
    names = sorted(path.name for path in CASES.iterdir())
    assert run("check", *names) == Run(1, ALL_CASES, f"{len(names)} looked over, 17 findings\n")


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir()))
def test_check_of_each_case(run: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A good file is no finding, a bad or odd one is; a note is none."""
    monkeypatch.chdir(CASES)
    lines = [line for line in ALL_CASES.splitlines() if line.startswith(f"{name}:")]
    serious = sum(" note: " not in line for line in lines)
    assert (serious == 0) == name.startswith("good_")
    found = run("check", name)
    assert found.code == bool(serious)
    assert found.out.splitlines() == lines
    number = {0: "no findings", 1: "1 finding", 2: "2 findings"}[serious]
    assert found.err == f"1 looked over, {number}\n"


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir()))
def test_check_for_a_program(run: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The same findings as JSON, with the same exit code."""
    monkeypatch.chdir(CASES)
    text, found = run("check", name), run("check", "--format", "json", name)
    assert (found.code, found.err) == (text.code, text.err)
    lines = []
    for finding in json.loads(found.out):
        assert list(finding) == ["severity", "file", "line", "column", "path", "message"]
        place = ":".join(str(finding[part]) for part in ("file", "line", "column") if finding[part] is not None)
        lines.append(": ".join(filter(None, (place, finding["severity"], finding["path"], finding["message"]))))
    assert lines == text.out.splitlines()


def test_check_for_a_program_exactly(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON has a list of findings, and an empty one where there are none."""
    monkeypatch.chdir(CASES)
    assert run("check", "--format", "json", "good_block_scalar.yaml").out == "[]\n"
    assert run("check", "--format", "json", "bad_latin1.yaml").out == (
        '[\n  {\n    "severity": "error",\n    "file": "bad_latin1.yaml",\n    "line": 3,\n    "column": null,\n'
        '    "path": "",\n    "message": "is not UTF-8: byte 0xe9 at offset 39"\n  }\n]\n'
    )


def test_check_knows_what_the_environment_gives(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A detail that a variable gives needs no note."""
    monkeypatch.setenv("MCP_AUTH_FAILURES_CONTACT", "it@acme.example")
    assert run("check", CASES / "good_two_languages.yaml") == Run(0, "", "1 looked over, no findings\n")


def test_check_of_folders(run: Any, tmp_path: Path) -> None:
    """Gettext folders and their files are looked over like override files, in one run."""
    file = _po(tmp_path / "a", "gl", "Caducou.", english="The token has expired.")
    (tmp_path / "b").mkdir()
    path = "reasons.expired.message"
    assert run("check", tmp_path / "a", file, tmp_path / "b", tmp_path / "c") == Run(
        1,
        f"{file}:2: warning: {path}: was translated from an older English text\n"
        * 2
        + f"{tmp_path}/b: error: holds no <language>/LC_MESSAGES/mcp_auth_failures.po or .mo\n"
        f"{tmp_path}/c: error: cannot be read: No such file or directory\n",
        "4 looked over, 4 findings\n",
    )


def test_check_of_a_name_with_a_colon(run: Any, tmp_path: Path) -> None:
    """Severity stands after the place, whatever the file is called."""
    path = _override(tmp_path / "acme: new.yaml", "expired: 5")
    assert (
        run("check", path).out
        == f"{path}:3:12: error: messages.expired: expected a text in quotes, found the number '5'\n"
    )


def test_check_of_very_many_faults(run: Any, tmp_path: Path) -> None:
    """A file with more faults than are told hides no other file, and its findings go where all the others go."""
    many = _override(tmp_path / "many.yaml", "\n  ".join(f"x{number}: a" for number in range(500)))
    odd = _override(tmp_path / "odd.yaml", "expired: Ask #help")
    found = run("check", many, odd)
    lines = found.out.splitlines()
    assert (found.code, found.err) == (1, "2 looked over, 102 findings\n")
    assert lines[0] == f"{many}:3:3: error: messages.x0: 'x0' is not one of {REASONS}"
    assert lines[100:] == [
        f"{many}: error: and more: only 100 faults are shown",
        f"{odd}:3:12: warning: messages.expired: ends where ' #' begins a comment; put the whole text in quotes",
    ]


def test_check_of_names_that_no_file_can_have(run: Any) -> None:
    """A name that is too long, or has a NUL in it, is a finding like any other."""
    assert run("check", "a" * 300, "a\0b") == Run(
        1,
        f"{'a' * 300}: error: cannot be read: File name too long\n"
        "'a\\x00b': error: cannot be read: no file has such a name\n",
        "2 looked over, 2 findings\n",
    )


# --- list -----------------------------------------------------------------------------------------------------------


def test_list(run: Any) -> None:
    """Every reason in a table, with status, action and sentence."""
    assert run("list") == Run(
        0,
        """\
REASON              STATUS  ACTION            MESSAGE
no_token            401     reconnect         This request carried no access token. Ask the user to
                                              connect this MCP server in their assistant's
                                              connector settings, then retry.
expired             401     refresh           The access token has expired. A client that holds a
                                              refresh token should renew it and retry; if renewal
                                              also fails, ask the user to reconnect this MCP server
                                              in their assistant's connector settings.
unverified          401     reconnect         The access token could not be verified for this
                                              server. Ask the user to reconnect this MCP server in
                                              their assistant's connector settings — a token issued
                                              for a different deployment will never verify here.
incomplete          401     reconnect         The access token verified but carries no usable
                                              identity. Ask the user to reconnect this MCP server
                                              in their assistant's connector settings.
not_provisioned     503     contact_operator  This server has no signing key provisioned, so no
                                              access token can be verified. Reconnecting will not
                                              help; the deployment's operator has to configure it.
surface_disabled    503     contact_operator  The MCP surface is switched off on this deployment.
                                              Reconnecting will not help; the deployment's operator
                                              has to enable it.
insufficient_scope  403     reconnect         The access token does not grant the scope this tool
                                              needs. Ask the user to reconnect this MCP server and
                                              approve the wider scope.
""",
        "",
    )


def _columns(text: str) -> int:
    """How many columns of a terminal a line takes."""
    return sum(
        0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )


@pytest.mark.parametrize("language", SHIPPED.languages)
@pytest.mark.parametrize("columns", [80, 100, 200])
def test_table_fits_the_terminal(run: Any, monkeypatch: pytest.MonkeyPatch, language: str, columns: int) -> None:
    """In every language the table keeps within the terminal, and has every character of every sentence."""
    monkeypatch.setenv("COLUMNS", str(columns))
    found = run("list", "--language", language)
    lines = found.out.splitlines()
    assert max(map(_columns, lines)) <= columns
    start = lines[0].index("MESSAGE")
    said = "".join(line[start:].replace(" ", "") for line in lines[1:])
    messages = (SHIPPED.describe(reason, language).message for reason in CATALOG.reasons)
    assert said == "".join(message.replace(" ", "") for message in messages)


def test_table_on_a_narrow_terminal(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no room, a sentence still has thirty columns."""
    monkeypatch.setenv("COLUMNS", "20")
    lines = run("list").out.splitlines()
    assert {line[46:] and len(line[46:]) <= 30 for line in lines} == {True}


@pytest.mark.parametrize("language", [None, "de", "zh-TW", "gl, ja;q=0.5"])
def test_list_for_a_program(run: Any, language: str | None) -> None:
    """The same as JSON, with what a client acts on and the language of each sentence."""
    found = run("list", "--format", "json", *(["--language", language] if language else []))
    assert (found.code, found.err) == (0, "")
    expected = [SHIPPED.describe(reason, language) for reason in CATALOG.reasons]
    assert json.loads(found.out) == [
        {
            "reason": failure.reason,
            "status": failure.status,
            "challenge": failure.challenge,
            "action": failure.action,
            "recoverable": failure.recoverable,
            "language": failure.language,
            "message": failure.message,
        }
        for failure in expected
    ]
    assert all(failure.message in found.out for failure in expected)


def test_list_in_the_operators_words(run: Any, tmp_path: Path) -> None:
    """Overrides, translations and details are those that are given."""
    first = _override(tmp_path / "1.yaml", 'expired: {en: "{server}, {contact}"}')
    second = _override(tmp_path / "2.yaml", 'expired: "never"\n  no_token: "One."')
    _po(tmp_path / "locales", "gl", "Caducou.")
    given = ["--overrides", first, "--overrides", second, "--translations", tmp_path / "locales"]
    details = ["--server", "Acme", "--contact", "it@acme.example"]
    said = {}
    for language in ("en", "gl"):
        found = json.loads(run("list", "--format", "json", "--language", language, *given, *details).out)
        said |= {(each["reason"], language): (each["message"], each["language"]) for each in found}
    assert [said[key] for key in [("expired", "en"), ("no_token", "en"), ("expired", "gl"), ("unverified", "gl")]] == [
        ("Acme, it@acme.example", "en"),
        ("One.", None),
        ("never", None),
        (CATALOG["unverified"].failure.message, "en"),
    ]


# --- explain --------------------------------------------------------------------------------------------------------


def test_explain(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One reason for a person who has never seen it: what it means, what is said and sent, where that comes from."""
    monkeypatch.setenv("COLUMNS", "80")
    arguments = ["--language", "de-AT", "--scope", "files:read", "--resource-metadata", "https://acme.example/meta"]
    assert run("explain", "insufficient_scope", *arguments) == Run(
        0,
        """\
insufficient_scope: A valid token that lacks the scope this particular call needs.

message      Das Zugriffstoken gewährt nicht den Scope, den dieses Tool
             benötigt. Bitten Sie den Benutzer, diesen MCP-Server erneut zu
             verbinden und den umfassenderen Scope zu genehmigen.
language     de (shipped)
action       reconnect: Re-run the authorization flow; a human has to approve
             it again.
recoverable  yes, by the caller
status       403 Forbidden
challenge    Bearer error="insufficient_scope", scope="files:read",
             resource_metadata="https://acme.example/meta",
             error_description="The access token does not grant the scope this
             tool needs. Ask the user to reconnect this MCP server and approve
             the wider scope."
""",
        "",
    )
    assert run("explain", "surface_disabled") == Run(
        0,
        """\
surface_disabled: The whole MCP surface is switched off for this deployment.

message      The MCP surface is switched off on this deployment. Reconnecting
             will not help; the deployment's operator has to enable it.
language     en (shipped)
action       contact_operator: Nothing the client can do; the deployment has to
             change.
recoverable  no, not by the caller
status       503 Service Unavailable
challenge    none
""",
        "",
    )


@pytest.mark.parametrize("reason", CATALOG.reasons)
@pytest.mark.parametrize("language", [None, "de", "ja"])
def test_explain_for_a_program(run: Any, reason: str, language: str | None) -> None:
    """The JSON-RPC error, and the whole HTTP answer, are those that a client gets."""
    arguments = ["--scope", "a", "--scope", "b", "--resource-metadata", "https://acme.example/"]
    arguments += ["--language", language] if language else []
    sent = SHIPPED.refusal(reason, language, scopes=["a", "b"], resource_metadata_url="https://acme.example/")
    error = run("explain", reason, "--format", "json", *arguments)
    assert (error.code, error.err, json.loads(error.out)) == (0, "", sent.json_rpc_error)
    answer = run("explain", reason, "--format", "http", *arguments)
    start, rest = answer.out.split("\n", 1)
    head, body = rest.split("\n\n", 1)
    assert start.startswith(f"HTTP/1.1 {sent.status} ")
    headers = dict(Parser().parsestr(head).items())
    assert headers == sent.headers
    assert Refusal.from_response(sent.status, headers, body.removesuffix("\n")) == sent


def _source(out: str) -> str:
    (line,) = (line for line in out.splitlines() if line.startswith("language "))
    return line.removeprefix("language").strip()


def test_explain_says_where_the_text_comes_from(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source of a text is a file and line, or that it is shipped."""
    monkeypatch.setenv("COLUMNS", "500")
    every = _override(tmp_path / "1.yaml", "no_token: One.")
    some = _override(tmp_path / "2.yaml", 'expired:\n    de: "Zwei."\n  insufficient_scope: "{scope}"')
    po = _po(tmp_path / "locales", "gl", "Caducou.")
    monkeypatch.setenv("MCP_AUTH_FAILURES_OVERRIDES", str(every))
    given = ["--overrides", some, "--translations", tmp_path / "locales"]
    asked: list[tuple[list[str], str]] = [
        (["no_token", "--language", "de"], f"every language ({every}:3)"),
        (["expired", "--language", "de-AT"], f"de ({some}:4)"),
        (["expired", "--language", "gl"], f"gl ({po}:2)"),
        (["expired", "--language", "mi"], "en (shipped)"),
        (["expired", "--language", "mi, ja;q=0.1"], "ja (shipped)"),
        (["insufficient_scope", "--scope", "a"], f"every language ({some}:5)"),
        (["insufficient_scope"], "en (shipped)"),
        (["unverified", "--language", "fr"], "fr (shipped)"),
    ]
    assert [_source(run("explain", *arguments, *given).out) for arguments, _ in asked] == [place for _, place in asked]


def test_explain_of_a_folder_like_the_shipped(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the shipped folder is a host's own: its file and line are told."""
    monkeypatch.setenv("COLUMNS", "500")
    folder = Path(str(packaged("locales")))
    file = folder / "de" / "LC_MESSAGES" / "mcp_auth_failures.po"
    line = file.read_text("utf-8").split("\n").index('msgctxt "reasons.expired.message"') + 2
    assert _source(run("explain", "expired", "--language", "de", "--translations", folder).out) == f"de ({file}:{line})"


def test_environment_counts(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command says what a server with this environment says: its variables win over the options."""
    monkeypatch.setenv(
        "MCP_AUTH_FAILURES_OVERRIDES", str(_override(tmp_path / "1.yaml", 'expired: "{server} {contact}"'))
    )
    monkeypatch.setenv("MCP_AUTH_FAILURES_SERVER", "Acme")
    monkeypatch.setenv("MCP_AUTH_FAILURES_LANGUAGE", "de")
    other = _override(tmp_path / "2.yaml", "expired: never")
    found = run("explain", "expired", "--format", "json", "--overrides", other, "--server", "x", "--contact", "y")
    error = json.loads(found.out)
    assert (error["message"], error["data"]["language"]) == ("Acme y", "de")


# --- template -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("languages", [[], ["de"], ["de", "zh_hant", "gl"]])
def test_template(run: Any, tmp_path: Path, languages: list[str]) -> None:
    """A file to begin with goes to the screen or to a file; the languages may be spelled as gettext does."""
    arguments = [argument for language in languages for argument in ("--language", language)]
    tags = [{"zh_hant": "zh-Hant"}.get(language, language) for language in languages] or ["en"]
    expected = template(SHIPPED, tags)
    assert run("template", *arguments) == Run(0, expected, "")
    path = tmp_path / "acme.yaml"
    assert run("template", *arguments, "-o", path) == Run(0, "", f"{path} is ready to be edited\n")
    assert path.read_text("utf-8") == expected


@pytest.mark.parametrize("languages", [["en"], ["de", "gl"], ["gl"], list(SHIPPED.languages)])
def test_template_is_ready(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, languages: list[str]) -> None:
    """As it is written it has nothing to mend, and a server that reads it says what it said."""
    arguments = [argument for language in languages for argument in ("--language", language)]
    before = [run("list", "--format", "json", "--language", language) for language in ("en", "de", "mi")]
    run("template", *arguments, "-o", tmp_path / "acme.yaml")
    assert run("check", tmp_path / "acme.yaml") == Run(0, "", "1 looked over, no findings\n")
    monkeypatch.setenv("MCP_AUTH_FAILURES_OVERRIDES", str(tmp_path / "acme.yaml"))
    assert [run("list", "--format", "json", "--language", language) for language in ("en", "de", "mi")] == before


def test_template_has_the_wording_in_force(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an operator says already is what there is to edit."""
    monkeypatch.setenv("MCP_AUTH_FAILURES_OVERRIDES", str(_override(tmp_path / "1.yaml", "expired: {de: Abgelaufen.}")))
    assert '\n  expired:\n    de: "Abgelaufen."\n' in run("template", "--language", "de").out


def test_template_replaces_no_file(run: Any, tmp_path: Path) -> None:
    """A file that is there is somebody's work, and stays; what cannot be written is wrong use."""
    path = tmp_path / "acme.yaml"
    path.write_text("mine")
    for target, why in [
        (path, "File exists"),
        (tmp_path / "a" / "b", "No such file or directory"),
        (tmp_path, "File exists"),
    ]:
        found = run("template", "-o", target)
        assert (found.code, found.out) == (2, "")
        assert found.err.splitlines()[-1] == f"mcp-auth-failures template: error: {target}: {why}"
    assert path.read_text() == "mine"


# --- wrong use ------------------------------------------------------------------------------------------------------

NO_TAG = "is not a language tag such as en or pt-BR"
WRONG_USE = [
    ([], "mcp-auth-failures: error: the following arguments are required: COMMAND"),
    (["check"], "mcp-auth-failures check: error: the following arguments are required: FILE|FOLDER"),
    (["explain"], "mcp-auth-failures explain: error: the following arguments are required: REASON"),
    (
        ["explain", "expird"],
        f"mcp-auth-failures explain: error: 'expird' is not one of {REASONS} (did you mean 'expired'?)",
    ),
    (
        ["explain", "Expired"],
        f"mcp-auth-failures explain: error: 'Expired' is not one of {REASONS} (did you mean 'expired'?)",
    ),
    (["explain", "zzz"], f"mcp-auth-failures explain: error: 'zzz' is not one of {REASONS}"),
    (
        ["explain", "expired", "--scope", "a b"],
        "mcp-auth-failures explain: error: argument --scope: 'a b' is not a scope-token: "
        "printable ASCII without space, '\"' and '\\'",
    ),
    (
        ["explain", "expired", "--scope", "error=x"],
        "mcp-auth-failures explain: error: argument --scope: 'error=x' contains 'error=', "
        "which clients would read as that parameter",
    ),
    (
        ["explain", "expired", "--resource-metadata", "http://acme.example"],
        "mcp-auth-failures explain: error: argument --resource-metadata: 'http://acme.example' "
        "is not an absolute https URL (http is for loopback alone)",
    ),
    (
        ["template", "--language", "e n"],
        f"mcp-auth-failures template: error: argument --language: 'e n' {NO_TAG} (did you mean 'en'?)",
    ),
    (
        ["template", "--language", "xx"],
        "mcp-auth-failures template: error: argument --language: 'xx' is in no language that is known",
    ),
]


@pytest.mark.parametrize(("arguments", "last"), WRONG_USE, ids=[" ".join(given) or "nothing" for given, _ in WRONG_USE])
def test_wrong_use(run: Any, arguments: list[str], last: str) -> None:
    """Wrong use is told with the usage and the nearest name, on stderr, and ends with 2."""
    found = run(*arguments)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("usage: mcp-auth-failures")
    assert found.err.splitlines()[-1] == last


def test_unknown_command(run: Any) -> None:
    """A command that there is none of is told with those there are."""
    found = run("lst")
    assert (found.code, found.out) == (2, "")
    last = found.err.splitlines()[-1]
    assert last.startswith("mcp-auth-failures: error: argument COMMAND: invalid choice: 'lst' ")
    assert all(name in last for name in ("list", "explain", "template", "check", "translations"))


BAD_WORDING = [
    (["--overrides", "nowhere.yaml"], "nowhere.yaml: cannot be read: No such file or directory"),
    (["--translations", "nowhere"], "nowhere: cannot be read: No such file or directory"),
    (["--server", " "], "Wording(server=…): expected a text of at most 500 characters, found ' '"),
    (["--contact", "a\nb"], "Wording(contact=…): a line break is not allowed in a text"),
]


@pytest.mark.parametrize("command", [["list"], ["explain", "expired"]])
@pytest.mark.parametrize(("arguments", "fault"), BAD_WORDING)
def test_wording_that_cannot_be_used(run: Any, command: list[str], arguments: list[str], fault: str) -> None:
    """What is wrong with a file, a folder or a detail is told on stderr, and ends with 1."""
    assert run(*command, *arguments) == Run(1, "", f"{fault}\n")


def test_every_fault_of_the_wording_is_told(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is wrong is told at once, variables included; ``template`` reads them too."""
    monkeypatch.chdir(CASES)
    monkeypatch.setenv("MCP_AUTH_FAILURES_LANGUAGE", "e n")
    monkeypatch.setenv("MCP_AUTH_FAILURES_OVERRIDES", "bad_misspelt_field.yaml")
    faults = [
        f"MCP_AUTH_FAILURES_LANGUAGE: 'e n' {NO_TAG} (did you mean 'en'?)",
        "bad_misspelt_field.yaml:1:1: messages: is missing",
        "bad_misspelt_field.yaml:2:1: mesages: 'mesages' is not one of version, messages (did you mean 'messages'?)",
    ]
    assert run("template") == Run(1, "", "\n".join([*faults, ""]))
    faults.append("bad_version.yaml:1:10: version: '2' is not one of 1")
    assert run("list", "--overrides", "bad_version.yaml") == Run(1, "", "\n".join([*faults, ""]))


@pytest.mark.parametrize("command", [[], ["list"], ["explain"], ["template"], ["check"]])
def test_help(run: Any, command: list[str]) -> None:
    """Each command says what it is for and explains each of its options."""
    found = run(*command, "--help")
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith(" ".join(["usage: mcp-auth-failures", *command, ""]))
    purposes = {
        "list": "show every reason in a table",
        "explain": "show what a client is told for one reason",
        "template": "write an override file with today's wording, to be edited",
        "check": "look over override files and gettext folders before a server does",
    }
    for name, purpose in purposes.items():
        if command == [name]:
            assert f"\n\n{purpose.capitalize()}.\n\n" in found.out
        elif not command:
            assert f"    {name} " in found.out
            assert purpose in " ".join(found.out.split())


# --- a process of its own -------------------------------------------------------------------------------------------


def test_process() -> None:
    """``python -m mcp_auth_failures`` is the command: stdout has what was asked for alone, and it ends with a code."""
    found = _process("explain", "expired", "--format", "json", "--language", "ja")
    assert (found.returncode, found.stderr) == (0, b"")
    assert json.loads(found.stdout) == SHIPPED.refusal("expired", "ja").json_rpc_error
    found = _process("check", "bad_list.yaml", cwd=CASES)
    assert (found.returncode, found.stderr) == (1, b"1 looked over, 1 finding\n")
    assert found.stdout == b"bad_list.yaml:3:12: error: messages.expired: expected a text in quotes, found a list\n"
    found = _process("explain", "expird")
    assert (found.returncode, found.stdout) == (2, b"")


def test_process_logs_on_stderr(tmp_path: Path) -> None:
    """What is logged about a gettext folder goes to stderr, and what was asked for to stdout."""
    _po(tmp_path / "locales", "gl", "Caducou.", english="The token has expired.")
    _po(tmp_path / "locales", "fr", "a\\")
    found = _process(
        "explain", "expired", "--format", "json", "--language", "gl", "--translations", "locales", cwd=tmp_path
    )
    assert json.loads(found.stdout)["message"] == "Caducou."
    assert found.stderr.decode().splitlines() == [
        "fr is left out:",
        "locales/fr/LC_MESSAGES/mcp_auth_failures.po:3: is not a line of a .po: "
        "a text is not closed by a quote, or a quote in it lacks its backslash",
        "locales/gl/LC_MESSAGES/mcp_auth_failures.po was translated from an older English text and is used as it is: "
        "reasons.expired.message",
    ]


@pytest.mark.parametrize("command", [["list"], ["template"], ["explain", "expired"], ["check", "bad_list.yaml"]])
def test_reader_that_has_seen_enough(command: list[str]) -> None:
    """When the reader of its output goes, as ``head`` does, the command ends without a traceback."""
    read, write = os.pipe()
    os.close(read)
    found = subprocess.run(
        [sys.executable, "-m", "mcp_auth_failures", *command],
        cwd=CASES,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
        stdout=write,
        stderr=subprocess.PIPE,
    )
    os.close(write)
    assert found.returncode == 1
    assert found.stderr in (b"", b"1 looked over, 1 finding\n")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
def test_terminal_that_speaks_no_utf8(encoding: str) -> None:
    """A terminal or pipe of another encoding is no reason to fail: a sentence in Japanese is printed all the same."""
    found = _process("list", "--language", "ja", PYTHONIOENCODING=encoding)
    assert (found.returncode, found.stderr) == (0, b"")
    assert found.stdout.startswith(b"REASON ")


def test_template_in_a_pipe_is_utf8() -> None:
    """What goes into a file by the shell can be read by a server, on a system with another encoding too."""
    found = _process("template", "--language", "de", PYTHONIOENCODING="cp1252")
    assert (found.returncode, found.stderr) == (0, b"")
    assert found.stdout.decode("utf-8") == template(SHIPPED, ["de"])


@pytest.mark.parametrize("arguments", [[], ["--format", "json"]])
def test_file_whose_name_is_not_utf8(tmp_path: Path, arguments: list[str]) -> None:
    """A file name of any bytes is looked over and told."""
    name = os.fsdecode(b"caf\xe9.yaml")
    (tmp_path / name).write_text("version: 1\nmessages: 5\n")
    found = _process("check", name, *arguments, cwd=tmp_path, PYTHONIOENCODING="utf-8:strict")
    assert found.stderr == b"1 looked over, 1 finding\n"
    assert found.returncode == 1
    assert b"expected a mapping, found the number '5'" in found.stdout
