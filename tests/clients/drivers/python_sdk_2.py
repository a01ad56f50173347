"""The official Python SDK's client, 2.x."""

from importlib.metadata import version

import httpx2
from driver import REDIRECT_URI, SignIn, Task, of_result, serve
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from storage import Storage


def provider(task: Task) -> OAuthClientProvider:
    person = SignIn()

    async def callback() -> AuthorizationCodeResult:
        code, state = person.answer()
        return AuthorizationCodeResult(code=code, state=state)

    metadata = OAuthClientMetadata(
        client_name="test", redirect_uris=[REDIRECT_URI], grant_types=["authorization_code", "refresh_token"]
    )
    return OAuthClientProvider(
        task.url, metadata, Storage(task.stored), redirect_handler=person.open, callback_handler=callback
    )


async def run(task: Task):
    auth = provider(task) if task.auth == "oauth" else None
    async with (
        httpx2.AsyncClient(headers=task.headers, auth=auth, timeout=30) as http,
        Client(streamable_http_client(task.url, http_client=http), mode=task.mode or "auto") as client,
    ):
        result = await client.call_tool(task.tool, {"x": "hi"})
        await task.held()
        return of_result(result)


serve(run, version("mcp"))
