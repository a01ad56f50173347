"""The command ``mcp-auth-failures``: look at the catalog and at what a refused client is told.

Exit codes: 0, 1 for findings (among them a file that cannot be used), 2 for wrong use.
"""

import argparse
import io
import logging
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from http import HTTPStatus
from pathlib import Path

from mcp_auth_failures import operating
from mcp_auth_failures.challenge import scope_fault, url_fault
from mcp_auth_failures.cli_pages import add_pages
from mcp_auth_failures.cli_translations import add_translations
from mcp_auth_failures.console import add_command, add_wording, print_json, print_table
from mcp_auth_failures.datafile import DataError, one_of
from mcp_auth_failures.tags import canonical
from mcp_auth_failures.wording import Wording

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, the process's own by default, and return its exit code."""
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal of another encoding, a file name of none
    options = _parser().parse_args(arguments)
    try:
        code = int(options.run(options) or 0)
        sys.stdout.flush()
        return code
    except DataError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nor will the interpreter's own flush fail
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mcp-auth-failures", description="What an MCP client is told when its call is refused."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = add_command(commands, "list", _list, "show every reason in a table")
    command.add_argument("--format", choices=("text", "json"), default="text", help="for a person; for a program")
    _add_language(command)

    command = add_command(commands, "explain", _explain, "show what a client is told for one reason")
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
    _add_language(command)

    command = add_command(commands, "template", _template, "write an override file with today's wording, to be edited")
    command.add_argument(
        "--language", dest="languages", action="append", type=_language, metavar="TAG",
        help="a language to edit; may be repeated (default: en)",
    )  # fmt: skip
    command.add_argument("-o", "--output", metavar="FILE", help="write there and not to the screen; must not exist yet")

    command = add_command(
        commands, "check", _check, "look over override files and gettext folders before a server does"
    )
    command.add_argument("paths", nargs="+", type=Path, metavar="FILE|FOLDER")
    command.add_argument("--format", choices=("text", "json"), default="text", help="for a person; for a program")

    add_translations(commands)
    add_pages(commands)
    return parser


def _add_language(command: argparse.ArgumentParser) -> None:
    group = add_wording(command)
    group.add_argument("--language", metavar="TAG", help="a language tag or an Accept-Language value, such as de-AT")


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


def _language(value: str) -> str:
    try:
        return canonical(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _list(options: argparse.Namespace) -> None:
    wording = _wording(options)
    failures = [wording.describe(reason, options.language) for reason in wording.catalog.reasons]
    if options.format == "json":
        keys = ("reason", "status", "challenge", "action", "recoverable", "language", "message")
        print_json([{key: getattr(failure, key) for key in keys} for failure in failures])
        return
    rows = [(failure.reason, str(failure.status), failure.action, failure.message) for failure in failures]
    print_table(("REASON", "STATUS", "ACTION", "MESSAGE"), rows)


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
        print_json(refusal.json_rpc_error)
    elif options.format == "http":
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in refusal.headers.items()), ""]
        print("\n".join([*lines, refusal.body.decode()]))
    else:
        source = wording.source(options.reason, options.language, scopes=options.scopes)
        print(f"{failure.reason}: {wording.catalog[failure.reason].meaning}\n")
        print_table(
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


def _template(options: argparse.Namespace) -> None:
    text = operating.template(Wording(), options.languages or ("en",))
    if options.output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())  # UTF-8 whatever the terminal speaks: it is going to be a file
        return
    try:
        with open(options.output, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        options.parser.error(f"{options.output}: {error.strerror}")
    print(f"{options.output} is ready to be edited", file=sys.stderr)


def _check(options: argparse.Namespace) -> bool:
    given = [name for name in ("server", "contact") if os.environ.get(f"MCP_AUTH_FAILURES_{name.upper()}")]
    findings = [finding for path in options.paths for finding in operating.check(path, given)]
    if options.format == "json":
        print_json([{"severity": finding.severity, **asdict(finding.fault)} for finding in findings])
    else:
        for finding in findings:
            fault = finding.fault
            print(": ".join(filter(None, (fault.place, finding.severity, fault.path, fault.message))))
    serious = sum(finding.severity != "note" for finding in findings)
    print(f"{len(options.paths)} looked over, {serious or 'no'} finding{'s' if serious != 1 else ''}", file=sys.stderr)
    return serious > 0
