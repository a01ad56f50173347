"""How time and memory grow with the catalog, the languages and the length of what a caller sends."""

import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from babel.localedata import locale_identifiers
from measure import HERE, environment, statement

import mcp_auth_failures
from mcp_auth_failures import Wording, load_catalog
from mcp_auth_failures.datafile import MAX_BYTES
from mcp_auth_failures.languages import preferences
from mcp_auth_failures.translations import DOMAIN

REASONS = 10, 100, 1_000, 10_000
LANGUAGES = 1, 10, 100
X = {
    "time to load": "reasons",
    "time to describe": "reasons",
    "memory": "reasons",
    "time of a language's first use": "languages installed",
    "memory of a language's first use": "languages installed",
    "Accept-Language": "characters",
}
PLOT = HERE / "growth.png"

CAP = 1_000
"""Characters of an Accept-Language value that are read."""


@dataclass(frozen=True)
class Curve:
    """One line of a plot, and the exponent k of the power n^k that fits it from ``start`` on.

    Below ``start`` what is there once hides what grows. ``goal`` is what k must lie between; ``None`` only informs.
    """

    panel: str
    name: str
    sizes: Sequence[float]
    values: Sequence[float]
    unit: str
    goal: tuple[float, float] | None
    start: float = 0

    @property
    def exponent(self) -> float:
        """The slope of the line through the points, both axes in logarithms."""
        points = [(n, value) for n, value in zip(self.sizes, self.values, strict=True) if n >= self.start]
        sizes, values = np.log(np.array(points)).T
        return float(np.polyfit(sizes, values, deg=1)[0])

    @property
    def met(self) -> bool:
        """Whether it grows as it should."""
        return self.goal is None or self.goal[0] <= self.exponent <= self.goal[1]


FLAT = -0.1, 0.1
LINEAR = 0.85, 1.15
AT_MOST_LINEAR = -0.1, 1.15


def curves() -> Iterator[Curve]:
    """Every curve; those of the catalog are of one run over the generated folders."""
    measured = {(n, count): found for n, count, found in catalogs()}
    sizes = sorted({n for n, _ in measured})

    def curve(panel: str, name: str, key: str, count: int, goal: tuple[float, float] | None, start: int = 0) -> Curve:
        values = [measured[n, count][key] for n in sizes]
        return Curve(panel, name, sizes, values, key.rpartition("_")[2], goal, start)

    yield curve("time to load", "the catalog", "catalog_seconds", 1, LINEAR, 100)
    yield curve("time to load", "the catalog, with Python's garbage collector", "collected_seconds", 1, LINEAR, 100)
    for count in LANGUAGES:
        yield curve("time to load", f"languages: {count}", "load_seconds", count, LINEAR, 100)
    for count in LANGUAGES:
        yield curve("time to describe", f"by tag, languages: {count}", "describe_seconds", count, FLAT)
        yield curve("time to describe", f"by Accept-Language, languages: {count}", "negotiate_seconds", count, FLAT)
    yield curve("memory", "the catalog", "catalog_bytes", 1, LINEAR, 100)
    for count in LANGUAGES:
        yield curve("memory", f"languages: {count}", "load_bytes", count, LINEAR, 100)
    most = sizes[-1]
    for what, key in (("time", "use_seconds"), ("memory", "use_bytes")):
        values = [measured[most, count][key] for count in LANGUAGES]
        panel, unit = f"{what} of a language's first use", key.rpartition("_")[2]
        yield Curve(panel, f"reasons: {most:,}", LANGUAGES, values, unit, FLAT)
    yield from accept_language()


def accept_language() -> Iterator[Curve]:
    """Reading a header of 10 bytes to 1 MB, of several shapes."""
    tags = Wording(env=False).languages
    shapes = {
        "ranges of 50 characters": "xx-" + "-".join(["abcdefgh"] * 4) + "-abcd;q=0.5, ",
        "ranges as browsers send them": "de-AT;q=0.9,",
        "one range without an end": "abcdefgh-",
        "commas": ",",
    }
    below, beyond = [10, 20, 50, 100, 200, 500, CAP], [2 * CAP, 5 * CAP, 10 * CAP, 100 * CAP, 1_000 * CAP]
    for name, unit in shapes.items():
        for reach, sizes, goal, start in (("to", below, AT_MOST_LINEAR, 50), ("beyond", beyond, FLAT, 0)):
            headers = [(unit * (size // len(unit) + 1))[:size] for size in sizes]
            timed = [statement("f(h, t)", f=preferences, h=header, t=tags) for header in headers]
            values = [min(each(200) / 200 for _ in range(25)) for each in timed]
            yield Curve("Accept-Language", f"{name}, {reach} {CAP:,}", sizes, values, "seconds", goal, start)


def catalogs() -> Iterator[tuple[int, int, Mapping[str, float]]]:
    """Generate each catalog with its languages as the package's own data, and measure it in a process of its own."""
    package = Path(mcp_auth_failures.__file__).parent
    tags = sorted(tag for tag in locale_identifiers() if tag.isalpha() and tag != "en")[: max(LANGUAGES)]
    for wanted in REASONS:
        for count in LANGUAGES:
            with tempfile.TemporaryDirectory() as folder:
                copy = Path(folder, "mcp_auth_failures")
                shutil.copytree(package, copy, ignore=shutil.ignore_patterns("_data", "__pycache__"))
                n = generate(copy / "_data", wanted, tags[:count])
                command = [sys.executable, str(HERE / "one_catalog.py"), tags[0]]
                found: dict[str, float] = {}
                for what in ("seconds", "bytes"):
                    run = subprocess.run(
                        [*command, what], env={**environment(), "PYTHONPATH": folder}, check=True, capture_output=True
                    )
                    found |= json.loads(run.stdout)
                yield n, count, found


def generate(data: Path, wanted: int, tags: Iterable[str]) -> int:
    """Write a catalog and its translations, and say of how many reasons: as many as a file may hold, if fewer.

    The shipped reasons are among them, since a catalog must have them. Texts are short, so that many fit.
    """
    shipped = [*load_catalog().reasons]
    reasons = [*shipped, *(f"r{index}" for index in range(wanted - len(shipped)))]
    head = (
        "version: 1\n"
        "challenges: {invalid_token: a, insufficient_scope: b}\n"
        "actions:\n"
        "  refresh: {meaning: a, recoverable: true}\n"
        "  reconnect: {meaning: b, recoverable: true}\n"
        "  contact_operator: {meaning: c, recoverable: false}\n"
        "placeholders: {}\n"
        "reasons:\n"
    )
    entries = [
        f"  {reason}: {{meaning: a, challenge: invalid_token, action: refresh, status: 401, header: error,"
        f" message: Refused for {index}., note: b, placeholders: []}}\n"
        for index, reason in enumerate(reasons)
    ]
    ends = np.cumsum([len(head), *map(len, entries)])
    reasons = reasons[: int(np.searchsorted(ends, MAX_BYTES, side="right")) - 1]
    (data / "catalog").mkdir(parents=True)
    (data / "catalog" / "failures.yaml").write_text(head + "".join(entries[: len(reasons)]))
    for tag in tags:
        folder = data / "locales" / tag / "LC_MESSAGES"
        folder.mkdir(parents=True)
        po = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n' + "".join(
            f'\nmsgctxt "reasons.{reason}.message"\nmsgid "Refused for {index}."\nmsgstr "{tag} {index}."\n'
            for index, reason in enumerate(reasons)
        )
        (folder / f"{DOMAIN}.po").write_text(po)
    return len(reasons)


def plot(drawn: Sequence[Curve], path: Path) -> None:
    """Draw every panel into one PNG."""
    panels = list(dict.fromkeys(curve.panel for curve in drawn))
    figure, axes = plt.subplots(math.ceil(len(panels) / 2), 2, figsize=(14, 15), layout="constrained")
    for axis, panel in zip(axes.flat, panels, strict=False):
        for curve in (curve for curve in drawn if curve.panel == panel):
            axis.plot(curve.sizes, curve.values, marker="o", label=f"{curve.name}: {curve.exponent:.2f}")
            axis.set(title=panel, xlabel=X[panel], ylabel=curve.unit, xscale="log", yscale="log")
        low, high = axis.get_ylim()
        if high < 10 * low:  # what is flat shall look so
            axis.set_ylim(low / 3, high * 3)
        axis.legend(fontsize="small")
        axis.grid(visible=True, alpha=0.3)
    figure.savefig(path, dpi=80)
