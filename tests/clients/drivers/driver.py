"""What the Python drivers share: a task a line in, what the host of the client got to see a line out."""

import asyncio
import json
import sys
import urllib.parse
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

REDIRECT_URI = "http://127.0.0.1:1/callback"
TIMEOUT = 60


@dataclass
class Task:
    """One connection and one call of a tool: where, as whom, and whether to stay connected until told to go on."""

    url: str
    auth: str
    tool: str
    mode: str | None = None
    token: str | None = None
    stored: dict[str, Any] = field(default_factory=dict)
    hold: bool = False

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.auth == "static" else {}

    async def held(self) -> None:
        """Wait for the next line, where the task says so."""
        if self.hold:
            say({"held": True})
            await asyncio.to_thread(sys.stdin.readline)


def say(answer: dict[str, Any]) -> None:
    """One line to the runner. Clients that print, print to stderr."""
    sys.__stdout__.write(json.dumps(answer) + "\n")
    sys.__stdout__.flush()


def of_result(result: Any) -> dict[str, Any]:
    """What a tool's result shows: its text, and everything else of it."""
    text = result.content[0].text
    return {"called": text == "hi", "message": text, "error": "result", "more": repr(result)}


def of_exception(exception: BaseException) -> dict[str, Any]:
    """What an exception shows: the messages of all it holds, and everything else on them."""
    leaves = list(_leaves(exception))
    responses = [leaf.response for leaf in leaves if hasattr(leaf, "response")]
    return {
        "called": False,
        "error": type(leaves[0]).__name__,
        "message": " | ".join(str(leaf) for leaf in leaves),
        "more": repr([vars(leaf) for leaf in leaves] + [dict(response.headers) for response in responses]),
    }


def _leaves(exception: BaseException) -> Iterator[BaseException]:
    if isinstance(exception, BaseExceptionGroup):
        for inner in exception.exceptions:
            yield from _leaves(inner)
    else:
        yield exception


class SignIn:
    """The person at the browser: opens the authorization URL, and hands back what the redirect carries."""

    async def open(self, url: str) -> None:
        self._location = await asyncio.to_thread(redirect, url)

    def answer(self) -> tuple[str, str | None]:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self._location).query)
        return query["code"][0], query.get("state", [None])[0]


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def redirect(url: str) -> str:
    """Where the authorization server sends the browser."""
    try:
        urllib.request.build_opener(_Stay).open(url)
    except urllib.error.HTTPError as answer:
        with answer:
            return str(answer.headers["location"])
    raise RuntimeError("the authorization server did not redirect")


def serve(run: Callable[[Task], Awaitable[dict[str, Any]]], version: str) -> None:
    """Run every task of standard input; what ``run`` raises is what the host of the client would get."""

    async def one(task: Task) -> dict[str, Any]:
        try:
            return await asyncio.wait_for(run(task), TIMEOUT)
        except BaseException as exception:
            return of_exception(exception)

    sys.stdout = sys.stderr
    say({"version": version})
    for line in iter(sys.stdin.readline, ""):
        say(asyncio.run(one(Task(**json.loads(line)))))
