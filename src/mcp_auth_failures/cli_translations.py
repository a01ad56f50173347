"""The command ``mcp-auth-failures translations``: a translator's day."""

import argparse
import os
import shutil
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from babel.localedata import locale_identifiers

from mcp_auth_failures import translating
from mcp_auth_failures.console import add_command, print_json, print_table
from mcp_auth_failures.datafile import DataError, Fault, one_of
from mcp_auth_failures.languages import negotiate
from mcp_auth_failures.tags import canonical
from mcp_auth_failures.translations import DOMAIN, installed

__all__ = ["add_translations"]


def add_translations(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and those below it."""
    parser = commands.add_parser("translations", help="work on the shipped translations", description=__doc__)
    below = parser.add_subparsers(required=True, metavar="COMMAND")

    command = add_command(below, "extract", _extract, "write the template out of the catalog")
    command.add_argument("-o", "--output", type=Path, metavar="FILE", help="write there; - is the screen")

    add_command(below, "update", _update, "write the template and merge it into every language, losing nothing")

    command = add_command(below, "new", _new, "begin a language")
    command.add_argument("locale", metavar="LOCALE", type=_locale, help="as gettext names its folders, such as pt_BR")

    command = add_command(below, "status", _status, "show how far each language is")
    command.add_argument("--format", choices=("text", "json"), default="text", help="for a person; for a program")

    command = add_command(below, "check", _check, "say everything that is wrong or odd in the translations")
    command.add_argument("locales", nargs="*", metavar="LOCALE", type=_locale, help="only these (default: all)")

    for command in below.choices.values():
        command.add_argument(
            "--locales", dest="folder", type=_folder, default="locales", metavar="FOLDER",
            help="the gettext folder (default: locales, in a checkout)",
        )  # fmt: skip


def _folder(value: str) -> Path:
    if not os.path.isdir(value):
        raise argparse.ArgumentTypeError(f"there is no folder {value!r} here; work in a checkout, or name it")
    return Path(value)


def _locale(value: str) -> str:
    try:
        name = canonical(value).replace("-", "_")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    known = locale_identifiers()
    if name not in known:
        same = sorted(locale for locale in known if locale.partition("_")[0] == name.partition("_")[0])
        raise argparse.ArgumentTypeError(
            f"{value!r} is not one of {', '.join(same)} (did you mean {negotiate(name, same, same[0])!r}?)"
        )
    return name


def _extract(options: argparse.Namespace) -> None:
    if str(options.output) == "-":
        sys.stdout.buffer.write(translating.extract())
    else:
        _write(options.output or options.folder / f"{DOMAIN}.pot", translating.extract())


def _update(options: argparse.Namespace) -> None:
    faults: list[Fault] = []
    _write(options.folder / f"{DOMAIN}.pot", translating.extract())
    for file in installed(options.folder)[0].values():
        try:
            _write(Path(str(file)), translating.update(file.read_bytes(), str(file)))
        except DataError as error:
            faults += error.faults
    if faults:
        raise DataError(faults)


def _new(options: argparse.Namespace) -> None:
    language = options.locale.replace("_", "-")
    there = installed(options.folder)[0]
    # Chinese without a script would be the same as zh_Hans
    if twin := translating.twin(language, there):
        options.parser.error(f"{options.locale} is there already: {there[twin]}")
    file = options.folder / options.locale / "LC_MESSAGES" / f"{DOMAIN}.po"
    file.parent.mkdir(parents=True, exist_ok=True)
    _write(file, translating.new(options.locale, datetime.now(UTC)))
    _, name = translating.names_of(options.locale)
    print(f"{name} begins in {file}", file=sys.stderr)


def _status(options: argparse.Namespace) -> None:
    states = list(translating.status(options.folder))
    if options.format == "json":
        print_json([asdict(state) for state in states])
        return
    head = ("LANGUAGE", "COMPLETE", "FUZZY", "MISSING", "FAULTY", "NAME")
    print_table(
        head,
        [
            (state.language, *(str(n) for n in (state.complete, state.fuzzy, state.missing, state.faulty)),
             f"{state.name} ({state.english_name})")
            for state in states
        ],
    )  # fmt: skip


def _check(options: argparse.Namespace) -> None:
    wanted = {locale.replace("_", "-") for locale in options.locales}
    there = installed(options.folder)[0]
    for language in sorted(wanted - there.keys()):
        options.parser.error(f"there is no file for {one_of(language, there)}")
    if faults := list(translating.check(options.folder, wanted or None)):
        raise DataError(faults)
    print("nothing to mend", file=sys.stderr)


def _write(file: Path, data: bytes) -> None:
    """Replace a file as a whole, so that a translator's work is never half there; leave an equal one alone."""
    try:
        if file.is_file() and file.read_bytes() == data:
            return
        with TemporaryDirectory(dir=file.parent, prefix=f".{file.name}.") as folder:
            temporary = Path(folder, file.name)
            temporary.write_bytes(data)
            if file.exists():
                shutil.copymode(file, temporary)
            os.replace(temporary, file)
    except OSError as error:
        raise DataError([Fault(str(file), None, None, "", f"cannot be written: {error.strerror}")]) from None
    print(f"wrote {file}", file=sys.stderr)
