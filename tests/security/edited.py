"""A server whose override file is edited while it runs, and which tells about itself. For ``uvicorn --factory``.

The environment says how: ``EDITED_FILE`` the override file, if any; ``EDITED_CHECK`` how often it is looked at;
``EDITED_PEM`` the issuer's key; ``EDITED_READERS`` how many threads read the wording beside the server;
``EDITED_JUMPS`` whether the system's clock jumps.
"""

import asyncio
import gc
import json
import os
import random
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from sentences import EVERYWHERE, LANGUAGES, REASONS, parse
from servers import GIVE_UP_ROOT, App, Message, Receive, Send, Verifier, authenticated

from mcp_auth_failures import Wording, overrides
from mcp_auth_failures.asgi import AuthFailureMiddleware

_MONTH = 30 * 86_400


def app() -> App:
    """The official SDK's authentication, wrapped; ``/state`` tells what the process holds."""
    overrides.CHECK_SECONDS = float(os.environ.get("EDITED_CHECK", overrides.CHECK_SECONDS))
    files = [path] if (path := os.environ.get("EDITED_FILE")) else []
    wording = Wording(env=False, overrides=files)
    verifier = Verifier()
    verifier.key = load_pem_public_key(os.environ["EDITED_PEM"].encode())  # type: ignore[assignment]
    wrapped = AuthFailureMiddleware(authenticated(_unreached, verifier=verifier), wording, gate=_gate)
    exec(GIVE_UP_ROOT, {})
    readers = _Readers(wording, int(os.environ.get("EDITED_READERS", 0)))
    if os.environ.get("EDITED_JUMPS"):
        threading.Thread(target=_jump, daemon=True).start()

    async def told(scope: Message, receive: Receive, send: Send) -> None:
        if scope.get("path") != "/state":
            await wrapped(scope, receive, send)
            return
        body = json.dumps({**_state(), **readers.state}).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})

    return told


async def _unreached(scope: Message, receive: Receive, send: Send) -> None:
    raise AssertionError("a token was accepted")


def _gate(scope: Message) -> str | None:
    return scope["path"][1:] if scope["path"] in {"/surface_disabled", "/not_provisioned"} else None


def _state() -> dict[str, int]:
    gc.collect()
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {
        "kilobytes": int(status["VmRSS"].split()[0]),
        "blocks": sys.getallocatedblocks(),
        "threads": threading.active_count(),
        "tasks": len(asyncio.all_tasks()),
        "descriptors": len(os.listdir("/proc/self/fd")),
    }


class _Readers:
    """Threads that read the wording, and look at what they are given."""

    def __init__(self, wording: Wording, number: int) -> None:
        self._wording = wording
        self._reads: Counter[str] = Counter()
        self._wrong: list[str] = []
        self._versions: set[int] = set()
        for _ in range(number):
            threading.Thread(target=self._read, daemon=True).start()

    @property
    def state(self) -> dict[str, object]:
        return {"reads": self._reads.total(), "wrong": self._wrong[:5], "versions": sorted(self._versions)}

    def _read(self) -> None:
        chance = random.Random()
        name = threading.current_thread().name
        while True:
            reason, language = chance.choice(REASONS), chance.choice(LANGUAGES)
            try:
                self._wording.check()
                message = self._wording.refusal(reason, language).failure.message
            except Exception as error:
                self._wrong.append(repr(error))
                continue
            said = parse(message)
            if said is None or said.reason != reason or said.language not in {language, EVERYWHERE}:
                self._wrong.append(f"{reason} in {language}: {message!r}")
            else:
                self._versions.add(said.version)
            self._reads[name] += 1
            time.sleep(0.002)


def _jump() -> None:
    """Set the clock, again and again, by up to a month back and forth."""
    true, offset = time.time, [0.0]
    time.time = lambda: true() + offset[0]
    while True:
        offset[0] = random.uniform(-_MONTH, _MONTH)
        time.sleep(0.02)
