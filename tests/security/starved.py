"""Let a look at an edited file fail for want of something, then mend that.

python starved.py FOLDER (descriptors | imports | memory)
"""

import contextlib
import logging
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path

from mcp_auth_failures import Wording, overrides

_UNKNOWN = "version: 1\nmessages:\n  expried: x\n"
_NEW = "version: 1\nmessages:\n  expired: new\n"


def main(file: Path, of: str) -> None:
    """Report."""
    logging.getLogger("mcp_auth_failures").addHandler(logging.NullHandler())
    logging.getLogger("mcp_auth_failures").propagate = False
    overrides.CHECK_SECONDS = 0
    file.write_text("")
    wording = Wording(env=False, overrides=file)
    wording.load()
    content, starve, mend = _NEEDS[of]
    _put(file, content)
    starve()
    for _ in range(5):
        wording.check()
    mend()
    print("looked at in need")
    if content != _NEW:
        _put(file, _NEW)
    for _ in range(5):
        wording.check()
    if wording.describe("expired").message == "new":
        print("the new wording is said")


def _put(file: Path, content: str) -> None:
    temporary = file.with_suffix(".new")
    temporary.write_text(content)
    os.replace(temporary, file)


_open: list[int] = []


def _use_up_descriptors() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    with contextlib.suppress(OSError):
        while True:
            _open.append(os.open(os.devnull, os.O_RDONLY))


def _close_descriptors() -> None:
    for descriptor in _open:
        os.close(descriptor)


_path = [*sys.path]


def _leave_the_library() -> None:
    """As after ``chroot``, or without the right to read it any more: what is not imported yet cannot be."""
    sys.path.clear()


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (40 << 20), hard))


def _free_memory() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


_NEEDS: dict[str, tuple[str, Callable[[], object], Callable[[], object]]] = {
    "descriptors": (_NEW, _use_up_descriptors, _close_descriptors),
    "imports": (_UNKNOWN, _leave_the_library, lambda: sys.path.extend(_path)),
    "memory": ("? \n" * 340_000, _limit_memory, _free_memory),
}


if __name__ == "__main__":
    main(Path(sys.argv[1], "own.yaml"), sys.argv[2])
