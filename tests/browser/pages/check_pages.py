"""The help pages in a real Chromium: as shipped, with an operator's brand, and with texts that mean harm.

Screenshots go to the folder that SCREENSHOTS names.
"""

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from mcp_auth_failures import Wording, describe_auth_failure, load_catalog
from mcp_auth_failures.cli import main

HERE = Path(__file__).parent
AXE = (HERE / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
CHROMIUM = shutil.which(os.environ.get("CHROMIUM") or "chromium")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]

LANGUAGES = Wording(env=False).languages
REASONS = tuple(load_catalog().reasons)
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 900}

# Long words, right to left, no spaces, high and low letters.
SAMPLE = ("de", "fi", "ar", "ur", "he", "th", "ja", "ko", "zh-Hans", "ta", "hi")

HOSTILE = "</p><script>alert(1)</script>\"'&lt;<img src=x onerror=alert(1)>"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63fccfc0500f0004850180"
    "84a98c210000000049454e44ae426082"
)


# --- a folder, a server and a browser -------------------------------------------------------------------------------


class Folder:
    """A folder of pages, at its address."""

    def __init__(self, path: Path, url: str) -> None:
        self.path, self.url = path, url
        self.files = [file.relative_to(path).as_posix() for file in sorted(path.rglob("*")) if file.is_file()]
        self.pages = [file for file in self.files if file.endswith(".html")]


class Handler(SimpleHTTPRequestHandler):
    """Any web server."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Folder]]:
    """Run the command with options, and serve what it wrote."""
    servers = []

    def make(*options: object) -> Folder:
        out = tmp_path_factory.mktemp("pages")
        assert main(["pages", str(out), *map(str, options)]) == 0
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(out)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return Folder(out, f"http://127.0.0.1:{server.server_port}/")

    yield make
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def shipped(made: Callable[..., Folder]) -> Folder:
    """The folder without any option."""
    return made()


@pytest.fixture(scope="session")
def branded(made: Callable[..., Folder], tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """One with everything, in a colour that nobody can read on white."""
    logo = tmp_path_factory.mktemp("logo") / "logo"
    logo.write_bytes(PNG)
    return made(
        *("--name", "Acme", "--logo", logo, "--accent", "#ffee00", "--contact", "https://help.acme.example/mcp"),
        *("--base-url", "https://help.acme.example/mcp/"),
    )


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """The driver."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Debian's Chromium."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    yield browser
    browser.close()


class Watched:
    """A page in a tab, and everything in it that the browser complains about."""

    def __init__(self, context: BrowserContext) -> None:
        self.complaints: list[str] = []
        self.page: Page = context.new_page()
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("requestfailed", self._failed)
        self.page.on("request", self._request)
        self.page.on("response", self._response)
        self.origins: set[str] = set()

    def _request(self, request: Any) -> None:
        self.origins.add(urlsplit(request.url).netloc)

    def _failed(self, request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # an icon that we did not wait for before we went on
            self.complaints.append(f"{request.failure}: {request.url}")

    def _response(self, response: Any) -> None:
        if response.status >= 400:
            self.complaints.append(f"{response.status}: {response.url}")

    def open(self, url: str) -> Page:
        """Load it, with all that belongs to it."""
        self.page.goto(url, wait_until="load")
        return self.page


@pytest.fixture
def tab(browser: Browser) -> Iterator[Callable[..., Watched]]:
    """Open a tab with these settings; whatever it complains about fails the test."""
    contexts, tabs = [], []

    def opened(**settings: Any) -> Watched:
        contexts.append(browser.new_context(**settings))
        tabs.append(Watched(contexts[-1]))
        return tabs[-1]

    yield opened
    for context in contexts:
        context.close()
    assert [complaint for each in tabs for complaint in each.complaints] == []


# --- every page -----------------------------------------------------------------------------------------------------

_SEEN = """() => ({
    lang: document.documentElement.lang,
    dir: getComputedStyle(document.documentElement).direction,
    heading: document.querySelector("h1").innerText,
    message: document.querySelector(".message")?.innerText,
    body: document.querySelector("pre.json")?.innerText,
    styled: getComputedStyle(document.body).borderTopWidth === "4px",
    pictures: [...document.images].every(image => image.naturalWidth > 0),
    links: [...document.querySelectorAll("[href], [src]")].map(each => each.href || each.src),
    switches: [...document.querySelectorAll("details a")].map(each => [each.hreflang, each.href]),
    wide: document.documentElement.scrollWidth - innerWidth,
})"""


def test_every_page_on_a_phone(shipped: Folder, tab: Callable[..., Watched]) -> None:
    """Each loads without a word in the console and from our address alone, says its sentence, fits a phone, links to
    what is there, and the switch to each language keeps the reason.
    """
    watched = tab(viewport=PHONE)
    there = {shipped.url + file for file in shipped.files}
    for path in shipped.pages:
        seen = watched.open(shipped.url + path).evaluate(_SEEN)
        assert seen["styled"], path
        assert seen["pictures"], path
        assert seen["wide"] <= 0, path
        assert set(seen["links"]) <= there, path
        language, _, below = path.partition("/")
        if language in LANGUAGES:
            assert seen["lang"] == language
            assert sorted(seen["switches"]) == sorted([each, f"{shipped.url}{each}/{below}"] for each in LANGUAGES)
        if reason := below.removesuffix("index.html").strip("/"):
            assert seen["message"] == describe_auth_failure(reason, language).message  # type: ignore[arg-type]
            assert json.loads(seen["body"])["error"]["message"] == seen["message"]
    assert len(shipped.pages) == 1 + len(LANGUAGES) * (1 + len(REASONS))
    assert watched.origins == {urlsplit(shipped.url).netloc}


def test_every_link_is_answered(shipped: Folder, tab: Callable[..., Watched]) -> None:
    """What the pages link to is answered with 200, by a web server that knows nothing of us."""
    watched = tab()
    for file in shipped.files:
        assert watched.page.request.get(shipped.url + file).status == 200, file


@pytest.mark.parametrize("language", SAMPLE)
def test_person_switches_the_language(shipped: Folder, tab: Callable[..., Watched], language: str) -> None:
    """With a mouse or by keys, from a reason to the same in another language, and on to the list of reasons."""
    page = tab(viewport=PHONE).open(f"{shipped.url}en/expired/index.html")
    page.click("summary")
    page.click(f"details a[hreflang={language}]")
    assert page.url == f"{shipped.url}{language}/expired/index.html"
    page.focus("summary")
    page.keyboard.press("Enter")
    page.focus("details a[hreflang=en]")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{shipped.url}en/expired/index.html")
    page.click("a.brand")
    page.click("ul.reasons li:nth-child(3)")  # anywhere on it
    assert page.url == f"{shipped.url}en/{REASONS[2]}/index.html"


@pytest.mark.parametrize("language", SAMPLE)
def test_sizes(shipped: Folder, tab: Callable[..., Watched], language: str) -> None:
    """From the smallest phone to a wide screen nothing sticks out; a right-to-left page mirrors."""
    watched = tab()
    for width in (320, 768, 1920):
        watched.page.set_viewport_size({"width": width, "height": 800})
        for below in ("", f"{REASONS[-1]}/"):
            page = watched.open(f"{shipped.url}{language}/{below}index.html")
            page.click("summary")
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
            head, switch = (page.locator(css).bounding_box() for css in (".brand", "summary"))
            assert head
            assert switch
            if head["y"] + head["height"] > switch["y"] + 10:  # side by side
                assert (head["x"] > switch["x"]) == (page.evaluate(_SEEN)["dir"] == "rtl")


def test_copied_with_one_click(shipped: Folder, tab: Callable[..., Watched]) -> None:
    """A click selects the whole challenge or the whole body, and no script does it."""
    page = tab(viewport=DESKTOP).open(f"{shipped.url}ar/expired/index.html")
    for block in page.locator("pre").all():
        block.click()
        assert page.evaluate("getSelection().toString()").strip() == block.inner_text().strip()
    assert json.loads(page.evaluate("getSelection().toString()"))["error"]["data"]["reason"] == "expired"


def test_from_a_disk(branded: Folder, tab: Callable[..., Watched]) -> None:
    """The folder works without a server: styles, pictures and links, under the same policy."""
    page = tab().open((branded.path / "index.html").as_uri())
    page.click("nav.all a[hreflang=ja]")
    page.click("ul.reasons a")
    seen = page.evaluate(_SEEN)
    assert (seen["lang"], seen["pictures"], seen["wide"] <= 0, seen["styled"]) == ("ja", True, True, True)
    for link in seen["links"]:
        if link.startswith("file:"):
            assert Path(unquote(urlsplit(link).path)).is_file(), link


def test_on_paper(shipped: Folder, tab: Callable[..., Watched]) -> None:
    """A printed page is black on white, also from a dark screen, without what can only be clicked."""
    page = tab(color_scheme="dark").open(f"{shipped.url}de/expired/index.html")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(0, 0, 0)"
    assert not page.is_visible("summary")
    assert page.is_visible(".message")


# --- for everyone ---------------------------------------------------------------------------------------------------

_AXE = """async () => {
    const found = await axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]});
    const tell = ({id, impact, nodes}) => `${impact} ${id}: ${nodes.map(node => node.html).slice(0, 3).join(" | ")}`;
    const unsure = found.incomplete.filter(({id}) => id === "color-contrast");
    return {wrong: found.violations.map(tell), unsure: unsure.map(tell)};
}"""
_NOTHING: dict[str, list[str]] = {"wrong": [], "unsure": []}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("folder", "language"), [*(("shipped", language) for language in SAMPLE), ("branded", "de"), ("branded", "ar")]
)
def test_accessible(
    request: pytest.FixtureRequest, tab: Callable[..., Watched], folder: str, language: str, scheme: str
) -> None:
    """axe-core finds nothing to mend, of any weight, nor with the list of languages open; contrast holds everywhere."""
    site: Folder = request.getfixturevalue(folder)
    watched = tab(color_scheme=scheme, viewport=DESKTOP)
    for below in ("", f"{REASONS[-1]}/"):
        page = watched.open(f"{site.url}{language}/{below}index.html")
        page.evaluate(AXE)
        assert page.evaluate(_AXE) == _NOTHING
    page.click("summary")
    assert page.evaluate(_AXE)["wrong"] == []  # of what is behind the list it cannot be sure


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("folder", ["shipped", "branded"])
def test_root_is_accessible(
    request: pytest.FixtureRequest, tab: Callable[..., Watched], folder: str, scheme: str
) -> None:
    """So is the choice of a language."""
    site: Folder = request.getfixturevalue(folder)
    page = tab(color_scheme=scheme, viewport=PHONE).open(site.url)
    page.evaluate(AXE)
    assert page.evaluate(_AXE) == _NOTHING


# --- the root -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accepted", "offered"),
    [
        ("de-DE,de", ["de", "en"]),
        ("de-AT", ["de", "en"]),
        ("fr-CA", ["fr", "en"]),
        ("nb-NO,nb", ["nb", "en"]),
        ("zh-TW", ["zh-Hans", "zh-Hant", "en"]),
        ("pt", ["pt-BR", "pt-PT", "en"]),
        ("ar-EG", ["ar", "en"]),
        ("en-GB", ["en"]),
        ("eu", ["en"]),
    ],
)
def test_root_chooses_without_a_script(
    playwright: Playwright, shipped: Folder, accepted: str, offered: list[str]
) -> None:
    """Chromium shows what its own languages choose; all that it shows can be clicked, and all languages stand below."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, f"--accept-lang={accepted}"])
    try:
        watched = Watched(browser.new_context(viewport=PHONE))
        page = watched.open(shipped.url)
        assert [a.get_attribute("hreflang") for a in page.locator(".yours a").all() if a.is_visible()] == offered
        assert page.locator("nav.all a").count() == len(LANGUAGES)
        page.locator(f".yours a[hreflang={offered[0]}] >> visible=true").click()
        assert page.url == f"{shipped.url}{offered[0]}/index.html"
        assert watched.complaints == []
    finally:
        browser.close()


# --- harm -----------------------------------------------------------------------------------------------------------


def test_policy_holds(shipped: Folder, browser: Browser) -> None:
    """A script, a style and a picture from elsewhere, were they ever in a page, do nothing."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{shipped.url}de/expired/index.html")
    page.evaluate(
        """() => {
            window.refused = [];
            addEventListener("securitypolicyviolation", event => refused.push(event.effectiveDirective));
            const add = (tag, values) => document.body.append(Object.assign(document.createElement(tag), values));
            add("script", {textContent: "window.ran = true"});
            add("script", {src: "style.css"});
            add("style", {textContent: "h1 {color: rgb(1, 2, 3)}"});
            add("img", {src: "https://127.0.0.2/x.png"});
            add("iframe", {src: "https://127.0.0.2/"});
            document.querySelector("h1").setAttribute("style", "color: rgb(1, 2, 3)");
            fetch("failures.json").catch(() => {});
        }"""
    )
    page.wait_for_function("refused.length >= 7")
    assert sorted(page.evaluate("refused")) == [
        *("connect-src", "frame-src", "img-src", "script-src-elem", "script-src-elem", "style-src-attr"),
        "style-src-elem",
    ]
    assert page.evaluate("window.ran ?? false") is False
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") != "rgb(1, 2, 3)"
    context.close()


def test_hostile_texts(made: Callable[..., Folder], tab: Callable[..., Watched], tmp_path: Path) -> None:
    """Markup in an override, in details and in the name is read as it was written, and does nothing."""
    overrides = tmp_path / "ours.yaml"
    text = f"{HOSTILE} {{server}} {{contact}}".replace("'", "''")
    overrides.write_text(f"version: 1\nmessages:\n  expired: '{text}'\n", encoding="utf-8")
    contact = 'javascript:alert("1")'
    site = made("--overrides", overrides, "--server", HOSTILE, "--contact", contact, "--name", HOSTILE)
    watched = tab(viewport=PHONE)
    for language in ("de", "ar", "th"):
        for below in ("", "expired/"):
            page = watched.open(f"{site.url}{language}/{below}index.html")
            message = f"{HOSTILE} {HOSTILE} {contact}"
            assert message in page.locator(".message, .reasons p").all_inner_texts()
            assert page.locator(".brand").inner_text() == HOSTILE
            assert page.locator("script, img, [onerror]").count() == 0
            assert page.evaluate(_SEEN)["wide"] <= 0
        assert page.locator(".contact").inner_text().endswith(contact)
        assert page.locator(".contact a").count() == 0


@pytest.mark.parametrize(("language", "contact"), [("de", "אנא פנו: 1-800"), ("ar", "it (24/7): 5-800")])
def test_details_of_the_other_direction(
    made: Callable[..., Folder], tab: Callable[..., Watched], language: str, contact: str
) -> None:
    """A contact in letters of the other direction stays in one piece, and the label where it was."""
    page = tab(viewport=DESKTOP).open(f"{made('--contact', contact).url}{language}/expired/index.html")
    value = page.locator(".contact bdi")
    assert value.inner_text() == contact
    assert page.evaluate("getComputedStyle(document.querySelector('.contact bdi')).unicodeBidi") == "isolate"
    pieces = sorted((box["left"], box["right"]) for box in value.evaluate("each => [...each.getClientRects()]"))
    assert all(abs(one[1] - other[0]) < 1 for one, other in pairwise(pieces))


# --- to look at -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", ["phone", "desktop"])
@pytest.mark.parametrize("language", ["", "de", "fi", "ar", "ur", "th", "ja", "ta"])
def test_looks(
    branded: Folder, tab: Callable[..., Watched], tmp_path: Path, language: str, device: str, scheme: str
) -> None:
    """A picture of each, for people; a dark one is dark."""
    page = tab(viewport=PHONE if device == "phone" else DESKTOP, color_scheme=scheme).open(
        f"{branded.url}{f'{language}/{REASONS[1]}/' if language else ''}index.html"
    )
    folder = Path(os.environ.get("SCREENSHOTS", tmp_path))
    picture = page.screenshot(path=folder / f"{language or 'root'}-{device}-{scheme}.png", full_page=True)
    assert len(picture) > 10_000
    brightness = page.evaluate(
        "getComputedStyle(document.documentElement).backgroundColor.match(/[0-9]+/g).map(Number)"
    )
    assert (max(brightness) < 64) == (scheme == "dark")
