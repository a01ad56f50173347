"""Every client against every case: who is driven how, what a host got to see of it, and how often anyone was asked."""

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, Any, Literal

from world import GATED, STREAM_CAP, WORDING, Case, World, Worlds

HERE = Path(__file__).parent
REDIRECT_URI = "http://127.0.0.1:1/callback"
QUIET = 6.0  # the server asks them to come back for a dropped stream after 50 ms

Kind = Literal["recovered", "sentence", "nothing"]


def _python(driver: str, python: str = sys.executable) -> list[str]:
    return [python, str(HERE / "drivers" / driver)]


DRIVERS = {
    "Python SDK 2": _python("python_sdk_2.py"),
    "Python SDK 1": _python("python_sdk_1.py", str(HERE / ".venv-mcp1/bin/python")),
    "FastMCP": _python("fastmcp_client.py"),
    "TypeScript SDK v1": ["node", str(HERE / "drivers/typescript.mjs"), "v1"],
    "TypeScript SDK v2": ["node", str(HERE / "drivers/typescript.mjs"), "v2"],
    "Inspector CLI": _python("inspector_cli.py"),
}


@dataclass(frozen=True)
class Row:
    """One client in one configuration.

    :param auth: ``none``, a ``static`` bearer in a header, a ``token`` given as ``authProvider``, or ``oauth``.
    :param mode: the protocol negotiation (``legacy`` or ``auto``), or how the Inspector is called.
    """

    client: str
    auth: Literal["none", "static", "token", "oauth"]
    mode: str | None = None

    @property
    def name(self) -> str:
        auth = {"none": "no auth", "static": "static bearer", "token": "authProvider token", "oauth": "OAuth"}
        return ", ".join(filter(None, (self.client, self.mode, auth[self.auth])))

    @property
    def modern(self) -> bool:
        """Whether it speaks MCP 2026-07-28 with a server that does."""
        return self.mode == "auto" or self.client == "FastMCP"


def _rows() -> Iterable[Row]:
    for mode in ("auto", "legacy"):
        yield from (Row("Python SDK 2", auth, mode) for auth in ("none", "static", "oauth"))
    for client in ("Python SDK 1", "FastMCP", "TypeScript SDK v1"):
        yield from (Row(client, auth) for auth in ("none", "static", "oauth"))
    for mode in ("auto", "legacy"):
        yield from (Row("TypeScript SDK v2", auth, mode) for auth in ("none", "static", "token", "oauth"))
    for mode in ("no terminal", "stored auth only"):
        yield from (Row("Inspector CLI", auth, mode) for auth in ("none", "static"))
    yield Row("Inspector CLI", "oauth", "terminal")
    yield Row("Inspector CLI", "oauth", "terminal, client id")


ROWS = tuple(_rows())
REASONS = tuple(WORDING.catalog.reasons)


def cases_of(row: Row) -> Iterable[Case]:
    """What can go wrong for this client: without a token no token is bad, and with one there is one."""
    for reason in REASONS:
        if row.auth == "none" and reason not in GATED | {"no_token"}:
            continue
        if row.auth in {"static", "token"} and reason == "no_token":
            continue
        moments = ["connect"] if reason == "no_token" or row.auth == "none" else ["connect", "call"]
        yield from (Case(reason=reason, moment=moment, shipped=shipped) for moment in moments for shipped in BOTH)
    if row.auth != "none":
        yield from (Case(reason="insufficient_scope", moment="tool", tool="write", shipped=shipped) for shipped in BOTH)
    if row.auth == "oauth":
        yield from (Case(reason=reason, renewal="useless") for reason in USELESS)
        yield Case(reason="expired", renewal="revoked")
        yield Case(reason="insufficient_scope", refresh=False)
        yield Case(reason="insufficient_scope", renewal="widened")
        yield Case(reason="insufficient_scope", moment="tool", tool="write", refresh=False)
    if row.auth in {"static", "oauth"} and not row.modern and row.client != "Inspector CLI":
        yield Case(reason="expired", moment="stream", shipped=True)
        answers = STREAM_ANSWERS if row.auth == "oauth" else STREAM_ANSWERS[:1]
        yield from (Case(reason="expired", moment="stream", stream=answer) for answer in answers)


BOTH = (False, True)
USELESS = ("expired", "unverified", "incomplete", "insufficient_scope")
STREAM_ANSWERS = ("ours", "403", "405", "503", "405 from the third on")


@dataclass(frozen=True)
class Cell:
    """What came of one case for one client.

    :param kind: the call worked after all, or the sentence reached the host, or neither.
    :param where: ``message`` of the exception or result, or ``property`` of it.
    :param requests: what was asked since things went wrong, by kind.
    :param asked: the scopes of each authorization request.
    """

    row: Row
    case: Case
    kind: Kind
    where: str
    error: str
    message: str
    more: str
    requests: dict[str, int]
    asked: list[list[str]]

    @property
    def posts(self) -> int:
        """Requests to the MCP server that carry a message."""
        return sum(count for kind, count in self.requests.items() if kind.startswith("POST"))

    @property
    def auth_requests(self) -> int:
        """Requests for metadata, registration, authorization and tokens."""
        return sum(self.requests.get(kind, 0) for kind in AUTH_KINDS)

    def json(self) -> dict[str, Any]:
        """For ``--format json``: everything but what the client printed."""
        fields = asdict(self) | {"posts": self.posts, "auth_requests": self.auth_requests}
        return {name: value for name, value in fields.items() if name != "more"}


AUTH_KINDS = ("resource metadata", "server metadata", "register", "authorize", "token")


class Driver:
    """A client in a process of its own, which is given one task after another."""

    def __init__(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        with contextlib.ExitStack() as opening:
            self._log = opening.enter_context(tempfile.TemporaryFile("w+"))
            self._process = opening.enter_context(
                subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._log, text=True)
            )
            self.version = self._read()["version"]
            self._opened = opening.pop_all()

    def __enter__(self) -> "Driver":
        return self

    def __exit__(self, *_: object) -> None:
        self._stdin.close()
        self._opened.close()

    @property
    def _stdin(self) -> IO[str]:
        assert self._process.stdin
        return self._process.stdin

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            self._log.seek(0)
            raise RuntimeError(f"{self._process.args} ended: {self._log.read()[-2000:]}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _write(self, line: str) -> None:
        self._stdin.write(line + "\n")
        self._stdin.flush()

    def run(self, row: Row, world: World) -> Cell:
        """Connect and call one tool, as the case of the world has it."""
        case = world.case
        task = {"url": world.url, "auth": row.auth, "mode": row.mode, "token": world.token(), "tool": case.tool}
        task |= {"stored": world.stored(REDIRECT_URI) if row.auth == "oauth" else {}, "hold": case.moment == "stream"}
        self._write(json.dumps(task))
        answer = self._read()
        if "held" in answer:
            while world.requests["GET"] <= STREAM_CAP and world.changed.wait(QUIET):
                world.changed.clear()
            requests = dict(world.requests)
            self._write("")
            answer = self._read()
        else:
            requests = dict(world.requests)
        kind, where = judge(case.reason, answer)
        shown = {name: answer[name] for name in ("error", "message", "more")}
        return Cell(row, case, kind, where, requests=requests, asked=world.authorization.asked, **shown)


def judge(reason: str, answer: dict[str, Any]) -> tuple[Kind, str]:
    """What a client's answer amounts to."""
    failure = WORDING.describe(reason)
    sentences = (failure.message, failure.description)
    if answer["called"]:
        return "recovered", ""
    for where, text in (("message", answer["message"]), ("property", answer["more"])):
        if any(sentence and sentence in text.replace("\\'", "'") for sentence in sentences):
            return "sentence", where
    return "nothing", ""


@dataclass(frozen=True)
class Results:
    """The whole matrix, and which release of each client it is about."""

    versions: dict[str, str]
    cells: tuple[Cell, ...]

    def cell(self, row: Row, case: Case) -> Cell:
        """The cell of one row and case."""
        return next(cell for cell in self.cells if (cell.row, cell.case) == (row, case))


def measure() -> Results:
    """Run every client against every case: each client in each mode in a process of its own, all at once."""
    worlds = Worlds()
    shares = [list(rows) for _, rows in groupby(ROWS, key=lambda row: (row.client, row.mode))]
    try:
        with ThreadPoolExecutor(len(shares)) as pool:
            shared = list(pool.map(lambda rows: _share(worlds, rows), shares))
    finally:
        worlds.close()
    versions = {rows[0].client: version for rows, (version, _) in zip(shares, shared, strict=True)}
    return Results(versions, tuple(cell for _, cells in shared for cell in cells))


def _share(worlds: Worlds, rows: list[Row]) -> tuple[str, list[Cell]]:
    cells = []
    with Driver(DRIVERS[rows[0].client]) as driver:
        for row in rows:
            for case in cases_of(row):
                with worlds.serve(case) as world:
                    cells.append(driver.run(row, world))
    return driver.version, cells
