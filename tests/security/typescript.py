"""A challenge as the official TypeScript SDKs read it, versions 1 and 2, through one Node process for many headers."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mcp_auth_failures.challenge import parse_challenges

__all__ = ["TypeScript", "typescript"]


class TypeScript:
    """Asks Node about one header after another."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.read = 0

    def check(self, header: str) -> None:
        """Both SDKs read the values that ``parse_challenges`` reads."""
        [(_, parameters)] = parse_challenges(header)
        self._write({"header": header, "url": parameters.get("resource_metadata")})
        expected = {name: parameters.get(name) for name in ("error", "scope")}
        found = self._answer()
        for version, description in (("v1", None), ("v2", parameters.get("error_description"))):
            wanted = {**expected, "description": description, "url": True}
            assert found[version] == wanted, (version, header, found[version])
        self.read += 1

    def _write(self, question: object) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> dict[str, object]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "node has ended"
        answer: dict[str, object] = json.loads(line)
        return answer


@contextmanager
def typescript() -> Iterator[TypeScript]:
    """Start Node, and end it. Needs the packages of ``tests/clients``."""
    script = Path(__file__).with_suffix(".mjs")
    with subprocess.Popen(["node", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield TypeScript(process)
        finally:
            assert process.stdin
            process.stdin.close()
            process.wait(30)
