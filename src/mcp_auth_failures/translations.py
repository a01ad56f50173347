"""The languages of a gettext folder: ``<locale>/LC_MESSAGES/mcp_auth_failures.po`` or ``.mo``."""

import logging
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from mcp_auth_failures.catalog import Catalog, message_context
from mcp_auth_failures.datafile import DataError, Fault, missing_detail, placeholder_fault, text_fault
from mcp_auth_failures.gettext_files import read_language
from mcp_auth_failures.tags import canonical
from mcp_auth_failures.text import Sentence, placeholders, split

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

__all__ = ["DOMAIN", "Folder", "installed"]

DOMAIN = "mcp_auth_failures"

_log = logging.getLogger("mcp_auth_failures")


def installed(folder: "Path | Traversable") -> tuple[dict[str, "Path | Traversable"], list[Fault]]:
    """The files of a gettext folder by BCP 47 tag, a ``.po`` before its ``.mo``, and the folders that are passed over.

    Such a folder names no language, or one that is there already in another spelling. Only what is listed exists: a
    language never becomes a path.
    """
    files: dict[str, Path | Traversable] = {}
    faults: list[Fault] = []
    for locale in sorted(folder.iterdir(), key=lambda entry: entry.name):
        try:
            if locale.name != "LC_MESSAGES" and (file := _file(locale)):
                language = canonical(locale.name)
                if language in files:
                    raise ValueError(f"names {language} a second time")
                files[language] = file
        except ValueError as error:
            faults.append(Fault(str(locale), None, None, "", str(error)))
        except OSError as error:
            faults.append(Fault(str(error.filename or locale), None, None, "", f"cannot be read: {error.strerror}"))
    return files, faults


def _file(locale: "Path | Traversable") -> "Path | Traversable | None":
    candidates = [locale / "LC_MESSAGES" / f"{DOMAIN}.{ending}" for ending in ("po", "mo")]
    return next((candidate for candidate in candidates if candidate.is_file()), None)


class Folder:
    """The languages of one gettext folder, each read when it is first asked for. A file is read once.

    What is wrong with a file is logged then, and costs that language alone; what is wrong with a text costs the text.

    :ivar missing: texts that have a placeholder without a value, among those read so far.
    """

    def __init__(
        self,
        root: "Path | Traversable",
        catalog: Catalog,
        details: Collection[str],
        *,
        builtin: bool = False,
    ) -> None:
        self.missing: list[Fault] = []
        self._catalog = catalog
        self._details = details
        self._builtin = builtin
        self._english = {context: text.english for context, text in catalog.texts.items()}
        self._messages = {message_context(reason): entry.placeholders for reason, entry in catalog.reasons.items()}
        self._allowed: dict[str, Collection[str]] = {each: placeholders(text) for each, text in self._english.items()}
        if not builtin:  # a shipped sentence has those of its English alone, so that it can be said without any detail
            self._allowed.update(self._messages)
        self._files, faults = installed(root)
        self._read: dict[str, Mapping[str, Sentence]] = {}
        _report(faults, "a folder is passed over")

    @property
    def languages(self) -> tuple[str, ...]:
        """The BCP 47 tags there are files for."""
        return tuple(self._files)

    @property
    def has_scope(self) -> bool:
        """Whether any text read so far names the scopes of a refusal; none of the shipped ones does."""
        return any("scope" in text.names for texts in self._read.values() for text in texts.values())

    def sentence(self, reason: str, language: str) -> Sentence | None:
        """The translated message of a reason in exactly this language."""
        return self.text(message_context(reason), language)

    def text(self, context: str, language: str) -> Sentence | None:
        """A translated text of the catalog in exactly this language."""
        return self._all(language).get(context)

    def texts(self, language: str) -> Mapping[str, Sentence]:
        """The translated messages of one language, by reason."""
        said = {reason: self.sentence(reason, language) for reason in self._catalog.reasons}
        return {reason: sentence for reason, sentence in said.items() if sentence}

    def read_all(self, previous: "Folder | None" = None) -> None:
        """Read every language now. One that cannot be read stays as it was in a ``previous`` reading of the folder."""
        for language in self._files:
            self._read[language] = self._texts(language, previous._all(language) if previous else {})

    def _all(self, language: str) -> Mapping[str, Sentence]:
        texts = self._read.get(language)
        if texts is None:
            texts = self._read[language] = self._texts(language, {}) if language in self._files else {}
        return texts

    def _texts(self, language: str, kept: Mapping[str, Sentence]) -> Mapping[str, Sentence]:
        file = self._files[language]
        try:
            translations = read_language(file, self._english)
        except (DataError, OSError) as error:
            _log.error("%s is left %s:\n%s", language, "as it was" if kept else "out", error)
            return kept
        texts: dict[str, Sentence] = {}
        faults: list[Fault] = []
        older: list[str] = []
        for context, english in self._english.items():
            translation = translations.get(context)
            if translation is None:
                continue
            if translation.english != english:
                if self._builtin:
                    continue
                older.append(context)
            text = translation.text.strip()
            if fault := text_fault(text) or placeholder_fault(text, self._allowed[context]):
                faults.append(Fault(str(file), translation.line, None, context, fault))
                continue
            parts = tuple(split(text))
            if context in self._messages and (unfilled := missing_detail(parts[1::2], self._details)):
                self.missing.append(Fault(str(file), translation.line, None, context, unfilled))
            source = "shipped" if self._builtin else f"{file}:{translation.line}" if translation.line else str(file)
            texts[context] = Sentence(parts, language, source)
        _report(faults, "a text that cannot be used is left out")
        if older:
            _log.warning(
                "%s was translated from an older English text and is used as it is: %s", file, ", ".join(older)
            )
        return texts


def _report(faults: list[Fault], what: str) -> None:
    for fault in faults:
        _log.error("%s: %s", what, fault)
