"""Arguments of a host and ``MCP_AUTH_FAILURES_…`` variables of an operator: which wins, and what is refused."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_auth_failures.settings import Settings

SINGLES: dict[str, tuple[str, Callable[[Settings, object], object]]] = {
    "server": ("SERVER", lambda settings, value: settings.detail("server", value)),
    "contact": ("CONTACT", lambda settings, value: settings.detail("contact", value)),
    "default_language": ("LANGUAGE", lambda settings, value: settings.language("default_language", value)),
    "help_url": ("HELP_URL", lambda settings, value: settings.help_url("help_url", value)),
}
"""The settings with one value, each with its variable and how it is read."""

GOOD = {
    "server": ("Acme", "Acme"),
    "contact": ("it@acme.example", "it@acme.example"),
    "default_language": ("pt_br", "pt-BR"),
    "help_url": (
        "https://help.acme.example/{language}/{reason}/",
        ("https://help.acme.example/", "language", "/", "reason", "/"),
    ),
}


def _faults(settings: Settings) -> list[str]:
    return [str(fault) for fault in settings.faults]


# --- one value ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("argument", SINGLES)
def test_unset_is_none(argument: str) -> None:
    """A setting that neither host nor operator gives has no value, and that is no fault."""
    settings = Settings(env=True)
    assert SINGLES[argument][1](settings, None) is None
    assert _faults(settings) == []


@pytest.mark.parametrize("argument", SINGLES)
def test_operators_value_wins(argument: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator's value wins over the host's, which is then not even looked at."""
    variable, read = SINGLES[argument]
    given, value = GOOD[argument]
    monkeypatch.setenv(f"MCP_AUTH_FAILURES_{variable}", given)
    for hosts in (None, "\0", 5, given):
        settings = Settings(env=True)
        assert read(settings, hosts) == value
        assert _faults(settings) == []


@pytest.mark.parametrize("argument", SINGLES)
def test_empty_variable_is_unset(argument: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is set to nothing leaves the host's value: that is how an environment file unsets one."""
    variable, read = SINGLES[argument]
    given, value = GOOD[argument]
    monkeypatch.setenv(f"MCP_AUTH_FAILURES_{variable}", "")
    assert read(Settings(env=True), given) == value


@pytest.mark.parametrize("argument", SINGLES)
def test_environment_can_be_left_out(argument: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``env=False`` the variables say nothing, not even what is wrong with them."""
    variable, read = SINGLES[argument]
    given, value = GOOD[argument]
    monkeypatch.setenv(f"MCP_AUTH_FAILURES_{variable}", "\x1b")
    settings = Settings(env=False)
    assert read(settings, given) == value
    assert read(settings, None) is None
    assert _faults(settings) == []


A_TEXT = "expected a text of at most 500 characters, found"
A_URL = "is not a URL of at most 2,048 printable ASCII characters"
NOT_HTTPS = "is not an absolute https URL (http is for loopback alone)"
A_LONG_TAG = "is longer than the 35 characters of a language tag"
A_TAG = "is not a language tag such as en or pt-BR"

BAD: list[tuple[str, object, str]] = [
    ("server", "", f"{A_TEXT} ''"),
    ("server", " ", f"{A_TEXT} ' '"),
    ("server", "a" * 501, f"{A_TEXT} '{'a' * 79}"),
    ("server", 5, f"{A_TEXT} 5"),
    ("server", b"Acme", f"{A_TEXT} b'Acme'"),
    ("contact", "\u200b", "holds nothing that can be seen"),
    ("contact", "a\nb", "a line break is not allowed in a text"),
    ("contact", "a\tb", "a tab is not allowed in a text"),
    ("contact", "\x1b[31m", "the control character U+001B is not allowed in a text"),
    ("contact", "\ud800", "the lone surrogate U+D800 is not allowed in a text"),
    ("contact", "\u202e", "the bidirectional control U+202E is not allowed in a text"),
    ("default_language", "", f"'' {A_TAG}"),
    ("default_language", "e n", f"'e n' {A_TAG} (did you mean 'en'?)"),
    ("default_language", "de, fr", f"'de, fr' {A_TAG}"),
    ("default_language", "de;q=1", f"'de;q=1' {A_TAG} (did you mean 'de'?)"),
    ("default_language", "*", f"'*' {A_TAG}"),
    ("default_language", "../de", f"'../de' {A_TAG}"),
    ("default_language", "de_DE.UTF-8", f"'de_DE.UTF-8' {A_TAG} (did you mean 'de'?)"),
    ("default_language", "germn", "'germn' is in no language that is known (did you mean 'grn'?)"),
    ("default_language", "xx", "'xx' is in no language that is known"),
    ("default_language", 5, f"5 {A_TAG}"),
    ("default_language", "de-" + "a" * 8 + "-b" * 13, f"'de-{'a' * 8}{'-b' * 13}' {A_LONG_TAG}"),
    ("help_url", "", f"'' {A_URL}"),
    ("help_url", "help.acme.example", f"'help.acme.example' {NOT_HTTPS}"),
    ("help_url", "http://acme.example/", f"'http://acme.example/' {NOT_HTTPS}"),
    ("help_url", "https://me@acme.example/", "'https://me@acme.example/' has user information or a fragment"),
    ("help_url", "https://acme.example/#{reason}", "'https://acme.example/#x' has user information or a fragment"),
    ("help_url", "https:///{reason}", "'https:///x' names no host"),
    ("help_url", "https://acme.example/ä", f"'https://acme.example/ä' {A_URL}"),
    (
        "help_url",
        "https://acme.example/?error={reason}",
        "'https://acme.example/?error=x' contains 'error=', which clients would read as that parameter",
    ),
    (
        "help_url",
        "https://acme.example/{lang}",
        "the placeholder 'lang' is not one of language, reason (did you mean 'language'?)",
    ),
    ("help_url", "https://acme.example/{server}", "the placeholder 'server' is not one of language, reason"),
    (
        "help_url",
        "https://acme.example/{reason!r}",
        "a brace that is no {placeholder} in 'e.example/{reason!r}'; write {{ or }} for a brace",
    ),
    (
        "help_url",
        "https://acme.example/{reason",
        "a brace that is no {placeholder} in 'e.example/{reason'; write {{ or }} for a brace",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("argument", "value", "fault"), BAD)
def test_bad_value_is_a_fault_of_the_argument(argument: str, value: object, fault: str) -> None:
    """What a host gives wrongly is told by the name of the argument."""
    settings = Settings(env=True)
    assert SINGLES[argument][1](settings, value) is None
    assert _faults(settings) == [f"Wording({argument}=…): {fault}"]


@pytest.mark.parametrize(
    ("argument", "value", "fault"), [row for row in BAD if isinstance(row[1], str) and row[1] and row[1] != "\ud800"]
)
def test_bad_value_is_a_fault_of_the_variable(
    argument: str, value: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an operator sets wrongly is told by the name of the variable, and the host's value does not stand in."""
    variable, read = SINGLES[argument]
    monkeypatch.setenv(f"MCP_AUTH_FAILURES_{variable}", value)
    settings = Settings(env=True)
    assert read(settings, GOOD[argument][0]) is None
    assert _faults(settings) == [f"MCP_AUTH_FAILURES_{variable}: {fault}"]


def test_variable_that_is_not_utf8_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that are no UTF-8 reach Python as lone surrogates, which no answer could carry."""
    monkeypatch.setenv("MCP_AUTH_FAILURES_SERVER", os.fsdecode(b"caf\xe9"))
    settings = Settings(env=True)
    assert settings.detail("server", None) is None
    assert _faults(settings) == ["MCP_AUTH_FAILURES_SERVER: the lone surrogate U+DCE9 is not allowed in a text"]


@pytest.mark.parametrize("text", ["a" * 500, " Acme ", "Ämter & Söhne {scope}", "Acme 🔑"])
def test_detail_is_any_line_of_text(text: str) -> None:
    """A detail may be any one line, braces included; white space round it is dropped."""
    assert Settings(env=False).detail("server", text) == text.strip()


@pytest.mark.parametrize(
    "url",
    [
        "https://acme.example",
        "http://localhost:8000/{reason}",
        "http://127.0.0.1/{language}",
        "https://{language}.acme.example/?r={reason}",
        "https://acme.example/{{x}}",
    ],
)
def test_help_url_may_name_language_and_reason(url: str) -> None:
    """A help URL is absolute https, or http on loopback, and may have either placeholder anywhere."""
    settings = Settings(env=False)
    assert settings.help_url("help_url", url)
    assert _faults(settings) == []


@given(st.sampled_from(sorted(SINGLES)), st.text() | st.none() | st.integers() | st.binary() | st.floats())
def test_any_value_is_taken_or_refused(argument: str, value: object) -> None:
    """Whatever a setting is, it has a value or a fault of its own, and nothing is raised."""
    settings = Settings(env=False)
    read = SINGLES[argument][1](settings, value)
    assert (read is None) == (value is None or len(settings.faults) == 1)


# --- paths ----------------------------------------------------------------------------------------------------------


def _paths(*names: str) -> str:
    return os.pathsep.join(names)


PATHS: list[tuple[str | None, object, tuple[str, ...]]] = [
    (None, (), ()),
    (None, "a", ("a",)),
    (None, Path("a"), ("a",)),
    (None, ["a", Path("b"), "a"], ("a", "b", "a")),
    (None, iter(["a", "b"]), ("a", "b")),
    ("", "a", ("a",)),
    (os.pathsep * 3, "a", ("a",)),
    ("x", (), ("x",)),
    (_paths("y", "x"), ["a", "b"], ("y", "x", "a", "b")),
    (_paths("", "x", "", "y", ""), "a", ("x", "y", "a")),
    (" x y ", (), (" x y ",)),
]


@pytest.mark.parametrize(("variable", "given", "paths"), PATHS)
def test_operators_paths_come_first(
    variable: str | None, given: object, paths: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operator's paths, joined as the system joins them, stand before the host's; empty ones are none."""
    if variable is not None:
        monkeypatch.setenv("MCP_AUTH_FAILURES_OVERRIDES", variable)
    settings = Settings(env=True)
    assert settings.paths("overrides", given) == paths
    assert _faults(settings) == []


def test_paths_without_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``env=False`` the host's paths are all there are."""
    monkeypatch.setenv("MCP_AUTH_FAILURES_OVERRIDES", "x")
    assert Settings(env=False).paths("overrides", "a") == ("a",)


def test_folders_are_those_that_can_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gettext folder that is there is taken, the operator's first."""
    for name in ("operator", "host"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("MCP_AUTH_FAILURES_LOCALES", str(tmp_path / "operator"))
    settings = Settings(env=True)
    assert settings.folders("locales", tmp_path / "host") == (str(tmp_path / "operator"), str(tmp_path / "host"))
    assert _faults(settings) == []


def test_every_folder_that_cannot_be_listed_is_a_fault(tmp_path: Path) -> None:
    """A folder that is not there, is a file, is a loop or has a name that no folder can have: each is told."""
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    settings = Settings(env=False)
    settings.folders("locales", [tmp_path / "none", tmp_path / "file", tmp_path / "loop", "a\0b"])
    assert _faults(settings) == [
        f"{tmp_path}/none: cannot be read: No such file or directory",
        f"{tmp_path}/file: cannot be read: Not a directory",
        f"{tmp_path}/loop: cannot be read: Too many levels of symbolic links",
        r"'a\x00b': cannot be read: no file has such a name",
    ]


def test_fault_of_one_setting_hides_no_folder(tmp_path: Path) -> None:
    """Folders are read whatever is wrong with another setting, so that what is wrong in them is told with it."""
    settings = Settings(env=False)
    settings.detail("server", "")
    assert settings.folders("locales", tmp_path) == (str(tmp_path),)


def test_faults_come_in_the_order_of_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """All faults of all settings are kept, in order."""
    monkeypatch.setenv("MCP_AUTH_FAILURES_LANGUAGE", "xx")
    settings = Settings(env=True)
    settings.detail("server", "")
    settings.language("default_language", "de")
    settings.help_url("help_url", "x")
    settings.folders("locales", "nowhere")
    assert _faults(settings) == [
        f"Wording(server=…): {A_TEXT} ''",
        "MCP_AUTH_FAILURES_LANGUAGE: 'xx' is in no language that is known",
        f"Wording(help_url=…): 'x' {NOT_HTTPS}",
        "nowhere: cannot be read: No such file or directory",
    ]
