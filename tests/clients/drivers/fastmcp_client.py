"""FastMCP's client, with its own OAuth class; the browser that this opens is replaced by one that needs no screen."""

import threading
import urllib.request
import webbrowser
from importlib.metadata import version

from driver import Task, of_result, redirect, serve
from fastmcp import Client
from fastmcp.client.auth import OAuth
from fastmcp.client.transports import StreamableHttpTransport
from key_value.aio.stores.memory import MemoryStore
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken


def browse(url: str) -> None:
    """Open the URL, and follow its redirect to the callback server, which starts a moment later than the browser."""
    threading.Thread(target=_follow, args=(url,)).start()


def _follow(url: str) -> None:
    callback = redirect(url)
    for _ in range(3000):
        try:
            urllib.request.urlopen(callback).close()
        except urllib.error.URLError as refused:
            if not isinstance(refused.reason, ConnectionRefusedError):
                raise
            threading.Event().wait(0.02)
        else:
            return


webbrowser.open = browse


async def run(task: Task):
    auth = None
    if task.auth == "oauth":
        auth = OAuth(mcp_url=task.url, token_storage=MemoryStore(), callback_host="127.0.0.1")
        if task.stored:
            storage = auth.token_storage_adapter
            await storage.set_client_info(OAuthClientInformationFull.model_validate(task.stored["client"]))
            await storage.set_tokens(OAuthToken.model_validate(task.stored["tokens"]))
    transport = StreamableHttpTransport(task.url, auth=task.token if task.auth == "static" else auth)
    async with Client(transport, mode=task.mode or "auto") as client:
        result = await client.call_tool(task.tool, {"x": "hi"})
        await task.held()
        return of_result(result)


serve(run, version("fastmcp"))
