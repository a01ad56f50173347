"""What holds for every test."""

import os

import pytest
from hypothesis import settings

# How long an example takes says nothing here, and depends on the machine.
settings.register_profile("here", deadline=None)
settings.load_profile("here")


@pytest.fixture(autouse=True)
def no_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment that the tests are started in sets nothing."""
    for name in [name for name in os.environ if name.startswith("MCP_AUTH_FAILURES_")]:
        monkeypatch.delenv(name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what a plain ``pytest`` leaves out, which needs more than Python."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        terminalreporter.write_line(
            "Left out: tests/clients and tests/security (Node), tests/browser (Node and Chromium), tests/gettext "
            "(Debian's gettext); `.ci/run` installs what they need and runs them."
        )
