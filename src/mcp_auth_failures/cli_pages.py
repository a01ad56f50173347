"""The command ``mcp-auth-failures pages``: help pages into a folder, for any web server."""

import argparse
import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from errno import EEXIST
from pathlib import Path, PurePosixPath
from typing import TypeVar

from mcp_auth_failures.brand import Brand, accent_fault, logo_fault, name_fault
from mcp_auth_failures.console import add_command, add_wording
from mcp_auth_failures.datafile import DataError, Fault, read_bytes
from mcp_auth_failures.pages import base_url_fault, render
from mcp_auth_failures.settings import Settings
from mcp_auth_failures.wording import Wording

__all__ = ["add_pages"]

_T = TypeVar("_T")

MANIFEST = ".mcp-auth-failures.sha256"


def add_pages(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    command = add_command(commands, "pages", _pages, "write help pages for every reason in every language")
    command.add_argument("out", metavar="OUT", type=Path, help="the folder; the pages of an earlier run are renewed")
    command.add_argument(
        "--base-url", metavar="URL",
        help="where the folder will be: for absolute links to languages and sitemap.xml, which is not made without it",
    )  # fmt: skip
    add_wording(command)
    group = command.add_argument_group("brand")
    group.add_argument("--name", metavar="TEXT", help="stands at the head of each page")
    group.add_argument("--logo", metavar="FILE", help="a PNG, JPEG or WebP image, beside the name")
    group.add_argument("--accent", metavar="COLOUR", help="of links, such as #07c; shaded until it can be read")


def _pages(options: argparse.Namespace) -> None:
    wrong: list[str] = []
    base_url = _checked("--base-url", options.base_url, base_url_fault, wrong)
    brand = Brand(
        _checked("--name", options.name, name_fault, wrong),
        _checked(f"--logo: {options.logo}", _logo(options.logo, wrong), logo_fault, wrong),
        _checked("--accent", options.accent, accent_fault, wrong),
    )
    if fault := _folder_fault(options.out):
        wrong.append(f"{options.out}: {fault}")
    damage: tuple[Fault, ...] = ()
    try:
        wording = Wording(
            overrides=options.overrides,
            translations=options.translations,
            server=options.server,
            contact=options.contact,
            help_url=base_url and f"{base_url.rstrip('/')}/{{language}}/{{reason}}/",
        )
    except DataError as error:
        damage = error.faults
    if wrong:
        options.parser.error("\n".join([*wrong, *map(str, damage)]))
    if damage:
        raise DataError(damage)
    contact = Settings(env=True).detail("contact", options.contact)
    try:
        files = dict(_shown(render(wording, base_url=base_url, contact=contact, brand=brand)))
        written, removed = _publish(options.out, files)
    except ModuleNotFoundError as error:
        options.parser.error(f"the pages need {error.name}: pip install 'mcp-auth-failures[pages]'")
    except OSError as error:
        options.parser.error(f"{error.filename}: {error.strerror}")
    if sys.stderr.isatty():
        done = f"{options.out}: {len(files)} files, {written} written, {removed} removed"
        print(f"\r{done:70}", file=sys.stderr)


def _checked(option: str, value: _T | None, fault_of: Callable[[_T], str | None], wrong: list[str]) -> _T | None:
    """The value if nothing is wrong with it."""
    if value is None or not (fault := fault_of(value)):
        return value
    wrong.append(f"{option}: {fault}")
    return None


def _logo(file: str | None, wrong: list[str]) -> bytes | None:
    try:
        return read_bytes(file) if file is not None else None
    except DataError as error:
        wrong.append(f"--logo: {error}")
        return None


def _folder_fault(out: Path) -> str | None:
    there = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
    if not there.is_dir():
        return "is not a folder" if there == out else f"{there} is not a folder"
    return None if os.access(there, os.W_OK | os.X_OK) else "cannot be written"


def _shown(files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """The same, with a line for whoever waits at a terminal."""
    for count, file in enumerate(files, 1):
        if sys.stderr.isatty():
            print(f"\r{f'{count} {file[0]}':70}", end="", file=sys.stderr, flush=True)
        yield file


# --- the folder -----------------------------------------------------------------------------------------------------


def _publish(out: Path, files: Mapping[str, bytes]) -> tuple[int, int]:
    """Make a folder hold these files; how many were written and how many removed.

    A list of what is ours, with checksums, stays in the folder (``sha256sum --check`` reads it). By it a file of an
    earlier run that is no longer made is known, and removed unless someone changed it; a file that is not on the list
    is somebody else's, and never touched. Raises ``OSError``; before anything is written, if a file is in the way.
    """
    ours = _listed(out)
    for path, data in files.items():
        if path not in ours and os.path.lexists(out / path) and _content(out / path) != data:
            raise FileExistsError(EEXIST, "is there, but not of an earlier run: choose another folder", str(out / path))
    sums = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    _list(out, {**ours, **sums})  # first, so that what an interrupted run leaves is known to be ours
    written = sum(_write(out / path, data) for path, data in files.items())
    stale = [path for path in ours.keys() - sums if _sum_of(out / path) == ours[path]]
    for path in stale:
        (out / path).unlink()
        for folder in PurePosixPath(path).parents[:-1]:
            with suppress(OSError):  # it holds something else
                (out / folder).rmdir()
    _list(out, sums)
    return written, len(stale)


# As sha256sum writes it. No path begins with a slash or has a part of dots alone, whoever wrote the list.
_LISTED = re.compile(r"^([0-9a-f]{64})  ((?:[A-Za-z0-9][A-Za-z0-9_.-]*/)*[A-Za-z0-9][A-Za-z0-9_.-]*)$", re.MULTILINE)


def _listed(out: Path) -> dict[str, str]:
    text = (_content(out / MANIFEST) or b"").decode(errors="replace")
    return {path: checksum for checksum, path in _LISTED.findall(text)}


def _list(out: Path, sums: Mapping[str, str]) -> None:
    _write(out / MANIFEST, "".join(f"{checksum}  {path}\n" for path, checksum in sorted(sums.items())).encode())


def _sum_of(file: Path) -> str | None:
    content = _content(file)
    return None if content is None else hashlib.sha256(content).hexdigest()


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def _write(file: Path, data: bytes) -> bool:
    """Replace a file as a whole, since a web server may be reading it; leave an equal one alone."""
    if _content(file) == data:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.new")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, file)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return True
