"""In a process of its own: read everything hostile, while an audit hook watches what the process does.

    python watched.py FOLDER SEED NUMBER

Files are written into the folder before the hook is set; from then on whatever is opened, run or reached beyond the
folder and the package's own data is a line of the report. It cannot be unset (PEP 578).
"""

import contextlib
import json
import logging
import os
import sys
from collections import Counter
from pathlib import Path

from hostile import MO, NAMES, POS, TEXTS, YAMLS, mixtures

from mcp_auth_failures import DataError, Refusal, Wording, describe_auth_failure, load_catalog, negotiate
from mcp_auth_failures.catalog import packaged
from mcp_auth_failures.operating import check

# All that could reach beyond the process, or make code out of data. Events that are fired anyway are not among them:
# object.__getattr__, sys._getframe (of logging), and reading a stat, which has none.
_OPENING = ("open", "os.listdir", "os.scandir", "glob.glob", "pathlib.Path.glob")
_NEVER = (
    "exec", "compile", "import", "marshal.", "pickle.", "code.", "cpython.", "builtins.input", "ctypes.", "mmap.",
    "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "subprocess.", "pty.", "signal.",
    "os.remove", "os.rename", "os.link", "os.symlink", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.truncate",
    "os.putenv", "os.unsetenv", "os.utime", "shutil.", "tempfile.", "socket.", "urllib.", "http.", "ftplib.",
    "sqlite3.",
)  # fmt: skip


def main(folder: Path, seed: int, number: int) -> None:
    """Report as JSON."""
    logging.getLogger("mcp_auth_failures").addHandler(logging.NullHandler())
    logging.getLogger("mcp_auth_failures").propagate = False
    files = list(_write(folder, seed, number))
    roots = tuple(f"{os.path.realpath(root)}{os.sep}" for root in (folder, packaged("locales"), packaged("catalog")))
    for file in (files[0], *files[-3:]):  # what is imported late shall be there
        _read(file)
    _say(NAMES[:2], TEXTS[:2])
    seen: Counter[str] = Counter()
    beyond: list[str] = []

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in _OPENING:
            seen[event] += 1
            path = arguments[0]
            reading = event != "open" or arguments[1] in {"r", "rb", None}
            if not reading or not f"{os.path.realpath(os.fsdecode(path))}{os.sep}".startswith(roots):  # type: ignore[type-var]
                beyond.append(f"{event} {arguments!r:.200}")
        elif event.startswith(_NEVER):
            beyond.append(f"{event} {arguments!r:.200}")

    sys.addaudithook(hook)
    refused = sum(not _read(file) for file in files)
    said = _say(NAMES, TEXTS)
    found = [*beyond]
    Path(__file__).read_bytes()
    compile("1", "data", "eval")
    noticed = len(beyond) - len(found)  # the hook does see such things
    report = {"files": len(files), "refused": refused, "said": said, "seen": seen, "beyond": found, "noticed": noticed}
    print(json.dumps(report))


def _write(folder: Path, seed: int, number: int) -> list[Path]:
    hostile = [("yaml", data) for data in YAMLS] + [("po", data) for data in POS] + [("mo", data) for data in MO]
    files = []
    for index, (ending, data) in enumerate([*hostile, *mixtures(seed, number)]):
        root = folder / str(index)
        file = root / ("own.yaml" if ending == "yaml" else f"de/LC_MESSAGES/mcp_auth_failures.{ending}")
        file.parent.mkdir(parents=True)
        file.write_bytes(data)
        files.append(file)
    for name in NAMES:  # of locales, as far as a file system has them
        with contextlib.suppress(OSError, ValueError):
            file = folder / "names" / name.replace("/", "-") / "LC_MESSAGES/mcp_auth_failures.po"
            file.parent.mkdir(parents=True)
            file.write_bytes(POS[0])
    return [*files, folder / "names/own.yaml"]


def _read(file: Path) -> bool:
    """Whether a file is taken; what it says is said, and it is looked over."""
    check(file)
    locales = file.parents[2] if file.suffix != ".yaml" else file.parent if file.parent.name == "names" else None
    if file.suffix == ".yaml":
        with contextlib.suppress(DataError):
            load_catalog(file)
    try:
        options = {"translations": locales} if locales else {"overrides": file}
        wording = Wording(env=False, server="Acme", contact="it@acme.example", **options)  # type: ignore[arg-type]
    except DataError:
        return False
    for reason in wording.catalog.reasons:
        for language in (None, "de", *wording.languages[:2]):
            wording.refusal(reason, language, scopes=["mcp:use"]).tool_result  # noqa: B018
    wording.reload()
    return True


def _say(names: list[str], texts: list[str]) -> int:
    """Every name as a language, a locale, a reason, a setting and a path; gives how many there were."""
    wording = Wording(env=False, server="Acme", contact="it@acme.example")
    for name in [*names, *texts]:
        negotiate(name, wording.languages)
        describe_auth_failure("expired", name)
        refusal = wording.refusal(
            "expired", [name, f"{name}, de"], scopes=[name], resource_metadata_url=name, request_id=name
        )
        Refusal.from_response(refusal.status, refusal.headers, refusal.body)
        for setting in ("default_language", "help_url", "server", "contact"):
            with contextlib.suppress(DataError):
                Wording(env=False, **{setting: name}).refusal("expired", name)  # type: ignore[arg-type]
        with contextlib.suppress(KeyError):
            wording.describe(name)
    return len(names) + len(texts)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
