"""Faults survived: files that break, clocks that jump, processes that end or fork; no sentence is lost or half."""

import http.client
import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from edits import Editor
from figures import Figures
from guarded import Process, uvicorn_process
from loading import CONNECTIONS, HELD, WRONG, held, loader, requests_for, settled, state
from scripts import run
from sentences import LANGUAGES, parse
from servers import CALL, PEM, connect, on_the_wire

CHECK_SECONDS = 0.04
READERS = 8
EDITS = 1000

_BODY = json.dumps(CALL)
WHOLE = (
    f"POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(_BODY)}\r\n\r\n{_BODY}"
).encode()
"""A request, whole."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the edited file is; it is moved away, and comes back."""
    folder = tmp_path / "acme"
    folder.mkdir()
    return folder


# --- the file ---------------------------------------------------------------------------------------------------


def test_a_thousand_edits(folder: Path, tmp_path: Path, figures: Figures, budget: float) -> None:
    """A file is edited and broken in every way while 8 threads and 200 connections read, and the clock jumps."""
    editor = Editor(folder / "own.yaml", CHECK_SECONDS, seed=6)
    variables = {
        "EDITED_FILE": str(editor.file),
        "EDITED_CHECK": str(CHECK_SECONDS),
        "EDITED_READERS": str(READERS),
        "EDITED_PEM": PEM,
        "EDITED_JUMPS": "yes",
    }
    edits = int(EDITS * budget)
    with uvicorn_process("edited:app", **variables) as server:
        first = state(server.url)
        with loader(server.url, tmp_path, requests_for(LANGUAGES, shipped=False)) as load:
            for _ in range(edits):
                editor.edit()
                editor.pause()
            editor.rename()
            written = time.monotonic()
            last = settled(server.url, lambda found: editor.last in found["versions"])
            taken = time.monotonic() - written
            report = load.stop()
        after = settled(server.url, lambda found: held(found) == held(first))
        server.stop()
        log = server.written
    said = {*report["versions"], *last["versions"]}
    figures["edits, of them good"] = f"{edits:,}, {len(editor.good):,}"
    figures["ways to edit, the rarest made"] = f"{len(editor.done)}, {min(editor.done.values())} times"
    figures["torn edits held for longer than a look (not judged)"] = editor.slow
    figures["versions said to connections, to threads"] = f"{len(report['versions'])}, {len(last['versions'])}"
    figures["answers over 200 connections, meanwhile"] = report["requests"]
    figures["sentences read by 8 threads, meanwhile"] = last["reads"]
    for name in WRONG:
        figures[name.replace("_", " ")] = report[name]
    figures["last good edit is said after (looks)"] = f"{taken / CHECK_SECONDS:.1f}"
    assert "Traceback" not in log, log[log.index("Traceback") :][:4000]
    assert {name: report[name] for name in WRONG} == dict.fromkeys(WRONG, 0), report["samples"]
    assert last["wrong"] == []
    assert said <= editor.good
    assert len(said) > edits / 50
    assert editor.last in last["versions"]
    assert held(after) == held(first)


def test_last_good_edit_is_said_everywhere(folder: Path, tmp_path: Path) -> None:
    """After any edit, good or bad, a good one is said in every reason and language to whoever asks."""
    editor = Editor(folder / "own.yaml", CHECK_SECONDS, seed=7)
    variables = {"EDITED_FILE": str(editor.file), "EDITED_CHECK": str(CHECK_SECONDS), "EDITED_PEM": PEM}
    requests = requests_for(LANGUAGES, shipped=False)
    with uvicorn_process("edited:app", **variables) as server:
        for kind in (*editor.goods, *editor.bads):
            kind()
            _until(server, requests[0], lambda: None, looks=3)
            editor.rename()
            _until(server, requests[0], lambda: editor.last, looks=100)
            for request in requests:
                said = parse(_message(server.url, request))
                assert said, kind.__name__
                assert (said.version, said.reason) == (editor.last, request["reason"]), kind.__name__


def test_mended_by_its_rights_alone(folder: Path) -> None:
    """A file that nobody could read is read once they may, though its time and size are what they were."""
    editor = Editor(folder / "own.yaml", CHECK_SECONDS, seed=8)
    variables = {"EDITED_FILE": str(editor.file), "EDITED_CHECK": str(CHECK_SECONDS), "EDITED_PEM": PEM}
    [request, *_] = requests_for(LANGUAGES, shipped=False)
    with uvicorn_process("edited:app", **variables) as server:
        editor.unreadable()
        _until(server, request, lambda: None, looks=5)
        assert "own.yaml: cannot be read: Permission denied" in server.written
        editor.file.chmod(0o644)
        _until(server, request, lambda: -editor.version, looks=100)


@pytest.mark.parametrize("of", ["descriptors", "imports", "memory"])
def test_check_in_need(tmp_path: Path, of: str) -> None:
    """Where a look at the file fails for want of something, nothing is raised; once there is enough, it is read."""
    assert run("starved.py", tmp_path, of) == ["looked at in need", "the new wording is said"]


def _until(server: Process, request: dict[str, Any], version: Any, looks: int) -> None:
    for _ in range(looks):
        said = parse(_message(server.url, request))
        assert said
        if said.version == version():
            return
        time.sleep(CHECK_SECONDS)
    assert version() is None, f"version {version()} is not said"


def _message(url: str, request: dict[str, Any]) -> str:
    return str(on_the_wire(url, request["octets"].encode()).content["error"]["message"])


# --- the process ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rest", ["at once", "later", "never"])
def test_end_during_a_refusal(rest: str, figures: Figures) -> None:
    """SIGTERM while a refusal waits for the request's body: the caller is answered whole, and the process ends."""
    with uvicorn_process("edited:app", EDITED_PEM=PEM) as server:
        idle = state(server.url)
        with connect(server.url) as connection:
            connection.sendall(WHOLE[:-20])
            waiting = settled(server.url, lambda found: found["tasks"] > idle["tasks"])
            server.process.send_signal(signal.SIGTERM)
            if rest != "never":
                time.sleep(0 if rest == "at once" else 0.2)
                connection.sendall(WHOLE[-20:])
            response = http.client.HTTPResponse(connection)
            response.begin()
            content = json.loads(response.read())
        status = server.process.wait(10)
        log = server.written
    assert waiting["tasks"] > idle["tasks"]
    assert response.status == 401
    assert content["error"]["data"]["reason"] == "no_token"
    assert content["id"] == (None if rest == "never" else CALL["id"])
    assert status in {0, -signal.SIGTERM}
    assert log == ""
    figures.count("refusals answered whole after SIGTERM")


def test_end_under_load(tmp_path: Path, figures: Figures) -> None:
    """SIGTERM under 200 connections: no answer is cut, and every connection that began one gets it whole."""
    with uvicorn_process("edited:app", EDITED_PEM=PEM) as server:
        with loader(server.url, tmp_path, requests_for(LANGUAGES, shipped=True)) as load:
            settled(server.url, lambda found: found["descriptors"] > CONNECTIONS)
            time.sleep(0.5)
            server.process.send_signal(signal.SIGTERM)
            status = server.process.wait(20)
            report = load.stop()
        log = server.written
    figures["connections whose answer SIGTERM cut"] = report["torn"]
    assert report["torn"] == 0, report["samples"]
    assert status in {0, -signal.SIGTERM}
    assert "Traceback" not in log


@pytest.mark.parametrize("how", ["idle", "reloading"])
def test_fork_after_load(tmp_path: Path, how: str, figures: Figures, budget: float) -> None:
    """A child says what its file says from then on, whatever another thread of the parent did at that moment."""
    number = int(20 * budget)
    [line] = run("forked.py", tmp_path, number, how)
    ended = json.loads(line)
    figures[f"forks, parent {how}"] = ", ".join(f"{count} {end}" for end, count in ended.items())
    assert ended == {"said the new wording": number}


@pytest.mark.parametrize("python", [["-O"], ["-OO"], ["-W", "error"], ["-X", "dev", "-W", "error"]], ids=" ".join)
def test_python_otherwise(python: list[str], tmp_path: Path, figures: Figures) -> None:
    """Without assertions, without docstrings, with every warning an error: every answer is the same."""
    requests = requests_for(["en", "de", "ar", "zh-Hant"], shipped=True)
    with uvicorn_process("edited:app", python=tuple(python), EDITED_PEM=PEM) as server:
        with loader(server.url, tmp_path, requests, connections=20, seconds=1.5) as load:
            report = load.wait()
        server.stop()
        log = server.written
    figures[f"answers, none wrong, under python {' '.join(python)}"] = report["requests"]
    assert report["requests"] > 100
    assert {name: report[name] for name in WRONG} == dict.fromkeys(WRONG, 0), report["samples"]
    assert {line.partition(":")[0] for line in log.splitlines()} == {"refused"}


def test_nothing_is_left_behind(figures: Figures) -> None:
    """Callers who leave in the middle of a request leave no thread, task, file or socket."""
    with uvicorn_process("edited:app", EDITED_PEM=PEM) as server:
        first = state(server.url)
        for length in range(0, len(WHOLE), 3):
            with connect(server.url) as connection:
                connection.sendall(WHOLE[:length])
        after = settled(server.url, lambda found: held(found) == held(first))
        server.stop()
        log = server.written
    figures["callers who left in the middle"] = len(range(0, len(WHOLE), 3))
    figures["threads, tasks, descriptors before"] = ", ".join(str(first[name]) for name in HELD)
    figures["threads, tasks, descriptors after"] = ", ".join(str(after[name]) for name in HELD)
    assert held(after) == held(first)
    assert log == ""
