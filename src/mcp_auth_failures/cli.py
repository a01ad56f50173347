"""The command ``mcp-auth-failures``: look at the catalog and at what a refused client is told.

Exit codes: 0, 1 for findings (among them a file that cannot be used), 2 for wrong use.
"""

import argparse
import json
import logging
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus

from mcp_auth_failures.challenge import scope_fault, url_fault
from mcp_auth_failures.datafile import DataError, one_of
from mcp_auth_failures.wording import Wording

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, the process's own by default, and return its exit code."""
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options) or 0)
    except DataError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output, `head` perhaps, has seen enough
        sys.stderr.close()
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mcp-auth-failures", description="What an MCP client is told when its call is refused."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = _command(commands, "list", _list, "show every reason in a table")
    command.add_argument("--format", choices=("text", "json"), default="text", help="for a person; for a program")
    _add_wording(command)

    command = _command(commands, "explain", _explain, "show what a client is told for one reason")
    command.add_argument("reason", metavar="REASON", help="a reason, as `list` shows them")
    forms = "for a person; the JSON-RPC error; the whole HTTP answer"
    command.add_argument("--format", choices=("text", "json", "http"), default="text", help=forms)
    command.add_argument(
        "--scope", dest="scopes", action="append", default=[], type=_checked(scope_fault), metavar="SCOPE",
        help="a scope that the call needs; may be repeated",
    )  # fmt: skip
    command.add_argument(
        "--resource-metadata", type=_checked(url_fault), metavar="URL", help="protected resource metadata (RFC 9728)"
    )
    _add_wording(command)
    return parser


_Commands = argparse._SubParsersAction  # argparse has no public name for it
_Run = Callable[[argparse.Namespace], int | None]


def _command(
    commands: "_Commands[argparse.ArgumentParser]", name: str, run: _Run, purpose: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=purpose, description=f"{purpose.capitalize()}.")
    command.set_defaults(run=run, parser=command)
    return command


def _add_wording(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("wording", "Beside what the MCP_AUTH_FAILURES_… variables set.")
    group.add_argument("--language", metavar="TAG", help="a language tag or an Accept-Language value, such as de-AT")
    group.add_argument("--overrides", action="append", default=[], metavar="FILE", help="an override file")
    group.add_argument("--translations", action="append", default=[], metavar="FOLDER", help="a gettext folder")
    group.add_argument("--server", metavar="TEXT", help="the value of {server}")
    group.add_argument("--contact", metavar="TEXT", help="the value of {contact}")


def _wording(options: argparse.Namespace) -> Wording:
    return Wording(
        overrides=options.overrides, translations=options.translations, server=options.server, contact=options.contact
    )


def _checked(fault_of: Callable[[object], str | None]) -> Callable[[str], str]:
    def check(value: str) -> str:
        if fault := fault_of(value):
            raise argparse.ArgumentTypeError(fault)
        return value

    return check


def _list(options: argparse.Namespace) -> None:
    wording = _wording(options)
    failures = [wording.describe(reason, options.language) for reason in wording.catalog.reasons]
    if options.format == "json":
        keys = ("reason", "status", "challenge", "action", "recoverable", "language", "message")
        _print_json([{key: getattr(failure, key) for key in keys} for failure in failures])
        return
    rows = [(failure.reason, str(failure.status), failure.action, failure.message) for failure in failures]
    _print_table(("REASON", "STATUS", "ACTION", "MESSAGE"), rows)


def _explain(options: argparse.Namespace) -> None:
    wording = _wording(options)
    if options.reason not in wording.catalog.reasons:
        options.parser.error(one_of(options.reason, wording.catalog.reasons))
    refusal = wording.refusal(
        options.reason,
        options.language,
        scopes=options.scopes,
        resource_metadata_url=options.resource_metadata,
    )
    failure = refusal.failure
    status = f"{refusal.status} {HTTPStatus(refusal.status).phrase}"
    if options.format == "json":
        _print_json(refusal.json_rpc_error)
    elif options.format == "http":
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in refusal.headers.items()), ""]
        print("\n".join([*lines, refusal.body.decode()]))
    else:
        source = wording.source(options.reason, options.language, scopes=options.scopes)
        print(f"{failure.reason}: {wording.catalog[failure.reason].meaning}\n")
        _print_table(
            (),
            [
                ("message", failure.message),
                ("language", f"{failure.language or 'every language'} ({source})"),
                ("action", f"{failure.action}: {wording.catalog.actions[failure.action]}"),
                ("recoverable", "yes, by the caller" if failure.recoverable else "no, not by the caller"),
                ("status", status),
                ("challenge", refusal.headers.get("WWW-Authenticate", "none")),
            ],
        )


def _print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def _print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print columns of which the last is wrapped to the terminal."""
    table = [row for row in (head, *rows) if row]
    widths = [max(map(len, column)) for column in list(zip(*table, strict=True))[:-1]]
    indent = sum(widths) + 2 * len(widths)
    room = max(30, shutil.get_terminal_size((100, 24)).columns - indent - 1)
    for *cells, text in table:
        start = "".join(f"{cell:{width + 2}}" for cell, width in zip(cells, widths, strict=True))
        wide = any(unicodedata.east_asian_width(character) in "WF" for character in text)
        lines = textwrap.wrap(text, room // 2 if wide else room, break_on_hyphens=False) or [""]
        print(start + ("\n" + " " * indent).join(lines))
