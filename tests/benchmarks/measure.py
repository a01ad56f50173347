"""Two things timed side by side, and a row that says how they compare."""

import json
import os
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pyperf

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

Timed = Callable[[int], float]
"""Does something so many times and gives the seconds it took."""

clock = time.thread_time
"""The time this thread has worked, so that another program on the same core counts for neither side."""

PACKAGES = "mcp", "starlette", "uvicorn", "h11", "httptools", "uvloop", "werkzeug", "Babel", "PyYAML", "PyJWT"


@dataclass(frozen=True)
class Row:
    """One line of the table: ours over the peer's, the middle of many rounds, and the middle half of them.

    ``ours`` and ``peers`` are in ``unit``, the middle of the same rounds. A ``goal`` of ``None`` only informs.
    """

    what: str
    peer: str
    ours: float
    peers: float
    ratio: float
    quartiles: tuple[float, float]
    goal: float | None
    at_least: bool = False
    unit: str = "seconds"

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.goal is None or (self.ratio >= self.goal if self.at_least else self.ratio <= self.goal)


def row(
    what: str,
    peer: str,
    pairs: Sequence[tuple[float, float]],
    goal: float | None = None,
    *,
    at_least: bool = False,
    unit: str = "seconds",
) -> Row:
    """The row of what was measured in rounds, each of ours and the peer's."""
    ratios = [ours / peers for ours, peers in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4)
    ours, peers = (statistics.median(values) for values in zip(*pairs, strict=True))
    return Row(what, peer, ours, peers, middle, (low, high), goal, at_least, unit)


def alternate(ours: Timed, peer: Timed, rounds: int, number: tuple[int, int] = (1, 1)) -> list[tuple[float, float]]:
    """Time both in turn, so that whatever else the machine does falls on both alike. Each round begins with the other.

    Gives the seconds for one call of each; ``number`` is how many calls of ours and of the peer's a round takes.
    """
    pairs = []
    for index in range(rounds):
        first, second = (peer, ours) if index % 2 else (ours, peer)
        times = {}
        for each in (first, second):
            calls = number[each is peer]
            times[each is ours] = each(calls) / calls
        pairs.append((times[True], times[False]))
    return pairs


def compare(ours: Timed, peer: Timed, rounds: int = 101, slice_seconds: float = 0.01) -> list[tuple[float, float]]:
    """:func:`alternate`, with as many calls in each slice of time as it takes to be well above the clock's grain."""
    number = tuple(max(1, round(slice_seconds * 1000 / each(1000))) for each in (ours, peer))
    return alternate(ours, peer, rounds, (number[0], number[1]))


def statement(code: str, **names: object) -> Timed:
    """A statement to time, without a call around it that would be counted on both sides and flatter the ratio."""
    return timeit.Timer(code, timer=clock, globals=names).timeit


def environment() -> dict[str, str]:
    """What a new process is started in: as here, with nothing set for us, and modules compiled but once."""
    unset = "MCP_AUTH_FAILURES_", "PYTHONDONTWRITEBYTECODE"
    return {name: value for name, value in os.environ.items() if not name.startswith(unset)}


def in_new_process(code: str, before: str = "") -> Timed:
    """Code to time once in an interpreter of its own, after what is not timed."""
    program = f"import time\n{before}\nstart = time.process_time()\n{code}\nprint(time.process_time() - start)"
    command = [sys.executable, "-P", "-c", program]

    def run(number: int) -> float:
        runs = (subprocess.run(command, env=environment(), check=True, capture_output=True) for _ in range(number))
        return sum(float(run.stdout) for run in runs)

    return run


def machine() -> Mapping[str, str]:
    """Where and with what this was measured."""
    found = pyperf.Run([1.0]).get_metadata()
    return {
        "CPU": f"{found.get('cpu_model_name', 'unknown')}, {found['cpu_count']} cores",
        "system": str(found["platform"]),
        "Python": f"{found['python_implementation']} {found['python_version']}",
        **{name: version(name) for name in PACKAGES},
    }


_AS_TIME = pyperf.Benchmark([pyperf.Run([1.0], metadata={"name": "seconds"}, collect_metadata=False)]).format_value


def show(value: float, unit: str) -> str:
    """An absolute value as a person reads it."""
    return str(_AS_TIME(value)).replace("us", "µs") if unit == "seconds" else f"{value:,.0f} {unit}"


def as_json(value: object) -> str:
    """JSON for other programs."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=vars)
