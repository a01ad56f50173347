"""What single calls cost: resolving a failure, negotiating a language, making a refusal, looking at a file."""

import asyncio
import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from measure import Row, Timed, clock, compare, row, statement
from pydantic import AnyHttpUrl
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from mcp_auth_failures import Wording, describe_auth_failure, negotiate, overrides

BROWSERS = {
    "Chrome, German": "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7",
    "Firefox, Polish": "pl,en-US;q=0.7,en;q=0.3",
    "Safari, French": "fr-FR,fr;q=0.9",
    "Edge, Brazil": "pt-BR,pt;q=0.9,en;q=0.8,en-GB;q=0.7,en-US;q=0.6",
    "Chrome, Taiwan": "zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7",
    "Firefox, Norwegian": "nb-NO,nb;q=0.9,no-NO;q=0.8,no;q=0.6,nn-NO;q=0.5,nn;q=0.4,en-US;q=0.3,en;q=0.1",
    "Chrome, four languages": "uk-UA,uk;q=0.9,ru;q=0.8,en-US;q=0.7,en;q=0.6,de;q=0.5",
    "a language that is not there": "eu-ES,eu;q=0.9",
}
METADATA = "https://mcp.example/.well-known/oauth-protected-resource/mcp"
SCOPES = ["mcp:use", "files:read"]


def rows() -> Iterator[Row]:
    yield from describing()
    yield from negotiating()
    yield from refusing()
    yield checking()


def describing() -> Iterator[Row]:
    failures = {"expired": describe_auth_failure("expired")}

    def bare(reason: str) -> object:
        return failures[reason]

    peer = statement("bare('expired')", bare=bare)
    for name, code, goal in (
        ("`describe_auth_failure(reason)`", "describe('expired')", 2),
        ('the same with an installed tag (`"de"`)', "describe('expired', 'de')", 4),
    ):
        pairs = compare(statement(code, describe=describe_auth_failure), peer)
        yield row(name, "a dict lookup through a function", pairs, goal)


def negotiating() -> Iterator[Row]:
    tags = Wording(env=False).languages
    peers_name = "werkzeug, parse and `best_match`"

    def pairs_of(headers: tuple[str, ...]) -> list[tuple[float, float]]:
        ours = statement("for h in headers: negotiate(h, tags)", headers=headers, negotiate=negotiate, tags=tags)
        peer = statement(
            "for h in headers: parse(h, Accept).best_match(tags)",
            headers=headers,
            parse=parse_accept_header,
            Accept=LanguageAccept,
            tags=tags,
        )
        return [(ours / len(headers), peers / len(headers)) for ours, peers in compare(ours, peer, rounds=51)]

    together = f"negotiate a browser's Accept-Language over {len(tags)} languages ({len(BROWSERS)} headers, mean)"
    yield row(together, peers_name, pairs_of(tuple(BROWSERS.values())), 1 / 5)
    each = {name: row(f"the worst of these: {name}", peers_name, pairs_of((BROWSERS[name],))) for name in BROWSERS}
    yield max(each.values(), key=lambda found: found.ratio)


def refusing() -> Iterator[Row]:
    wording = Wording(env=False)
    peer = sdk_refusal()
    names = {"refusal": wording.refusal, "scopes": SCOPES, "url": METADATA, "ids": itertools.count()}
    for what, languages, goal in (
        ("a localized refusal (header, headers, body) with scopes and an id", "'de'", 1 / 2),
        ("the same, negotiated from a browser's header", repr(BROWSERS["Chrome, German"]), None),
    ):
        ours = statement(
            f"r = refusal('expired', {languages}, scopes=scopes, resource_metadata_url=url, request_id=next(ids))\n"
            "r.status, r.headers, r.body",
            **names,
        )
        yield row(what, "the SDK's `RequireAuthMiddleware`, its English one", compare(ours, peer), goal)


def sdk_refusal() -> Timed:
    """The SDK's answer alone: no server, nothing read, and two sends that do nothing."""
    guarded = RequireAuthMiddleware(None, SCOPES, AnyHttpUrl(METADATA))
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [(b"authorization", b"Bearer x")]}

    async def receive() -> dict[str, object]:
        raise AssertionError("the SDK reads nothing before it refuses")

    async def send(message: object) -> None:
        pass

    async def often(number: int) -> float:
        start = clock()
        for _ in range(number):
            await guarded(scope, receive, send)
        return clock() - start

    return lambda number: asyncio.run(often(number))


def checking() -> Row:
    """A look that is due, with the wait between looks set to nothing: it costs one ``stat`` and what is around it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "acme.yaml")
        path.write_text('version: 1\nmessages:\n  expired: "Acme has signed you out."\n')
        wait, overrides.CHECK_SECONDS = overrides.CHECK_SECONDS, 0.0
        try:
            wording = Wording(overrides=path, env=False)
            wording.check()
            pairs = compare(statement("check()", check=wording.check), statement("stat(p)", stat=os.stat, p=str(path)))
            path.write_text('version: 1\nmessages:\n  expired: "Acme says goodbye."\n')
            wording.check()
            wording.check()
            if wording.describe("expired").message != "Acme says goodbye.":
                raise RuntimeError("nobody looked at the file")
        finally:
            overrides.CHECK_SECONDS = wait
    return row("reload check of an unchanged override file", "one `os.stat`", pairs, 3)
