"""The help pages as files: every reason in every language, and nothing in them that a text did not put there.

What a browser makes of them: ``tests/browser/pages``.
"""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree

import pytest
from babel.core import Locale
from jsonschema import Draft202012Validator

from mcp_auth_failures import Challenge, DataError, Refusal, Wording, describe_auth_failure, load_catalog
from mcp_auth_failures.brand import Brand
from mcp_auth_failures.catalog import packaged
from mcp_auth_failures.cli import main
from mcp_auth_failures.cli_pages import MANIFEST
from mcp_auth_failures.languages import preferences
from mcp_auth_failures.pages import base_url_fault, render

CATALOG = load_catalog()
SHIPPED = Wording(env=False)
LANGUAGES = SHIPPED.languages
REASONS = tuple(CATALOG.reasons)
CASES = [(language, reason) for language in LANGUAGES for reason in REASONS]
BASE = "https://help.acme.example/mcp/"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
VOID = {"meta", "link", "img", "path", "circle"}


class Element:
    """A tag with its attributes and all the text in it."""

    def __init__(self, tag: str, attributes: dict[str, str], inside: "list[Element]") -> None:
        self.tag, self.attributes, self.inside, self.text = tag, attributes, inside, ""

    def __getitem__(self, name: str) -> str:
        return self.attributes[name]


class Page(HTMLParser):
    """What is on a page, in its order. Every element is closed, and closed in its turn."""

    def __init__(self, html: bytes) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(html.decode())
        self.close()
        assert self._open == []

    def handle_decl(self, decl: str) -> None:
        assert (decl, self.elements) == ("doctype html", [])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), "an attribute is there twice"
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}, list(self._open)))
        if tag not in VOID:
            self._open.append(self.elements[-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}, list(self._open)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, tag: str, **attributes: str) -> list[Element]:
        """The elements of a tag that have these attributes (``class_`` is ``class``)."""
        wanted = {name.rstrip("_"): value for name, value in attributes.items()}
        return [each for each in self.elements if each.tag == tag and wanted.items() <= each.attributes.items()]

    def one(self, tag: str, **attributes: str) -> Element:
        """The only one of them."""
        (element,) = self.all(tag, **attributes)
        return element


def within(page: Page, tag: str, outer: Element) -> list[Element]:
    """The elements of a tag that are in another."""
    return [element for element in page.all(tag) if outer in element.inside]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    """The folder as shipped, without any option."""
    return dict(render(SHIPPED))


@pytest.fixture(scope="module")
def pages(files: dict[str, bytes]) -> dict[str, Page]:
    """All pages of it, by path."""
    return {path: Page(data) for path, data in files.items() if path.endswith(".html")}


def page_of(wording: Wording, language: str, reason: str, **options: Any) -> Page:
    """One page in another wording."""
    return next(Page(data) for path, data in render(wording, **options) if path == f"{language}/{reason}/index.html")


def override(folder: Path, *messages: str) -> Path:
    """An override file with these lines."""
    file = folder / "ours.yaml"
    file.write_text("\n".join(["version: 1", "messages:", *messages]), encoding="utf-8")
    return file


# --- what there is --------------------------------------------------------------------------------------------------


def test_a_page_for_every_reason_in_every_language(files: dict[str, bytes]) -> None:
    """Beside the pages there are a stylesheet, an icon and the catalog; a site map needs an address."""
    assert set(files) == {
        "index.html",
        *(f"{language}/index.html" for language in LANGUAGES),
        *(f"{language}/{reason}/index.html" for language, reason in CASES),
        *("style.css", "icon.svg", "failures.json", "failures.schema.json"),
    }


@pytest.mark.parametrize(("language", "reason"), CASES)
def test_page_says_what_the_catalog_says(pages: dict[str, Page], language: str, reason: str) -> None:
    """Title, sentence, what to do and the labels are those of the language; nobody to reach is not mentioned."""
    page = pages[f"{language}/{reason}/index.html"]
    title, you, operator = (SHIPPED.text(f"reasons.{reason}.{kind}", language) for kind in ("title", "you", "operator"))
    label = {name: SHIPPED.text(f"labels.{name}", language) for name in ("message", "you", "operator", "developer")}
    assert page.one("h1").text == page.one("title").text == title
    sentence = page.one("p", class_="message")
    assert sentence.text == describe_auth_failure(reason, language).message  # type: ignore[arg-type]
    assert "lang" not in sentence.attributes
    assert page.one("meta", name="description")["content"] == sentence.text
    main_ = page.one("main")
    assert [each.text for each in within(page, "p", main_)] == [sentence.text, you, operator]
    headings = [each.text for each in within(page, "h2", main_)]
    assert headings == [*label.values(), SHIPPED.text("labels.others", language)]


@pytest.mark.parametrize(("language", "reason"), CASES)
def test_page_shows_the_wire_as_it_is(pages: dict[str, Page], language: str, reason: str) -> None:
    """Status, action, challenge and body are those of a refusal that can be read back."""
    page = pages[f"{language}/{reason}/index.html"]
    failure = SHIPPED.describe(reason, language)
    status, action = (element.text for element in page.all("code"))
    assert (status.split()[0], action) == (str(failure.status), failure.action)
    *header, body = (element.text for element in page.all("pre"))
    headers = dict(line.split(": ", 1) for line in header)
    refusal = Refusal.from_response(failure.status, headers, body)
    assert refusal is not None
    assert (refusal.failure, refusal.request_id) == (failure, 1)
    assert bool(header) == (failure.header != "none")
    if header:
        challenge = Challenge.from_header(headers["WWW-Authenticate"])
        assert challenge is not None
        assert challenge.error == (failure.challenge if failure.header == "error" else None)
        assert challenge.scope == (("example:scope",) if failure.challenge == "insufficient_scope" else ())
    else:
        assert SHIPPED.text("labels.none", language) in [element.text for element in page.all("dd")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_language_has_an_index(pages: dict[str, Page], language: str) -> None:
    """All reasons are there with their titles and sentences, for a person to find what the assistant said."""
    page = pages[f"{language}/index.html"]
    assert page.one("h1").text == page.one("title").text == SHIPPED.text("labels.site", language)
    assert page.one("p", class_="lead").text == SHIPPED.text("labels.choose", language)
    listed = page.one("ul", class_="reasons")
    assert [(a["href"], a.text) for a in within(page, "a", listed)] == [
        (f"{reason}/index.html", SHIPPED.text(f"reasons.{reason}.title", language)) for reason in REASONS
    ]
    sentences = [SHIPPED.describe(reason, language).message for reason in REASONS]
    assert [p.text for p in within(page, "p", listed)] == sentences


@pytest.mark.parametrize("language", LANGUAGES)
def test_page_knows_its_language(pages: dict[str, Page], language: str) -> None:
    """Language and direction are said, by CLDR, and every other language is linked, at the same reason."""
    direction = Locale.parse(language, sep="-").text_direction
    for below in ("", *(f"{reason}/" for reason in REASONS)):
        page = pages[f"{language}/{below}index.html"]
        html = page.one("html")
        assert (html["lang"], html["dir"]) == (language, direction)
        here = urljoin("/", f"{language}/{below}index.html")
        alternates = {
            each["hreflang"]: urljoin(here, each["href"]) for each in page.all("link") if "hreflang" in each.attributes
        }
        assert alternates.pop("x-default", None) == (None if below else "/index.html")
        assert alternates == {each: f"/{each}/{below}index.html" for each in LANGUAGES}
        switch = within(page, "a", page.one("details"))
        assert {a["hreflang"]: urljoin(here, a["href"]) for a in switch} == alternates
        for a in switch:
            assert a["lang"] == a["hreflang"]
            assert a["dir"] == Locale.parse(a["lang"], sep="-").text_direction
            assert a.text.casefold() == str(Locale.parse(a["lang"], sep="-").display_name).casefold()
        assert [a["lang"] for a in switch if "aria-current" in a.attributes] == [language]


@pytest.mark.parametrize(("language", "reason"), CASES)
def test_page_links_to_the_other_reasons(pages: dict[str, Page], language: str, reason: str) -> None:
    """The neighbours are named by their titles."""
    page = pages[f"{language}/{reason}/index.html"]
    others = within(page, "a", page.one("nav", class_="others"))
    assert [(a["href"], a.text) for a in others] == [
        (f"../{other}/index.html", SHIPPED.text(f"reasons.{other}.title", language))
        for other in REASONS
        if other != reason
    ]


def test_every_link_is_relative_and_resolves(files: dict[str, bytes], pages: dict[str, Page]) -> None:
    """The folder works wherever it is put, also on a disk: each link names a file of it."""
    for path, page in pages.items():
        for element in page.elements:
            for name in {"href", "src"} & element.attributes.keys():
                link = urlsplit(element[name])
                assert (link.scheme, link.netloc, link.path[:1] == "/") == ("", "", False), (path, element[name])
                assert urljoin(path, element[name]) in files, (path, element[name])


def test_nothing_runs_and_nothing_is_fetched(pages: dict[str, Page]) -> None:
    """There is no script, style or form in a page, and its policy, before anything fetched, forbids them."""
    for page in pages.values():
        assert {"script", "style", "iframe", "form", "object", "base"}.isdisjoint({each.tag for each in page.elements})
        for element in page.elements:
            assert not [name for name in element.attributes if name.startswith("on") or name == "style"]
        policy = page.one("meta", **{"http-equiv": "Content-Security-Policy"})
        assert policy["content"].split("; ") == [
            "default-src 'none'", "style-src 'self'", "img-src 'self'", "base-uri 'none'", "form-action 'none'",
        ]  # fmt: skip
        assert page.elements.index(policy) < min(page.elements.index(link) for link in page.all("link"))


def test_stylesheet_fetches_nothing(files: dict[str, bytes]) -> None:
    """Fonts are the system's; sides are logical, so that right-to-left languages mirror."""
    style = files["style.css"].decode()
    for word in ("url(", "@import", "@font-face", "left", "right", "{{", "}}"):
        assert word not in style.replace("right-to-left", ""), word
    assert len(style) < 12_000


# --- the root -------------------------------------------------------------------------------------------------------


def choices(page: Page) -> list[tuple[list[str], list[str]]]:
    """The root's offers: for readers of which tags, what languages."""
    return [
        (
            [tag for tag in element.attributes.get("systemlanguage", "").split(", ") if tag],
            [a["hreflang"] for a in within(page, "a", element)],
        )
        for element in page.all("foreignobject")
    ]


def test_root_offers_every_language(pages: dict[str, Page]) -> None:
    """The full list is there whatever the browser makes of the choice."""
    page = pages["index.html"]
    listed = within(page, "a", page.one("nav", class_="all"))
    assert {a["hreflang"]: a["href"] for a in listed} == {each: f"{each}/index.html" for each in LANGUAGES}
    assert len(listed) == len(LANGUAGES)


@pytest.mark.parametrize(
    "tag",
    [
        *LANGUAGES,
        "de-AT",
        "de-CH",
        "en-GB",
        "es-419",
        "es-MX",
        "fr-CA",
        "nn",
        "no",
        "pt",
        "zh",
        "zh-CN",
        "zh-TW",
        "zh-HK",
    ],
)
def test_root_chooses_what_the_library_would(pages: dict[str, Page], tag: str) -> None:
    """A reader of a tag is offered, first of all, what the library itself answers in; English is there too."""
    offers = [offered for tags, offered in choices(pages["index.html"]) if tag in tags]
    assert len(offers) == 1
    assert preferences(tag, LANGUAGES)[0] in offers[0]
    assert offers[0][-1].startswith("en")


def test_root_falls_back_on_english(pages: dict[str, Page]) -> None:
    """The last offer is for readers of no language of ours, and English comes just before."""
    *_, (english, first), (nobody, last) = choices(pages["index.html"])
    assert "en" in english
    assert "en-GB" in english
    assert (nobody, first, last) == ([], ["en"], ["en"])


# --- failures.json --------------------------------------------------------------------------------------------------


def test_failures_are_the_whole_catalog(files: dict[str, bytes]) -> None:
    """Programs find every reason with every text in every language, as the schema beside it says."""
    data, schema = json.loads(files["failures.json"]), json.loads(files["failures.schema.json"])
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(data)
    assert data["$schema"] == "failures.schema.json"
    assert (data["challenges"], data["actions"]) == (dict(CATALOG.challenges), dict(CATALOG.actions))
    assert {tag: entry["direction"] for tag, entry in data["languages"].items()} == {
        tag: Locale.parse(tag, sep="-").text_direction for tag in LANGUAGES
    }
    assert tuple(data["reasons"]) == REASONS
    for language, reason in CASES:
        failure = SHIPPED.describe(reason, language)
        entry = data["reasons"][reason]
        for name in ("challenge", "action", "recoverable", "status", "header"):
            assert entry[name] == getattr(failure, name)
        assert entry["texts"][language] == {
            "message": failure.message,
            **{kind: SHIPPED.text(f"reasons.{reason}.{kind}", language) for kind in ("title", "you", "operator")},
            "page": f"{language}/{reason}/",
        }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("reasons", "expired", "status"), "401"),
        (("reasons", "expired", "status"), 200),
        (("reasons", "expired", "action"), ""),
        (("reasons", "expired", "header"), "maybe"),
        (("reasons", "expired", "more"), 1),
        (("reasons", "expired", "texts", "de", "message"), None),
        (("reasons", "expired", "texts", "not a tag"), {}),
        (("reasons", "Expired"), {}),
        (("languages", "de", "direction"), "down"),
        (("more",), 1),
    ],
)
def test_schema_refuses(files: dict[str, bytes], path: tuple[str, ...], value: object) -> None:
    """The schema is strict: another type, value or key is not one of ours."""
    data = inner = json.loads(files["failures.json"])
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert not Draft202012Validator(json.loads(files["failures.schema.json"])).is_valid(data)


# --- an address -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base_url", [BASE, BASE.removesuffix("/")])
def test_address_makes_links_for_search_engines(base_url: str) -> None:
    """With the folder's address pages name their own and those in other languages, and there is a site map."""
    files = dict(render(SHIPPED, base_url=base_url))
    addresses = [f"{BASE}{path.removesuffix('index.html')}" for path in files if path.endswith(".html")]
    located = ElementTree.fromstring(files["sitemap.xml"]).iterfind("{*}url/{*}loc")
    assert [loc.text for loc in located] == addresses
    page = Page(files["de/expired/index.html"])
    assert page.one("link", rel="canonical")["href"] == f"{BASE}de/expired/"
    assert page.one("link", hreflang="pt-BR")["href"] == f"{BASE}pt-BR/expired/"
    assert Page(files["index.html"]).one("link", hreflang="x-default")["href"] == BASE
    assert all(not urlsplit(a["href"]).scheme for a in page.all("a"))
    texts = json.loads(files["failures.json"])["reasons"]["expired"]["texts"]
    assert texts["de"]["page"] == f"{BASE}de/expired/"


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("https://acme.example", None),
        ("https://acme.example/a/", None),
        ("http://127.0.0.1:8000/", None),
        ("http://acme.example/", "'http://acme.example/' is not an absolute https URL (http is for loopback alone)"),
        ("javascript:alert(1)", "'javascript:alert(1)' is not an absolute https URL (http is for loopback alone)"),
        ("acme.example", "'acme.example' is not an absolute https URL (http is for loopback alone)"),
        ("https://acme.example/?a=b", "'https://acme.example/?a=b' has a ? in it"),
        ("https://acme.example/{language}/", "'https://acme.example/{language}/' has a { in it"),
        ("https://acme.example/#a", "'https://acme.example/#a' has user information or a fragment"),
    ],
)
def test_which_address(url: str, fault: str | None) -> None:
    """It is one that a refusal can name, and that paths can be put behind."""
    assert base_url_fault(url) == fault


# --- texts of others ------------------------------------------------------------------------------------------------

HOSTILE = "</p><script>alert(1)</script>\"'&lt;<img src=x onerror=alert(1)>"


def test_hostile_texts_are_text(tmp_path: Path) -> None:
    """Markup in messages, details and names is shown, letter by letter, and makes no element and no attribute."""
    file = override(tmp_path, f"  expired: '{HOSTILE.replace(chr(39), chr(39) * 2)} {{server}} {{contact}}'")
    wording = Wording(env=False, overrides=file, server=HOSTILE, contact=HOSTILE)
    brand = Brand(name=HOSTILE)
    clean = Wording(env=False, contact="x")
    for language in ("de", "ar"):
        page = page_of(wording, language, "expired", contact=HOSTILE, brand=brand)
        plain = page_of(clean, language, "expired", contact="x", brand=Brand(name="x"))
        assert [each.tag for each in page.elements] == [each.tag for each in plain.elements]
        message = f"{HOSTILE} {HOSTILE} {HOSTILE}"
        assert page.one("p", class_="message").text == message
        assert json.loads(page.one("pre", class_="json").text)["error"]["message"] == message
        assert page.one("title").text.endswith(f" · {HOSTILE}")
        assert HOSTILE in [bdi.text for bdi in page.all("bdi")]
        assert page.one("p", class_="contact").text == SHIPPED.text("labels.contact", language) + HOSTILE
    index = Page(dict(render(wording, contact=HOSTILE, brand=brand))["de/index.html"])
    assert message in [p.text for p in index.all("p")]


@pytest.mark.parametrize(
    ("contact", "link"),
    [
        ("it@acme.example", "mailto:it@acme.example"),
        ("it+mcp@help.acme.example", "mailto:it+mcp@help.acme.example"),
        ("https://acme.example/help?a=b&c=d", "https://acme.example/help?a=b&c=d"),
        ("http://acme.example/", None),
        ("http://localhost/", None),
        ("javascript:alert(1)//@acme.example", None),
        ("javascript:alert(1)", None),
        ("data:text/html,<script>alert(1)</script>", None),
        ("mailto:it@acme.example?bcc=x@y.example", None),
        ("it@acme.example?bcc=x@y.example", None),
        ("it@acme.example, x@y.example", None),
        ("https://user@acme.example/", None),
        ("https://acme.example/ or #help", None),
        ("HTTPS://acme.example/\"onclick='alert(1)'", None),
        ("#it-help on chat", None),
        ("it@localhost", None),
        ("a", None),
    ],
)
def test_contact_is_a_link_if_it_plainly_is_one(contact: str, link: str | None) -> None:
    """An https URL or an e-mail address can be followed; all else is text. Its direction does not touch the label's."""
    wording = Wording(env=False, contact=contact)
    for language in ("en", "ar"):
        page = page_of(wording, language, "expired", contact=contact)
        shown = page.one("p", class_="contact")
        assert shown.text == wording.text("labels.contact", language)
        assert [bdi.text for bdi in within(page, "bdi", shown)] == [contact]
        assert [a["href"] for a in within(page, "a", shown)] == [link] * bool(link)


def test_one_wording_for_all_languages(tmp_path: Path) -> None:
    """An operator's single sentence has no language of its own, and takes its direction from its letters."""
    page = page_of(Wording(env=False, overrides=override(tmp_path, "  expired: Ask Ann.")), "ar", "expired")
    sentence = page.one("p", class_="message")
    assert (sentence.text, sentence["lang"], sentence["dir"]) == ("Ask Ann.", "", "auto")
    assert page.one("h1").text == SHIPPED.text("reasons.expired.title", "ar")


def test_what_is_not_translated_says_so(tmp_path: Path) -> None:
    """In a language with messages alone the rest is English, and said to be, for a voice to read it right."""
    wording = Wording(env=False, overrides=override(tmp_path, "  expired: {gl: Pregunta a Ana., ug: Ann din soraŋ.}"))
    page = page_of(wording, "gl", "expired")
    assert (page.one("html")["lang"], page.one("p", class_="message").text) == ("gl", "Pregunta a Ana.")
    heading = page.one("h1")
    (english,) = within(page, "span", heading)
    assert (english["lang"], english["dir"], english.text) == ("en", "ltr", SHIPPED.text("reasons.expired.title", "en"))
    other = page_of(wording, "gl", "incomplete").one("p", class_="message")
    assert (other["lang"], other["dir"]) == ("en", "ltr")
    assert page_of(wording, "ug", "expired").one("html")["dir"] == "rtl"


@pytest.mark.parametrize(("tag", "direction"), [("de-FR", "ltr"), ("ar-FR", "rtl"), ("zh-yue", "ltr"), ("sh", "ltr")])
def test_language_that_cldr_has_no_name_for(tmp_path: Path, tag: str, direction: str) -> None:
    """It is shown by its tag, and written as the language is elsewhere."""
    page = page_of(Wording(env=False, overrides=override(tmp_path, f"  expired: {{{tag}: a}}")), "en", "expired")
    link = within(page, "a", page.one("details"))
    assert [(a.text, a["dir"]) for a in link if a["lang"] == tag] == [(tag, direction)]


def test_brand(files: dict[str, bytes]) -> None:
    """A name, a logo and a colour are on every page; a logo without a name is named for those who do not see it."""
    site = dict(render(SHIPPED, brand=Brand(name="Acme", logo=PNG, accent="#005a9c")))
    assert site.keys() - files.keys() == {"logo.png"}
    assert site["logo.png"] == PNG
    assert b"--accent: #005a9c;" in site["style.css"]
    page = Page(site["de/expired/index.html"])
    brand = page.one("a", class_="brand")
    (image,) = within(page, "img", brand)
    assert (image["src"], image["alt"], brand.text.strip()) == ("../../logo.png", "", "Acme")
    assert page.one("title").text == f"{SHIPPED.text('reasons.expired.title', 'de')} · Acme"
    assert page.one("link", rel="icon")["href"] == "../../logo.png"
    nameless = Page(dict(render(SHIPPED, brand=Brand(logo=PNG)))["de/expired/index.html"])
    assert nameless.one("img")["alt"] == SHIPPED.text("labels.site", "de")


def test_catalog_without_the_texts(tmp_path: Path) -> None:
    """A host's catalog may lack what only pages need: then it has no pages, and every text that is missing is named."""
    text = (packaged("catalog") / "failures.yaml").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith(('    title: "Not connected', '  none: "none"'))]
    file = tmp_path / "failures.yaml"
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError) as raised:
        next(render(Wording(load_catalog(file), env=False)))
    assert str(raised.value).splitlines() == [
        f"{file}: labels.none: is needed for a page",
        f"{file}: reasons.no_token.title: is needed for a page",
    ]


# --- the command ----------------------------------------------------------------------------------------------------


class Terminal:
    """Runs the command here, and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        """The exit code, the output and the errors of ``mcp-auth-failures pages …``."""
        try:
            code = main(["pages", *map(str, arguments)])
        except SystemExit as error:
            code = int(error.code or 0)
        return (code, *self._capsys.readouterr())

    def refusal(self, *arguments: object) -> list[str]:
        """What a wrong use is told."""
        code, out, errors = self(*arguments)
        assert (code, out) == (2, "")
        return errors.partition("mcp-auth-failures pages: error: ")[2].splitlines()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Terminal:
    """What an operator types."""
    return Terminal(capsys)


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but the list of them."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.name != MANIFEST}


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """What a file system says of each file: another number, or another time, and it was written."""
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def test_command_writes_the_folder(run: Terminal, tmp_path: Path) -> None:
    """All options arrive in the files, and what is not a terminal is told nothing."""
    logo = tmp_path / "l"
    logo.write_bytes(PNG)
    file = override(tmp_path, "  expired: 'Ask {contact} at {server}.'")
    out = tmp_path / "new" / "out"
    assert run(
        out, "--base-url", BASE, "--overrides", file, "--server", "Acme Files", "--contact", "it@acme.example",
        "--name", "Acme", "--logo", logo, "--accent", "#005a9c",
    ) == (0, "", "")  # fmt: skip
    wording = Wording(
        env=False,
        overrides=file,
        server="Acme Files",
        contact="it@acme.example",
        help_url=BASE + "{language}/{reason}/",
    )
    brand = Brand(name="Acme", logo=PNG, accent="#005a9c")
    assert everything(out) == dict(render(wording, base_url=BASE, contact="it@acme.example", brand=brand))
    page = Page((out / "de/incomplete/index.html").read_bytes())
    error = json.loads(page.one("pre", class_="json").text)["error"]
    assert error["data"]["help"] == f"{BASE}de/incomplete/"
    assert f'error_uri="{BASE}de/incomplete/"' in page.all("pre")[0].text


def test_environment_counts(run: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the server reads from its variables the pages read as well, and variables win."""
    monkeypatch.setenv("MCP_AUTH_FAILURES_OVERRIDES", str(override(tmp_path, "  expired: 'Ask {contact}.'")))
    monkeypatch.setenv("MCP_AUTH_FAILURES_CONTACT", "ann@acme.example")
    monkeypatch.setenv("MCP_AUTH_FAILURES_HELP_URL", "https://other.example/{reason}?l={language}")
    assert run(tmp_path / "out", "--contact", "bob@acme.example", "--base-url", BASE) == (0, "", "")
    page = Page((tmp_path / "out/de/expired/index.html").read_bytes())
    assert page.one("p", class_="message").text == "Ask ann@acme.example."
    assert page.one("p", class_="contact").text.endswith("ann@acme.example")
    assert '"https://other.example/expired?l=de"' in page.one("pre", class_="json").text


def test_translations_of_the_host(run: Terminal, tmp_path: Path) -> None:
    """A host's gettext folder adds its languages."""
    folder = tmp_path / "locales/gl/LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "mcp_auth_failures.po").write_text(
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'
        f'msgctxt "reasons.expired.title"\nmsgid "{CATALOG.texts["reasons.expired.title"].english}"\n'
        'msgstr "A conexión caducou"\n',
        encoding="utf-8",
    )
    assert run(tmp_path / "out", "--translations", tmp_path / "locales") == (0, "", "")
    assert Page((tmp_path / "out/gl/expired/index.html").read_bytes()).one("h1").text == "A conexión caducou"


def test_same_bytes_whenever(tmp_path: Path) -> None:
    """Two processes, with other seeds, time zones and locales, write the same."""
    made = []
    for number, zone in enumerate(("UTC", "Asia/Tokyo")):
        out = tmp_path / zone.replace("/", "-")
        environment = {**os.environ, "PYTHONHASHSEED": str(number), "TZ": zone, "LC_ALL": "C"}
        command = [sys.executable, "-W", "error", "-m", "mcp_auth_failures", "pages", str(out), "--base-url", BASE]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
        made.append(everything(out) | {MANIFEST: (out / MANIFEST).read_bytes()})
    assert made[0] == made[1]


def test_what_did_not_change_is_not_written(run: Terminal, tmp_path: Path) -> None:
    """A second run touches nothing, and one with another colour the stylesheet and the icon alone."""
    out = tmp_path / "out"
    run(out)
    before = state(out)
    assert run(out) == (0, "", "")
    assert state(out) == before
    assert run(out, "--accent", "#005a9c") == (0, "", "")
    changed = {Path(path).name for path, value in state(out).items() if before[path] != value and Path(path).is_file()}
    assert changed == {"style.css", "icon.svg", MANIFEST}


def test_list_is_that_of_sha256sum(run: Terminal, tmp_path: Path) -> None:
    """Debian's own tool finds the folder whole."""
    run(tmp_path / "out")
    ran = subprocess.run(
        ["sha256sum", "--check", "--strict", MANIFEST], cwd=tmp_path / "out", capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(ran.stdout.splitlines()) == len(everything(tmp_path / "out"))


def test_stale_pages_go(run: Terminal, tmp_path: Path) -> None:
    """What only an earlier run made is removed, with its folder; what someone changed or added stays."""
    out = tmp_path / "out"
    run(out, "--base-url", BASE, "--overrides", override(tmp_path, "  expired: {gl: Pregunta., eu: Galdetu.}"))
    (out / "robots.txt").write_text("ours", encoding="utf-8")
    (out / "gl/expired/index.html").write_text("by hand", encoding="utf-8")
    (out / "eu/expired/notes.txt").write_text("ours", encoding="utf-8")
    assert run(out) == (0, "", "")
    assert everything(out).keys() - dict(render(SHIPPED)).keys() == {
        "robots.txt", "gl/expired/index.html", "eu/expired/notes.txt",
    }  # fmt: skip
    assert not (out / "eu/incomplete").exists()
    assert run(out) == (0, "", "")


def test_interrupted_run_is_taken_up(run: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was killed half-way leaves nothing that the next one does not know to be ours."""
    out = tmp_path / "out"
    replace, left = os.replace, iter(range(40))

    def killed(*paths: Path) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        replace(*paths)

    arguments = ["pages", str(out), "--overrides", str(override(tmp_path, "  expired: One."))]
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            main(arguments)
    assert 0 < len(everything(out)) < len(CASES)
    assert run(out) == (0, "", "")
    assert everything(out).keys() >= dict(render(SHIPPED)).keys()
    assert everything(out)["en/expired/index.html"] == dict(render(SHIPPED))["en/expired/index.html"]


def test_files_of_others_are_not_touched(run: Terminal, tmp_path: Path) -> None:
    """A web server's folder with somebody's own page in it stays as it is, and so does everything around."""
    out = tmp_path / "out"
    (out / "de").mkdir(parents=True)
    (out / "de/index.html").write_text("Willkommen", encoding="utf-8")
    assert run.refusal(out) == [f"{out / 'de/index.html'}: is there, but not of an earlier run: choose another folder"]
    assert everything(out) == {"de/index.html": b"Willkommen"}


def test_list_names_nothing_outside(run: Terminal, tmp_path: Path) -> None:
    """Whoever edits the list gets no file removed that is not below the folder."""
    out, outside = tmp_path / "out", tmp_path / "outside"
    run(out)
    outside.write_text("", encoding="utf-8")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    with (out / MANIFEST).open("a", encoding="utf-8") as file:
        file.write(f"{empty}  ../outside\n{empty}  {outside}\n{empty}  de/../../outside\nrubbish\n")
    assert run(out) == (0, "", "")
    assert outside.exists()


def test_every_fault_at_once(run: Terminal, tmp_path: Path) -> None:
    """All that is wrong is said in one run, and nothing is written."""
    out, logo = tmp_path / "out", tmp_path / "logo.png"
    out.touch()
    logo.write_bytes(b"<svg/>")
    file = override(tmp_path, "  expierd: a")
    assert run.refusal(
        out, "--base-url", "http://acme.example", "--accent", "red", "--logo", logo, "--name", "a\u202eb",
        "--overrides", file, "--contact", "",
    ) == [
        "--base-url: 'http://acme.example' is not an absolute https URL (http is for loopback alone)",
        "--name: the bidirectional control U+202E is not allowed in a text",
        f"--logo: {logo}: is no PNG, JPEG or WebP image",
        "--accent: 'red' is not a colour such as #07c or #0077cc",
        f"{out}: is not a folder",
        "Wording(contact=…): expected a text of at most 500 characters, found ''",
        f"{file}:3:3: messages.expierd: 'expierd' is not one of {', '.join(REASONS)} (did you mean 'expired'?)",
    ]  # fmt: skip
    assert out.read_bytes() == b""


def test_faulty_wording_alone(run: Terminal, tmp_path: Path) -> None:
    """A file that cannot be used is a finding, as for every other command."""
    file = override(tmp_path, "  expired: 'Ask {contact}.'")
    code, out, errors = run(tmp_path / "out", "--overrides", file)
    assert (code, out) == (1, "")
    assert "uses {contact}, which has no value" in errors
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("logo", "fault"),
    [
        ("nowhere", "{}: cannot be read: No such file or directory"),
        ("folder", "{}: cannot be read: it is a folder"),
        ("large", "{}: is larger than 1,048,576 bytes"),
        ("empty", "{}: is no PNG, JPEG or WebP image"),
    ],
)
def test_logo_that_cannot_be_used(run: Terminal, tmp_path: Path, logo: str, fault: str) -> None:
    """It is said what is wrong with the file."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "large").write_bytes(PNG + bytes(1 << 20))
    (tmp_path / "empty").touch()
    path = tmp_path / logo
    assert run.refusal(tmp_path / "out", "--logo", path) == [f"--logo: {fault.format(path)}"]


def test_folder_that_cannot_be_made(run: Terminal, tmp_path: Path) -> None:
    """A file in the way is named, wherever it is."""
    (tmp_path / "file").touch()
    below = tmp_path / "file/below/out"
    assert run.refusal(below) == [f"{below}: {tmp_path / 'file'} is not a folder"]
    assert run.refusal("/proc/out") == ["/proc/out: No such file or directory"]


def test_file_system_that_is_full(run: Terminal, tmp_path: Path) -> None:
    """Where writing fails on the way, it is said which file and why, and no half file is left."""
    out = tmp_path / "out"
    (out / "de/expired/.index.html.new").mkdir(parents=True)
    assert run.refusal(out) == [f"{out / 'de/expired/.index.html.new'}: Is a directory"]
    (out / "de/expired/.index.html.new").rmdir()
    assert run(out) == (0, "", "")


def test_without_the_extra(tmp_path: Path) -> None:
    """Without the template engine it is said what to install; the other commands do not need it."""
    program = (
        "import sys; sys.modules['jinja2'] = None; from mcp_auth_failures.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, "pages", str(tmp_path / "out")], capture_output=True, text=True
    )
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1] == (
        "mcp-auth-failures pages: error: the pages need jinja2: pip install 'mcp-auth-failures[pages]'"
    )
    assert not (tmp_path / "out").exists()
    assert subprocess.run([sys.executable, "-c", program, "list"], capture_output=True).returncode == 0


def terminal(descriptor: int) -> Iterator[bytes]:
    """What a terminal shows until its last writer is gone."""
    while True:
        try:
            data = os.read(descriptor, 1 << 16)
        except OSError:  # Linux says so when nobody holds the other end
            return
        if not data:
            return
        yield data


def test_person_sees_progress(tmp_path: Path) -> None:
    """On a terminal one line says how far it is, and in the end what was done."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "mcp_auth_failures", "pages", str(tmp_path / "out")]
    with subprocess.Popen(command, stderr=theirs, stdout=subprocess.PIPE) as process:
        os.close(theirs)
        shown = b"".join(terminal(ours)).decode()
        assert process.stdout is not None
        assert process.stdout.read() == b""
    os.close(ours)
    assert process.returncode == 0
    number = len(everything(tmp_path / "out"))
    assert "\r1 index.html" in shown
    assert "de/expired/index.html" in shown
    assert shown.count("\n") == 1
    assert shown.rstrip().endswith(f"{tmp_path / 'out'}: {number} files, {number} written, 0 removed")
