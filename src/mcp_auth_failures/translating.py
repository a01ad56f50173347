"""The translator's tools: the template out of the YAML, and into every ``.po`` without losing anything.

Files are written the way ``msgcat --no-wrap`` writes them, so that gettext's tools, Poedit, Weblate and Babel leave
them as they are, and a change of one sentence is a change of one line.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from babel.core import Locale, UnknownLocaleError
from babel.messages.plurals import get_plural

from mcp_auth_failures.catalog import SHIPPED, Catalog, CatalogText, Entry, message_context, read_catalog
from mcp_auth_failures.datafile import DataError, Fault
from mcp_auth_failures.gettext_files import parse_po
from mcp_auth_failures.po_lines import PoEntry, entries_of, quoted
from mcp_auth_failures.rules import FOR_TRANSLATORS, Text, findings
from mcp_auth_failures.tags import same_language
from mcp_auth_failures.text import placeholders
from mcp_auth_failures.translations import DOMAIN, installed

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = [
    "Status",
    "check",
    "check_file",
    "extract",
    "extract_messages",
    "names_of",
    "new",
    "status",
    "twin",
    "update",
]

_BRACES = "python-brace-format"


def extract_messages(
    fileobj: IO[bytes], keywords: object, comment_tags: object, options: object
) -> Iterator[tuple[int, str, tuple[str, str], list[str]]]:
    """Babel's extractor ``mcp_auth_failures``, for ``pybabel extract``."""
    catalog = read_catalog(fileobj.name, fileobj.read())
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
    return _begun(header, catalog)


def new(locale: str, now: datetime, catalog: Catalog = SHIPPED) -> bytes:
    """An empty ``.po`` for a locale, as its folder is named (``pt_BR``)."""
    _, name = names_of(locale)
    header = _HEADER.format(
        title=f"{name} messages of mcp-auth-failures.",
        revised=f"{now:%Y-%m-%d %H:%M%z}",
        translator="FULL NAME <EMAIL@ADDRESS>",
        team=name,
        locale=locale,
    )
    return _begun(header + f'"Plural-Forms: {get_plural(locale).plural_forms}\\n"\n', catalog)


def _begun(header: str, catalog: Catalog) -> bytes:
    return _file([*entries_of(header), *(_entry(text, PoEntry()) for text in catalog.texts.values())])


def names_of(language: str) -> tuple[str, str]:
    """A language's name in itself and in English; its tag where CLDR has none."""
    try:
        locale = Locale.parse(language.replace("-", "_"))
    except (ValueError, UnknownLocaleError):
        return language, language
    return locale.display_name or language, locale.english_name or language


def update(data: bytes, file: str, catalog: Catalog = SHIPPED) -> bytes:
    """Merge the catalog's texts into a ``.po``, and lose nothing of it.

    A text whose English changed stays, marked fuzzy, with the previous English beside it; one that is gone becomes
    obsolete, and comes back when its text does. The header and all comments stay as they are. Doing it twice changes
    nothing. Raises :class:`DataError` for a file that cannot be read.
    """
    header, *entries = parse_po(data, file) or [PoEntry()]
    if not header.is_header:
        raise DataError([Fault(file, 1, None, "", "does not begin with a header: an entry whose msgid is empty")])
    updated = []
    for text in catalog.texts.values():
        was = _best(text, entries)
        updated.append(_entry(text, was))
        if was.texts:
            entries.remove(was)
    left = (entry.unwrapped() for entry in entries if entry.obsolete or entry.is_translated or entry.comments)
    return _file([header, *updated, *(replace(entry, obsolete=True, notes=[], places=[]) for entry in left)])


def _best(text: CatalogText, entries: Iterable[PoEntry]) -> PoEntry:
    """The entry of a text: one that is translated before an empty one, a living before an obsolete one."""
    own = (entry for entry in entries if entry.text("msgctxt") == text.context and "msgid_plural" not in entry.texts)
    return max(
        own,
        key=lambda entry: (entry.is_translated, not entry.obsolete, entry.text("msgid") == text.english),
        default=PoEntry(),
    )


def _entry(text: CatalogText, was: PoEntry) -> PoEntry:
    """What a file shall say of a text, with what it says already."""
    translation = was.text("msgstr") or ""
    made_from = was.previous_english if was.is_fuzzy else was.text("msgid")
    fuzzy = made_from != text.english and (was.is_fuzzy or translation != "")
    flags = [flag for flag in was.flags if flag not in {"fuzzy", _BRACES}]
    return PoEntry(
        comments=was.comments,
        notes=[text.note],
        places=[f"catalog/failures.yaml:{text.line}"],
        flags=["fuzzy"] * fuzzy + [_BRACES] * bool(placeholders(text.english)) + flags,
        previous={"msgid": quoted(made_from)} if fuzzy and made_from else {},
        texts={"msgctxt": quoted(text.context), "msgid": quoted(text.english), "msgstr": quoted(translation)},
    )


def _file(entries: Iterable[PoEntry]) -> bytes:
    return ("\n\n".join("\n".join(entry.lines()) for entry in entries) + "\n").encode()


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
        found = Counter(kind for kind, _ in _judge(file, language, catalog))
        complete = total - found["missing"] - found["fuzzy"] if not found["broken"] else 0
        yield Status(
            language,
            *names_of(language),
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
        entries = [entry for entry in parse_po(file.read_bytes(), str(file)) if not entry.obsolete]
    except DataError as error:
        yield from (("broken", fault) for fault in error.faults)
        return
    reasons = {message_context(reason): entry for reason, entry in catalog.reasons.items()}
    for text in catalog.texts.values():
        found = _best(text, entries)
        for kind, message in _judge_entry(found, text, reasons.get(text.context), language):
            yield kind, Fault(str(file), found.line or None, None, text.context, message)


def _judge_entry(entry: PoEntry, text: CatalogText, reason: Entry | None, language: str) -> Iterator[tuple[str, str]]:
    translation = entry.text("msgstr") or ""
    if not translation.strip():
        yield "missing", "is not translated"
    elif entry.is_fuzzy:
        yield "fuzzy", "is fuzzy: does it still say what the English says?"
    elif entry.text("msgid") != text.english:
        yield "fuzzy", "is of an older English; run `translations update`"
    else:
        for finding in findings(Text(translation, language, reason, text.english), FOR_TRANSLATORS):
            yield "faulty", finding
