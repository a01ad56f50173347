"""The operator's tools: a look at a file before a server reads it, and a file to begin with."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from servers import GIVE_UP_ROOT
from translated import ENGLISH, line_of, translate

from mcp_auth_failures import DataError, Wording, load_catalog
from mcp_auth_failures.operating import check, template
from mcp_auth_failures.overrides import read_override

CASES = Path(__file__).parent / "cases" / "overrides"
CATALOG = load_catalog()
SHIPPED = Wording(env=False)
REASONS = ", ".join(ENGLISH)


def _findings(path: Path, details: tuple[str, ...] = ("server", "contact")) -> list[str]:
    """What is found, without the name of the file or folder."""
    return [
        f"{finding.severity} {str(finding.fault).removeprefix(str(path)).lstrip(':/').strip()}"
        for finding in check(path, details)
    ]


def _write(folder: Path, content: str | bytes) -> Path:
    path = folder / "acme.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# --- an override file -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.glob("bad_*")))
def test_refused_file_is_told_as_a_server_tells_it(name: str) -> None:
    """What stops a server is an error, in the same words."""
    with pytest.raises(DataError) as raised:
        read_override(str(CASES / name), CATALOG, ("server", "contact"))
    assert [(finding.severity, finding.fault) for finding in check(CASES / name, ("server", "contact"))] == [
        ("error", fault) for fault in raised.value.faults
    ]


LOADED = {
    "good_block_scalar.yaml": [],
    "good_comment_only.yaml": ["note overrides nothing: it is empty or holds comments alone"],
    "good_empty.yaml": ["note overrides nothing: it is empty or holds comments alone"],
    "good_every_language.yaml": [],
    "good_two_languages.yaml": [],
    "warn_comment_eats_text.yaml": [
        "warning 3:12: messages.expired: ends where ' #' begins a comment; put the whole text in quotes"
    ],
}


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.glob("[!b]*")))
def test_loaded_file_may_be_odd(name: str) -> None:
    """What a server loads has no error; what is odd about it is told."""
    assert _findings(CASES / name) == LOADED[name]


CANNOT_TRAVEL = (
    "cannot travel in the header, whose error_description keeps the shipped English: "
    "it has other letters than ASCII, a backslash or a word followed by ="
)
IS_CUT = "ends where ' #' begins a comment; put the whole text in quotes"
LOGIN = "which makes some clients start a login that cannot help"
PARAMETER = "which clients read as a parameter of the challenge"


def _longer(reason: str, language: str, length: int) -> str:
    shipped = len(SHIPPED.describe(reason, language).message)
    return f"is {length} characters long, where the shipped text has {shipped}"


WARNINGS: list[tuple[str, str, list[str]]] = [
    # reason, what is written there, path and message of each warning
    ("expired", '"Ask Acme."', []),
    ("expired", '"Ask Acme." # a comment', []),
    ("expired", "'Ask in #help' # a comment", []),
    ("expired", ">\n    Ask in #help\n", []),
    ("expired", "Ask in #help", [f": {IS_CUT}"]),
    ("expired", "Ask#help", []),
    ("expired", "Ask  # a comment", [f": {IS_CUT}"]),
    ("expired", "Ask\n    Acme #help", [f": {IS_CUT}"]),
    ("expired", "\n    de: Fragen #help\n    fr: Demander\n", [f".de: {IS_CUT}"]),
    ("expired", '"It’s — “down”…"', []),
    ("expired", '"Café"', [f": {CANNOT_TRAVEL}"]),
    ("expired", "{en: Café}", [f".en: {CANNOT_TRAVEL}"]),
    ("expired", "{de: Café, fr: Café}", []),
    ("expired", r'"a\\b"', [f": {CANNOT_TRAVEL}"]),
    ("expired", '"Set debug=1."', [f": {CANNOT_TRAVEL}"]),
    ("insufficient_scope", '"Café {scope}"', []),
    ("expired", '"Ask for scope=x."', [f": {CANNOT_TRAVEL}", f": holds 'scope=', {PARAMETER}"]),
    ("expired", "{de: 'Mit ERROR=x.'}", [f".de: holds 'ERROR=', {PARAMETER}"]),
    ("expired", "{de: 'resource_metadata=x'}", [f".de: holds 'resource_metadata=', {PARAMETER}"]),
    ("expired", "{de: 'errors=x scope =x'}", []),
    ("not_provisioned", '"Unauthorized."', [f": holds 'Unauthorized', {LOGIN}"]),
    ("surface_disabled", "{fr: 'unauthorised'}", [f".fr: holds 'unauthorised', {LOGIN}"]),
    ("not_provisioned", '"Authentication required."', [f": holds 'Authentication required', {LOGIN}"]),
    ("surface_disabled", '"It says invalid_token."', [f": holds 'invalid_token', {LOGIN}"]),
    ("expired", '"Unauthorized: authentication required, invalid_token."', []),
    ("expired", f"{{de: {'a' * 2000}}}", [f".de: {_longer('expired', 'de', 2000)}"]),
    ("expired", f'"{"a" * 3 * len(ENGLISH["expired"])}"', []),
    ("expired", f'"{"a" * 2000}"', [f": {_longer('expired', 'en', 2000)}"]),
    ("expired", f"{{gl: {'a' * 2000}}}", [f".gl: {_longer('expired', 'en', 2000)}"]),
    (
        "surface_disabled",
        f"Unauthorized é scope=x {'a' * 1900} #",
        [
            f": {IS_CUT}",
            f": {CANNOT_TRAVEL}",
            f": holds 'scope=', {PARAMETER}",
            f": holds 'Unauthorized', {LOGIN}",
            f": {_longer('surface_disabled', 'en', 1923)}",
        ],
    ),
]


@pytest.mark.parametrize(("reason", "written", "warnings"), WARNINGS)
def test_odd_text_is_warned_of(tmp_path: Path, reason: str, written: str, warnings: list[str]) -> None:
    """What may well be a mistake is told with its path, although a server takes it."""
    path = _write(tmp_path, f"version: 1\nmessages:\n  {reason}: {written}\n")
    Wording(overrides=path, env=False)
    found = _findings(path)
    places = [finding.partition(": ")[0] for finding in found]
    assert [finding.partition(": ")[2] for finding in found] == [f"messages.{reason}{warning}" for warning in warnings]
    assert all(place.startswith("warning ") for place in places)


def test_warning_and_error_of_one_file(tmp_path: Path) -> None:
    """Errors hide no warnings: an operator mends both in one go."""
    path = _write(tmp_path, "version: 2\nmessages:\n  expird: a\n  expired: Ask #help\n")
    assert sorted(_findings(path)) == [
        "error 1:10: version: '2' is not one of 1",
        f"error 3:3: messages.expird: 'expird' is not one of {REASONS} (did you mean 'expired'?)",
        f"warning 4:12: messages.expired: {IS_CUT}",
    ]


def test_detail_without_a_value_is_noted(tmp_path: Path) -> None:
    """A text that needs a detail is noted with the way to give it; where it is given there is nothing to note."""
    path = _write(tmp_path, 'version: 1\nmessages:\n  expired: "{server}: {contact}"\n')
    missing = "note 3:12: messages.expired: uses {{{0}}}, which has no value: give Wording({0}=…) or {1}".format
    assert _findings(path, ()) == [missing("contact", "MCP_AUTH_FAILURES_CONTACT")]
    assert _findings(path, ("contact",)) == [missing("server", "MCP_AUTH_FAILURES_SERVER")]
    assert _findings(path, ("server", "contact")) == []


def test_check_of_a_hosts_catalog(tmp_path: Path) -> None:
    """The reasons are those of the catalog that is given."""
    own = tmp_path / "catalog.yaml"
    shipped = CATALOG.path.read_text("utf-8")
    block = shipped[shipped.index("  expired:") : shipped.index("  unverified:")]
    own.write_text(shipped + "\n" + block.replace("  expired:", "  suspended:"), "utf-8")
    path = _write(tmp_path, "version: 1\nmessages: {suspended: a}\n")
    assert check(path, catalog=load_catalog(own)) == []
    assert _findings(path) == [f"error 2:12: messages.suspended: 'suspended' is not one of {REASONS}"]


# --- hostile files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_make_no_difference(tmp_path: Path, line_end: str) -> None:
    """A file may end its lines as it likes, those of old Macs included."""
    content = line_end.join(["version: 1", "messages:", "  expired: Ask in #help", "  no_token: Ask"])
    assert _findings(_write(tmp_path, content)) == [f"warning 3:12: messages.expired: {IS_CUT}"]


@pytest.mark.parametrize("number", [99, 100, 101, 5000])
def test_many_faults(tmp_path: Path, number: int) -> None:
    """Of very many faults the first hundred are errors like any other, and that there are more is one too."""
    found = _findings(_write(tmp_path, "version: 1\nmessages:\n" + "".join(f"  x{n}: a\n" for n in range(number))))
    assert found[0] == f"error 3:3: messages.x0: 'x0' is not one of {REASONS}"
    assert len(found) == min(number, 101)
    assert ("error and more: only 100 faults are shown" in found) == (number > 100)


def _folder(path: Path) -> None:
    (path / "de").mkdir(parents=True)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _nothing(path: Path) -> None:
    assert not path.exists()


def _large(path: Path) -> None:
    path.write_bytes(b"#" * 10_000_000)


NO_FILES = [
    (_folder, "error holds no <language>/LC_MESSAGES/mcp_auth_failures.po or .mo"),
    (os.mkfifo, "error cannot be read: it is not a regular file"),
    (_device, "error cannot be read: it is not a regular file"),
    (_loop, "error cannot be read: Too many levels of symbolic links"),
    (_nothing, "error cannot be read: No such file or directory"),
    (_large, "error is larger than 1,048,576 bytes"),
]


@pytest.mark.parametrize("ending", ["yaml", "po", "mo", ""])
@pytest.mark.parametrize(("make", "finding"), NO_FILES, ids=[make.__name__.strip("_") for make, _ in NO_FILES])
def test_what_is_no_file_is_an_error(tmp_path: Path, make: Callable[[Path], None], finding: str, ending: str) -> None:
    """Whatever stands in a file's place, it is an error, at once."""
    path = tmp_path / f"acme.{ending}"
    make(path)
    assert _findings(path) == [finding]


BAD_NAMES = [
    ("a" * 300, "error cannot be read: File name too long"),
    ("a" * 300 + ".po", "error cannot be read: File name too long"),
    ("a\0.yaml", "error cannot be read: no file has such a name"),
    ("a\0.po", "error cannot be read: no file has such a name"),
]


@pytest.mark.parametrize(("name", "finding"), BAD_NAMES)
def test_name_that_no_file_can_have_is_an_error(name: str, finding: str) -> None:
    """A name that is too long, or has a NUL in it, is an error like any other."""
    (found,) = check(Path(name))
    assert f"{found.severity} {found.fault.message}" == finding


FORBIDDEN = f"""\
import sys
from pathlib import Path
from mcp_auth_failures.operating import check
{GIVE_UP_ROOT}
for path in map(Path, sys.argv[1:]):
    for finding in check(path):
        print(finding.severity, finding.fault)
"""


@pytest.mark.parametrize(
    "path",
    ["closed/acme.yaml", "closed", "closed/de/LC_MESSAGES/mcp_auth_failures.po", "acme.yaml", "closed.po"],
)
def test_what_may_not_be_read_is_an_error(tmp_path: Path, path: str) -> None:
    """What may not be read, or not even be looked at, is an error with the system's reason."""
    for name in ("good", "closed"):
        translate(tmp_path / name, "de", expired="a")
        _write(tmp_path / name, "version: 1\nmessages: {}\n")
    _write(tmp_path, "").chmod(0)
    (tmp_path / "closed.po").write_text("")
    (tmp_path / "closed.po").chmod(0)
    (tmp_path / "closed").chmod(0)
    tmp_path.chmod(0o755)
    run = subprocess.run([sys.executable, "-c", FORBIDDEN, path], cwd=tmp_path, capture_output=True, encoding="utf-8")
    (tmp_path / "closed").chmod(0o755)
    assert (run.stdout, run.stderr) == (f"error {path}: cannot be read: Permission denied\n", "")


def test_locked_language_hides_no_other(tmp_path: Path) -> None:
    """In a folder where one language may not be read, that is told, and the others are looked over."""
    translate(tmp_path / "good", "de", expired="a")
    gl = translate(tmp_path / "locales", "gl", expired="{x}")
    translate(tmp_path / "locales", "de", expired="a")
    closed = tmp_path / "locales" / "de" / "LC_MESSAGES"
    closed.chmod(0)
    tmp_path.chmod(0o755)
    run = subprocess.run(
        [sys.executable, "-c", FORBIDDEN, "locales"], cwd=tmp_path, capture_output=True, encoding="utf-8"
    )
    closed.chmod(0o755)
    assert run.stderr == ""
    assert sorted(run.stdout.splitlines()) == [
        "error locales/de/LC_MESSAGES/mcp_auth_failures.po: cannot be read: Permission denied",
        f"error locales/gl/LC_MESSAGES/mcp_auth_failures.po:{line_of(gl, 'expired')}: reasons.expired.message: "
        "the placeholder 'x' is not one of server, contact",
    ]


@given(st.binary() | st.text().map(lambda text: f"version: 1\nmessages:\n  expired: {text}".encode()))
@example(b"version: 1\rmessages:\r  expired: a #")
@example("version: 1\nmessages:\n  expired: a\u2028\u2029\u0085 #\n  no_token: b #".encode())
@example(b"version: 1\nmessages: &a\n  expired: &a b\n")
def test_any_bytes_are_looked_over(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """Whatever stands in a file, nothing is raised, and there are errors just where a server would refuse it."""
    folder = tmp_path_factory.mktemp("any")
    path = _write(folder, content)
    errors = {finding.severity for finding in check(path, ("server", "contact"))} & {"error"}
    try:
        read_override(str(path), CATALOG, ("server", "contact"))
    except DataError:
        assert errors
    else:
        assert not errors
    for ending in ("po", "mo"):
        path.rename(folder / f"acme.{ending}")
        check(folder / f"acme.{ending}")
        (folder / f"acme.{ending}").rename(path)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """Looking a file over prints nothing: what is found is returned."""
    for path in CASES.iterdir():
        check(path)
    assert capfd.readouterr() == ("", "")


# --- gettext --------------------------------------------------------------------------------------------------------

OLDER = "was translated from an older English text"


@pytest.mark.parametrize("ending", ["po", "mo"])
def test_gettext_folder(tmp_path: Path, ending: str) -> None:
    """A folder is looked over language by language: what is not used is an error, what is odd a warning."""
    gl = translate(
        tmp_path,
        "gl",
        ending,
        {**ENGLISH, "expired": "The token has expired."},
        expired="Caducou.",
        not_provisioned="Unauthorized: {contact}",
        no_token="{contacto}",
        unverified="\u202ea",
    )
    translate(tmp_path, "fr", ending, expired="Fini.")
    en = translate(tmp_path, "en", ending, expired="Café")

    def at(file: Path, reason: str, message: str) -> str:
        place = f":{line_of(file, reason)}" if ending == "po" else ""
        return f"{file.relative_to(tmp_path)}{place}: reasons.{reason}.message: {message}"

    missing = "uses {contact}, which has no value: give Wording(contact=…) or MCP_AUTH_FAILURES_CONTACT"
    unknown = "the placeholder 'contacto' is not one of server, contact (did you mean 'contact'?)"
    assert sorted(_findings(tmp_path, ())) == sorted(
        [
            f"warning {at(en, 'expired', CANNOT_TRAVEL)}",
            f"warning {at(gl, 'expired', OLDER)}",
            f"note {at(gl, 'not_provisioned', missing)}",
            f"warning {at(gl, 'not_provisioned', f'''holds 'Unauthorized', {LOGIN}''')}",
            f"error {at(gl, 'no_token', unknown)}",
            f"error {at(gl, 'unverified', 'the bidirectional control U+202E is not allowed in a text')}",
        ]
    )
    assert check(gl) == [finding for finding in check(tmp_path) if finding.fault.file == str(gl)]


def test_shipped_translations_have_nothing_to_mend() -> None:
    """What is shipped has no errors and no warnings in an operator's eyes."""
    assert check(Path(str(CATALOG.path)).parents[1] / "locales") == []


def test_length_is_that_of_the_same_language(tmp_path: Path) -> None:
    """A translation is compared with the shipped one of its language, or else with the English."""
    text = "字" * 3 * len(SHIPPED.describe("expired", "zh-Hans").message)
    translate(tmp_path, "zh_Hans", expired=f"{text}字")
    translate(tmp_path, "gl", expired=f"{text}字")
    (found,) = _findings(tmp_path)
    assert found.endswith(f": reasons.expired.message: {_longer('expired', 'zh-Hans', len(text) + 1)}")


GETTEXT_FILES: dict[str, tuple[str, list[str]]] = {
    "unclosed quote": (
        'msgid "a"\nmsgstr "b\n',
        ["error 2: is not a line of a .po: a text is not closed by a quote, or a quote in it lacks its backslash"],
    ),
    "merge conflict": ("<<<<<<< ours\n", ["error 1: is not a line of a .po: a merge conflict is left here"]),
    "a fuzzy entry": (
        f'#, fuzzy\nmsgctxt "reasons.expired.message"\nmsgid "{ENGLISH["expired"]}"\nmsgstr "{{x}}"\n',
        [],
    ),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("content", "findings"), GETTEXT_FILES.values(), ids=GETTEXT_FILES)
def test_gettext_file_by_itself(tmp_path: Path, content: str, findings: list[str]) -> None:
    """A ``.po`` may be looked over by itself, wherever it stands."""
    path = tmp_path / "acme.po"
    path.write_text(content)
    assert _findings(path) == findings


def test_folder_that_names_no_language_is_an_error(tmp_path: Path) -> None:
    """A folder whose name is no language is told with the nearest."""
    translate(tmp_path, "e n", expired="a")
    translate(tmp_path, "de", expired="a")
    assert _findings(tmp_path) == ["error e n: 'e n' is not a language tag such as en or pt-BR (did you mean 'en'?)"]


# --- the template ---------------------------------------------------------------------------------------------------


ASKED = ("en", "de", "de-AT", "gl", "ja", "zh-TW", "mi", None)


def _everything(wording: Wording, languages: Iterable[str]) -> dict[tuple[object, ...], tuple[object, ...]]:
    """All that is said, for every reason and these languages and some more, with scopes and without."""
    return {
        (reason, language, scopes): (
            refusal.failure,
            refusal.failure.description,
            refusal.body,
            refusal.headers,
            wording.describe(reason, language),
        )
        for reason in wording.catalog.reasons
        for language in {*languages, *ASKED}
        for scopes in ((), ("files:read", "files:write"))
        for refusal in [wording.refusal(reason, language, scopes=scopes)]
    }


def _messages(**messages: object) -> str:
    return json.dumps({"version": 1, "messages": messages}, ensure_ascii=False)


def _assert_changes_nothing(folder: Path, languages: list[str], *contents: str, **arguments: object) -> None:
    """That a template, put before these override files as it is, leaves everything as it was."""
    files = []
    for number, content in enumerate(contents):
        files.append(folder / f"{number}.yaml")
        files[-1].write_text(content, "utf-8")
    wording = Wording(overrides=files, env=False, **arguments)
    path = folder / "template.yaml"
    path.write_text(template(wording, languages), "utf-8")
    loaded = Wording(overrides=[path, *files], env=False, **arguments)
    assert _everything(loaded, languages) == _everything(wording, languages)
    assert [finding for finding in check(path) if finding.severity == "error"] == []


IN_FORCE: dict[str, tuple[list[str], dict[str, object]]] = {
    "nothing": ([], {}),
    "a default language": ([], {"default_language": "de"}),
    "no shipped translations": ([], {"builtin": False}),
    "one text for all": ([_messages(expired="Ask Acme.")], {}),
    "one text for all, in German": ([_messages(expired="Fragen Sie Acme.")], {"default_language": "de"}),
    "one text for all, of each reason": ([_messages(**dict.fromkeys(ENGLISH, "Ask Acme."))], {}),
    "some languages": ([_messages(expired={"de": "a", "en": "b", "gl": "c"}, no_token={"de-AT": "d"})], {}),
    "several files": ([_messages(expired={"de": "a"}), _messages(expired="b", no_token={"en": "c"})], {}),
    "details": ([_messages(expired="{server}", no_token={"de": "{contact}"})], {"server": "A", "contact": "{x}"}),
    "braces and quotes": ([_messages(expired="{{a}} \"b\" 'c' \\d # e: [f]", no_token={"de": "- %&*!|>@`"})], {}),
    "beyond ASCII": ([_messages(expired={"en": "Café 🔑"}, no_token="\u00a0ä\u00ad")], {}),
    "scopes": ([_messages(insufficient_scope="Needs {scope}.")], {}),
    "scopes in one language": ([_messages(insufficient_scope={"en": "Needs {scope}."})], {}),
    "scopes, and without": (
        [_messages(insufficient_scope={"de": "Braucht {scope}."}), _messages(insufficient_scope={"de": "Mehr."})],
        {},
    ),
}
LANGUAGES = [["en"], ["de"], ["de", "en", "ja"], ["de-AT"], ["gl"], ["gl", "de"], ["no", "zh"], list(SHIPPED.languages)]


@pytest.mark.parametrize(("contents", "arguments"), IN_FORCE.values(), ids=IN_FORCE)
@pytest.mark.parametrize("languages", LANGUAGES, ids=[" ".join(languages[:3]) for languages in LANGUAGES])
def test_template_changes_nothing(
    tmp_path: Path, contents: list[str], arguments: dict[str, object], languages: list[str]
) -> None:
    """Loaded as it is, a template changes nothing: no text, no language, no header, with or without scopes."""
    _assert_changes_nothing(tmp_path, languages, *contents, **arguments)


def test_template_beside_a_gettext_folder(tmp_path: Path) -> None:
    """A half-finished language of a host stays half-finished."""
    translate(tmp_path / "locales", "gl", expired="Caducou.", insufficient_scope="Falta {scope}.")
    for languages in (["gl"], ["gl", "en"]):
        _assert_changes_nothing(tmp_path, languages, translations=tmp_path / "locales")


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Zs", "Cn"]), min_size=1)
TAGS = st.sampled_from(["en", "de", "de-AT", "gl", "zh-Hant"])


@given(
    st.dictionaries(
        st.sampled_from(["expired", "no_token", "surface_disabled"]),
        TEXTS | st.dictionaries(TAGS, TEXTS, min_size=1),
        min_size=1,
    ),
    st.lists(TAGS, min_size=1),
    st.none() | st.sampled_from(["en", "de", "de-AT"]),
)
def test_template_of_any_wording_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    messages: dict[str, str | dict[str, str]],
    languages: list[str],
    default: str | None,
) -> None:
    """Whatever an operator says already, the template says the same."""
    doubled = {
        reason: {tag: _doubled(text) for tag, text in said.items()} if isinstance(said, dict) else _doubled(said)
        for reason, said in messages.items()
    }
    every_tag = _messages(incomplete=dict.fromkeys(["de", "de-AT", "gl", "zh-Hant"], "a"))
    folder = tmp_path_factory.mktemp("any")
    arguments = {"default_language": default, "builtin": False}
    _assert_changes_nothing(folder, languages, _messages(**doubled), every_tag, **arguments)


def _doubled(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def test_template_is_clean(tmp_path: Path) -> None:
    """The template of what is shipped has no errors and nothing odd, in every language at once."""
    assert _findings(_write(tmp_path, template(SHIPPED, SHIPPED.languages))) == []


def test_template_explains_itself() -> None:
    """It says what it is, and of each reason what it means, what is to be done and what its text may name."""
    lines = template(SHIPPED, ["de", "gl"]).split("\n")
    assert lines[:10] == [
        "# The wording of mcp-auth-failures, to be edited. "
        "A server reads it when MCP_AUTH_FAILURES_OVERRIDES names this file.",
        "#",
        "# Keep what you change and delete the rest: what is not here keeps following the shipped wording. "
        "Put every text in",
        "# double quotes. One text in the place of the languages is said in every language.",
        "# `mcp-auth-failures check FILE` looks over the file before a server reads it.",
        "",
        "version: 1",
        "messages:",
        "  # No Authorization header at all: the client has not connected yet.",
        "  # reconnect: Re-run the authorization flow; a human has to approve it again.",
    ]
    start = lines.index("  # A valid token that lacks the scope this particular call needs.")
    german, english = (SHIPPED.describe("insufficient_scope", language).message for language in ("de", "en"))
    assert lines[start:] == [
        "  # A valid token that lacks the scope this particular call needs.",
        "  # reconnect: Re-run the authorization flow; a human has to approve it again.",
        "  # May use {server}, {contact}, {scope}.",
        "  insufficient_scope:",
        f'    de: "{german}"',
        f'    # gl: "{english}"',
        "",
    ]


@pytest.mark.parametrize("languages", [["gl"], ["en"], ["de", "gl"]])
def test_template_is_ready_for_every_reason(tmp_path: Path, languages: list[str]) -> None:
    """Each text is there to be edited: with the commented ones taken in, all reasons have all the languages."""
    lines = template(SHIPPED, languages).split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith("messages:")) + 1
    taken_in = [
        line.replace("# ", "", 1)
        if line.strip("# ").partition(":")[0] in {*ENGLISH, *languages} and "#" in line[:5]
        else line
        for line in lines[start:]
    ]
    path = _write(tmp_path, "\n".join([*lines[:start], *taken_in]))
    file = read_override(str(path), CATALOG, ())
    assert {(reason, tag) for tag, texts in file.by_language.items() for reason in texts} == {
        (reason, tag) for reason in ENGLISH for tag in languages
    }
