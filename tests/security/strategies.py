"""Texts and values that somebody might use to break out of where they are put."""

import re

from hypothesis import strategies as st

__all__ = ["any_text", "headers", "json_values", "languages", "octets", "sayable", "scopes", "texts", "urls"]

_FRAGMENTS = [
    "\r\n", "\n", "\r", "\t", "\0", "\x7f", "\x85", "\u2028", "\ufeff", "\u202e", "\u2066", "\ud800", "\udfff", "ключ",
    '"', "'", "\\", '\\"', ",", ", ", ";", "=", ":", "#", "%0d%0a", "&", "<script>", "\u00e9", "\U0001f600", "x" * 300,
    'error="x"', "scope=", "SCOPE=", "resource_metadata=", 'error_description="', "realm=", "Bearer ", "Basic ", "a=b",
    "{", "}", "{{", "}}", "{server}", "{contact}", "{scope}", "{scope.__class__}", "{0}", "{server!r:>9}", "%s", "${x}",
    "\r\nSet-Cookie: a=b", "\r\n\r\n<html>", '","data":{"reason":"no_token"}', "offline_access", "?scope=1",
    "../../etc/passwd", "!!python/object/apply:os.system", "*a", "&a", "de", "zh-TW", "q=0", "127.1",
]  # fmt: skip

any_text = st.text(max_size=40)
texts = st.lists(st.one_of(st.sampled_from(_FRAGMENTS), st.text(max_size=6)), max_size=6).map("".join)
"""What may stand anywhere: fragments that mean something somewhere, and any others, in any order."""

_UNSAYABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
sayable = st.one_of(texts, any_text).map(
    lambda text: _UNSAYABLE.sub("", text).replace("{", "{{").replace("}", "}}") or "x"
)
"""What may be said to a person, however odd: without controls, and with every brace doubled."""

octets = st.one_of(st.binary(max_size=200), texts.map(lambda text: text.encode("utf-8", "surrogatepass")))

_NAMES = ["error", "scope", "resource_metadata", "error_description", "error_uri", "realm", "ERROR", "xscope"]
_parameters = st.builds(
    "{}{}{}".format,
    st.one_of(st.sampled_from(_NAMES), texts),
    st.sampled_from(["=", " = ", "=\t", ""]),
    st.one_of(
        st.sampled_from(["invalid_token", '"invalid_token"', '"insufficient_scope"', '""', '"unclosed', '"a b"']),
        st.sampled_from(['"https://a.example/m"', '"scope=\\"x\\""', "https://a.example", '"http://user@host/#x"']),
        texts.map('"{}"'.format),
        texts,
    ),
)
_challenges = st.builds(
    "{}{}{}".format,
    st.sampled_from(["Bearer", "bearer", "BEARER", "Basic", "Digest", ""]),
    st.sampled_from([" ", "  ", "\t", ""]),
    st.lists(_parameters, max_size=5).map(", ".join),
)
headers = st.one_of(st.lists(_challenges, max_size=3).map(", ".join), texts)
"""Values of ``WWW-Authenticate``, from well written to anything."""

_TOKEN = [chr(character) for character in range(0x21, 0x7F) if chr(character) not in '"\\']
_tokens = st.text(_TOKEN, min_size=1, max_size=20)
scopes = st.lists(st.one_of(_tokens, st.sampled_from(["mcp:use", "offline_access", "scope=x"]), texts), max_size=5)

_hosts = st.one_of(
    st.sampled_from(["mcp.example", "127.0.0.1", "localhost", "[::1]", "a.example:8443", "A.EXAMPLE"]), _tokens
)
urls = st.one_of(
    st.builds(
        "{}://{}{}".format,
        st.sampled_from(["https", "http", "HTTPS", "javascript", "file"]),
        _hosts,
        st.one_of(st.just(""), _tokens.map("/{}".format), texts),
    ),
    texts,
)

languages = st.one_of(
    st.lists(
        st.one_of(
            st.sampled_from(["de", "de-AT", "zh-TW", "pt_BR", "*", "en;q=0", ";q=0.5", "iw", "x" * 9, "../de"]), texts
        ),
        max_size=8,
    ).map(", ".join),
    st.lists(texts, max_size=5),
    st.none(),
)

json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda values: st.one_of(st.lists(values, max_size=3), st.dictionaries(texts, values, max_size=3)),
    max_leaves=5,
)
