"""The Inspector's command line: a process a task. ``mode`` says how it is called, ``terminal`` with a terminal."""

import asyncio
import json
import os
import pty
import re
import socket
import subprocess
import tempfile
import threading
import urllib.request
from pathlib import Path

from driver import TIMEOUT, Task, serve

PACKAGE = Path(__file__).parent.parent / "node_modules/@modelcontextprotocol/inspector"
MANIFEST = json.loads((PACKAGE / "package.json").read_text())
LINK = re.compile(rb"\x1b\]8;;(http[^\x07]+)\x07")


def command(task: Task, callback: str) -> list[str]:
    options = {"--server-url": task.url, "--transport": "http", "--method": "tools/call", "--tool-name": task.tool}
    options |= {"--tool-arg": "x=hi", "--callback-url": callback}
    if task.auth == "static":
        options["--header"] = f"Authorization: Bearer {task.token}"
    if task.mode == "terminal, client id":
        options["--client-id"] = "client-1"
    flags = ["--stored-auth-only"] if task.mode == "stored auth only" else []
    return [
        "node",
        str(PACKAGE / MANIFEST["bin"]["mcp-inspector"]),
        "--cli",
        *flags,
        *(word for pair in options.items() for word in pair),
    ]


def remember(task: Task, folder: str) -> None:
    """Write the sign-in of an earlier session where the Inspector keeps it."""
    client, tokens = task.stored["client"], task.stored["tokens"]
    issuer = client["issuer"]
    kept = {"clientInformation": client, "tokens": tokens | {"issuer": issuer}}
    state = {"servers": {task.url: {"byIssuer": {issuer: kept}, "activeIssuer": issuer}}, "idpSessions": {}}
    Path(folder, "oauth.json").write_text(json.dumps(state))


def browse(stderr: int, shown: bytearray) -> None:
    """Read the terminal, and open each link it shows for the first time, as the person would."""
    opened = set()
    while chunk := _read(stderr):
        shown += chunk
        for link in set(LINK.findall(bytes(shown))) - opened:
            opened.add(link)
            urllib.request.urlopen(link.decode()).close()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


async def run(task: Task):
    return await asyncio.to_thread(call, task)


def call(task: Task):
    """What the command line prints."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        callback = f"http://127.0.0.1:{free.getsockname()[1]}/callback"
    with tempfile.TemporaryDirectory() as folder:
        if task.auth == "oauth" and task.stored:
            remember(task, folder)
        kept = {"HOME": folder, "MCP_STORAGE_DIR": folder, "MCP_INSPECTOR_SECRET_STORE": "file"}
        env = os.environ | kept | {"MCP_AUTO_OPEN_ENABLED": "false"}
        terminal = (task.mode or "").startswith("terminal")
        shown = bytearray()
        ours, theirs = pty.openpty() if terminal else os.pipe()
        pipe = subprocess.PIPE
        with subprocess.Popen(command(task, callback), stdin=pipe, stdout=pipe, stderr=theirs, env=env) as process:
            os.close(theirs)
            reader = threading.Thread(target=browse, args=(ours, shown))
            reader.start()
            try:
                stdout, _ = process.communicate(b"y\n" if terminal else b"", timeout=TIMEOUT - 10)
            finally:
                process.kill()
                reader.join()
        os.close(ours)
    result = json.loads(stdout) if process.returncode in {0, 5} else {"content": [{"text": shown.decode()}]}
    text = result["content"][0]["text"]
    return {"called": text == "hi", "message": text, "error": f"exit {process.returncode}", "more": stdout.decode()}


serve(run, MANIFEST["version"])
