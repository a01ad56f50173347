"""Load: a real server under many connections, all reasons and languages mixed, gives each its own, and never grows."""

from pathlib import Path

from figures import Figures
from guarded import uvicorn_process
from loading import CONNECTIONS, WRONG, held, loader, requests_for, settled, state
from servers import PEM

from mcp_auth_failures import Wording, load_catalog

SECONDS = 12
FLAT = {"blocks": 2000, "kilobytes": 2048}
"""What memory may grow by after the first third: Python's own blocks, of which a leak takes one a request, and all."""


def test_every_answer_is_its_own(tmp_path: Path, figures: Figures, budget: float) -> None:
    """200 connections, every reason in every language: no error, no wrong reason, no wrong language, flat memory."""
    languages = Wording(env=False).languages
    requests = requests_for(languages, shipped=True)
    third = SECONDS * budget / 3
    with uvicorn_process("edited:app", EDITED_PEM=PEM) as server:
        first = state(server.url)
        with loader(server.url, tmp_path, requests, seconds=third) as load:
            load.wait()
        before = settled(server.url, lambda found: held(found) == held(first))
        with loader(server.url, tmp_path, requests, seconds=2 * third) as load:
            report = load.wait()
        after = settled(server.url, lambda found: held(found) == held(first))
        server.stop()
        written = server.written
    figures["connections at once"] = CONNECTIONS
    figures["requests"] = report["requests"]
    figures["requests a second"] = round(report["requests"] / (2 * third))
    figures["reasons and languages mixed"] = f"{len(report['by_reason'])} and {len(report['languages'])}"
    for name in WRONG:
        figures[name.replace("_", " ")] = report[name]
    figures["blocks of memory before, after"] = f"{before['blocks']:,}, {after['blocks']:,}"
    figures["memory before, after (kB)"] = f"{before['kilobytes']:,}, {after['kilobytes']:,}"
    assert {name: report[name] for name in WRONG} == dict.fromkeys(WRONG, 0), report["samples"]
    assert set(report["by_reason"]) == set(load_catalog().reasons)
    assert set(report["languages"]) == set(languages)
    assert {name: after[name] - before[name] for name in FLAT if after[name] - before[name] > FLAT[name]} == {}
    assert held(after) == held(first)
    assert {line.partition(":")[0] for line in written.splitlines()} == {"refused"}
