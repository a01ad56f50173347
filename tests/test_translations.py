"""A gettext folder: which languages it has, and what one bad file, or one bad text, costs."""

import shutil
import zipfile
from pathlib import Path

import pytest
from test_gettext_files import BAD, CASES, GOOD, HEAD, SWEDISH, mo

from mcp_auth_failures import DataError, Wording, load_catalog
from mcp_auth_failures.catalog import packaged
from mcp_auth_failures.translations import DOMAIN, Folder, installed

CATALOG = load_catalog()
REASONS = tuple(CATALOG.reasons)
LOCALES = Path(str(packaged("locales")))


def put(root: Path, locale: str, data: str | bytes, ending: str = "po") -> Path:
    """Write the file of one locale."""
    file = root / locale / "LC_MESSAGES" / f"{DOMAIN}.{ending}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return file


def po(english: str | None = None, **texts: str) -> str:
    """A ``.po`` with texts by reason; of the English of today, or of another."""
    return HEAD + "".join(
        f'msgctxt "reasons.{reason}.message"\nmsgid "{english or CATALOG[reason].failure.message}"\nmsgstr "{text}"\n\n'
        for reason, text in texts.items()
    )


def folder(root: Path, *, builtin: bool = False) -> Folder:
    """A folder of a host that gives no details."""
    return Folder(root, CATALOG, (), builtin=builtin)


def said(folder: Folder, language: str) -> dict[str, str]:
    """The texts of one language, by reason."""
    return {reason: "".join(sentence.parts) for reason, sentence in folder.texts(language).items()}


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged, in order."""
    return [f"{record.levelname} {record.getMessage()}" for record in caplog.records]


# --- what is there --------------------------------------------------------------------------------------------------


def test_layout(tmp_path: Path) -> None:
    """A language is a folder with our domain in it, a ``.po`` before a ``.mo``; nothing else in the folder counts."""
    files = {
        "de": put(tmp_path, "de", ""),
        "pt-BR": put(tmp_path, "pt_BR", ""),
        "zh-Hant": put(tmp_path, "zh_hant", "", "mo"),
        "es-419": put(tmp_path, "es-419", ""),
        "iw": put(tmp_path, "iw", ""),
        "ca-valencia": put(tmp_path, "ca_VALENCIA", ""),
        "sr-Latn-RS": put(tmp_path, "SR_latn_rs", ""),
        "de-AT-u-co-phonebk": put(tmp_path, "DE_at_U_CO_PHONEBK", ""),
    }
    put(tmp_path, "de", "", "mo")
    put(tmp_path, "en", "", "pot")
    (tmp_path / "fr" / "LC_MESSAGES" / "other.po").parent.mkdir(parents=True)
    (tmp_path / "fr" / "LC_MESSAGES" / "other.po").touch()
    (tmp_path / "it").mkdir()
    (tmp_path / "LC_MESSAGES" / "LC_MESSAGES").mkdir(parents=True)
    (tmp_path / f"{DOMAIN}.pot").touch()
    put(tmp_path, "nl", "").unlink()
    (tmp_path / "nl" / "LC_MESSAGES" / f"{DOMAIN}.po").mkdir()
    assert installed(tmp_path) == (files, [])
    assert set(folder(tmp_path).languages) == files.keys()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("deutsch", "'deutsch' is in no language that is known"),
        ("xx", "'xx' is in no language that is known"),
        ("de@euro", "'de@euro' is not a language tag such as en or pt-BR (did you mean 'de'?)"),
        ("de_DE.UTF-8", "'de_DE.UTF-8' is not a language tag such as en or pt-BR (did you mean 'de'?)"),
        ("de;q=0", "'de;q=0' is not a language tag such as en or pt-BR (did you mean 'de'?)"),
        (".git", "'.git' is not a language tag such as en or pt-BR"),
        ("de_" + "a" * 33, f"'de_{'a' * 33}' is not a language tag such as en or pt-BR (did you mean 'de'?)"),
        ("de_1996" + "_a" * 15, f"'de_1996{'_a' * 15}' is longer than the 35 characters of a language tag"),
        ("templates", "'templates' is not a language tag such as en or pt-BR"),
    ],
)
def test_folder_that_names_no_language(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, message: str
) -> None:
    """A folder that names no language is passed over and logged, with the nearest."""
    put(tmp_path, name, po(expired="x"))
    put(tmp_path, "de", po(expired="y"))
    files, faults = installed(tmp_path)
    assert list(files) == ["de"]
    assert [str(fault) for fault in faults] == [f"{tmp_path / name}: {message}"]
    assert folder(tmp_path).languages == ("de",)
    assert logged(caplog) == [f"ERROR a folder is passed over: {tmp_path / name}: {message}"]


def test_language_in_two_folders(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Of two folders that name one language the first is read, and the other is logged."""
    put(tmp_path, "pt-br", po(expired="Um."))
    put(tmp_path, "pt_BR", po(expired="Dois."))
    assert said(folder(tmp_path), "pt-BR") == {"expired": "Um."}
    assert logged(caplog) == [f"ERROR a folder is passed over: {tmp_path / 'pt_BR'}: names pt-BR a second time"]


@pytest.mark.parametrize(
    "language", ["../outside", "de/../../outside", "/etc", "", ".", "DE", "de_AT", "\0", "x" * 9999]
)
def test_language_never_becomes_a_path(tmp_path: Path, caplog: pytest.LogCaptureFixture, language: str) -> None:
    """Only what the folder lists exists: another tag opens nothing, wherever it points."""
    put(tmp_path / "locales", "de", po(expired="Ja."))
    put(tmp_path, "outside", "would be logged if it were read")
    there = folder(tmp_path / "locales")
    assert there.texts(language) == {}
    assert there.sentence("expired", language) is None
    assert logged(caplog) == []


def test_chinese_folder_by_its_old_name_keeps_its_script(tmp_path: Path) -> None:
    """A folder ``zh_CHT`` or ``zh_TWN`` holds Traditional Chinese, which no reader of Simplified is given."""
    for name in ("zh_CHT", "zh_TWN"):
        put(tmp_path / name, name, po(expired="已過期。"))
        wording = Wording(translations=tmp_path / name, builtin=False, env=False)
        assert wording.describe("expired", "zh-TW").message == "已過期。"
        assert wording.describe("expired", "zh-CN").language == "en"


# --- reading --------------------------------------------------------------------------------------------------------


def test_file_is_read_when_it_is_asked_for_and_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A language that nobody asks for is not opened, and one that was read is not opened again."""
    german = put(tmp_path, "de", po(expired="Abgelaufen."))
    put(tmp_path, "sv", "broken")
    there = folder(tmp_path)
    assert logged(caplog) == []
    assert said(there, "de") == {"expired": "Abgelaufen."}
    german.unlink()
    assert said(there, "de") == {"expired": "Abgelaufen."}
    assert said(there, "sv") == said(there, "sv") == {}
    assert len(caplog.records) == 1


def test_source_is_file_and_line(tmp_path: Path) -> None:
    """A sentence says where it stands; in a ``.mo`` there are no lines, and of ours no one needs the place."""
    file = put(tmp_path, "de", po(expired="Ja."))
    english = CATALOG["expired"].failure.message
    compiled = put(tmp_path, "sv", mo({f"reasons.expired.message\x04{english}": "Ja."}), "mo")
    there = folder(tmp_path)
    sources = [there.texts(language)["expired"].source for language in ("de", "sv")]
    assert sources == [f"{file}:6", str(compiled)]
    assert folder(tmp_path, builtin=True).texts("de")["expired"].source == "shipped"


def test_folder_in_a_zip(tmp_path: Path) -> None:
    """The shipped folder may lie in a zip on ``sys.path``."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for file in LOCALES.glob("*/LC_MESSAGES/*.po"):
            archive.write(file, f"locales/{file.relative_to(LOCALES)}")
    there = Folder(zipfile.Path(tmp_path / "a.zip", "locales/"), CATALOG, (), builtin=True)
    here = Folder(LOCALES, CATALOG, (), builtin=True)
    assert there.languages == here.languages
    assert {language: said(there, language) for language in there.languages} == {
        language: said(here, language) for language in here.languages
    }


def test_whatever_the_folder_does_not_name_is_left(tmp_path: Path) -> None:
    """Entries of other contexts and of reasons that the catalog has not are nobody's."""
    put(tmp_path, "de", po(expired="Ja.") + 'msgctxt "reasons.other.message"\nmsgid "a"\nmsgstr "b"\n')
    assert said(folder(tmp_path), "de") == {"expired": "Ja."}


# --- what a bad file costs ------------------------------------------------------------------------------------------

HOSTILE: dict[str, tuple[str, bytes]] = {
    **{name: ("po", (CASES / name).read_bytes()) for name in BAD},
    "UTF-16": ("po", po(expired="Ja.").encode("utf-16")),
    "Latin-1": ("po", po(expired="gått").encode("latin-1")),
    "10 MB": ("po", b"# a\n" * 2_500_000),
    "a million entries": ("po", b"".join(b'msgid "%d"\nmsgstr ""\n' % n for n in range(1_000_000))),
    "an image": ("po", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    "a .po named .mo": ("mo", po(expired="Ja.").encode()),
    "half a .mo": ("mo", mo({"reasons.expired.message\x04one": "Ja."})[:-20]),
    "10 MB of .mo": ("mo", b"\xde\x12\x04\x95" + b"\0" * 10_000_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_bad_file_costs_its_language_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str) -> None:
    """One bad file in a host's folder is logged once, and the shipped text and the other languages speak."""
    ending, data = HOSTILE[name]
    file = put(tmp_path, "sv", data, ending)
    put(tmp_path, "de", po(expired="Eigener Text."))
    wording = Wording(translations=tmp_path, env=False)
    shipped = Wording(env=False)
    assert wording.describe("expired", "de").message == "Eigener Text."
    for reason in REASONS:
        assert wording.describe(reason, "sv") == shipped.describe(reason, "sv")
    assert len(caplog.records) == 1
    assert logged(caplog)[0].startswith(f"ERROR sv is left out:\n{file}:")


@pytest.mark.parametrize("name", BAD)
def test_complaint_of_a_bad_file(tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str) -> None:
    """The log says which file, which line and what is wrong there."""
    file = put(tmp_path, "sv", (CASES / name).read_bytes())
    assert said(folder(tmp_path), "sv") == {}
    assert logged(caplog) == [f"ERROR sv is left out:\n{file}{BAD[name]}"]


@pytest.mark.parametrize("name", HOSTILE)
def test_bad_shipped_file_costs_its_language_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """A shipped file that a broken disk or merge left so costs no more than that language either."""
    ending, data = HOSTILE[name]
    shutil.copytree(LOCALES, tmp_path / "locales")
    (tmp_path / "locales" / "sv" / "LC_MESSAGES" / f"{DOMAIN}.po").unlink()
    put(tmp_path / "locales", "sv", data, ending)
    monkeypatch.setattr("mcp_auth_failures.wording.packaged", lambda name: tmp_path / name)
    wording = Wording(env=False)
    wording.load()
    assert wording.describe("expired", "sv, de").language == "de"
    assert wording.describe("expired", "sv").language == "en"
    assert len(caplog.records) == 1
    assert logged(caplog)[0].startswith("ERROR sv is left out:\n")


def test_file_that_vanished(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file that was listed and is gone costs its language alone too."""
    file = put(tmp_path, "sv", po(expired="Ja."))
    there = folder(tmp_path)
    file.unlink()
    assert said(there, "sv") == {}
    assert logged(caplog) == [f"ERROR sv is left out:\n{file}: cannot be read: No such file or directory"]


def test_broken_edit_keeps_what_was_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A reload that finds a file broken leaves its language as it was, and takes the others."""
    file = put(tmp_path, "sv", po(expired="Ett."))
    put(tmp_path, "de", po(expired="Eins."))
    wording = Wording(translations=tmp_path, env=False)
    file.write_bytes((CASES / "bad_unclosed_quote.po").read_bytes())
    put(tmp_path, "de", po(expired="Zwei."))
    wording.reload()
    assert [wording.describe("expired", tag).message for tag in ("sv", "de")] == ["Ett.", "Zwei."]
    assert logged(caplog) == [f"ERROR sv is left as it was:\n{file}{BAD['bad_unclosed_quote.po']}"]
    put(tmp_path, "sv", po(expired="Två."))
    wording.reload()
    assert wording.describe("expired", "sv").message == "Två."


# --- what a bad text costs ------------------------------------------------------------------------------------------

# What a host's text may not have: (reason, text as in the file, what is logged).
BAD_TEXTS: list[tuple[str, str, str]] = [
    ("expired", r"a\nb", "a line break is not allowed in a text"),
    ("expired", r"a\tb", "a tab is not allowed in a text"),
    ("expired", "a\x1bb", "the control character U+001B is not allowed in a text"),
    ("expired", "a\0b", "the control character U+0000 is not allowed in a text"),
    ("expired", "a\u202eb", "the bidirectional control U+202E is not allowed in a text"),
    ("expired", "a\u2028b", "the control character U+2028 is not allowed in a text"),
    ("expired", "a\ufeffb", "a second byte order mark is not allowed in a text"),
    ("expired", "\u200b", "holds nothing that can be seen"),
    ("expired", "x" * 2001, "is longer than 2,000 characters"),
    ("expired", "{name}", "the placeholder 'name' is not one of server, contact"),
    ("expired", "{sever}", "the placeholder 'sever' is not one of server, contact (did you mean 'server'?)"),
    ("expired", "{scope}", "the placeholder 'scope' is not one of server, contact"),
    ("expired", "{}", "a brace that is no {placeholder} in '{}'; write {{ or }} for a brace"),
    ("expired", "{server", "a brace that is no {placeholder} in '{server'; write {{ or }} for a brace"),
    (
        "expired",
        "{server.__class__}",
        "a brace that is no {placeholder} in '{server.__class__}'; write {{ or }} for a brace",
    ),
    (
        "expired",
        "{server:>99999999}",
        "a brace that is no {placeholder} in '{server:>99999999}'; write {{ or }} for a brace",
    ),
]


@pytest.mark.parametrize(("reason", "text", "message"), BAD_TEXTS, ids=[ascii(text)[:40] for _, text, _ in BAD_TEXTS])
def test_bad_text_costs_itself_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, reason: str, text: str, message: str
) -> None:
    """A text that cannot be used is logged with file, line and context, and the rest of its file is used."""
    file = put(tmp_path, "sv", po(**{reason: text, "no_token": "Bra."}))
    assert said(folder(tmp_path), "sv") == {"no_token": "Bra."}
    assert logged(caplog) == [
        f"ERROR a text that cannot be used is left out: {file}:6: reasons.{reason}.message: {message}"
    ]


def test_outer_space_and_braces(tmp_path: Path) -> None:
    """White space round a text is dropped, and doubled braces are braces."""
    put(tmp_path, "sv", po(expired=r"\n Ja {{}}. \n"))
    assert said(folder(tmp_path), "sv") == {"expired": "Ja {}."}


def test_placeholder_without_a_value(tmp_path: Path) -> None:
    """A host's text that needs a detail nobody gave stops the start, naming argument and variable."""
    file = put(tmp_path, "sv", po(expired="Fråga {contact}.", no_token="Anslut till {server}."))
    with pytest.raises(DataError) as raised:
        Wording(translations=tmp_path, server="Acme", env=False)
    assert str(raised.value) == (
        f"{file}:6: reasons.expired.message: uses {{contact}}, which has no value: "
        "give Wording(contact=…) or MCP_AUTH_FAILURES_CONTACT"
    )
    wording = Wording(translations=tmp_path, server="Acme", contact="it@acme.example", env=False)
    assert wording.describe("expired", "sv").message == "Fråga it@acme.example."


def test_shipped_text_with_a_placeholder_that_the_english_has_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A shipped sentence can be said without any detail, or it is not used."""
    file = put(tmp_path, "sv", po(expired="Fråga {contact}.", no_token="Bra."))
    assert said(folder(tmp_path, builtin=True), "sv") == {"no_token": "Bra."}
    assert logged(caplog) == [
        f"ERROR a text that cannot be used is left out: {file}:6: reasons.expired.message: "
        "'contact' is a placeholder where none is allowed"
    ]


def test_scope_in_a_text(tmp_path: Path) -> None:
    """A folder says whether a text that has been read names the scopes; where a refusal has none, the next speaks."""
    put(tmp_path, "sv", po(insufficient_scope="Behöver {scope}."))
    there = folder(tmp_path)
    assert not there.has_scope
    there.texts("sv")
    assert there.has_scope
    wording = Wording(translations=tmp_path, env=False)
    refusal = wording.refusal("insufficient_scope", "sv", scopes=["a", "b"])
    assert refusal.failure.message == "Behöver a b."
    assert wording.describe("insufficient_scope", "sv") == Wording(env=False).describe("insufficient_scope", "sv")


# --- older English --------------------------------------------------------------------------------------------------


def test_older_english_of_a_host(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A host's text of an older English is used, with one warning for the file; a shipped one is not used at all."""
    assert GOOD["older_english.po"][0] != CATALOG["expired"].failure.message
    file = put(tmp_path, "sv", (CASES / "older_english.po").read_bytes())
    assert said(folder(tmp_path), "sv") == {"expired": SWEDISH}
    assert logged(caplog) == [
        f"WARNING {file} was translated from an older English text and is used as it is: reasons.expired.message"
    ]
    assert said(folder(tmp_path, builtin=True), "sv") == {}
    assert len(caplog.records) == 1


def test_several_of_an_older_english_make_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The warning names every text."""
    file = put(tmp_path, "sv", po("Old.", expired="Ett.", no_token="Två."))
    assert said(folder(tmp_path), "sv") == {"no_token": "Två.", "expired": "Ett."}
    assert logged(caplog) == [
        f"WARNING {file} was translated from an older English text and is used as it is: "
        "reasons.no_token.message, reasons.expired.message"
    ]


@pytest.mark.parametrize("builtin", [False, True])
@pytest.mark.parametrize("old_first", [False, True])
def test_text_of_todays_english_wins(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, builtin: bool, old_first: bool
) -> None:
    """Where a file has a text for today's English and one for an older, lookup goes by today's, in any order."""
    entries = [po(expired="Ny.").removeprefix(HEAD), po("Old.", expired="Gammal.").removeprefix(HEAD)]
    put(tmp_path, "sv", HEAD + "".join(reversed(entries) if old_first else entries))
    assert said(folder(tmp_path, builtin=builtin), "sv") == {"expired": "Ny."}
    assert logged(caplog) == []


# --- layers ---------------------------------------------------------------------------------------------------------


def test_host_before_shipped_and_first_folder_first(tmp_path: Path) -> None:
    """Per message, the host's folders speak in order, then the shipped translation, then the next language."""
    put(tmp_path / "a", "gl", po(expired="A."))
    put(tmp_path / "b", "gl", po(expired="B.", no_token="B."))
    put(tmp_path / "b", "es", po(no_token="Es."))
    wording = Wording(translations=[tmp_path / "a", tmp_path / "b"], env=False)
    languages = "gl, es;q=0.9"
    assert wording.describe("expired", languages).message == "A."
    assert wording.describe("no_token", languages).message == "B."
    assert wording.describe("no_token", "es").message == "Es."
    unverified = wording.describe("unverified", languages)
    assert unverified == Wording(env=False).describe("unverified", "es")
    assert unverified.language == "es"


def test_mo_of_a_host_speaks(tmp_path: Path) -> None:
    """What a host has compiled is used as its ``.po`` is."""
    english = CATALOG["expired"].failure.message
    put(tmp_path, "sv", mo({f"reasons.expired.message\x04{english}": SWEDISH}), "mo")
    wording = Wording(translations=tmp_path, builtin=False, env=False)
    assert wording.languages == ("en", "sv")
    assert wording.describe("expired", "sv").message == SWEDISH


def test_folder_of_an_own_catalog(tmp_path: Path) -> None:
    """A reason that a host added is translated in the host's folder like the others."""
    text = Path(str(CATALOG.path)).read_text(encoding="utf-8")
    (tmp_path / "failures.yaml").write_text(
        text
        + "\n  too_early:\n    meaning: Early.\n    challenge: invalid_token\n    action: reconnect\n    status: 401\n"
        + "    header: error\n    message: Too early.\n    note: A note.\n    placeholders: []\n",
        encoding="utf-8",
    )
    put(
        tmp_path / "locales",
        "sv",
        HEAD + 'msgctxt "reasons.too_early.message"\nmsgid "Too early."\nmsgstr "För tidigt."\n',
    )
    wording = Wording(load_catalog(tmp_path / "failures.yaml"), translations=tmp_path / "locales", env=False)
    assert wording.describe("too_early", "sv").message == "För tidigt."
    assert wording.describe("too_early", "de").message == "Too early."
