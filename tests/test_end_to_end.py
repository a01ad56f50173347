"""The official SDK's server, wrapped in one line, and the official SDK's client: what arrives at a caller."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from servers import AUDIENCE, CALL, CASES, GOOD, ISSUER, METADATA, SCOPES, TOKENS, App, Verifier, bearer, serve

from mcp_auth_failures import Refusal, Wording, describe_auth_failure, load_catalog
from mcp_auth_failures.asgi import AuthFailureMiddleware

CATALOG = load_catalog()
DEPLOYMENTS_OWN = ["not_provisioned", "surface_disabled"]


@dataclass
class Deployment:
    """A server of the official SDK, with what its operator may switch."""

    stateless: bool
    verifier: Verifier = field(default_factory=Verifier)
    closed: str | None = None
    url: str = ""

    def app(self) -> App:
        """The SDK's own application, with its own auth settings."""
        server = MCPServer(
            "example",
            token_verifier=self.verifier,
            auth=AuthSettings(
                issuer_url=ISSUER,  # type: ignore[arg-type]
                resource_server_url=AUDIENCE,  # type: ignore[arg-type]
                required_scopes=SCOPES,
                validate_token_resource=True,
            ),
        )
        released = asyncio.Event()

        @server.tool()
        async def echo(text: str) -> str:
            return text

        @server.tool()
        async def wait(context: Context[Any]) -> str:
            await context.report_progress(1, 2, "half")
            await released.wait()
            return "released"

        @server.tool()
        async def release() -> str:
            released.set()
            return "done"

        return server.streamable_http_app(stateless_http=self.stateless)

    def gate(self, scope: Any) -> str | None:
        """Refuse every call while the deployment itself is at fault."""
        return self.closed

    def fail(self, reason: str | None, token: str | None) -> None:
        """Let the deployment have a reason of its own. The SDK asks its verifier about no request without a token."""
        if reason == "not_provisioned" and token:
            self.verifier.key = None
        elif reason in DEPLOYMENTS_OWN:
            self.closed = reason

    def mend(self) -> None:
        """Let it work."""
        self.closed = None
        self.verifier.key = Verifier().key


KINDS = {"stateless": True, "stateful": False}


@pytest.fixture(scope="module", params=KINDS)
def wrapped(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """A running deployment whose application is wrapped."""
    it = Deployment(KINDS[request.param])
    with serve(AuthFailureMiddleware(it.app(), gate=it.gate)) as url:
        it.url = f"{url}/mcp"
        yield it


@pytest.fixture(scope="module", params=KINDS)
def bare(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """A running deployment as the SDK ships it."""
    it = Deployment(KINDS[request.param])
    with serve(it.app()) as url:
        it.url = f"{url}/mcp"
        yield it


@pytest.fixture(autouse=True)
def mended(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test begins and ends with a deployment that works."""
    yield
    for name in {"wrapped", "bare"} & set(request.fixturenames):
        request.getfixturevalue(name).mend()


def innermost(error: BaseException) -> BaseException:
    """The one error at the bottom of groups of one."""
    while isinstance(error, BaseExceptionGroup):
        [error] = error.exceptions
    return error


async def call(it: Deployment, mode: str, reason: str | None, token: str | None, *, connected: bool) -> str:
    """Call a tool with a token; ``connected``: after connecting with a good one, while all was well."""
    headers = dict(bearer(GOOD if connected else token))
    async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
        if not connected:
            it.fail(reason, token)
        async with Client(streamable_http_client(it.url, http_client=http), mode=mode) as client:
            if connected:
                it.fail(reason, token)
                http.headers.pop("authorization")
                http.headers.update(bearer(token))
            result = await client.call_tool("echo", {"text": "hello"})
            it.mend()
            return str(result.content[0].text)  # type: ignore[union-attr]


def refused(it: Deployment, mode: str, reason: str, token: str | None, *, connected: bool) -> MCPError:
    """The exception that a caller of the official client gets."""
    with pytest.raises((MCPError, BaseExceptionGroup)) as caught:
        asyncio.run(call(it, mode, reason, token, connected=connected))
    error = innermost(caught.value)
    assert isinstance(error, MCPError)
    return error


EVERY_CASE = [
    *((reason, name, TOKENS[reason][name]) for reason, name in CASES),
    *((reason, name, token) for reason in DEPLOYMENTS_OWN for name, token in [("no token", None), ("good", GOOD)]),
]
ONE_OF_EACH = list({reason: (reason, name, token) for reason, name, token in EVERY_CASE}.values())


def cases(chosen: list[tuple[str, str, str | None]]) -> pytest.MarkDecorator:
    """One test for each."""
    ids = [f"{reason}-{name}" for reason, name, _ in chosen]
    return pytest.mark.parametrize(("reason", "token"), [(reason, token) for reason, _, token in chosen], ids=ids)


modes = pytest.mark.parametrize("mode", ["legacy", "auto"])
moments = pytest.mark.parametrize("connected", [False, True], ids=["at connect", "in a session"])


def test_every_reason_is_here() -> None:
    """The cases cover the catalog."""
    assert {reason for reason, _, _ in EVERY_CASE} == set(CATALOG.reasons)


@cases(ONE_OF_EACH)
@modes
@moments
def test_caller_is_told(wrapped: Deployment, mode: str, connected: bool, reason: str, token: str | None) -> None:
    """The exception's message is the catalog's sentence, and its data what a client can act on."""
    error = refused(wrapped, mode, reason, token, connected=connected)
    failure = CATALOG[reason].failure
    data = {"reason": reason, "action": failure.action, "recoverable": failure.recoverable, "language": "en"}
    if reason == "insufficient_scope":
        data["scope"] = " ".join(SCOPES)
    assert (str(error), error.code, error.data) == (failure.message, failure.status, data)
    read = Refusal.from_error(error)
    assert read
    assert read.failure == describe_auth_failure(reason)  # type: ignore[arg-type]


@cases(ONE_OF_EACH)
@modes
@moments
def test_caller_of_the_bare_server_is_not(
    bare: Deployment, mode: str, connected: bool, reason: str, token: str | None
) -> None:
    """As the SDK ships, one opaque error stands for everything that it refuses."""
    if reason == "surface_disabled":  # nothing in the SDK refuses this
        assert asyncio.run(call(bare, mode, reason, GOOD, connected=connected)) == "hello"
        return
    error = refused(bare, mode, reason, token, connected=connected)
    assert (str(error), error.code, error.data) == ("Server returned an error response", -32603, None)


@modes
def test_good_token_is_let_in(wrapped: Deployment, mode: str) -> None:
    """A good token calls a tool, as if nothing stood around the server."""
    assert asyncio.run(call(wrapped, mode, None, GOOD, connected=False)) == "hello"


@modes
def test_good_token_streams(wrapped: Deployment, mode: str) -> None:
    """A tool's progress reaches the caller while the tool still runs: it ends only when the caller has seen it."""

    async def main() -> str:
        seen = asyncio.Event()

        async def told(progress: float, total: float | None, message: str | None) -> None:
            assert (progress, total, message) == (1, 2, "half")
            seen.set()

        async with (
            httpx2.AsyncClient(headers=dict(bearer(GOOD)), timeout=20) as http,
            Client(streamable_http_client(wrapped.url, http_client=http), mode=mode) as client,
        ):
            waiting = asyncio.create_task(client.call_tool("wait", {}, progress_callback=told))
            await asyncio.wait_for(seen.wait(), 20)
            assert not waiting.done()
            await client.call_tool("release", {})
            return str((await waiting).content[0].text)  # type: ignore[union-attr]

    assert asyncio.run(main()) == "released"


@cases(EVERY_CASE)
def test_answer_on_the_wire(wrapped: Deployment, reason: str, token: str | None) -> None:
    """The answer is the refusal with all that is known: the id, the scopes, and where to log in."""
    wrapped.fail(reason, token)
    accept = ("accept", "application/json, text/event-stream")
    response = httpx2.post(wrapped.url, json=CALL, headers=[*bearer(token), accept])
    expected = Wording().refusal(
        reason,
        scopes=SCOPES if reason == "insufficient_scope" else (),
        resource_metadata_url=METADATA,
        request_id=7,
    )
    assert response.status_code == expected.status
    headers = {name: value for name, value in response.headers.items() if name not in {"date", "server"}}
    assert headers == {name.lower(): value for name, value in expected.headers.items()}
    assert response.content == expected.body


def test_metadata_stays_where_it_is(wrapped: Deployment) -> None:
    """The metadata that a challenge points to is served, also while the server is switched off."""
    wrapped.fail("surface_disabled", None)
    url = wrapped.url.removesuffix("/mcp") + METADATA.removeprefix("https://mcp.example")
    response = httpx2.get(url)
    assert (response.status_code, response.json()["resource"]) == (200, AUDIENCE)
    assert httpx2.get(wrapped.url).status_code == 503


def test_unknown_session_is_no_refusal() -> None:
    """An unknown session with a good token stays the SDK's 404: connecting anew helps, logging in does not."""
    it = Deployment(stateless=False)
    headers = [
        *bearer(GOOD),
        ("accept", "application/json, text/event-stream"),
        ("mcp-session-id", "none-of-ours"),
    ]
    answers = []
    for app in (it.app(), AuthFailureMiddleware(it.app())):
        with serve(app) as url:
            response = httpx2.post(f"{url}/mcp", json=CALL, headers=headers)
            answers.append((response.status_code, response.content, "www-authenticate" in response.headers))
    assert answers[0] == answers[1]
    assert answers[0][0] == 404


def test_token_that_the_sdk_drops() -> None:
    """What the SDK itself drops after the verifier (here its resource) is ``unverified``: it never says why."""
    it = Deployment(stateless=True)
    accepting = it.verifier.verify_token

    async def verify_token(token: str) -> Any:
        accepted = await accepting(token)
        return accepted and accepted.model_copy(update={"resource": "https://other.example/mcp"})

    it.verifier.verify_token = verify_token  # type: ignore[method-assign]
    with serve(AuthFailureMiddleware(it.app())) as url:
        response = httpx2.post(f"{url}/mcp", json=CALL, headers=bearer(GOOD))
    read = Refusal.from_response(response.status_code, response.headers, response.content)
    assert read
    assert read.failure.reason == "unverified"
