"""Test every client, and print what each makes of each reason. Exit 1 where an expectation fails."""

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from drops import DROPS, drop_of
from harness import HERE, REASONS, ROWS, STREAM_ANSWERS, Cell, Results, Row
from world import STREAM_CAP

Column = tuple[str, Callable[[Cell], bool]]


def _column(title: str, reason: str, moment: str, renewal: str = "mends", *, refresh: bool = True) -> Column:
    def chosen(cell: Cell) -> bool:
        case = cell.case
        return (case.reason, case.moment, case.renewal, case.refresh) == (reason, moment, renewal, refresh)

    return title, chosen


CONNECT = [_column(reason, reason, "connect") for reason in REASONS]
CALL = [_column(reason, reason, "call") for reason in REASONS if reason != "no_token"]
CALL.append(_column("one tool's scope", "insufficient_scope", "tool"))
RENEWAL = [
    _column("expired again", "expired", "call", "useless"),
    _column("unverified again", "unverified", "call", "useless"),
    _column("incomplete again", "incomplete", "call", "useless"),
    _column("scope never granted", "insufficient_scope", "call", "useless"),
    _column("refresh token revoked", "expired", "call", "revoked"),
    _column("scope, no refresh token", "insufficient_scope", "call", refresh=False),
    _column("scope, refresh grants it", "insufficient_scope", "call", "widened"),
]


def main_cells(results: Results, *, shipped: bool) -> list[Cell]:
    """The cells that the summary counts: those of the first two tables."""
    columns = [*CONNECT, *CALL]
    return [cell for cell in results.cells if cell.case.shipped == shipped and any(is_in(cell) for _, is_in in columns)]


def summary(results: Results) -> str:
    """The whole matrix in one line."""
    ours, shipped = (Counter(cell.kind for cell in main_cells(results, shipped=state)) for state in (False, True))
    return (
        f"{ours['sentence'] + ours['recovered']} of {ours.total()} cells show the sentence ({ours['sentence']}) or "
        f"recover ({ours['recovered']}); as shipped {shipped['sentence']} show a reason and {shipped['recovered']} "
        "recover."
    )


def markdown(results: Results) -> str:
    """The tables of the README."""
    ours = [cell for cell in results.cells if not cell.case.shipped]
    oauth = [row for row in ROWS if row.auth == "oauth"]
    shipped = main_cells(results, shipped=True)
    drops = "\n".join(f"{number}. {drop.client}: {drop.place}: {drop.why}." for number, drop in enumerate(DROPS, 1))
    return "\n".join(
        [
            summary(results),
            "\n### Refused at the first request\n",
            *_table(ROWS, CONNECT, ours, [cell for cell in shipped if cell.case.moment == "connect"]),
            "\n### Refused at a call of a tool\n",
            *_table(ROWS, CALL, ours, [cell for cell in shipped if cell.case.moment != "connect"]),
            "\n### OAuth, where renewing mends nothing, or something else\n",
            *_table(oauth, RENEWAL, ours),
            f"\n### A GET stream that is dropped, and refused from then on (given up after {STREAM_CAP})\n",
            *_streams(results),
            "\n### Where a client drops everything\n",
            drops,
        ]
    )


def _table(
    rows: Iterable[Row], columns: list[Column], cells: list[Cell], shipped: list[Cell] | None = None
) -> list[str]:
    titles = ["client", *(title for title, _ in columns), *(["as shipped"] if shipped else [])]
    lines = [_line(titles), _line("---" for _ in titles)]
    for row in rows:
        texts = [row.name]
        for _, is_in in columns:
            texts.append(next((_cell(cell) for cell in cells if cell.row == row and is_in(cell)), ""))
        if not any(texts[1:]):
            continue
        if shipped:
            texts.append(_tally(cell for cell in shipped if cell.row == row))
        lines.append(_line(texts))
    return lines


def _cell(cell: Cell) -> str:
    numbers = f"{cell.posts}/{cell.auth_requests}"
    if cell.kind == "nothing":
        return f"nothing {numbers} [{DROPS.index(drop_of(cell)) + 1}]"
    said = "said" if cell.where == "message" else "said in a property"
    return f"{'recovered' if cell.kind == 'recovered' else said} {numbers}"


def _tally(cells: Iterable[Cell]) -> str:
    counts = Counter[str]()
    for cell in cells:
        counts[{"sentence": "said"}.get(cell.kind, cell.kind)] += 1
        counts["asked in vain"] += cell.auth_requests if cell.kind == "nothing" else 0
    return ", ".join(f"{counts[kind]} {kind}" for kind in ("said", "recovered", "nothing")) + (
        f" ({counts['asked in vain']} auth requests in vain)" if counts["asked in vain"] else ""
    )


def _streams(results: Results) -> list[str]:
    def numbers(row: Row, answer: str, *, shipped: bool = False) -> str:
        for cell in results.cells:
            case = cell.case
            if (cell.row, case.moment, case.stream, case.shipped) == (row, "stream", answer, shipped):
                gets = cell.requests["GET"]
                return f"{gets}/{cell.auth_requests}" if gets <= STREAM_CAP else "for ever"
        return ""

    titles = ["client", "as shipped (401)", *(answer.replace("ours", "ours (401)") for answer in STREAM_ANSWERS)]
    lines = [_line(titles), _line("---" for _ in titles)]
    for row in ROWS:
        answers = [numbers(row, answer) for answer in STREAM_ANSWERS]
        if any(answers):
            lines.append(_line([row.name, numbers(row, "ours", shipped=True), *answers]))
    return lines


def _line(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


def as_json(results: Results) -> str:
    """Every cell with every number."""
    document = {
        "versions": results.versions,
        "summary": summary(results),
        "cells": [cell.json() for cell in results.cells],
    }
    return json.dumps(document, ensure_ascii=False, indent=1)


def main() -> int:
    """Run the tests, which measure, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "results")
        tests = [sys.executable, "-m", "pytest", str(HERE), "-q", f"--results={file}"]
        code = subprocess.run(tests, cwd=HERE.parent.parent, stdout=sys.stderr, check=False).returncode
        if file.exists():
            results = pickle.loads(file.read_bytes())
            print(as_json(results) if arguments.format == "json" else markdown(results))
    return 1 if code else 0


if __name__ == "__main__":
    sys.exit(main())
