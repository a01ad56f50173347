"""Fork a process that holds a wording; each child shall go on as its parent would.

    python forked.py FOLDER NUMBER (idle | reloading)

``reloading``: at every fork another thread of the parent is reading its files. Prints as JSON how the children ended.
"""

import json
import os
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from pathlib import Path

from sentences import REASONS, file_of, sentence

from mcp_auth_failures import Wording, describe_auth_failure, overrides

_SECONDS = 5


def main(folder: Path, number: int, how: str) -> None:
    """Report."""
    warnings.simplefilter("ignore", DeprecationWarning)  # since 3.12 of any fork beside threads: that is what is tried
    overrides.CHECK_SECONDS = 0.01
    file = folder / "own.yaml"
    _put(file, 0)
    os.environ["MCP_AUTH_FAILURES_OVERRIDES"] = str(file)
    wording = Wording()
    wording.load()
    over = threading.Event()
    thread = threading.Thread(target=_reload, args=(wording, over))
    if how == "reloading":
        thread.start()
    ended: Counter[str] = Counter()
    for version in range(1, number + 1):
        time.sleep(0.002)
        if process := os.fork():
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            ended[_ENDS.get(status, f"status {status}")] += 1
            continue
        signal.alarm(2 * _SECONDS)
        os._exit(_go_on(wording, file, version))
    over.set()
    if how == "reloading":
        thread.join()
    print(json.dumps(ended))


_ENDS = {0: "said the new wording", 1: "kept the old wording for ever", -signal.SIGALRM: "stood still for ever"}


def _put(file: Path, version: int) -> None:
    temporary = file.with_suffix(f".{version}")
    temporary.write_bytes(file_of(version))
    os.replace(temporary, file)


def _reload(wording: Wording, over: threading.Event) -> None:
    while not over.is_set():
        wording.reload()


def _go_on(wording: Wording, file: Path, version: int) -> int:
    """Whether a child that writes the file says what it has written; the process' own wording speaks, too."""
    describe_auth_failure("expired", "de")
    _put(file, version)
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        wording.check()
        said = {wording.describe(reason, "de").message for reason in REASONS}
        if said <= {sentence(version, reason, language) for reason in REASONS for language in ("de", "every language")}:
            return 0
        time.sleep(0.004)
    return 1


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
