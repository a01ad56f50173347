"""How the command is put together and prints: subcommands, tables that fit the terminal, JSON."""

import argparse
import json
import shutil
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Sequence

__all__ = ["add_command", "add_wording", "print_json", "print_table"]


def add_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    run: Callable[[argparse.Namespace], int | None],
    purpose: str,
) -> argparse.ArgumentParser:
    """Add a subcommand; ``run`` is given its options and returns the exit code, 0 for ``None``."""
    command = commands.add_parser(name, help=purpose, description=f"{purpose.capitalize()}.")
    command.set_defaults(run=run, parser=command)
    return command


def add_wording(command: argparse.ArgumentParser) -> "argparse._ArgumentGroup":
    """Add the options that say whose wording is meant."""
    group = command.add_argument_group("wording", "Beside what the MCP_AUTH_FAILURES_… variables set.")
    group.add_argument("--overrides", action="append", default=[], metavar="FILE", help="an override file")
    group.add_argument("--translations", action="append", default=[], metavar="FOLDER", help="a gettext folder")
    group.add_argument("--server", metavar="TEXT", help="the value of {server}")
    group.add_argument("--contact", metavar="TEXT", help="the value of {contact}")
    return group


def print_json(value: object) -> None:
    """Print a value for a program to read."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print columns, the last of them wrapped to the terminal."""
    table = [row for row in (head, *rows) if row]
    widths = [max(map(_width, column)) for column in list(zip(*table, strict=True))[:-1]]
    indent = sum(widths) + 2 * len(widths)
    room = max(30, shutil.get_terminal_size((100, 24)).columns - indent - 1)
    for *cells, text in table:
        start = "".join(cell + " " * (width + 2 - _width(cell)) for cell, width in zip(cells, widths, strict=True))
        lines = _wrap(text, room) or [""]
        print(start + ("\n" + " " * indent).join(lines))


def _wrap(text: str, room: int) -> list[str]:
    """As ``textwrap.wrap``, which counts characters: those of Chinese, Japanese and Korean take two columns each."""
    for width in range(room, 1, -1):
        lines = textwrap.wrap(text, width, break_on_hyphens=False)
        if all(_width(line) <= room for line in lines):
            return lines
    return [text]


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )
