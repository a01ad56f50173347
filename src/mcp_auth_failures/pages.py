"""Help pages: for every reason and language a plain file that says what happened and what can be done.

There is no script in them and nothing of others is fetched; each page forbids both by its Content-Security-Policy.
Links are relative, so that the folder works wherever it is put, and from a disk.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from http.client import responses
from typing import TYPE_CHECKING, NamedTuple

from babel.core import Locale, UnknownLocaleError
from babel.localedata import locale_identifiers

from mcp_auth_failures.brand import Brand
from mcp_auth_failures.catalog import LABELS, PAGE_TEXTS, AuthFailure, Entry
from mcp_auth_failures.challenge import url_fault
from mcp_auth_failures.datafile import DataError, Fault
from mcp_auth_failures.languages import preferences
from mcp_auth_failures.refusal import Refusal
from mcp_auth_failures.translating import names_of
from mcp_auth_failures.wording import Wording

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["base_url_fault", "render"]

# What the refusals on the pages name, where a real one names what its server needs.
_SCOPE = "example:scope"
_METADATA = "https://mcp.example.com/.well-known/oauth-protected-resource"


def base_url_fault(value: str) -> str | None:
    """Say why pages cannot stand below a URL, or ``None`` if they can: it has to be one that a refusal can name."""
    if fault := url_fault(value):
        return fault
    found = re.search("[?{}]", value)
    return f"{value[:80]!r} has a {found[0]} in it" if found else None


class _Tongue(NamedTuple):
    tag: str
    name: str
    direction: str


def render(
    wording: Wording, *, base_url: str | None = None, contact: str | None = None, brand: Brand | None = None
) -> Iterator[tuple[str, bytes]]:
    """Make every file of the folder, one after the other: its path there, with slashes, and its bytes.

    The same arguments give the same bytes, whenever and wherever. Needs the extra ``pages``.

    :param base_url: the folder's address, for canonical links and ``sitemap.xml``; none are made without it.
    :param contact: the contact that the wording has, if any; an https URL or an e-mail address becomes a link.

    Raises :class:`~mcp_auth_failures.DataError` if the catalog lacks a text that a page needs.
    """
    catalog = wording.catalog
    needed = [
        *(f"labels.{name}" for name in LABELS),
        *(f"reasons.{reason}.{kind}" for reason in catalog.reasons for kind in PAGE_TEXTS),
    ]
    if missing := [context for context in needed if context not in catalog.texts]:
        raise DataError(Fault(str(catalog.path), None, None, context, "is needed for a page") for context in missing)
    base_url = f"{base_url.rstrip('/')}/" if base_url else None
    site = _Site(wording, base_url, contact, brand or Brand())
    yield from site.pages()
    yield from site.resources()


class _Site:
    def __init__(self, wording: Wording, base_url: str | None, contact: str | None, brand: Brand) -> None:
        self._wording = wording
        self._base_url = base_url
        self._contact = contact
        self._brand = brand
        self._templates = _templates()
        self._tongues = {tongue.tag: tongue for tongue in sorted(map(_tongue, wording.languages), key=_alphabetical)}
        self._english = {context: text.english for context, text in wording.catalog.texts.items()}
        self._addresses: list[str] = []

    def pages(self) -> Iterator[tuple[str, bytes]]:
        """The root, and for each language its list of reasons and a page for each."""
        yield self._page("root.html", "en", "", choices=_choices(self._tongues))
        for tag in self._wording.languages:
            failures = [self._wording.describe(reason, tag) for reason in self._wording.catalog.reasons]
            yield self._page("language.html", tag, f"{tag}/", failures=failures)
            for failure in failures:
                yield self._page(
                    "reason.html", tag, f"{tag}/{failure.reason}/",
                    failures=failures, failure=failure, **self._wire(failure, tag), **self._reached(tag),
                )  # fmt: skip

    def resources(self) -> Iterator[tuple[str, bytes]]:
        """What the pages use, and what programs read."""
        for name in ("style.css", "icon.svg", "failures.schema.json"):
            yield name, self._templates.get_template(name).render(schemes=self._brand.schemes).encode()
        if self._brand.logo and self._brand.logo_file:
            yield self._brand.logo_file, self._brand.logo
        yield "failures.json", (json.dumps(self._catalog(), ensure_ascii=False, indent=1) + "\n").encode()
        if self._base_url:
            yield "sitemap.xml", self._templates.get_template("sitemap.xml").render(urls=self._addresses).encode()

    def _page(self, template: str, tag: str, path: str, **values: object) -> tuple[str, bytes]:
        below = path.partition("/")[2]
        root = "../" * path.count("/")
        self._addresses.append(f"{self._base_url}{path}")

        def link(language: str, to: str = "") -> str:
            return f"{root}{language}/{to}index.html"

        def plain(context: str, language: str = tag) -> str:
            return self._wording.text(context, language)

        def alternates() -> Iterator[tuple[str, str]]:
            for each in self._wording.languages:
                yield each, f"{self._base_url}{each}/{below}" if self._base_url else link(each, below)
            if not below:
                yield "x-default", self._base_url or f"{root}index.html"

        html = self._templates.get_template(template).render(
            here=self._tongues[tag], tongues=self._tongues.values(), tongue_of=self._tongues.get, root=root, link=link,
            below=below, canonical=self._base_url and f"{self._base_url}{path}", alternates=alternates(),
            brand=self._brand, say=self._say(tag), plain=plain, **values,
        )  # fmt: skip
        return f"{path}index.html", html.encode()

    def _say(self, tag: str) -> "Callable[[str], str | Markup]":
        """A text in the page's language; one that is still English says so, to be read aloud and laid out as such."""
        from markupsafe import Markup  # comes with Jinja, of the extra

        def say(context: str) -> str | Markup:
            text = self._wording.text(context, tag)
            if text == self._english[context] and tag.partition("-")[0] != "en":
                return Markup('<span lang="en" dir="ltr">{}</span>').format(text)
            return text

        return say

    def _wire(self, failure: AuthFailure, tag: str) -> dict[str, object]:
        """What a developer sees of a failure."""
        scopes = [_SCOPE] if failure.challenge == "insufficient_scope" else []
        refusal = self._wording.refusal(
            failure.reason, tag, scopes=scopes, resource_metadata_url=_METADATA, request_id=1
        )
        return {
            "status": f"{refusal.status} {responses.get(refusal.status, '')}".strip(),
            "challenge": refusal.headers.get("WWW-Authenticate"),
            "json": _json_lines(refusal),
        }

    def _reached(self, tag: str) -> dict[str, object]:
        """The label with the contact in it, taken apart at the contact; nothing if there is none."""
        if not self._contact:
            return {"contact": None}
        before, contact, after = self._wording.text("labels.contact", tag).rpartition(self._contact)
        return {"contact": {"before": before, "text": contact, "after": after, "url": _link_of(self._contact)}}

    def _catalog(self) -> dict[str, object]:
        catalog = self._wording.catalog
        return {
            "$schema": "failures.schema.json",
            "languages": {
                tag: {"name": self._tongues[tag].name, "direction": self._tongues[tag].direction}
                for tag in self._wording.languages
            },
            "challenges": dict(catalog.challenges),
            "actions": dict(catalog.actions),
            "reasons": {reason: self._entry(reason, entry) for reason, entry in catalog.reasons.items()},
        }

    def _entry(self, reason: str, entry: Entry) -> dict[str, object]:
        failure = entry.failure
        named = ("challenge", "action", "recoverable", "status", "header")
        return {
            "meaning": entry.meaning,
            **{name: getattr(failure, name) for name in named},
            "texts": {
                tag: {
                    "message": self._wording.describe(reason, tag).message,
                    **{kind: self._wording.text(f"reasons.{reason}.{kind}", tag) for kind in PAGE_TEXTS},
                    "page": f"{self._base_url or ''}{tag}/{reason}/",
                }
                for tag in self._wording.languages
            },
        }


def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # of the extra: only who makes pages has it

    return Environment(
        loader=PackageLoader(__package__, "_pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


# --- languages ------------------------------------------------------------------------------------------------------


def _tongue(tag: str) -> _Tongue:
    name = names_of(tag)[0]
    # CLDR has names as they stand within a sentence; here each begins a line
    return _Tongue(tag, name if name == tag else name[:1].upper() + name[1:], _direction(tag))


def _direction(tag: str) -> str:
    try:
        return Locale.parse(tag, sep="-").text_direction
    except (ValueError, UnknownLocaleError):  # CLDR has no German of France: it is written as German is
        shorter = tag.rpartition("-")[0]
        return _direction(shorter) if shorter else "ltr"


def _alphabetical(tongue: _Tongue) -> tuple[str, str]:
    return unicodedata.normalize("NFKD", tongue.name).casefold(), tongue.tag


def _choices(tongues: Mapping[str, _Tongue]) -> Iterator[tuple[str, list[_Tongue]]]:
    """What to offer to readers of which languages (a ``systemLanguage`` of SVG), and last, with none, to all others.

    Browsers match by the spelling alone, so that all regions are named; and since they say ``zh-TW, zh`` together, what
    is one language to ``zh`` is offered together. Chromium takes the first that is among the reader's languages, and
    not the reader's first, so that English, which is in most lists, comes last and is always there.
    """
    groups: dict[str, list[_Tongue]] = {}
    for tag, tongue in tongues.items():
        groups.setdefault(tag.partition("-")[0], []).append(tongue)
    names = {name.replace("_", "-") for name in locale_identifiers()}
    names |= {re.sub("-[A-Z][a-z]{3}(?=-)", "", name) for name in names}  # browsers leave the script out
    ranges: dict[str, list[str]] = {}
    for name in sorted(names | tongues.keys()):
        if answer := preferences(name, tongues):
            ranges.setdefault(answer[0].partition("-")[0], []).append(name)
    english = groups.pop("en")
    for language, group in groups.items():
        yield ", ".join(ranges[language]), group + english[:1]
    yield ", ".join(ranges["en"]), english
    yield "", english


# --- what a developer sees ------------------------------------------------------------------------------------------

_LINE = re.compile(r'(?P<indent> *)(?P<key>"(?:[^"\\]|\\.)*": )?(?P<value>.*?)(?P<end>,?)')


def _json_lines(refusal: Refusal) -> list[dict[str, str]]:
    """The body, indented, each line taken apart so that a right-to-left value does not turn the line round."""
    lines = json.dumps(json.loads(refusal.body), ensure_ascii=False, indent=2).splitlines()
    return [found.groupdict("") for line in lines if (found := _LINE.fullmatch(line))]


def _link_of(contact: str) -> str | None:
    """The address to link to, if the contact plainly is one."""
    if re.fullmatch(r"[A-Za-z0-9._+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z0-9-]{2,}", contact):
        return f"mailto:{contact}"
    return contact if contact.startswith("https://") and not url_fault(contact) else None
