"""In a process of its own: read what costs most, each in a child that may have so much memory and so much time.

    python limited.py FOLDER MEGABYTES SECONDS [all]

A line of JSON for each: what was read, how long that took, how much memory, and how it ended. With ``all`` it is read
by everything that reads such a file, else by a server alone.
"""

import json
import logging
import os
import resource
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from hostile import COSTLY
from promises import check_refusal

from mcp_auth_failures import Challenge, DataError, Wording, load_catalog
from mcp_auth_failures.challenge import other_challenges, parse_challenges
from mcp_auth_failures.operating import check

WORDING = Wording(env=False)


def main(folder: Path, megabytes: int, seconds: int, *every: str) -> None:
    """Report."""
    logging.getLogger("mcp_auth_failures").setLevel(logging.CRITICAL + 1)
    Wording(env=False, translations=_file(folder, "po", COSTLY["po"]["plural rule"]).parents[2]).describe(
        "expired", "de"
    )
    for kind, cases in COSTLY.items():
        for name, content in cases.items():
            file = _file(folder, kind, content) if isinstance(content, bytes) else None
            for how, read in list(_READERS[kind].items())[: None if every else 1]:
                argument = file or content
                report = _within(lambda: read(argument), megabytes, seconds)  # noqa: B023
                print(json.dumps({"what": f"{kind}, {how}: {name}", **report}), flush=True)


def _file(folder: Path, kind: str, content: object) -> Path:
    file = folder / kind / ("own.yaml" if kind == "yaml" else f"de/LC_MESSAGES/mcp_auth_failures.{kind}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)  # type: ignore[arg-type]
    return file


def _within(read: Callable[[], object], megabytes: int, seconds: int) -> dict[str, object]:
    """Run in a child, with limits on the memory that it adds and the time that it works."""
    reading, writing = os.pipe()
    if process := os.fork():
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read()
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        return (
            json.loads(said) if said else {"ended": f"killed by signal {-status}", "seconds": seconds, "megabytes": 0}
        )
    os.close(reading)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    before = resource.getrusage(resource.RUSAGE_SELF)
    try:
        read()
        ended = "read"
    except DataError as error:
        ended = f"refused: {str(error.faults[0].message)[:60]}"
    except BaseException:
        ended = traceback.format_exc(limit=-3)
    after = resource.getrusage(resource.RUSAGE_SELF)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    report = {"ended": ended, "seconds": round(taken, 2), "megabytes": (after.ru_maxrss - before.ru_maxrss) >> 10}
    os.write(writing, json.dumps(report).encode())
    os._exit(0)


def _say(**arguments: object) -> None:
    """What such a file says can be sent, with details of the greatest length."""
    details = "\U0001f600" * 500
    wording = Wording(env=False, builtin=False, server=details, contact=details, **arguments)  # type: ignore[arg-type]
    wording.load()
    for reason in ("expired", "insufficient_scope"):
        for language in (None, "de"):
            check_refusal(wording.refusal(reason, language, scopes=["mcp:use"]))


def _read_header(header: str) -> None:
    parse_challenges(header)
    other_challenges([header])
    Challenge.from_header(header)


_FILES = {"by a server": lambda file: _say(overrides=file), "by check": check}
_LOCALES = {"by a server": lambda file: _say(translations=file.parents[2]), "by check": check}
_READERS: dict[str, dict[str, Callable[..., object]]] = {
    "yaml": {**_FILES, "as a catalog": load_catalog},
    "po": _LOCALES,
    "mo": _LOCALES,
    "header": {"of a peer": _read_header},
    "languages": {"of a caller": lambda value: [check_refusal(WORDING.refusal("expired", value)) for _ in range(10)]},
}


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
