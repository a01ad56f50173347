"""Many connections at once to a server that refuses, each answer looked at.

    python loader.py URL CONNECTIONS SECONDS REQUESTS.json

The file holds a list of requests: ``octets`` (in Latin-1), ``reason``, ``language`` of the answer and its ``message``;
where that is ``null`` it is one of ``sentences.py``. It stops after so many seconds, or when its standard input ends.
Prints a report as JSON. The first five of what is wrong are in it.
"""

import asyncio
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sentences import EVERYWHERE, parse

STATUS = {"insufficient_scope": 403, "not_provisioned": 503, "surface_disabled": 503}


@dataclass
class Report:
    """What came back."""

    requests: int = 0
    connections: int = 0
    errors: int = 0
    wrong_reasons: int = 0
    wrong_languages: int = 0
    wrong_sentences: int = 0
    mixed: int = 0
    backwards: int = 0
    torn: int = 0
    by_reason: Counter[str] = field(default_factory=Counter)
    languages: set[str] = field(default_factory=set)
    versions: set[int] = field(default_factory=set)
    samples: list[str] = field(default_factory=list)

    def sample(self, what: object) -> None:
        """Keep the first of what is wrong."""
        if len(self.samples) < 5:
            self.samples.append(repr(what)[:1500])

    def as_json(self) -> str:
        """For the test that reads it."""
        return json.dumps({**vars(self), "languages": sorted(self.languages), "versions": sorted(self.versions)})


class Connection:
    """One connection, kept open, one request after the other."""

    def __init__(self, report: Report, requests: list[dict[str, Any]], chance: random.Random) -> None:
        self._report = report
        self._requests = requests
        self._chance = chance
        self._version = -(10**9)

    async def run(self, host: str, port: int, over: asyncio.Event) -> None:
        """Until it is over."""
        while not over.is_set():
            try:
                reader, writer = await asyncio.open_connection(host, port)
            except ConnectionRefusedError:  # the server has ended
                self._report.errors += 1
                return
            self._report.connections += 1
            try:
                for _ in range(self._chance.randrange(50, 500)):  # then a new connection
                    if over.is_set():
                        break
                    await self._ask(reader, writer)
            except (OSError, ValueError, asyncio.IncompleteReadError) as error:
                self._report.errors += 1
                self._report.torn += bool(getattr(error, "partial", b""))
                self._report.sample(error)
            finally:
                writer.close()

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = self._chance.choice(self._requests)
        writer.write(request["octets"].encode("latin-1"))
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
        if "content-length" not in fields:
            raise ValueError(f"{head} to {request['octets']!r}")
        body = await reader.readexactly(int(fields["content-length"]))
        self._report.requests += 1
        self._judge(request, int(head[0].split(" ")[1]), fields, json.loads(body))

    def _judge(self, request: dict[str, Any], status: int, fields: dict[str, str], content: Any) -> None:
        report, reason, language = self._report, request["reason"], request["language"]
        error = content["error"]
        report.by_reason[reason] += 1
        report.languages.add(language)
        if status != STATUS.get(reason, 401) or error["code"] != status or content["id"] != request["id"]:
            report.errors += 1
            report.sample((request, status, content))
        if error["data"]["reason"] != reason:
            report.wrong_reasons += 1
            report.sample((request, content))
        said = parse(error["message"])
        if request["message"] is not None:
            wrong = error["message"] != request["message"]
            spoken: str | None = language
        else:
            wrong = said is None or said.reason != reason or said.language not in {language, EVERYWHERE}
            spoken = None if said and said.language == EVERYWHERE else language
        if wrong:
            report.wrong_sentences += 1
            report.sample((request["reason"], language, error["message"]))
        if error["data"]["language"] != spoken or fields.get("content-language") != spoken:
            report.wrong_languages += 1
            report.sample((request["reason"], language, fields, error))
        if said:
            self._of_one_version(said.version, fields.get("www-authenticate", ""))

    def _of_one_version(self, version: int, header: str) -> None:
        """Body and header are of one version, and none before the last."""
        report = self._report
        report.versions.add(version)
        if version < self._version:
            report.backwards += 1
            report.sample(("after", self._version, version))
        self._version = version
        description = header.partition('error_description="')[2].partition('"')[0]
        if description and (not (other := parse(description)) or other.version != version):
            report.mixed += 1
            report.sample((version, header))


async def main(url: str, connections: int, seconds: float, requests: list[dict[str, Any]]) -> None:
    """Report."""
    parts = urlsplit(url)
    report, over = Report(), asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.call_later(seconds, over.set)
    loop.add_reader(sys.stdin, over.set)
    running = [
        Connection(report, requests, random.Random(number)).run(parts.hostname or "", parts.port or 80, over)
        for number in range(connections)
    ]
    await asyncio.gather(*running)
    print(report.as_json())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), json.loads(Path(sys.argv[4]).read_text())))
