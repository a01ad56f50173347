"""One ``WWW-Authenticate`` value: written in the one form every client reads right, read whatever it is."""

import dataclasses
import json
from pathlib import Path

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.client.auth.utils import extract_field_from_www_auth

from mcp_auth_failures import Challenge, load_catalog
from mcp_auth_failures.challenge import (
    MAX_HEADER,
    other_challenges,
    parse_challenges,
    scope_fault,
    to_description,
    url_fault,
    usable_scopes,
)

CASES = Path(__file__).parent / "cases"
READ = json.loads((CASES / "challenges_read.json").read_text(encoding="utf-8"))["cases"]
SCOPES = json.loads((CASES / "scope_tokens.json").read_text(encoding="utf-8"))
PARAMETERS = ("error", "scope", "resource_metadata", "error_description", "error_uri")
METADATA = "https://api.example/.well-known/oauth-protected-resource/mcp"
HELP = "https://help.example/mcp/en/expired/"

# --- writing --------------------------------------------------------------------------------------------------------

WRITTEN: list[tuple[Challenge, str]] = [
    (Challenge(), "Bearer"),
    (Challenge(error="invalid_token"), 'Bearer error="invalid_token"'),
    (Challenge(scope=("mcp:use",)), 'Bearer scope="mcp:use"'),
    (Challenge(scope=["b", "a"]), 'Bearer scope="b a"'),  # type: ignore[arg-type]
    (Challenge(scope=("a", "b", "a")), 'Bearer scope="a b"'),
    (Challenge(scope=("offline_access",)), "Bearer"),
    (Challenge(scope=("a", "offline_access", "b")), 'Bearer scope="a b"'),
    (Challenge(resource_metadata=METADATA), f'Bearer resource_metadata="{METADATA}"'),
    (
        Challenge(error_uri=HELP, error_description="It's over.", resource_metadata=METADATA, scope=("a",), error="e"),
        f'Bearer error="e", scope="a", resource_metadata="{METADATA}", error_description="It\'s over.",'
        f' error_uri="{HELP}"',
    ),
]


@pytest.mark.parametrize(("challenge", "header"), WRITTEN, ids=[header[:60] for _, header in WRITTEN])
def test_header_is_exact(challenge: Challenge, header: str) -> None:
    """Parameters come in the fixed order, quoted, joined by ``, ``, none empty, without white space at the end."""
    assert challenge.to_header() == header
    assert Challenge.from_header(header) == challenge


def test_challenge_is_a_value() -> None:
    """Challenges that say the same are equal and hash alike, and none can be changed into one that was not checked."""
    one, other = Challenge(error="e", scope=("a", "a")), Challenge(error="e", scope=("a",))
    assert (one, hash(one)) == (other, hash(other))
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.error = "a\r\nb"  # type: ignore[misc]


TOO_LONG = "https://h.example/" + "p" * 2031

BAD_SCOPES = [
    *SCOPES["invalid"],
    "a\\b",
    "a\nb",
    "a\x7f",
    "a\0",
    "ａ",
    "\ud800",
    None,
    3,
    b"a",
    "scope=x",
    "Scope=",
    "xERROR=1",
    "urn:Resource_Metadata=1",
    "error_description=x",
    "error_uri=https://elsewhere.example",
]


@pytest.mark.parametrize("scope", SCOPES["valid"] + ["!", "#", "[", "]", "a=b", "x" * 500])
def test_scope_token_is_accepted(scope: str) -> None:
    """Every scope-token of RFC 6749 §3.3 is one."""
    assert scope_fault(scope) is None
    assert Challenge(scope=(scope,)).to_header() == f'Bearer scope="{scope}"'


@pytest.mark.parametrize("scope", BAD_SCOPES, ids=ascii)
def test_bad_scope_is_refused(scope: str) -> None:
    """What is no scope-token, or would be read as a parameter, cannot be configured."""
    fault = scope_fault(scope)
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole message is compared
        Challenge(scope=("fine", scope))
    assert fault
    assert str(raised.value) == f"scope: {fault}"


TOKEN = "is not a scope-token: printable ASCII without space, '\"' and '\\'"
USABLE: list[tuple[object, tuple[str, ...], list[str]]] = [
    ((), (), []),
    ("", (), []),
    ("a b", ("a", "b"), []),
    (" a \t b\na ", ("a", "b"), []),
    (["a", "b", "a"], ("a", "b"), []),
    ({"a": 1}, ("a",), []),
    (iter(["a"]), ("a",), []),
    ("offline_access a", ("a",), []),
    (["offline_access"], (), []),
    (["a", "b c", "d"], ("a", "d"), [f"'b c' {TOKEN}"]),
    (["", None, ["a"], "a"], ("a",), [f"'' {TOKEN}", f"None {TOKEN}", f"['a'] {TOKEN}"]),
    ("a scope=b", ("a",), ["'scope=b' contains 'scope=', which clients would read as that parameter"]),
    (None, (), [f"None {TOKEN}"]),
    (7, (), [f"7 {TOKEN}"]),
    (["s" * 1024, "s" * 1025], ("s" * 1024,), [f"'{'s' * 96}... is longer than 1,024 characters"]),
]


@pytest.mark.parametrize(("given", "usable", "faults"), USABLE, ids=[ascii(given)[:40] for given, _, _ in USABLE])
def test_usable_scopes(given: object, usable: tuple[str, ...], faults: list[str]) -> None:
    """Of whatever was given as scopes the usable ones come once each, and what is wrong with every other."""
    assert usable_scopes(given) == (usable, faults)
    assert Challenge(scope=usable).scope == usable


GOOD_URLS = [
    "https://h.example",
    "https://h.example:8443/a/b?c=d&e=f%20g",
    "HTTPS://H.EXAMPLE/",
    "https://[2001:db8::1]/",
    "https://xn--bcher-kva.example/",
    "https://h.example/@user",
    "http://localhost",
    "http://localhost:3000/x",
    "http://127.0.0.1:8000/",
    "http://[::1]:8000/",
    TOO_LONG[:-1],
]


@pytest.mark.parametrize("url", GOOD_URLS, ids=[url[:40] for url in GOOD_URLS])
def test_url_is_accepted(url: str) -> None:
    """Absolute https is fine, and http on loopback."""
    assert url_fault(url) is None
    assert Challenge(resource_metadata=url).to_header() == f'Bearer resource_metadata="{url}"'
    assert Challenge(error_uri=url).to_header() == f'Bearer error_uri="{url}"'


NO_URL = "is not a URL of at most 2,048 printable ASCII characters"
NO_HTTPS = "is not an absolute https URL (http is for loopback alone)"
NO_HOST = "has a host that clients would refuse or read otherwise"
USER = "has user information or a fragment"
BAD_URLS: list[tuple[object, str]] = [
    ("http://h.example/", f"'http://h.example/' {NO_HTTPS}"),
    ("http://localhost.example/", f"'http://localhost.example/' {NO_HTTPS}"),
    ("http://127.0.0.1.example/", f"'http://127.0.0.1.example/' {NO_HTTPS}"),
    ("http://localhost@h.example/", f"'http://localhost@h.example/' {NO_HTTPS}"),
    ("ftp://h.example/", f"'ftp://h.example/' {NO_HTTPS}"),
    ("ftp://localhost/", f"'ftp://localhost/' {NO_HTTPS}"),
    ("http://h.example/" + "p" * 81, f"'http://h.example/{'p' * 81}' {NO_HTTPS}"),
    ("http://h.example/" + "p" * 82, f"'http://h.example/{'p' * 79}... {NO_HTTPS}"),
    ("javascript:alert(1)", f"'javascript:alert(1)' {NO_HTTPS}"),
    ("//h.example/", f"'//h.example/' {NO_HTTPS}"),
    ("/path", f"'/path' {NO_HTTPS}"),
    ("h.example", f"'h.example' {NO_HTTPS}"),
    ("https:h.example", "'https:h.example' names no host"),
    ("https:///path", "'https:///path' names no host"),
    ("https://u@h.example/", f"'https://u@h.example/' {USER}"),
    ("https://u:p@h.example/", f"'https://u:p@h.example/' {USER}"),
    ("https://@h.example/", f"'https://@h.example/' {USER}"),
    ("https://h.example/#a", f"'https://h.example/#a' {USER}"),
    ("https://h.example/#", f"'https://h.example/#' {USER}"),
    ("https://h.example:99999/", "'https://h.example:99999/' is not a URL: Port out of range 0-65535"),
    ("https://[::1/", "'https://[::1/' is not a URL: Invalid IPv6 URL"),
    ("https://a^b/", f"'https://a^b/' {NO_HOST}"),
    ("https://1.2.3.999/", f"'https://1.2.3.999/' {NO_HOST}"),
    ("", f"'' {NO_URL}"),
    ("https://h.example/ a", f"'https://h.example/ a' {NO_URL}"),
    ("https://h.example/a\r\nX: y", f"'https://h.example/a\\r\\nX: y' {NO_URL}"),
    ('https://h.example/"', f"'https://h.example/\"' {NO_URL}"),
    ("https://h.example\\", f"'https://h.example\\\\' {NO_URL}"),
    ("https://bücher.example/", f"'https://bücher.example/' {NO_URL}"),
    (TOO_LONG, f"'{TOO_LONG[:96]}... {NO_URL}"),
    (7, f"7 {NO_URL}"),
    (b"https://h.example/", f"b'https://h.example/' {NO_URL}"),
    *(
        (
            f"https://h.example/?{name}=x",
            f"'https://h.example/?{name}=x' contains '{inner}=', which clients would read as that parameter",
        )
        for name, inner in [
            ("scope", "scope"),
            ("SCOPE", "SCOPE"),
            ("my_Scope", "Scope"),
            ("error", "error"),
            ("Error", "Error"),
            ("resource_metadata", "resource_metadata"),
            ("Resource_Metadata", "Resource_Metadata"),
            ("error_description", "error_description"),
            ("Error_URI", "Error_URI"),
        ]
    ),
]


@pytest.mark.parametrize(("url", "fault"), BAD_URLS, ids=[ascii(url)[:40] for url, _ in BAD_URLS])
@pytest.mark.parametrize("name", ["resource_metadata", "error_uri"])
def test_bad_url_is_refused(name: str, url: str, fault: str) -> None:
    """Anything but an absolute https URL without user information and fragment cannot be configured."""
    assert url_fault(url) == fault
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole message is compared
        Challenge(**{name: url})  # type: ignore[arg-type]
    assert str(raised.value) == f"{name}: {fault}"


NO_TEXT = "is not printable ASCII without '\"' and '\\'"
BAD_TEXTS: list[tuple[object, str]] = [
    ("", f"'' {NO_TEXT}"),
    ("café", f"'café' {NO_TEXT}"),
    ('say "hi"', f"'say \"hi\"' {NO_TEXT}"),
    ("a\\b", f"'a\\\\b' {NO_TEXT}"),
    ("a\r\nSet-Cookie: b", f"'a\\r\\nSet-Cookie: b' {NO_TEXT}"),
    ("a\n", f"'a\\n' {NO_TEXT}"),
    ("a\x7f", f"'a\\x7f' {NO_TEXT}"),
    (42, f"42 {NO_TEXT}"),
    ("the Scope=x", "'the Scope=x' contains 'Scope=', which clients would read as that parameter"),
    ("see error_uri=x", "'see error_uri=x' contains 'error_uri=', which clients would read as that parameter"),
]


@pytest.mark.parametrize(("text", "fault"), BAD_TEXTS, ids=[ascii(text) for text, _ in BAD_TEXTS])
@pytest.mark.parametrize("name", ["error", "error_description"])
def test_bad_text_is_refused(name: str, text: str, fault: str) -> None:
    """Only RFC 6750's alphabet can be written: nothing needs an escape, and no line can be broken."""
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole message is compared
        Challenge(**{name: text})  # type: ignore[arg-type]
    assert str(raised.value) == f"{name}: {fault}"


def test_one_text_is_no_sequence_of_scopes() -> None:
    """A text in place of a sequence would be a scope for each of its letters."""
    with pytest.raises(ValueError, match=r"^scope is a sequence of scope-tokens, not the text 'files:read'$"):
        Challenge(scope="files:read")  # type: ignore[arg-type]


# --- how long it may be ---------------------------------------------------------------------------------------------


def _kept(challenge: Challenge) -> list[str]:
    header = challenge.to_header()
    assert len(header) < MAX_HEADER
    return list(parse_challenges(header)[0][1])


SHORT = {"error": "invalid_token", "resource_metadata": METADATA}
MANY = tuple(f"s{number:03}" for number in range(1000))
DROPPED = [
    ({}, ["error", "resource_metadata"]),
    ({"error_description": "d" * 5000}, ["error", "resource_metadata"]),
    ({"error_description": "d" * 5000, "error_uri": HELP}, ["error", "resource_metadata", "error_uri"]),
    ({"scope": MANY[:600], "error_description": "d" * 1000}, ["error", "scope", "resource_metadata"]),
    (
        {"scope": MANY[:600], "error_description": "d" * 1000, "error_uri": HELP},
        ["error", "scope", "resource_metadata", "error_uri"],
    ),
    (
        {"scope": MANY[:600], "error_description": "d", "error_uri": TOO_LONG[:-1]},
        ["error", "scope", "resource_metadata"],
    ),
    ({"scope": MANY, "error_description": "d", "error_uri": HELP}, ["error", "resource_metadata"]),
    (
        {"resource_metadata": TOO_LONG[:-1], "error_uri": TOO_LONG[:-1], "error_description": "d"},
        ["error", "resource_metadata"],
    ),
]


@pytest.mark.parametrize(("more", "kept"), DROPPED)
def test_what_is_dropped_first(more: dict[str, object], kept: list[str]) -> None:
    """A value that would reach 4,096 octets loses the description first, then the page, then the scopes; no more."""
    assert _kept(Challenge(**{**SHORT, **more})) == kept  # type: ignore[arg-type]


def test_bound_is_exact() -> None:
    """At 4,095 octets everything is said; one more, and the description goes."""
    room = MAX_HEADER - 1 - len(Challenge(**SHORT, error_description="d").to_header())  # type: ignore[arg-type]
    full = Challenge(**SHORT, error_description="d" * (room + 1))  # type: ignore[arg-type]
    over = Challenge(**SHORT, error_description="d" * (room + 2))  # type: ignore[arg-type]
    assert len(full.to_header()) == MAX_HEADER - 1
    assert over.to_header() == Challenge(**SHORT).to_header()  # type: ignore[arg-type]


def test_another_limit_may_be_set() -> None:
    """Where less room is left, less is said: the value stays under the limit that is given."""
    challenge = Challenge(error="e", scope=("a", "b"), error_description="d", error_uri=HELP)
    length = len(challenge.to_header())
    assert challenge.to_header(limit=length + 1) == challenge.to_header()
    assert challenge.to_header(limit=length) == f'Bearer error="e", scope="a b", error_uri="{HELP}"'
    assert challenge.to_header(limit=30) == 'Bearer error="e", scope="a b"'
    assert challenge.to_header(limit=29) == 'Bearer error="e"'


def test_error_has_a_bound() -> None:
    """An error is never dropped, and so cannot be made so long that the value would pass its limit."""
    assert Challenge(error="e" * 64).to_header() == f'Bearer error="{"e" * 64}"'
    for length, shown in [(65, f"'{'e' * 65}'"), (5000, f"'{'e' * 96}...")]:
        with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole message is compared
            Challenge(error="e" * length)
        assert str(raised.value) == f"error: {shown} is longer than 64 characters"


# --- description ----------------------------------------------------------------------------------------------------

DESCRIPTIONS = [
    ("It has expired.", "It has expired."),
    ("a — b – c ‐ d ‑ e − f", "a - b - c - d - e - f"),
    ("wait…", "wait..."),
    ("the user’s ‘own’ “words” „here“ «there» ‹now›", "the user's 'own' 'words' 'here' 'there' 'now'"),
    ('say "hi"', "say 'hi'"),
    ("10\u00a0s\u202flater", "10 s later"),
    ("a = b, a -=b", "a = b, a -=b"),
    ("~!#[]{}", "~!#[]{}"),
    ("", None),
    ("café", None),
    ("访问令牌", None),
    ("a\\b", None),
    ("a\nb", None),
    ("a\tb", None),
    ("a\x7fb", None),
    ("a\ud800b", None),
    ("the scope=x", None),
    ("ERROR=x", None),
    ("the resource_metadata= one", None),
    ("x=1", None),
    ("1=x", None),
    ("é=x", None),
]


@pytest.mark.parametrize(("text", "description"), DESCRIPTIONS, ids=[ascii(text)[:40] for text, _ in DESCRIPTIONS])
def test_description(text: str, description: str | None) -> None:
    """Typographic punctuation is spelled in ASCII; other letters, and ``name=``, make a text no description."""
    assert to_description(text) == description


@pytest.mark.parametrize("reason", load_catalog().reasons)
def test_shipped_english_can_be_a_description(reason: str) -> None:
    """Every shipped sentence can travel in a header."""
    message = load_catalog()[reason].failure.message
    assert to_description(message) == message.replace("—", "-")


@given(st.text())
def test_description_can_be_written(text: str) -> None:
    """Whatever ``to_description`` returns can stand in a challenge, and comes back from it."""
    description = to_description(text)
    if description is not None:
        challenge = Challenge(error="e", error_description=description)
        assert Challenge.from_header(challenge.to_header()) == challenge


# --- reading --------------------------------------------------------------------------------------------------------

Challenges = list[tuple[str, dict[str, str]]]


@pytest.mark.parametrize(("value", "expected", "why"), READ, ids=[why for _, _, why in READ])
def test_case(value: str, expected: list[list[object]] | None, why: str) -> None:
    """The table of cases that is shared with other implementations holds; ``null`` is whatever does not raise."""
    found = [list(each) for each in parse_challenges(value)]
    if expected is not None:
        assert found == expected, why


PARSED: list[tuple[str, Challenges]] = [
    # schemes and token68 (RFC 9110 §11.2)
    ("Negotiate", [("Negotiate", {})]),
    ("Negotiate abc==", [("Negotiate", {})]),
    ("Basic dXNlcg==, NTLM TlRM+/_-.~=,Bearer", [("Basic", {}), ("NTLM", {}), ("Bearer", {})]),
    ("Bearer abc", [("Bearer", {})]),
    ("Bearer token==", [("Bearer", {})]),
    ('Bearer a, scope="x"', [("Bearer", {"scope": "x"})]),
    ("Bearer a b, Basic", [("Bearer", {}), ("Basic", {})]),
    ("bEARER, BASIC, dpop", [("Bearer", {}), ("BASIC", {}), ("dpop", {})]),
    ('DPoP algs="ES256 RS256", Bearer', [("DPoP", {"algs": "ES256 RS256"}), ("Bearer", {})]),
    (
        'Newauth realm="apps", type=1, title="Login to \\"apps\\"", Basic realm="simple"',
        [("Newauth", {"realm": "apps", "type": "1", "title": 'Login to "apps"'}), ("Basic", {"realm": "simple"})],
    ),
    ('Bearer scope="x", Bearer error="y"', [("Bearer", {"scope": "x"}), ("Bearer", {"error": "y"})]),
    (
        'Digest qop="auth,auth-int", algorithm=MD5, Bearer error="e"',
        [("Digest", {"qop": "auth,auth-int", "algorithm": "MD5"}), ("Bearer", {"error": "e"})],
    ),
    # lists (RFC 9110 §5.6.1)
    ("", []),
    (" \t ", []),
    (",", []),
    (" , ,Bearer,, ,scope=x, ,", [("Bearer", {"scope": "x"})]),
    ('Bearer, error="e"', [("Bearer", {"error": "e"})]),
    ('Bearer error="e" scope="s"', [("Bearer", {"error": "e", "scope": "s"})]),
    ("Bearer\terror=e\t,\tscope=s\t", [("Bearer", {"error": "e", "scope": "s"})]),
    # parameters
    ('Bearer error = "e" , scope\t=\ts', [("Bearer", {"error": "e", "scope": "s"})]),
    ('Bearer ERROR="e", Error_URI="u"', [("Bearer", {"error": "e", "error_uri": "u"})]),
    ('Bearer error="a", ERROR="b", error=c', [("Bearer", {"error": "a"})]),
    ('Bearer error=""', [("Bearer", {"error": ""})]),
    ('Bearer a="b=c, d=\\"e\\"", f="\\\\"', [("Bearer", {"a": 'b=c, d="e"', "f": "\\"})]),
    ('Bearer a="\\b\\,"', [("Bearer", {"a": "b,"})]),
    ('Bearer a="é\t "', [("Bearer", {"a": "é\t "})]),
    ("Bearer a=!#$%&'*+-.^_`|~09", [("Bearer", {"a": "!#$%&'*+-.^_`|~09"})]),
    ('error="e", Bearer scope="s"', [("Bearer", {"scope": "s"})]),
    # what is not whole is left out
    ('Bearer error="e', [("Bearer", {})]),
    ('Bearer error="e\\"', [("Bearer", {})]),
    ('Bearer error="e", scope="s', [("Bearer", {"error": "e"})]),
    ('Bearer error="e", scope="s, Basic realm=x', [("Bearer", {"error": "e"})]),
    ('Bearer error=, scope="s"', [("Bearer", {"scope": "s"})]),
    ("Bearer error=", [("Bearer", {})]),
    ('Bearer error = , scope="s"', [("Bearer", {"scope": "s"})]),
    ('Bearer a=b, ="e", scope=s', [("Bearer", {"a": "b", "scope": "s"})]),
    ('Bearer ="e", scope=s', []),  # a parameter of that name, before any challenge
    ("(), =, ;, @: Bearer, Bearer scope=s", [("Bearer", {"scope": "s"})]),
    ('Bearer é="a, b", scope="s"', [("Bearer", {"scope": "s"})]),
    ('"Basic, x", Bearer scope="s"', [("Bearer", {"scope": "s"})]),
    ("Bearer resource_metadata=https://h.example/x", [("Bearer", {})]),
    ('Bearer error="a"b="c", scope="s"', [("Bearer", {"scope": "s"})]),
    ('Bearer error="a";scope="s"', [("Bearer", {})]),
    ('Bearer error=a b, scope="s"', [("Bearer", {"error": "a", "scope": "s"})]),
    ('Bearer error=a"b", scope="s"', [("Bearer", {"scope": "s"})]),
    ("Bearer error=a;b, scope=s", [("Bearer", {"scope": "s"})]),
    ("\0Bearer", []),
]


@pytest.mark.parametrize(("value", "expected"), PARSED, ids=[ascii(value)[:60] for value, _ in PARSED])
def test_parse(value: str, expected: Challenges) -> None:
    """The list of challenges is read by its grammar, and what breaks it is left out alone."""
    assert parse_challenges(value) == expected


def _schemes(words: str) -> Challenges:
    return [(word, {}) for word in words]


LARGE: dict[str, tuple[str, Challenges]] = {
    "a long text": (f'Bearer a="{"x" * 1_000_000}"', [("Bearer", {"a": "x" * 1_000_000})]),
    "a long token": (f"Bearer a={'x' * 1_000_000}", [("Bearer", {"a": "x" * 1_000_000})]),
    "a long scheme": ("x" * 1_000_000, [("x" * 1_000_000, {})]),
    "quoted pairs": ('Bearer a="' + "\\\\" * 500_000 + '"', [("Bearer", {"a": "\\" * 500_000})]),
    "an open quote": (f'Bearer a="{"x" * 1_000_000}', [("Bearer", {})]),
    "an open quote of pairs": ('Bearer a="' + "\\\\" * 500_000, [("Bearer", {})]),
    "open quotes": ('Bearer a="' + ', b="' * 200_000 + '"', [("Bearer", {"a": ", b=", "b": ", b="})]),
    "white space": (f"Bearer{' ' * 1_000_000}a=b", [("Bearer", {"a": "b"})]),
    "white space before nothing": ("Bearer a" + " " * 1_000_000 + "=", [("Bearer", {})]),
    "white space before a word": ("Bearer a" + " " * 1_000_000 + "b", [("Bearer", {})]),
    "commas": ("," * 1_000_000 + "Bearer", [("Bearer", {})]),
    "garbage": ("Bearer " + "(=;" * 300_000 + ",a=b", [("Bearer", {"a": "b"})]),
    "garbage in many parts": ("Bearer " + "(," * 300_000 + "a=b", [("Bearer", {"a": "b"})]),
    "equal parameters": ("Bearer " + "a=b," * 250_000, [("Bearer", {"a": "b"})]),
    "parameters": (
        "Bearer " + ",".join(f"a{number}=b" for number in range(100_000)),
        [("Bearer", {f"a{number}": "b" for number in range(100_000)})],
    ),
    "challenges": ("Bearer," * 150_000, [("Bearer", {})] * 150_000),
    "token68": ("Bearer " + "a" * 1_000_000 + "=" * 1000, [("Bearer", {})]),
    "words": ("a b c " * 50_000, [("a", {})]),
    "schemes": ("a,b c,d," * 50_000, _schemes("abd" * 50_000)),
}


@pytest.mark.parametrize(("value", "expected"), LARGE.values(), ids=LARGE)
def test_large_value_is_read_in_linear_time(value: str, expected: Challenges) -> None:
    """Half a megabyte and more, of the kinds that make regular expressions quadratic, gives the plain answer."""
    assert parse_challenges(value) == expected


@given(st.text() | st.text('Bearer abc="\\,= \t/~é', max_size=60))
@example('Bearer a="b\\')
def test_any_value_is_read(value: str) -> None:
    """Nothing that comes from the network raises: schemes are words, names are lower-case, and writing is possible."""
    for scheme, parameters in parse_challenges(value):
        assert scheme
        assert all(name == name.lower() for name in parameters)
    challenge = Challenge.from_header(value)
    assert (challenge is None) == ("Bearer" not in [scheme for scheme, _ in parse_challenges(value)])
    if challenge:
        assert len(challenge.to_header()) < MAX_HEADER


OTHERS = [
    ([], []),
    (["Bearer error=e"], []),
    (
        ['Basic realm="a, b", Bearer error="e", Digest nonce="n",\talgorithm=MD5 ,'],
        ['Basic realm="a, b"', 'Digest nonce="n",\talgorithm=MD5'],
    ),
    (["Negotiate abc==,bearer", "NTLM"], ["Negotiate abc==", "NTLM"]),
    (['Basic realm="say \\"hi\\""'], ['Basic realm="say \\"hi\\""']),
    (['DPoP error="e'], ["DPoP"]),
]


@pytest.mark.parametrize(("values", "expected"), OTHERS)
def test_other_challenges(values: list[str], expected: list[str]) -> None:
    """What is no Bearer challenge comes back as it was written, one by one."""
    assert other_challenges(values) == expected


FROM_HEADER: list[tuple[str, Challenge | None]] = [
    ("", None),
    ("Basic realm=x", None),
    ("Basic realm=x, BEARER error=e, Bearer error=f", Challenge(error="e")),
    ('Bearer realm="r", error="e", max_age=3', Challenge(error="e")),
    ('Bearer scope=" a  b a offline_access"', Challenge(scope=("a", "b"))),
    ('Bearer scope="a café b\tc scope=d", error="e"', Challenge(scope=("a",), error="e")),
    ('Bearer error="", scope=""', Challenge()),
    ('Bearer error="é", error_description="say \\"hi\\""', Challenge()),
    ('Bearer error="e", error_description="scope=x"', Challenge(error="e")),
    ('Bearer resource_metadata="http://h.example/", error_uri="https://h.example/#a"', Challenge()),
    ('Bearer resource_metadata="https://h.example/?scope=x", error_uri="/help"', Challenge()),
    ("Bearer resource_metadata=https://h.example/x", Challenge()),
]


@pytest.mark.parametrize(("value", "expected"), FROM_HEADER)
def test_from_header(value: str, expected: Challenge | None) -> None:
    """The first Bearer challenge is read; a parameter that could not be written is left out."""
    assert Challenge.from_header(value) == expected


# --- both ways ------------------------------------------------------------------------------------------------------

# Words that a reader may take for something else, next to arbitrary ones.
tricky = st.sampled_from(
    ["error", "scope", "resource_metadata", "error_description", "error_uri", "Bearer", "=", ",", "'", "?", "&", "x"]
)
token = st.text(st.characters(codec="ascii", min_codepoint=0x21, exclude_characters='"\\\x7f'), min_size=1, max_size=8)
tokens = st.lists(tricky | token, min_size=1, max_size=4).map("".join)
scopes = st.lists(tokens.filter(lambda scope: scope != "offline_access" and not scope_fault(scope)), max_size=4)
urls = tokens.map("https://h.example/?{}".format).filter(lambda url: not url_fault(url))
texts = st.lists(tricky | token | st.just(" "), min_size=1, max_size=8).map("".join)


def _writable(text: str) -> bool:
    try:
        Challenge(error=text)
    except ValueError:
        return False
    return True


challenges = st.builds(
    Challenge,
    error=st.none() | st.sampled_from(list(load_catalog().challenges)) | texts.filter(_writable),
    scope=scopes.map(dict.fromkeys).map(tuple),
    resource_metadata=st.none() | urls,
    error_description=st.none() | texts.filter(_writable),
    error_uri=st.none() | urls,
)


@given(challenges)
def test_header_is_read_back_equal(challenge: Challenge) -> None:
    """What is written is one line of printable ASCII, ends in no white space, and is read back as the same value."""
    header = challenge.to_header()
    assert Challenge.from_header(header) == challenge
    assert header.isascii()
    assert header.isprintable()
    assert header == header.strip()
    assert "\\" not in header
    assert other_challenges([header]) == []


def _said(challenge: Challenge) -> dict[str, str | None]:
    said = {name: getattr(challenge, name) for name in PARAMETERS}
    return said | {"scope": " ".join(challenge.scope) or None}


@given(challenges)
def test_official_client_reads_every_parameter(challenge: Challenge) -> None:
    """The official Python SDK finds every parameter with its value, and none that was not written."""
    response = httpx2.Response(401, headers={"WWW-Authenticate": challenge.to_header()})
    assert {name: extract_field_from_www_auth(response, name) for name in PARAMETERS} == _said(challenge)


@pytest.mark.parametrize("reason", load_catalog().reasons)
def test_official_client_reads_the_shipped_sentences(reason: str) -> None:
    """The same for the real thing: a shipped sentence beside scopes and both URLs."""
    failure = load_catalog()[reason].failure
    challenge = Challenge(
        error=failure.challenge,
        scope=("files:read", "files:write"),
        resource_metadata=METADATA,
        error_description=to_description(failure.message),
        error_uri=HELP,
    )
    response = httpx2.Response(failure.status, headers={"WWW-Authenticate": challenge.to_header()})
    assert {name: extract_field_from_www_auth(response, name) for name in PARAMETERS} == _said(challenge)
