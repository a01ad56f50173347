"""Refusals a second over real HTTP: uvicorn on one core, wrk on another."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from measure import HERE, Row, alternate, row

SECONDS = 2
CONNECTIONS = 16
ROUNDS = 15


def rows() -> Iterator[Row]:
    """The rows of plain uvicorn, and of the fastest event loop and parser it can be given."""
    for loop, http in (("asyncio", "h11"), ("uvloop", "httptools")):
        for app, name, goal in (
            ("told", "refusals a second over real HTTP", 0.9),
            ("swapped", "for comparison: an answer made beforehand, in the SDK's place", None),
        ):
            with server(app, loop, http) as ours, server("alone", loop, http) as alone:
                measured = alternate(ours.core_seconds, alone.core_seconds, ROUNDS)
            answers = [(1 / one, 1 / other) for one, other in measured]
            what = f"{name} (uvicorn with {loop} and {http}, one core)"
            yield row(what, "the SDK alone", answers, goal, at_least=True, unit="/s")


@dataclass(frozen=True)
class Server:
    """An app of ``peer`` in a uvicorn of its own."""

    url: str
    process: subprocess.Popen[bytes]

    def core_seconds(self, _: int) -> float:
        """Put the server under full load, and give the time that a core works for one refusal.

        Not the time that passes, since other programs may want the same core: what is left of it for us would decide.
        """
        wrk = ["taskset", "-c", "1", "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", str(HERE / "refused.lua")]
        before = self._worked()
        result = json.loads(subprocess.run([*wrk, self.url], check=True, capture_output=True, text=True).stderr)
        worked = self._worked() - before
        if result["refused"] != result["answers"] or result["broken"]:
            raise RuntimeError(f"not everything was refused: {result}")
        return float(worked / result["answers"])

    def _worked(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime and stime, proc(5)


@contextmanager
def server(app: str, loop: str, http: str) -> Iterator[Server]:
    """Start one on the first core."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [
        "taskset",
        "-c",
        "0",
        sys.executable,
        "-m",
        "uvicorn",
        "--factory",
        f"peer:{app}",
        "--app-dir",
        str(HERE),
    ]
    options = ["--port", str(port), "--loop", loop, "--http", http, "--log-level", "critical", "--no-access-log"]
    process = subprocess.Popen([*command, *options])
    try:
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        started = Server(f"http://127.0.0.1:{port}", process)
        started.core_seconds(1)  # warms it
        yield started
    finally:
        process.terminate()
        process.wait()
