"""The text of each failure in each language, out of layers: overrides, then gettext, then the catalog's English."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol

from mcp_auth_failures.catalog import SHIPPED, AuthFailure, Catalog, Entry, message_context
from mcp_auth_failures.challenge import to_description
from mcp_auth_failures.languages import preferences, walk
from mcp_auth_failures.text import Sentence, fill, split

__all__ = ["Languages", "Layer", "Said", "Texts"]

Languages = str | Iterable[str] | None
"""What a caller asks for: an Accept-Language value, a BCP 47 tag, or a list of tags, best first."""


class Layer(Protocol):
    """Somewhere that texts come from."""

    @property
    def languages(self) -> Iterable[str]:
        """The BCP 47 tags it has any text in."""

    @property
    def has_scope(self) -> bool:
        """Whether any of its texts names the scopes of a refusal."""

    def sentence(self, reason: str, language: str) -> Sentence | None:
        """The message of a reason in exactly this language."""

    def text(self, context: str, language: str) -> Sentence | None:
        """Any text of the catalog in exactly this language."""


@dataclass(frozen=True, slots=True)
class Said:
    """A failure, and the file and line that its message comes from."""

    failure: AuthFailure
    source: str


@dataclass(slots=True)
class _Own:
    """The texts of one language: those that need no scope, and those that name it."""

    plain: dict[str, Said] = field(default_factory=dict)
    scoped: dict[str, Sentence] = field(default_factory=dict)


class Texts:
    """One state of all layers. It never changes: a reload makes another, so that no reader sees half of each.

    What is worked out on the way is kept per installed language, never per caller's header.
    """

    def __init__(
        self, catalog: Catalog, layers: Sequence[Layer], details: Mapping[str, str], default: str | None
    ) -> None:
        self._catalog = catalog
        self._layers = layers
        self._details = details
        self._default = default
        tags = {tag for layer in layers for tag in layer.languages}
        self.languages = ("en", *sorted(tags - {"en"}))
        self._installed = frozenset(self.languages)
        self._last = tuple(dict.fromkeys((*preferences(default, self.languages), "en")))
        self.has_scope = any(layer.has_scope for layer in layers)
        self.resolved: dict[str | None, dict[str, AuthFailure]] = {}
        self._own: dict[str, _Own] = {}
        self._descriptions: dict[str, str | None] = {}

    @property
    def loaded(self) -> tuple[str, ...]:
        """The languages that have been read."""
        return tuple(self._own)

    def describe(self, reason: str, languages: Languages) -> AuthFailure:
        """As :meth:`find`, the failure alone, for a refusal that brings no scopes."""
        try:
            return self.resolved[languages][reason]  # type: ignore[index]  # what cannot be a key raises TypeError
        except (KeyError, TypeError):
            self._catalog[reason]
        if languages is None or (isinstance(languages, str) and languages in self._installed):
            self.resolve(languages)
        return self.find(reason, languages).failure

    def resolve(self, language: str | None) -> None:
        """Work out every reason in one of ``languages``, or for a caller who asks for none."""
        tags = (*preferences(language, self.languages), *self._last)
        reasons = self._catalog.reasons.items()
        self.resolved[language] = {reason: self._first(entry, tags).failure for reason, entry in reasons}

    def find(self, reason: str, languages: Languages, scopes: Sequence[str] = ()) -> Said:
        """The first text for a reason in a caller's languages. Raises ``KeyError`` for an unknown reason."""
        return self._first(self._catalog[reason], chain(walk(languages, self.languages), self._last), scopes)

    def _first(self, entry: Entry, tags: Iterable[str], scopes: Sequence[str] = ()) -> Said:
        reason = entry.failure.reason
        for tag in tags:
            own = self.own(tag)
            if scopes and (sentence := own.scoped.get(reason)):
                return self._say(entry, sentence, {**self._details, "scope": " ".join(scopes)})
            if said := own.plain.get(reason):
                return said
        raise AssertionError("the catalog's English is the last of all texts")  # pragma: no cover

    def text(self, context: str, language: str) -> Sentence:
        """A text of the help pages in a language, or what its readers get where it is not translated.

        Raises ``KeyError`` for a context that the catalog does not have.
        """
        text = self._catalog.texts[context]
        for tag in preferences(language, self.languages):
            for layer in self._layers:
                if sentence := layer.text(context, tag):
                    return sentence
        return Sentence(tuple(split(text.english)), "en", f"{self._catalog.path}:{text.line}")

    def own(self, language: str) -> _Own:
        """What is said in exactly this language."""
        own = self._own.get(language)
        if own is None:
            own = _Own()
            for reason, entry in self._catalog.reasons.items():
                for sentence in self._sentences(entry, language):
                    if "scope" not in sentence.names:
                        own.plain[reason] = self._say(entry, sentence, self._details)
                        break
                    own.scoped.setdefault(reason, sentence)
            self._own[language] = own
        return own

    def _sentences(self, entry: Entry, language: str) -> Iterator[Sentence]:
        for layer in self._layers:
            if sentence := layer.sentence(entry.failure.reason, language):
                yield sentence
        if language == "en":
            line = self._catalog.texts[message_context(entry.failure.reason)].line
            source = "shipped" if self._catalog is SHIPPED else f"{self._catalog.path}:{line}"
            yield Sentence(tuple(split(entry.failure.message)), "en", source)

    def _say(self, entry: Entry, sentence: Sentence, details: Mapping[str, str]) -> Said:
        failure = replace(
            entry.failure,
            message=fill(sentence.parts, details),
            language=sentence.language or self._default,
            description=self._description(entry),
        )
        return Said(failure, sentence.source)

    def _description(self, entry: Entry) -> str | None:
        """The English for developers: the first English text that can travel in a header."""
        reason = entry.failure.reason
        if reason not in self._descriptions:
            texts = (
                to_description(fill(sentence.parts, self._details))
                for sentence in self._sentences(entry, "en")
                if "scope" not in sentence.names and (sentence.language or self._default or "en") == "en"
            )
            self._descriptions[reason] = next(filter(None, texts), None)
        return self._descriptions[reason]
