"""Print what telling why costs, each ratio beside its goal. Exit status 1 where a goal is missed.

README.md says what each row means.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

import calls
import growth
import load
import middleware
import parts
import starts
from measure import Row, as_json, machine, show

GROUPS: dict[str, Callable[[], Iterator[Row]]] = {
    "calls": calls.rows,
    "requests": middleware.rows,
    "parts": parts.rows,
    "starts": starts.rows,
    "load": load.rows,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit status whether every goal is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=[*GROUPS, "growth"], help="measure this group; repeatable")
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    options = parser.parse_args(arguments)
    chosen = options.only or [*GROUPS, "growth"]
    for name in [name for name in os.environ if name.startswith("MCP_AUTH_FAILURES_")]:
        del os.environ[name]
    busy = os.getloadavg()[0]
    rows = [row for name, measure in GROUPS.items() if name in chosen for row in measure()]
    curves = list(growth.curves()) if "growth" in chosen else []
    where = {**machine(), "load average": f"{busy:.1f} before, {os.getloadavg()[0]:.1f} after"}
    if curves:
        growth.plot(curves, growth.PLOT)
    if options.format == "json":
        print(
            as_json(
                {
                    "machine": where,
                    "rows": [{**vars(row), "met": row.met} for row in rows],
                    "curves": [{**vars(curve), "exponent": curve.exponent, "met": curve.met} for curve in curves],
                }
            )
        )
    else:
        print("\n\n".join(filter(None, (ratios(rows), exponents(curves), "; ".join(map(" ".join, where.items()))))))
    return int(not (all(row.met for row in rows) and all(curve.met for curve in curves)))


def ratios(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table."""
    return table(
        ("what", "peer, same run", "ours", "peer's", "ratio", "middle half", "goal", ""),
        (
            (
                row.what,
                row.peer,
                show(row.ours, row.unit),
                show(row.peers, row.unit),
                f"**{row.ratio:.3g}**",
                "{:.3g} to {:.3g}".format(*row.quartiles),
                "" if row.goal is None else f"at {'least' if row.at_least else 'most'} {row.goal:.3g}",
                verdict(row),
            )
            for row in rows
        ),
    )


def exponents(curves: Iterable[growth.Curve]) -> str:
    """The curves as a Markdown table."""
    return table(
        ("growth", "of", "smallest", "largest", "exponent", "goal", ""),
        (
            (
                curve.panel,
                curve.name,
                *(f"{curve.sizes[i]:,}: {show(curve.values[i], curve.unit)}" for i in (0, -1)),
                f"**{curve.exponent:.2f}**",
                "" if curve.goal is None else "{:g} to {:g}".format(*curve.goal),
                verdict(curve),
            )
            for curve in curves
        ),
    )


def verdict(found: Row | growth.Curve) -> str:
    """Whether the goal is met, in a word."""
    return "" if found.goal is None else "met" if found.met else "**missed**"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table; nothing where there is no line."""
    cells = [*lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *cells)) if cells else ""


if __name__ == "__main__":
    sys.exit(main())
