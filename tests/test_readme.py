"""What the README and the guides say is what happens."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import httpx2
import pytest
import uvicorn
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from servers import AUDIENCE, GOOD, ISSUER, KEY, SCOPES, TOKENS, serve

from mcp_auth_failures import Wording, load_catalog

ROOT = Path(__file__).parents[1]


def blocks(guide: str, kind: str) -> list[str]:
    """The code blocks of one kind in a Markdown file, in order."""
    found = re.finditer(
        rf"^(?P<indent> *)```{kind}\n(?P<code>.*?)^(?P=indent)```$",
        (ROOT / guide).read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    return [textwrap.dedent(block["code"]) for block in found]


@pytest.fixture
def my_server(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """The reader's own module, whose verifier is the README's."""
    module = types.ModuleType("my_server")
    vars(module).update(AUDIENCE=AUDIENCE, ISSUER=ISSUER, PUBLIC_KEY=KEY.public_key(), SCOPES=SCOPES)
    monkeypatch.setitem(sys.modules, "my_server", module)
    verifier: dict[str, type] = {}
    exec(blocks("README.md", "python")[1], verifier)  # the README's own code
    module.server = MCPServer(
        "mine",
        token_verifier=verifier["Verifier"](),
        auth=AuthSettings(
            issuer_url=ISSUER, resource_server_url=AUDIENCE, required_scopes=SCOPES, validate_token_resource=True
        ),
    )

    @module.server.tool()
    def echo(x: str) -> str:
        return x

    return module


async def shown(url: str, token: str | None) -> str:
    """What the official client's exception says, as the README prints it."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    try:
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            return str((await client.call_tool("echo", {"x": "hi"})).content[0].text)
    except BaseExceptionGroup as errors:
        (error,) = leaves(errors)
        assert isinstance(error, MCPError)
        return f"{type(error).__name__}: {error}\ndata: {error.error.data}\n"


def leaves(error: BaseException) -> list[BaseException]:
    """The exceptions of a group of groups."""
    return (
        [leaf for part in error.exceptions for leaf in leaves(part)]
        if isinstance(error, BaseExceptionGroup)
        else [error]
    )


def test_the_bad_refusal_is_what_the_sdk_shows_alone(my_server: types.ModuleType) -> None:
    """The README's first block is the official client's, against the server as it is."""
    with serve(my_server.server.streamable_http_app()) as url:
        assert asyncio.run(shown(url, TOKENS["expired"]["expired"])) == blocks("README.md", "text")[0]


def test_the_good_refusal_is_what_the_wrapped_server_gives(
    my_server: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The README's second block is the official client's, against the six lines that wrap the server."""
    apps: list[object] = []
    monkeypatch.setattr(uvicorn, "run", apps.append)  # port 8000 may be taken; it is served below all the same
    exec(blocks("README.md", "python")[0], {})
    with serve(apps[0]) as url:
        assert asyncio.run(shown(url, TOKENS["expired"]["expired"])) == blocks("README.md", "text")[1]
        assert asyncio.run(shown(url, GOOD)) == "hi"


def test_the_library_calls_print_a_sentence_and_a_whole_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """The README's library example runs and says what it promises."""
    exec(blocks("README.md", "python")[2], {})
    first, second = capsys.readouterr().out.splitlines()
    expected = Wording(env=False).describe("expired", "de").message
    assert first == f"{expected} {{'reason': 'expired', 'action': 'refresh', 'recoverable': True}}"
    assert second.startswith("403 {'Content-Type': 'application/json', ")


def test_every_python_block_of_the_readme_is_run_here() -> None:
    """No example stands in the README that no test runs."""
    assert len(blocks("README.md", "python")) == 3


def test_the_readmes_table_is_the_catalog() -> None:
    """Each row of the table says what the catalog says."""
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| `(\w+)` \| (.+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert rows == [
        (reason, str(entry.failure.status), entry.failure.action, entry.meaning)
        for reason, entry in load_catalog().reasons.items()
    ]


def test_the_readme_stays_short() -> None:
    """Later work adds a line and a link."""
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize("guide", ["catalog/README.md", "locales/README.md"])
def test_the_commands_of_a_guide_work_in_its_order(guide: str, tmp_path: Path) -> None:
    """Each command of the guide, word by word and one after the other, in a folder like the reader's."""
    shutil.copytree(ROOT / "locales", tmp_path / "locales")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    commands = [line for block in blocks(guide, "sh") for line in block.splitlines()]
    ours = [line for line in commands if line.startswith("mcp-auth-failures ")]
    assert len(ours) >= 3
    for command in ours:
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stdout, done.stderr)


def test_the_operators_example_loads(tmp_path: Path) -> None:
    """The override file of the operator's guide is one."""
    file = tmp_path / "acme.yaml"
    file.write_text(blocks("catalog/README.md", "yaml")[0], encoding="utf-8")
    wording = Wording(overrides=file, contact="it@acme.example", env=False)
    assert wording.describe("not_provisioned", "de").message == (
        "Acme ist noch nicht bereit. Schreiben Sie an it@acme.example."
    )
