"""What happens once, each time in a new process: the import, the start of the middleware, the first in a language."""

import json
import subprocess
import sys
from collections.abc import Iterator

from measure import HERE, Row, alternate, environment, in_new_process, row

from mcp_auth_failures import Wording, load_catalog

ROUNDS = 41
COLD_ROUNDS = 5


def rows() -> Iterator[Row]:
    """The rows about the start; both sides find their modules compiled and their files in the cache."""
    path = str(load_catalog().path)
    safe_load = f"import yaml\nwith open({path!r}, 'rb') as file: yaml.load(file, yaml.CSafeLoader)"
    start = "from mcp_auth_failures.asgi import AuthFailureMiddleware"
    languages = len(Wording(env=False).languages) - 1
    yield row(
        "`import mcp_auth_failures`",
        "`import yaml`, reading and safe-loading the same file (C loader)",
        alternate(in_new_process("import mcp_auth_failures"), in_new_process(safe_load), ROUNDS),
        2,
    )
    yield row(
        "first refusal in a language (cold) after the start of the middleware",
        "a later one in it",
        first_and_later("middleware"),
        3,
    )
    yield row("the same of `Wording.refusal` alone", "a later one in it", first_and_later("wording"))
    yield row(
        f"start of the middleware with all {languages} languages",
        "`import babel.messages.pofile`",
        alternate(
            in_new_process("AuthFailureMiddleware(None)", start), in_new_process("import babel.messages.pofile"), ROUNDS
        ),
        2,
    )


def first_and_later(what: str) -> list[tuple[float, float]]:
    """The seconds of the first and of a later refusal, in each language, several processes long."""
    command = [sys.executable, str(HERE / "cold.py"), what]
    runs = [subprocess.run(command, env=environment(), check=True, capture_output=True) for _ in range(COLD_ROUNDS)]
    return [(first / 1e9, later / 1e9) for run in runs for first, later in json.loads(run.stdout)]
