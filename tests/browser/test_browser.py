"""What a page on another origin can read of a refusal, in a real Chromium."""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from servers import AUDIENCE, GOOD, ISSUER, METADATA, SCOPES, TOKENS, App, Message, Receive, Send, Verifier, serve
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from mcp_auth_failures import Refusal, Wording
from mcp_auth_failures.asgi import AuthFailureMiddleware

HERE = Path(__file__).parent
CHROMIUM = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--accept-lang=de",
]
WORDING = Wording(env=False)
REASONS = tuple(WORDING.catalog.reasons)
REFUSED = [(reason, name) for reason, tokens in TOKENS.items() for name in tokens]
LAYOUTS = ("CORS outside", "CORS outside, exposing both", "CORS outside, exposing its own", "CORS inside")
CLOSED = "CORS inside, closed"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "page", "version": "1"},
    },
}


class Recorder:
    """Outermost: notes every request and the status of its answer."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.url = ""
        self.seen: list[tuple[str, int]] = []

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.seen.append((scope["method"], message["status"]))
            await send(message)

        await self.app(scope, receive, noting if scope["type"] == "http" else send)


def layout(name: str, origin: str) -> Recorder:
    """The official server with authentication, CORS and the middleware, in one order of them."""
    server = MCPServer(
        "under test",
        log_level="CRITICAL",
        token_verifier=Verifier(),
        auth=AuthSettings(
            issuer_url=ISSUER,
            resource_server_url=AUDIENCE,
            required_scopes=SCOPES,
            validate_token_resource=False,
        ),
    )
    exposed = {
        "CORS outside, exposing both": ["Mcp-Session-Id", "WWW-Authenticate"],
        "CORS outside, exposing its own": ["Mcp-Session-Id"],
    }
    cors = {"allow_origins": [origin], "allow_methods": ["*"], "allow_headers": ["*"]}
    cors["expose_headers"] = exposed.get(name, [])
    app: Any = server.streamable_http_app()
    if name == CLOSED:
        return Recorder(AuthFailureMiddleware(CORSMiddleware(app, **cors), WORDING, gate=lambda _: "surface_disabled"))
    if name == "CORS inside":
        return Recorder(AuthFailureMiddleware(CORSMiddleware(app, **cors), WORDING))
    return Recorder(CORSMiddleware(AuthFailureMiddleware(app, WORDING, gate=gate, scopes=SCOPES), **cors))


def gate(scope: Message) -> str | None:
    """The host closes the door for the reason that the page names."""
    return dict(scope["headers"]).get(b"x-closed", b"").decode() or None


def request(url: str, *, token: str | None = None, closed: str | None = None) -> dict[str, Any]:
    """A ``fetch()`` of the page: no simple request, so that the browser asks with OPTIONS first."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    headers |= {"X-Closed": closed} if closed else {}
    return {"url": f"{url}/mcp", "method": "POST", "headers": headers, "body": json.dumps(INITIALIZE)}


def plan(urls: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Every request that the page makes, by name."""
    outside = urls["CORS outside"]
    requests = {f"{reason}: {name}": request(outside, token=TOKENS[reason][name]) for reason, name in REFUSED}
    requests |= {f"closed: {reason}": request(outside, token=GOOD, closed=reason) for reason in REASONS}
    requests |= {f"good: {name}": request(url, token=GOOD) for name, url in urls.items()}
    requests |= {f"garbage: {name}": request(url, token="garbage") for name, url in urls.items()}
    return requests


class Page:
    """The other origin: serves the page, hands it the plan, and is told what it saw."""

    def __init__(self) -> None:
        self.plan: dict[str, Any] = {}
        self.seen: dict[str, dict[str, Any]] = {}
        self.done = threading.Event()
        self.app = Starlette(
            routes=[
                Route("/", lambda _: FileResponse(HERE / "page.html")),
                Route("/plan", lambda _: JSONResponse(self.plan)),
                Route("/seen", self._tell, methods=["POST"]),
            ]
        )

    async def _tell(self, request: Request) -> Response:
        self.seen = await request.json()
        self.done.set()
        return Response()


Visit = tuple[Page, dict[str, Recorder]]


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """Chromium opens the page once, which makes all its requests. It needs what ``tests/browser/run`` installs."""
    page = Page()
    with ExitStack() as servers:
        origin = servers.enter_context(serve(page.app))
        recorders = {name: layout(name, origin) for name in [*LAYOUTS, CLOSED]}
        for recorder in recorders.values():
            recorder.url = servers.enter_context(serve(recorder))
        page.plan = plan({name: recorder.url for name, recorder in recorders.items()})
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or "chromium"
        profile = f"--user-data-dir={tmp_path_factory.mktemp('profile')}"
        log = servers.enter_context((tmp_path_factory.mktemp("log") / "chromium").open("w+"))
        command = [chromium, *CHROMIUM, profile, origin]
        with subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL) as browser:
            came = page.done.wait(60)
            browser.terminate()
        log.seek(0)
        assert came, log.read()[-2000:]
        yield page, recorders


@pytest.mark.parametrize(("reason", "name"), REFUSED)
def test_a_page_reads_why_it_is_refused(visit: Visit, reason: str, name: str) -> None:
    """The status, the challenge and the sentence, in the language that the browser asks for."""
    seen = visit[0].seen[f"{reason}: {name}"]
    refusal = WORDING.refusal(reason, "de", scopes=SCOPES, resource_metadata_url=METADATA, request_id=1)
    assert seen == {
        "status": refusal.status,
        "challenge": refusal.headers["WWW-Authenticate"],
        "language": "de",
        "body": refusal.body.decode(),
    }
    assert Refusal.from_response(seen["status"], {"www-authenticate": seen["challenge"]}, seen["body"]) == refusal


@pytest.mark.parametrize("reason", REASONS)
def test_a_page_reads_what_the_gate_says(visit: Visit, reason: str) -> None:
    """CORS stands outside, and so lets a page read the gate's own answer, with its challenge where there is one."""
    seen = visit[0].seen[f"closed: {reason}"]
    refusal = WORDING.refusal(reason, "de", scopes=SCOPES, request_id=1)
    assert seen == {
        "status": refusal.status,
        "challenge": refusal.headers.get("WWW-Authenticate"),
        "language": "de",
        "body": refusal.body.decode(),
    }


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_page_that_is_let_in_works_as_before(visit: Visit, name: str) -> None:
    """A good token initializes a session, wherever CORS stands."""
    seen = visit[0].seen[f"good: {name}"]
    assert (seen["status"], seen["challenge"]) == (200, None)
    assert '"serverInfo"' in seen["body"]


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("CORS outside", True),
        ("CORS outside, exposing both", True),
        ("CORS outside, exposing its own", False),
        ("CORS inside", True),
    ],
)
def test_who_exposes_the_challenge(visit: Visit, name: str, reads: bool) -> None:
    """Starlette's ``expose_headers`` replaces what stands inside it, so that where it is set it names the challenge."""
    seen = visit[0].seen[f"garbage: {name}"]
    assert seen["status"] == 401
    assert (seen["challenge"] is not None) == reads
    assert json.loads(seen["body"])["error"]["data"]["reason"] == "unverified"


@pytest.mark.parametrize("name", LAYOUTS)
def test_cors_answers_each_preflight(visit: Visit, name: str) -> None:
    """Every request of the page arrives, after a preflight that was let through."""
    page, recorders = visit
    recorder = recorders[name]
    asked = [request for request in page.plan.values() if request["url"] == f"{recorder.url}/mcp"]
    assert [method for method, _ in recorder.seen].count("POST") == len(asked) >= 2
    assert recorder.seen[0] == ("OPTIONS", 200)
    assert {status for method, status in recorder.seen if method == "OPTIONS"} == {200}


def test_a_closed_gate_outside_cors_leaves_preflights_alone_and_is_mute(visit: Visit) -> None:
    """Which is why CORS stands outside: here the gate's answer arrives and the browser lets no script see it."""
    page, recorders = visit
    assert [seen for name, seen in page.seen.items() if name.endswith(f": {CLOSED}")] == [{"error": "TypeError"}] * 2
    assert {*recorders[CLOSED].seen} == {("OPTIONS", 200), ("POST", 503)}
