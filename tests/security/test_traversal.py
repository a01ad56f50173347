"""No traversal, no code: what a file, a name or a header holds opens nothing, runs nothing and uses up nothing."""

import json
from pathlib import Path

from figures import Figures
from scripts import run

MEGABYTES = 400
"""What reading any file of a mebibyte, or any header, may add to the memory of a process."""
SECONDS = 10
"""What it may take, of one core."""


def test_nothing_is_opened_and_nothing_is_run(tmp_path: Path, figures: Figures, budget: float) -> None:
    """Under an audit hook, all that is opened lies in the folders that were given, and no code is made of data."""
    [line] = run("watched.py", tmp_path, 6, int(200 * budget))
    report = json.loads(line)
    figures["hostile files read under an audit hook"] = report["files"]
    figures["of them refused whole"] = report["refused"]
    figures["hostile names and texts as arguments"] = report["said"]
    figures["openings seen, all within the folders given"] = sum(report["seen"].values())
    assert report["noticed"] == 2, "the hook sees nothing"
    assert report["beyond"] == []
    assert report["seen"]["open"] >= report["files"]


def test_memory_and_time_are_bounded(tmp_path: Path, figures: Figures, budget: float) -> None:
    """Whatever is read ends, read or refused, within the limits; what it says can be sent."""
    every = ["all"] if budget > 1 else []
    reports = [json.loads(line) for line in run("limited.py", tmp_path, MEGABYTES, SECONDS, *every)]
    figures["costly files and headers read under resource limits"] = len(reports)
    for unit, limit in (("seconds", SECONDS), ("megabytes", MEGABYTES)):
        most = max(reports, key=lambda report: report[unit])
        figures[f"most {unit} (limit {limit})"] = f"{most[unit]} ({most['what']})"
    assert [report for report in reports if not report["ended"].startswith(("read", "refused"))] == []
