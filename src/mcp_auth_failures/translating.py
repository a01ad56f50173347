"""The translator's tools: the template out of the YAML, and into every ``.po`` without losing anything.

Files are written the way ``msgcat --no-wrap`` writes them, so that gettext's tools, Poedit, Weblate and Babel leave
them as they are, and a change of one sentence is a change of one line.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from babel.core import Locale
from babel.messages.plurals import get_plural

from mcp_auth_failures.catalog import SHIPPED, Catalog, CatalogText, read_catalog
from mcp_auth_failures.datafile import DataError, Fault, decode
from mcp_auth_failures.gettext_files import parse_po
from mcp_auth_failures.languages import same_language
from mcp_auth_failures.po_lines import PoEntry, entries_of, keyword_line
from mcp_auth_failures.rules import FOR_TRANSLATORS, Text, findings
from mcp_auth_failures.text import placeholders
from mcp_auth_failures.translations import DOMAIN, installed

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["Status", "check", "check_file", "extract", "extract_messages", "new", "status", "twin", "update"]

_BRACES = "python-brace-format"


def extract_messages(
    fileobj: IO[bytes], keywords: object, comment_tags: object, options: object
) -> Iterator[tuple[int, str, tuple[str, str], list[str]]]:
    """Babel's extractor ``mcp_auth_failures``, for ``pybabel extract``."""
    catalog = read_catalog(Path(fileobj.name), fileobj.read())
    for text in catalog.texts.values():
        yield text.line, "pgettext", (text.context, text.english), [text.note]


_HEADER = """\
# {title}
#
msgid ""
msgstr ""
"Project-Id-Version: mcp-auth-failures\\n"
"Report-Msgid-Bugs-To: \\n"
"PO-Revision-Date: {revised}\\n"
"Last-Translator: {translator}\\n"
"Language-Team: {team}\\n"
"Language: {locale}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"""


def extract(catalog: Catalog = SHIPPED) -> bytes:
    """The template, ``mcp_auth_failures.pot``: every text of the catalog, with its note and its place."""
    header = _HEADER.format(
        title="Messages of mcp-auth-failures, the template for translations.",
        revised="YEAR-MO-DA HO:MI+ZONE",
        translator="FULL NAME <EMAIL@ADDRESS>",
        team="LANGUAGE <LL@li.org>",
        locale="",
    )
    return _file([header.splitlines(), *(_lines(text, None) for text in catalog.texts.values())])


def new(locale: str, now: datetime, catalog: Catalog = SHIPPED) -> bytes:
    """An empty ``.po`` for a locale, as its folder is named (``pt_BR``)."""
    known = Locale.parse(locale)
    header = _HEADER.format(
        title=f"{known.english_name} messages of mcp-auth-failures.",
        revised=f"{now:%Y-%m-%d %H:%M%z}",
        translator="FULL NAME <EMAIL@ADDRESS>",
        team=known.english_name,
        locale=locale,
    )
    plural = f'"Plural-Forms: {get_plural(known).plural_forms}\\n"'
    return _file([[*header.splitlines(), plural], *(_lines(text, None) for text in catalog.texts.values())])


def update(data: bytes, file: str, catalog: Catalog = SHIPPED) -> bytes:
    """Merge the catalog's texts into a ``.po``, and lose nothing of it.

    A text whose English changed stays, marked fuzzy, with the previous English beside it; one that is gone becomes
    obsolete, and comes back when its text does. The header and all comments stay as they are. Doing it twice changes
    nothing. Raises :class:`DataError` for a file that cannot be read.
    """
    parse_po(data, file)
    header, *entries = [*entries_of(decode(data, file))] or [PoEntry([])]
    if not header.is_header:
        raise DataError([Fault(file, 1, None, "", "does not begin with a header: an entry whose msgid is empty")])
    blocks = [header.header_lines()]
    for text in catalog.texts.values():
        was = _best(text, entries)
        blocks.append(_lines(text, was))
        if was:
            entries.remove(was)
    blocks += (entry.obsolete_lines() for entry in entries if entry.obsolete or entry.is_translated)
    return _file(blocks)


def _best(text: CatalogText, entries: Iterable[PoEntry]) -> PoEntry | None:
    """The entry of a text: one that is translated before an empty one, a living before an obsolete one."""
    own = (entry for entry in entries if entry.text("msgctxt") == text.context and entry.text("msgid_plural") is None)
    return max(
        own,
        key=lambda entry: (entry.is_translated, not entry.obsolete, entry.text("msgid") == text.english),
        default=None,
    )


def _lines(text: CatalogText, was: PoEntry | None) -> list[str]:
    translated = (was and was.text("msgstr")) or ""
    flags = [flag for flag in was.flags if flag not in {"fuzzy", _BRACES}] if was else []
    previous = was.previous if was and "fuzzy" in was.flags else None
    fuzzy = bool(was and "fuzzy" in was.flags)
    if was and translated and was.text("msgid") != text.english:
        fuzzy, previous = True, previous or was.text("msgid")
    if previous == text.english:  # the English is again what was translated
        fuzzy = False
    flags = [*(["fuzzy"] if fuzzy else []), *flags, *([_BRACES] if placeholders(text.english) else [])]
    return [
        *(was.comments if was else ()),
        f"#. {text.note}",
        f"#: catalog/failures.yaml:{text.line}",
        *([f"#, {', '.join(flags)}"] if flags else []),
        *([f"#| {keyword_line('msgid', previous)}"] if previous and fuzzy else []),
        keyword_line("msgctxt", text.context),
        keyword_line("msgid", text.english),
        keyword_line("msgstr", translated),
    ]


def _file(blocks: Iterable[Iterable[str]]) -> bytes:
    return ("\n\n".join("\n".join(block) for block in blocks) + "\n").encode()


@dataclass(frozen=True, slots=True)
class Status:
    """How far a language is: numbers of texts, and how many findings :func:`check` has on those that are there."""

    language: str
    name: str
    english_name: str
    complete: int
    fuzzy: int
    missing: int
    faulty: int


def status(folder: Path, catalog: Catalog = SHIPPED) -> Iterator[Status]:
    """How far each language of a gettext folder is."""
    total = len(catalog.texts)
    for language, file in installed(folder)[0].items():
        locale = Locale.parse(language, sep="-")
        found = Counter(kind for kind, _ in _judge(file, language, catalog))
        complete = total - found["missing"] - found["fuzzy"] if not found["broken"] else 0
        yield Status(
            language,
            locale.get_display_name() or language,
            locale.english_name or language,
            complete,
            found["fuzzy"],
            total - complete - found["fuzzy"],
            found["faulty"] + found["broken"],
        )


def twin(language: str, installed: Iterable[str]) -> str | None:
    """The language among those installed that this one is another name of, as ``zh`` is of ``zh-Hans``."""
    return next((other for other in installed if same_language(language, other)), None)


def check(folder: Path, languages: Collection[str] | None = None, catalog: Catalog = SHIPPED) -> Iterator[Fault]:
    """Everything that is wrong or odd in a gettext folder of ours: a stale template, gaps, and what the rules find.

    Only the ``languages`` given are looked at, all by default.
    """
    template = folder / f"{DOMAIN}.pot"
    if not template.is_file() or template.read_bytes() != extract(catalog):
        yield Fault(str(template), None, None, "", "is not what the catalog says now; run `translations update`")
    files, faults = installed(folder)
    yield from faults
    for language, file in files.items():
        if languages is None or language in languages:
            yield from check_file(file, language, catalog)


def check_file(file: "Path | Traversable", language: str, catalog: Catalog = SHIPPED) -> Iterator[Fault]:
    """What is missing, wrong or odd in one ``.po``."""
    return (fault for _, fault in _judge(file, language, catalog))


def _judge(file: "Path | Traversable", language: str, catalog: Catalog) -> Iterator[tuple[str, Fault]]:
    """Each fault of a ``.po``, and its kind: ``broken`` as a whole, or a text that is missing, fuzzy or faulty."""
    try:
        entries = {message.context: message for message in parse_po(file.read_bytes(), str(file))}
    except DataError as error:
        yield from (("broken", fault) for fault in error.faults)
        return
    for reason, entry in catalog.reasons.items():
        context, english = f"reasons.{reason}.message", entry.failure.message
        message = entries.get(context)
        line = message.lineno if message else None
        if message is None or not message.string:
            yield "missing", Fault(str(file), line, None, context, "is not translated")
        elif message.fuzzy:
            yield "fuzzy", Fault(str(file), line, None, context, "is fuzzy: does it still say what the English says?")
        elif message.id != english:
            yield "fuzzy", Fault(str(file), line, None, context, "is of an older English; run `translations update`")
        else:
            for finding in findings(Text(str(message.string), language, entry, english), FOR_TRANSLATORS):
                yield "faulty", Fault(str(file), line, None, context, finding)
