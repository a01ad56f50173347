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
from typing import Any

import flask
import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from mcp.client.client import Client as McpClient
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from servers import AUDIENCE, GOOD, ISSUER, KEY, PEM, SCOPES, TOKENS, ask, bearer, serve
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from mcp_auth_failures import Refusal, Wording, load_catalog
from mcp_auth_failures.asgi import AuthFailureMiddleware

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
    vars(module).update(AUDIENCE=AUDIENCE, ISSUER=ISSUER, PUBLIC_KEY=KEY.public_key(), PEM=PEM, SCOPES=SCOPES)
    monkeypatch.setitem(sys.modules, "my_server", module)
    module.server = MCPServer(
        "mine",
        token_verifier=run(1)["verifier"],
        auth=AuthSettings(
            issuer_url=ISSUER, resource_server_url=AUDIENCE, required_scopes=SCOPES, validate_token_resource=True
        ),
    )

    @module.server.tool()
    def echo(x: str) -> str:
        return x

    return module


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the README hands to ``uvicorn.run``: it is served below all the same, on a port that is free."""
    apps: list[Any] = []
    monkeypatch.setattr(uvicorn, "run", apps.append)
    return apps


def run(number: int, guide: str = "README.md", **given: object) -> dict[str, Any]:
    """Run one Python block of a guide, and give what it defines."""
    names: dict[str, Any] = dict(given)
    exec(blocks(guide, "python")[number], names)
    return names


async def shown(url: str, token: str | None) -> str:
    """What the official client's exception says, as the README prints it."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    try:
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            McpClient(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
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


def test_the_good_refusal_is_what_the_wrapped_server_gives(my_server: types.ModuleType, served: list[Any]) -> None:
    """The README's second block is the official client's, against the six lines that wrap the server."""
    run(0)
    with serve(served[0]) as url:
        assert asyncio.run(shown(url, TOKENS["expired"]["expired"])) == blocks("README.md", "text")[1]
        assert asyncio.run(shown(url, GOOD)) == "hi"


def test_fastmcp_gains_reasons(my_server: types.ModuleType, served: list[Any]) -> None:
    """The README's FastMCP server tells an expired token from a forged one."""
    run(2)
    with serve(served[0]) as url:
        for reason in ("no_token", "expired", "unverified", "insufficient_scope"):
            token = next(iter(TOKENS[reason].values()))
            assert f"'reason': '{reason}'" in asyncio.run(shown(url, token))


EXPECTED = Wording(env=False).refusal("insufficient_scope", "fr", scopes=["files:write"])


def test_a_refusal_is_a_whole_answer_for_flask() -> None:
    """The README's view, in a real Flask app."""
    refused = run(3)["refused"]
    app = flask.Flask("mine")
    app.add_url_rule("/", view_func=lambda: refused("insufficient_scope", flask.request.headers["Accept-Language"]))
    answer = app.test_client().get("/", headers={"Accept-Language": "fr"})
    assert Refusal.from_response(answer.status_code, answer.headers, answer.data) == EXPECTED


@pytest.mark.parametrize("framework", [Starlette, FastAPI])
def test_a_refusal_is_a_whole_answer_for_starlette_and_fastapi(framework: type[Starlette]) -> None:
    """What the README's view returns is what their Response takes."""
    refused = run(3)["refused"]

    async def view(request: Request) -> Response:
        return Response(*refused("insufficient_scope", request.headers["Accept-Language"]))

    app = framework()
    app.add_route("/", view)
    with serve(app) as url:
        answer = httpx2.get(url, headers={"Accept-Language": "fr"})
    assert Refusal.from_response(answer.status_code, answer.headers, answer.content) == EXPECTED


@pytest.mark.parametrize(
    ("reason", "renewed", "heard"),
    [
        ("expired", True, "hi"),
        ("expired", False, None),
        ("unverified", True, None),
        ("surface_disabled", True, None),
    ],
)
def test_a_client_acts_on_a_refusal(
    my_server: types.ModuleType, served: list[Any], reason: str, renewed: bool, heard: str | None
) -> None:
    """The README's client renews what can be renewed, and otherwise says the sentence and stops."""
    run(0)
    closed = reason == "surface_disabled"
    app = AuthFailureMiddleware(served[0].app, gate=lambda scope: reason if closed else None)
    told: list[str] = []
    token = {"authorization": f"Bearer {next(iter(TOKENS.get(reason, {'any': GOOD}).values()))}"}

    async def tell(message: str) -> None:
        told.append(message)

    async def main(url: str) -> Any:
        headers = {"authorization": f"Bearer {GOOD}"}
        async with httpx2.AsyncClient(headers=headers) as http:

            class Client:
                async def call_tool(self, tool: str, arguments: dict[str, object]) -> str:
                    async with McpClient(streamable_http_client(f"{url}/mcp", http_client=http)) as client:
                        return str((await client.call_tool(tool, arguments)).content[0].text)

            class Flat(Client):
                async def call_tool(self, tool: str, arguments: dict[str, object]) -> str:
                    try:
                        return await super().call_tool(tool, arguments)
                    except BaseExceptionGroup as errors:
                        raise leaves(errors)[0] from None

            async def refresh() -> bool:
                http.headers.update(headers)
                return renewed

            http.headers.update(token)
            return await run(4)["call"](Flat(), "echo", {"x": "hi"}, refresh=refresh, tell=tell)

    with serve(app) as url:
        assert asyncio.run(main(url)) == heard
    assert told == ([] if heard else [Wording(env=False).describe(reason).message])


def test_refusals_are_counted_with_opentelemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator's recipe counts by reason, language and status."""
    reader = InMemoryMetricReader()
    monkeypatch.setattr(metrics, "get_meter", MeterProvider([reader]).get_meter)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})

    counted = run(0, "catalog/README.md", app=app)["app"]
    for language in ("de", "de", "ja"):
        ask(counted, headers=[("accept-language", language), *bearer("x")])
    (point, other) = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics[0].data.data_points
    assert {(point.attributes["language"], point.value) for point in (point, other)} == {("de", 2), ("ja", 1)}
    assert (point.attributes["reason"], point.attributes["status"]) == ("unverified", 401)


def test_every_python_block_of_the_readme_is_run_here() -> None:
    """No example stands in the guides that no test runs."""
    assert [len(blocks(guide, "python")) for guide in ("README.md", "catalog/README.md")] == [5, 1]


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
