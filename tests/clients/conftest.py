"""Measures once, for all tests, what every client makes of every reason."""

import pickle
from pathlib import Path

import pytest
from harness import Results, measure


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where ``matrix.py`` wants what was measured."""
    parser.addoption("--results", type=Path, help="write what the clients did to this file")


@pytest.fixture(scope="session")
def results(request: pytest.FixtureRequest) -> Results:
    """The whole matrix. It needs what ``tests/clients/run`` installs."""
    measured = measure()
    if file := request.config.getoption("--results", default=None):
        file.write_bytes(pickle.dumps(measured))
    return measured
