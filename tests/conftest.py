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
