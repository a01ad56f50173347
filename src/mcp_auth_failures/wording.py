"""The text a person reads, and where it comes from: overrides, then gettext, then the catalog's English."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from mcp_auth_failures.catalog import SHIPPED, AuthFailure, Catalog, Reason, message_context, packaged
from mcp_auth_failures.challenge import url_fault, usable_scopes
from mcp_auth_failures.datafile import DataError, Fault, missing_detail, one_of
from mcp_auth_failures.languages import negotiate, preferences
from mcp_auth_failures.lock import Lock
from mcp_auth_failures.overrides import OverrideFile, OverrideFiles
from mcp_auth_failures.refusal import Refusal
from mcp_auth_failures.settings import Settings, StrPath
from mcp_auth_failures.text import fill, placeholders
from mcp_auth_failures.texts import Languages, Layer, Texts
from mcp_auth_failures.translations import Folder

__all__ = ["Languages", "Wording", "describe_auth_failure"]

_log = logging.getLogger("mcp_auth_failures")


class Wording:
    """Every failure in every language, in the host's and the operator's words where they have any.

    For each message the caller's languages are asked in order of preference, then ``default_language``; the first
    that has a text for *this* message wins. Within a language come the override files in order, the host's gettext
    folders in order and the shipped translation. The catalog's English is last.

    :param catalog: a host's own catalog, from :func:`~mcp_auth_failures.load_catalog`; the shipped one by default.
    :param overrides: one or more override files (their format: ``catalog/README.md``).
    :param translations: one or more folders in gettext layout, domain ``mcp_auth_failures``, ``.po`` or ``.mo``.
    :param builtin: whether the shipped translations are used.
    :param default_language: for callers who ask for no language that is there.
    :param server: the value of ``{server}``.
    :param contact: the value of ``{contact}``.
    :param help_url: an https URL with ``{language}`` and ``{reason}`` in it, where people find more about a failure.
    :param env: whether the operator's ``MCP_AUTH_FAILURES_…`` variables count. ``OVERRIDES`` and ``LOCALES`` (paths
        joined by ``os.pathsep``) stand before those given here; ``LANGUAGE``, ``SERVER``, ``CONTACT`` and ``HELP_URL``
        win over them.

    Raises :class:`~mcp_auth_failures.DataError` with every fault of every setting and override file. A broken file in
    a gettext folder costs its language alone, and is logged. Safe to share between threads and tasks.
    """

    def __init__(
        self,
        catalog: Catalog | None = None,
        *,
        overrides: StrPath | Iterable[StrPath] = (),
        translations: StrPath | Iterable[StrPath] = (),
        builtin: bool = True,
        default_language: str | None = None,
        server: str | None = None,
        contact: str | None = None,
        help_url: str | None = None,
        env: bool = True,
    ) -> None:
        self._catalog = SHIPPED if catalog is None else catalog
        settings = Settings(env)
        given = {"server": settings.detail("server", server), "contact": settings.detail("contact", contact)}
        self._details = {name: value for name, value in given.items() if value is not None}
        self._help_url = settings.help_url("help_url", help_url)
        default = settings.language("default_language", default_language)
        self._roots = settings.folders("locales", translations)
        faults = settings.faults
        self._builtin = [Folder(packaged("locales"), self._catalog, self._details, builtin=True)] if builtin else []
        self._default = default
        self._lock = Lock()
        self._files = OverrideFiles(settings.paths("overrides", overrides), self._catalog, self._details)
        hosts, damage = self._read_hosts({})
        self._hosts: Mapping[str, Folder] = hosts
        self._texts = self._compose(hosts)
        try:
            self._files.reload(partial(self._use, hosts))
        except DataError as error:
            faults += error.faults
        faults += [
            Fault(str(self._catalog.path), text.line, None, text.context, fault)
            for text in map(self._catalog.texts.__getitem__, map(message_context, self._catalog.reasons))
            if (fault := missing_detail(placeholders(text.english), self._details))
        ]
        faults += damage
        if default and not preferences(default, self._texts.languages):
            name, _ = settings.single("default_language", "language", default)
            faults.append(Fault(name, None, None, "", one_of(default, self._texts.languages)))
        if faults:
            raise DataError(faults)

    def _read_hosts(self, previous: Mapping[str, Folder]) -> tuple[dict[str, Folder], list[Fault]]:
        folders: dict[str, Folder] = {}
        faults: list[Fault] = []
        for root in self._roots:
            try:
                folder = Folder(Path(root), self._catalog, self._details)
            except OSError as error:
                faults.append(Fault(root, None, None, "", f"cannot be read: {error.strerror}"))
                continue
            folder.read_all(previous.get(root))
            faults += folder.missing
            folders[root] = folder
        return folders, faults

    def _compose(self, hosts: Mapping[str, Folder], overrides: Iterable[OverrideFile] = ()) -> Texts:
        layers: list[Layer] = [*overrides, *hosts.values(), *self._builtin]
        return Texts(self._catalog, layers, self._details, self._default)

    def _use(self, hosts: Mapping[str, Folder], overrides: Iterable[OverrideFile]) -> None:
        texts = self._compose(hosts, overrides)
        for language in self._texts.loaded:
            texts.own(language)  # so that no request waits for what was there before
        self._hosts, self._texts = hosts, texts

    @property
    def catalog(self) -> Catalog:
        """Where the reasons come from."""
        return self._catalog

    @property
    def languages(self) -> tuple[str, ...]:
        """The BCP 47 tags there is any text in, ``en`` first."""
        return self._texts.languages

    def describe(self, reason: str, languages: Languages = None) -> AuthFailure:
        """Resolve a reason in the first of the caller's languages that has a text for it.

        ``languages`` is an Accept-Language value, a tag or a list of tags; whatever it holds, nothing is raised on its
        account. Raises ``KeyError`` naming the known reasons if the catalog has none of that name.
        """
        return self._texts.describe(reason, languages)

    def refusal(
        self,
        reason: str,
        languages: Languages = None,
        *,
        scopes: str | Iterable[str] = (),
        resource_metadata_url: str | None = None,
        request_id: object = None,
    ) -> Refusal:
        """Make the answer to one refused request; the arguments are those of :class:`~mcp_auth_failures.Refusal`.

        Nothing but an unknown reason raises (``KeyError``): a scope or URL that cannot stand in a challenge is left out
        and logged, and an id that cannot be echoed becomes ``None``.
        """
        texts = self._texts
        if self._help_url and isinstance(languages, Iterator):  # it is looked at twice
            languages = preferences(languages, texts.languages)
        if isinstance(scopes, str) or texts.has_scope:
            scopes = self._sendable(scopes)
        if scopes and texts.has_scope:
            failure = texts.find(reason, languages, tuple(scopes)).failure
        else:
            failure = texts.describe(reason, languages)
        help_url = self._help(failure, languages) if self._help_url else None
        try:
            scopes = tuple(scopes)
            return Refusal.repeated(failure, scopes, resource_metadata_url, request_id, help_url)
        except (ValueError, TypeError):
            metadata_url, help_url = map(self._sendable_url, (resource_metadata_url, help_url))
            return Refusal.repeated(failure, self._sendable(scopes), metadata_url, request_id, help_url)

    @staticmethod
    def _sendable_url(url: str | None) -> str | None:
        if url is not None and (fault := url_fault(url)):
            _log.error("left out of a challenge: %s", fault)
            return None
        return url

    @staticmethod
    def _sendable(scopes: object) -> tuple[str, ...]:
        usable, faults = usable_scopes(scopes)
        if faults:
            _log.error("left out of a challenge: %s", "; ".join(faults))
        return usable

    def _help(self, failure: AuthFailure, languages: Languages) -> str:
        # one text in every language says nothing of the reader's
        language = failure.language or negotiate(languages, self._texts.languages, self._default or "en")
        return fill(self._help_url or (), {"language": language, "reason": failure.reason})

    def source(self, reason: str, languages: Languages = None, *, scopes: Iterable[str] = ()) -> str:
        """Where the text of :meth:`describe` comes from: a file and line."""
        return self._texts.find(reason, languages, self._sendable(scopes)).source

    def text(self, context: str, language: str) -> str:
        """A text of the help pages, such as ``labels.language``, in a language; English where it is not translated.

        Raises ``KeyError`` for a context that the catalog does not have.
        """
        return fill(self._texts.text(context, language).parts, {"contact": "", **self._details})

    def load(self) -> None:
        """Read every language now, rather than when a caller first asks for it."""
        texts = self._texts
        for language in texts.languages:
            texts.resolve(language)
        preferences("en", texts.languages)  # reads CLDR's data

    def reload(self) -> None:
        """Read the override files and the host's gettext folders anew, now.

        Raises :class:`~mcp_auth_failures.DataError` with every fault, and leaves the wording as it was. A handler of
        :mod:`signal` may have interrupted another reading and would wait for it for ever: call it from one of
        ``loop.add_signal_handler``.
        """
        with self._lock:
            hosts, faults = self._read_hosts(self._hosts)
            self._files.reload(partial(self._use, hosts), faults)

    def check(self) -> None:
        """Take up changed override files, looking at most every few seconds; a faulty one is logged. Never raises."""
        if self._files.is_due and self._lock.acquire(blocking=False):
            try:
                self._files.check(partial(self._use, self._hosts))
            finally:
                self._lock.release()


_resolved: Mapping[str | None, Mapping[str, AuthFailure]] = {}
_default_lock = Lock()


def describe_auth_failure(reason: Reason, languages: Languages = None) -> AuthFailure:
    """Resolve a reason to its challenge, its action and the sentence to say, in a caller's language.

    The wording is the shipped one with what the operator's ``MCP_AUTH_FAILURES_…`` variables name (see
    :class:`Wording`), read at the first call. If that cannot be used, every fault is logged once and the shipped
    wording speaks.

    :param reason: one of the shipped reasons, such as ``"expired"``.
    :param languages: an Accept-Language value, a BCP 47 tag or a list of tags; English by default. Never raises on its
        account.

    Raises ``KeyError`` naming the known reasons for any other.
    """
    try:
        return _resolved[languages][reason]  # type: ignore[index]  # what cannot be a key raises TypeError
    except (KeyError, TypeError):
        return _default_wording().describe(reason, languages)


_default: Wording | None = None


def _default_wording() -> Wording:
    global _default, _resolved
    with _default_lock:
        if _default is None:
            try:
                _default = Wording()
            except DataError as error:
                _log.error("the operator's wording cannot be used, the shipped one is:\n%s", error)
                _default = Wording(env=False)
            _resolved = _default._texts.resolved
        return _default
