"""What is odd about a text although it could be used: a table a rule."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_auth_failures import load_catalog, rules
from mcp_auth_failures.catalog import packaged
from mcp_auth_failures.gettext_files import read_language
from mcp_auth_failures.rules import FOR_OPERATORS, FOR_TRANSLATORS, Text, findings
from mcp_auth_failures.tags import script_of
from mcp_auth_failures.translations import installed

CATALOG = load_catalog()
SHIPPED = {
    language: {context: entry.text for context, entry in read_language(file).items()}
    for language, file in installed(packaged("locales"))[0].items()
}


def text(text: str, language: str | None = "sv", *, english: str = "One.", reason: str = "expired") -> Text:
    """A text for a reason whose English is as given."""
    entry = CATALOG[reason]
    return Text(text, language, entry._replace(failure=replace(entry.failure, message=english)), english)


def header(found: str) -> str:
    """What is said of a text that holds a parameter's name."""
    return f"holds {found!r}, which clients read as a parameter of the challenge"


def login(found: str) -> str:
    """What is said of a text that starts a login."""
    return f"holds {found!r}, which makes some clients start a login that cannot help"


def not_in_script(language: str) -> str:
    """What is said of a text in another script than its language's."""
    return f"is not written in the script of {language} ({script_of(language)})"


CANNOT_TRAVEL = (
    "cannot travel in the header, whose error_description keeps the shipped English: "
    "it has other letters than ASCII, a backslash or a word followed by ="
)
NO_BRACE = "a brace that is no {placeholder} in %r; write {{ or }} for a brace"
SHORT = "is so short that something seems to be missing"

# Each rule, and texts that it finds odd or lets pass.
ROWS: dict[str, list[tuple[Text, str | None]]] = {
    "cannot_travel": [
        (text("Log in again.", "en"), None),
        (text("Log in — “again”…", "en"), None),
        (text("Café is closed.", None), CANNOT_TRAVEL),
        (text("Café is closed.", "en"), CANNOT_TRAVEL),
        (text("a\\b", "en"), CANNOT_TRAVEL),
        (text("scope=x", None), CANNOT_TRAVEL),
        (text("Café needs {scope}.", "en"), None),
        (text("Åtkomst", "sv"), None),
    ],
    "reads_as_parameter": [
        (text("The scope is missing: an error = no access."), None),
        (text("scope=x"), header("scope=")),
        (text("Skriv SCOPE=x"), header("SCOPE=")),
        (text("(error=)"), header("error=")),
        (text("resource_metadata=https://a"), header("resource_metadata=")),
        (text("myscope=x"), header("scope=")),
        (text("请求scope=x", "zh-Hans"), header("scope=")),
        (text("error_description=x"), None),
    ],
    "starts_a_login": [
        (text("Unauthorized", reason="surface_disabled"), login("Unauthorized")),
        (text("You are unauthorised.", reason="surface_disabled"), login("unauthorised")),
        (text("Authentication required", reason="not_provisioned"), login("Authentication required")),
        (text("invalid token", reason="not_provisioned"), login("invalid token")),
        (text("INVALID_TOKEN", reason="not_provisioned"), login("INVALID_TOKEN")),
        (text("Unauthorized", reason="expired"), None),
        (replace(text("Unauthorized", reason="surface_disabled"), entry=None), None),
        (text("Switched off.", reason="surface_disabled"), None),
    ],
    "is_far_longer": [
        (text("x" * 30, english="y" * 10), None),
        (text("x" * 31, english="y" * 10), "is 31 characters long, where the shipped text has 10"),
    ],
    "is_far_shorter": [
        (text("x" * 10, english="y" * 80), None),
        (text("x" * 9, english="y" * 80), SHORT),
        (text("访问令牌已过期，请重新连接。", "zh-Hans", english="y" * 80), None),
    ],
    "cannot_be_said": [
        (text("x" * 2001), "is longer than 2,000 characters"),
        (text("Ja — ”nej”, 100\u00a0%\u200d\u200c."), None),
        (text("a\nb"), "a line break is not allowed in a text"),
        (text("a\tb"), "a tab is not allowed in a text"),
        (text("a\x07b"), "the control character U+0007 is not allowed in a text"),
        (text("a\u200fb", "ar"), "the bidirectional control U+200F is not allowed in a text"),
        (text("a\u2067b", "he"), "the bidirectional control U+2067 is not allowed in a text"),
        (text("\u202ea\x00"), "the bidirectional control U+202E is not allowed in a text"),
    ],
    "has_outer_space": [
        (text("a b"), None),
        (text(" a"), "begins or ends with white space"),
        (text("a\u00a0"), "begins or ends with white space"),
        (text("。\u3000", "ja"), "begins or ends with white space"),
    ],
    "lacks_placeholder": [
        (text("Ett.", english="One."), None),
        (text("{server} har {contact}, {server}.", english="{contact} of {server}."), None),
        (text("{{a}}", english="One."), None),
        (text("Ett.", english="{server} and {contact}."), "lacks {contact}, which the English has"),
        (text("{server} {contact}", english="{server}"), "has {contact}, which the English has not"),
        (text("{Server}", english="{server}"), "lacks {server}, which the English has"),
        (text("{ server }", english="{server}"), NO_BRACE % "{ server }"),
        (text("{server", english="{server}"), NO_BRACE % "{server"),
        (text("{server!r}", english="{server}"), NO_BRACE % "{server!r}"),
        (text("｛server｝", "zh-Hans", english="{server}"), "lacks {server}, which the English has"),
    ],
    "is_english": [
        (text("One.", english="One."), "is a copy of the English"),
        (text("Ett.", english="One."), None),
        (text("Status", english="Status"), None),
        (text("HTTP status", english="HTTP status"), None),
        (text("Other reasons", english="Other reasons"), "is a copy of the English"),
    ],
    "ends_unlike_its_script": [
        *((text(right, language), None) for language, right in [
            ("sv", "Ja."), ("ru", "Да."), ("el", "Ναι."), ("ko", "네."), ("he", "כן."), ("ar", "نعم."), ("fa", "بله."),
            ("ta", "ஆம்."), ("ur", "ہاں۔"), ("ur-PK", "ہاں۔"), ("hi", "हाँ।"), ("bn", "হ্যাঁ।"), ("ja", "はい。"),
            ("zh-Hans", "是。"), ("zh-Hant", "是。"), ("zh-Hant-HK", "是。"), ("th", "ใช่"), ("th", "(ใช่)"),
            (None, "Yes."),
        ]),
        *((text(wrong, language), f"does not end in {stop!r}") for language, wrong, stop in [
            ("sv", "Ja", "."), ("sv", "Ja!", "."), ("sv", "Ja。", "."), ("ru", "Да", "."), ("el", "Ναι;", "."),
            ("ko", "네。", "."), ("he", "כן", "."), ("ar", "نعم۔", "."), ("fa", "بله۔", "."), ("ta", "ஆம்।", "."),
            ("ur", "ہاں.", "۔"), ("hi", "हाँ.", "।"), ("hi", "हाँ|", "।"), ("bn", "হ্যাঁ.", "।"), ("ja", "はい.", "。"),
            ("ja", "はい｡", "。"), ("zh-Hans", "是.", "。"), ("zh-Hant", "是．", "。"), (None, "Yes", "."),
        ]),
        (text("Andra skäl", english="Other reasons"), None),
        (text("Vad nu?", english="What now?"), None),
        (text("เลือก:", "th", english="Choose:"), None),
        (text("Andra skäl.", english="Other reasons"), "ends in '.', where the English does not"),
        (text("其他原因。", "zh-Hans", english="Other reasons"), "ends in '。', where the English does not"),
        (text("ใช่.", "th"), "ends in a punctuation mark, where this language writes none"),
        (text("ใช่!", "th"), "ends in a punctuation mark, where this language writes none"),
    ],
    "is_in_another_script": [
        *((text(right, language), None) for language, right in [
            ("sv", "Åtkomsttoken."), ("tr", "İçin ığüşö."), ("vi", "Đã hết hạn."), ("ru", "Сервер MCP и OAuth-токен."),
            ("sr", "Приступни токен."), ("el", "Ο διακομιστής MCP."), ("he", "שרת MCP."), ("ar", "خادم MCP."),
            ("fa", "سرور MCP."), ("ur", "ایم سی پی MCP۔"), ("hi", "MCP सर्वर।"), ("bn", "MCP সার্ভার।"),
            ("ta", "MCP சேவையகம்."), ("th", "เซิร์ฟเวอร์ MCP"), ("ko", "MCP 서버 연결."),
            ("ja", "MCPサーバーの接続。"), ("zh-Hans", "访问权限。MCP 服务器。"), ("zh-Hant", "存取權限。MCP 伺服器。"),
            ("zh-Hans", "中文。"), ("zh-Hant", "中文。"),
            ("sv", "1 + 1."), ("tlh", "MCP сервер."), (None, "A token."),
        ]),
        (text("HTTP 状态", "zh-Hans", english="HTTP status"), None),
        (text("HTTP 상태", "ko", english="HTTP status"), None),
        (text("Status", "de", english="Status"), None),
        (text("言語", "ja", english="Language"), None),
        (text("HTTP status", "ko", english="HTTP status"), not_in_script("ko")),
        *((text(wrong, language), not_in_script(language)) for language, wrong in [
            ("sv", "Сервер."), ("vi", "Máy chủ 服务器服务器服务器。"), ("ru", "A server."),
            ("sr", "Pristupni token."), ("sr-Latn", "Приступни токен."), ("el", "Diakomistis."),
            ("he", "خادم"), ("ar", "שרת"), ("hi", "সার্ভার"), ("bn", "सर्वर"),
            ("ta", "A server."), ("th", "A server"), ("ko", "サーバー"), ("ko", "访问令牌。"),
            ("ja", "서버"), ("ja", "访问令牌已过期。"), ("zh-Hans", "サーバー"),
            ("zh-Hant", "A server。"),
        ]),
        *((text(wrong, language), message) for language, wrong, message in [
            ("ru", "Токeн и токен.", "mixes Cyrillic and Latin letters in 'Токeн'"),
            ("uk", "MCPсервер.", "mixes Cyrillic and Latin letters in 'MCPсервер'"),
            ("sv", "En sеrver.", "mixes Cyrillic and Latin letters in 'sеrver'"),
            ("el", "Το ΑPI εδώ.", "mixes Greek and Latin letters in 'ΑPI'"),
            ("zh-Hans", "访问權限。", "has '權', which is of the other Chinese script"),
            ("zh-Hant", "存取权限。", "has '权', which is of the other Chinese script"),
            ("zh-TW", "存取权限。", "has '权', which is of the other Chinese script"),
        ]),
    ],
}  # fmt: skip


def test_every_rule_has_a_table() -> None:
    """No rule is without rows, and no row without a rule that is used."""
    assert ROWS.keys() == {rule.__name__ for rule in (*FOR_OPERATORS, *FOR_TRANSLATORS)}


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [(rule, *row) for rule, rows in ROWS.items() for row in rows],
    ids=[f"{rule}-{row.language}-{ascii(row.text)[:30]}" for rule, rows in ROWS.items() for row, _ in rows],
)
def test_rule(rule: str, text: Text, expected: str | None) -> None:
    """A rule says what is odd about a text, and nothing of others."""
    assert getattr(rules, rule)(text) == expected


def test_findings_come_in_the_order_of_the_rules() -> None:
    """Each rule has its say, once."""
    assert list(findings(text(" scope=\t", reason="surface_disabled"), FOR_TRANSLATORS)) == [
        "a tab is not allowed in a text",
        "begins or ends with white space",
        "does not end in '.'",
        header("scope="),
    ]
    assert list(findings(text("Nej."), FOR_TRANSLATORS)) == []


@pytest.mark.parametrize("reason", CATALOG.reasons)
def test_english_is_no_translation(reason: str) -> None:
    """The English itself, in place of any shipped language, is found."""
    entry = CATALOG[reason]
    english = entry.failure.message
    for language in SHIPPED:
        assert "is a copy of the English" in findings(Text(english, language, entry, english), FOR_TRANSLATORS)
        if script_of(language) != "Latn":
            assert rules.is_in_another_script(Text(english, language, entry, english)) == not_in_script(language)


@pytest.mark.parametrize("language", SHIPPED)
def test_language_in_the_place_of_another(language: str) -> None:
    """A translation that lies in the folder of a language of another script is found."""
    unseen = [
        (other, reason)
        for other in SHIPPED
        if script_of(other) != script_of(language)
        for reason, entry in CATALOG.reasons.items()
        for wrong in [Text(SHIPPED[language][f"reasons.{reason}.message"], other, entry, entry.failure.message)]
        if not list(findings(wrong, FOR_TRANSLATORS))
    ]
    assert unseen == []


@given(st.text(min_size=1), st.sampled_from([None, "en", "x-a", "", "zz", "sr-Latn", "und", *SHIPPED]))
def test_no_rule_raises(anything: str, language: str | None) -> None:
    """Whatever a translator leaves in a file, a rule has something to say of it, or nothing."""
    for rule in FOR_TRANSLATORS:
        found = rule(text(anything, language))
        assert found is None or found.strip()
