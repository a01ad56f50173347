"""The operator's tools: an override file to begin with, and a look at one before a server reads it."""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from mcp_auth_failures.catalog import SHIPPED, Catalog
from mcp_auth_failures.datafile import DataError, Fault, missing_detail, placeholder_fault, read_bytes, text_fault
from mcp_auth_failures.document import Document
from mcp_auth_failures.gettext_files import read_language
from mcp_auth_failures.overrides import written
from mcp_auth_failures.rules import FOR_OPERATORS, Text, findings
from mcp_auth_failures.tags import canonical
from mcp_auth_failures.text import placeholders
from mcp_auth_failures.translations import DOMAIN, installed
from mcp_auth_failures.wording import Wording

__all__ = ["Finding", "check", "template"]

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault, and how bad it is: an ``error`` is not used, a ``warning`` is odd, a ``note`` may help."""

    severity: Severity
    fault: Fault


def check(path: Path, details: Collection[str] = (), catalog: Catalog = SHIPPED) -> list[Finding]:
    """Everything wrong or odd with an override file or a gettext folder. Never raises.

    ``details`` names the placeholders that have a value.
    """
    shipped = Wording(catalog, env=False, server="…", contact="…")
    if os.path.isdir(path):
        return list(_check_folder(path, details, shipped))
    if path.suffix in {".po", ".mo"}:
        return list(_check_gettext(path, _language_of(path), details, shipped))
    return list(_check_override(path, details, shipped))


def _language_of(file: Path) -> str:
    """The language that a gettext file's folder names; a file on its own tells none (``und``, BCP 47)."""
    try:
        return canonical(file.absolute().parts[-3])
    except (ValueError, IndexError):
        return "und"


def _check_override(path: Path, details: Collection[str], shipped: Wording) -> Iterator[Finding]:
    try:
        document = Document.parse(read_bytes(path), str(path))
        yield from _check_texts(document, details, shipped)
        document.finish()
    except DataError as error:
        yield from _errors(error)


def _check_texts(document: Document, details: Collection[str], shipped: Wording) -> Iterator[Finding]:
    if document.root is None:
        nothing = "overrides nothing: it is empty or holds comments alone"
        yield Finding("note", Fault(document.file, None, None, "", nothing))
    for text in written(document, shipped.catalog):
        mark = text.node.start_mark

        def at(message: str, line: int = mark.line + 1, column: int = mark.column + 1, path: str = text.path) -> Fault:
            return Fault(document.file, line, column, path, message)

        if _is_cut(text.node, document.source):
            yield Finding("warning", at("ends where ' #' begins a comment; put the whole text in quotes"))
        if fault := missing_detail(placeholders(text.text), details):
            yield Finding("note", at(fault))
        said = shipped.describe(text.reason, text.language).message
        for finding in findings(Text(text.text, text.language, shipped.catalog[text.reason], said), FOR_OPERATORS):
            yield Finding("warning", at(finding))


def _is_cut(node: yaml.Node, source: str) -> bool:
    """Whether a text without quotes is followed by a comment, which may well have been meant as part of it."""
    if getattr(node, "style", None):
        return False
    line = re.split("[\n\x85\u2028\u2029]", source)[node.end_mark.line]  # YAML 1.1's line breaks
    return bool(re.match(r"\s*#", line[node.end_mark.column :]))


def _check_folder(folder: Path, details: Collection[str], shipped: Wording) -> Iterator[Finding]:
    try:
        files, faults = installed(folder)
    except OSError as error:
        yield Finding("error", Fault(str(folder), None, None, "", f"cannot be read: {error.strerror}"))
        return
    yield from (Finding("error", fault) for fault in faults)
    if not files and not faults:
        expected = f"holds no <language>/LC_MESSAGES/{DOMAIN}.po or .mo"
        yield Finding("error", Fault(str(folder), None, None, "", expected))
    for language, file in files.items():
        yield from _check_gettext(Path(str(file)), language, details, shipped)


def _check_gettext(file: Path, language: str, details: Collection[str], shipped: Wording) -> Iterator[Finding]:
    try:
        english = {context: text.english for context, text in shipped.catalog.texts.items()}
        translations = read_language(file, english)
    except DataError as error:
        yield from _errors(error)
        return
    contexts = {f"reasons.{reason}.message": reason for reason in shipped.catalog.reasons}
    for context, translation in translations.items():
        reason = contexts.get(context)
        if reason is None:
            continue
        entry = shipped.catalog[reason]

        def at(message: str, line: int | None = translation.line, path: str = context) -> Fault:
            return Fault(str(file), line, None, path, message)

        if translation.english != entry.failure.message:
            yield Finding("warning", at("was translated from an older English text"))
        text = Text(translation.text.strip(), language, entry, shipped.describe(reason, language).message)
        if fault := text_fault(text.text) or placeholder_fault(text.text, entry.placeholders):
            yield Finding("error", at(fault))
            continue
        if missing := missing_detail(placeholders(text.text), details):
            yield Finding("note", at(missing))
        yield from (Finding("warning", at(finding)) for finding in findings(text, FOR_OPERATORS))


def _errors(error: DataError) -> Iterator[Finding]:
    return (Finding("error", fault) for fault in error.faults)


_TEMPLATE_HEAD = """\
# The wording of mcp-auth-failures, to be edited. A server reads it when MCP_AUTH_FAILURES_OVERRIDES names this file.
#
# Keep what you change and delete the rest: what is not here keeps following the shipped wording. Put every text in
# double quotes. One text in the place of the languages is said in every language.
# `mcp-auth-failures check FILE` looks over the file before a server reads it.

version: 1
messages:
"""


def template(wording: Wording, languages: Iterable[str] = ("en",)) -> str:
    """An override file that says what ``wording`` says already, in these languages, with notes on each reason."""
    languages = tuple(dict.fromkeys(languages))
    blocks = (_template_entry(wording, reason, languages) for reason in wording.catalog.reasons)
    return _TEMPLATE_HEAD + "\n".join(blocks)


def _template_entry(wording: Wording, reason: str, languages: Iterable[str]) -> str:
    entry = wording.catalog[reason]
    action = entry.failure.action
    names = ", ".join(f"{{{name}}}" for name in entry.placeholders)
    notes = (entry.meaning, f"{action}: {wording.catalog.actions[action]}", f"May use {names}.")
    lines: list[str] = []
    for language in languages:
        failure = wording.describe(reason, language)
        # An entry would change something where the text stands for every language, where another language's is said,
        # or where there is one beside it that names the scopes.
        sources = {wording.source(reason, language, scopes=scopes) for scopes in ((), ("any",))}
        own = failure.language == language and len(sources) == 1
        lines.append(f"    {'' if own else '# '}{language}: {_quoted(failure.message)}")
    mark = "" if any(not line.lstrip().startswith("#") for line in lines) else "# "
    return "\n".join([*(f"  # {note}" for note in notes), f"  {mark}{reason}:", *lines, ""])


def _quoted(text: str) -> str:
    return json.dumps(text.replace("{", "{{").replace("}", "}}"), ensure_ascii=False)
