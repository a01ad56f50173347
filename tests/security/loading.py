"""What the tests of load and of faults share: requests, the process that sends them, and the server's own account."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scripts import ENVIRONMENT, command
from servers import CALL, NOW, on_the_wire, token

from mcp_auth_failures import Wording

__all__ = ["CONNECTIONS", "HELD", "WRONG", "Loader", "held", "loader", "requests_for", "settled", "state"]

CONNECTIONS = 200
WRONG = ("errors", "wrong_reasons", "wrong_languages", "wrong_sentences", "mixed", "backwards")
"""What a loader counts, and what must be none."""
HELD = ("threads", "tasks", "descriptors")
"""What a process may not have more of than before."""

_YEARS = 10 * 365 * 86_400  # whatever the clock does
_EVER = {"exp": NOW + _YEARS}
_TOKENS = {
    "no_token": None,
    "expired": token(exp=NOW - _YEARS),
    "unverified": token(aud="https://other.example/mcp", **_EVER),
    "incomplete": token(sub=None, client_id=None, **_EVER),
    "insufficient_scope": token(scope="other", **_EVER),
    "not_provisioned": None,
    "surface_disabled": token(**_EVER),
}


def requests_for(languages: Sequence[str], *, shipped: bool) -> list[dict[str, Any]]:
    """A request for every reason in every language, with the sentence that answers it where it is the shipped one."""
    wording = Wording(env=False)
    requests = []
    for number, (reason, bearer) in enumerate(_TOKENS.items()):
        path = f"/{reason}" if reason in {"not_provisioned", "surface_disabled"} else "/mcp"
        for language in languages:
            request_id = f"{number}-{language}"
            body = json.dumps({**CALL, "id": request_id})
            lines = [
                f"POST {path} HTTP/1.1",
                "host: mcp.example",
                "content-type: application/json",
                f"content-length: {len(body)}",
                f"accept-language: {language}",
                *([f"authorization: Bearer {bearer}"] if bearer else []),
            ]
            octets = "\r\n".join([*lines, "", body])
            message = wording.describe(reason, language).message if shipped else None
            requests.append(
                {"octets": octets, "id": request_id, "reason": reason, "language": language, "message": message}
            )
    return requests


class Loader:
    """A running ``loader.py``."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def stop(self) -> dict[str, Any]:
        """Let every connection finish its answer, and report."""
        output, _ = self._process.communicate("")
        assert self._process.returncode == 0
        report: dict[str, Any] = json.loads(output)
        return report

    def wait(self) -> dict[str, Any]:
        """Report when its time is over."""
        assert self._process.stdout
        report: dict[str, Any] = json.loads(self._process.stdout.read())
        assert self._process.wait(60) == 0
        return report


@contextmanager
def loader(
    url: str, folder: Path, requests: object, *, connections: int = CONNECTIONS, seconds: float = 3600
) -> Iterator[Loader]:
    """Load a server from a process of its own."""
    file = folder / "requests.json"
    file.write_text(json.dumps(requests))
    process = subprocess.Popen(
        command("loader.py", url, connections, seconds, file),
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Loader(process)
    finally:
        process.kill()
        process.communicate()


def state(url: str) -> dict[str, Any]:
    """What the server's process holds."""
    content: dict[str, Any] = on_the_wire(url, b"GET /state HTTP/1.1\r\nhost: x\r\n\r\n").content
    return content


def held(found: dict[str, Any]) -> dict[str, Any]:
    """What a state says of what may not grow."""
    return {name: found[name] for name in HELD}


def settled(url: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The state once it holds, or as it is after ten seconds."""
    end = time.monotonic() + 10
    while not holds(found := state(url)) and time.monotonic() < end:
        time.sleep(0.05)
    return found
