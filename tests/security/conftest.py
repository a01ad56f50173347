"""What the proofs of this folder share: their budget, and the figures that they print."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from figures import ALL, Figures  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--budget``: how much of everything."""
    parser.addoption("--budget", type=float, default=1, help="multiplies every number of examples, edits and seconds")


def pytest_configure(config: pytest.Config) -> None:
    """The examples of Hypothesis are budgeted, too."""
    examples = int(100 * config.getoption("--budget", default=1))
    settings.register_profile("security", settings.get_profile("here"), max_examples=examples)
    settings.load_profile("security")


@pytest.fixture(scope="session")
def budget(request: pytest.FixtureRequest) -> float:
    """What multiplies every number of examples, edits and seconds: 1 in a normal run."""
    return float(request.config.getoption("--budget"))


@pytest.fixture(scope="module")
def figures(request: pytest.FixtureRequest) -> Iterator[Figures]:
    """Where a test puts what it has measured: ``figures["requests"] = 7``. They are printed at the end of the run."""
    title = (request.module.__doc__ or "").split(":")[0]
    figures = Figures(title)
    yield figures
    figures.finish()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print every figure."""
    for title, figures in ALL.items():
        terminalreporter.section(title, sep="-")
        for name, value in figures:
            terminalreporter.write_line(f"{name:.<64} {value}")
