"""The official Python SDK's client, 1.30."""

from importlib.metadata import version

from driver import REDIRECT_URI, SignIn, Task, of_result, serve
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.auth import OAuthClientMetadata
from storage import Storage


def provider(task: Task) -> OAuthClientProvider:
    person = SignIn()

    async def callback() -> tuple[str, str | None]:
        return person.answer()

    metadata = OAuthClientMetadata(
        client_name="test", redirect_uris=[REDIRECT_URI], grant_types=["authorization_code", "refresh_token"]
    )
    return OAuthClientProvider(
        task.url, metadata, Storage(task.stored), redirect_handler=person.open, callback_handler=callback
    )


async def run(task: Task):
    auth = provider(task) if task.auth == "oauth" else None
    async with (
        streamablehttp_client(task.url, headers=task.headers, auth=auth, timeout=30) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        result = await session.call_tool(task.tool, {"x": "hi"})
        await task.held()
        return of_result(result)


serve(run, version("mcp"))
