"""What somebody might write into a file, a name or a header to open another file, run code or use up a machine."""

import json
import random
import struct
from collections.abc import Iterator, Mapping

from mcp_auth_failures import load_catalog

__all__ = ["COSTLY", "MO", "NAMES", "POS", "TEXTS", "YAMLS", "gettext_mo", "gettext_po", "mixtures", "mo", "po_entry"]

CATALOG = load_catalog()
ENGLISH = {reason: entry.failure.message for reason, entry in CATALOG.reasons.items()}

NAMES = [
    "../../../../etc/passwd", "/etc/passwd", "..", ".", "..\\..\\windows", "de/../../secret", "de\0.po",
    "file:///etc/passwd", "http://127.0.0.1:9/x", "de_DE.UTF-8@../x", "C", "POSIX", "root", "global",
    "locale-data/../global", "de%2f..%2fx", "__import__('os').system('id')", "babel.localedata", "$HOME", "~root",
    "|id", "`id`", "$(id)", "%n%s", "con", "nul", "xx-x-../../x", "i-default", "de-" + "-".join(["a"] * 400),
    "zzzzzzzz", "\ud800", "\u202ede", "", " ", "*",
]  # fmt: skip
"""Of languages, locales, folders and domains."""

TEXTS = [
    "{server.__class__.__mro__}", "{server!r}", "{server:>99999999}", "{0.__globals__}", "{}", "{{server}}",
    "{server[0]}", "%(server)s", "%s" * 50, "${server}", "$server", "{{ server }}", "{% include '/etc/passwd' %}",
    "<%= 1 %>", "`id`", "__import__('os').system('id')", "eval(1)", "\\u0000", "\\x41\\N{BULLET}",
    "{contact.__init__.__globals__}",
]  # fmt: skip
"""Of sentences."""

_SAID = b'version: 1\nmessages:\n  expired: "%b"\n'

YAMLS = [
    b"!!python/object/apply:os.system ['touch /tmp/evaluated']",
    b"!!python/object/new:subprocess.Popen [['id']]",
    b"version: 1\nmessages: !!python/name:os.system",
    b"version: !!python/module:os\nmessages: {}",
    b"version: 1\nmessages:\n  expired: !include /etc/passwd",
    b"version: 1\nmessages:\n  expired: !!binary aGk=",
    b"%TAG ! tag:example.com,2000:\n---\nversion: 1\nmessages: {expired: !x y}",
    b"version: 1\nmessages: {<<: {expired: x}}",
    b"version: 1\nmessages: &a {expired: *a}",
    b"version: 1\n? !!python/tuple [a]\n: x",
    *(_SAID % text.encode("unicode_escape") for text in TEXTS),
    *(b"version: 1\nmessages:\n  expired:\n    ? %b\n    : x\n" % repr(name).encode() for name in NAMES),
]
"""Override files."""


def po_entry(text: str, context: str = "reasons.expired.message", english: str = ENGLISH["expired"]) -> bytes:
    """One entry of a ``.po``; a lone surrogate is written as if it were a character."""
    quoted = [json.dumps(value, ensure_ascii=False) for value in (context, english, text)]
    return "msgctxt {}\nmsgid {}\nmsgstr {}\n\n".format(*quoted).encode("utf-8", "surrogatepass")


def gettext_po(text: str, header: str = "") -> bytes:
    """A ``.po`` that translates one sentence, behind a header."""
    return f'msgid ""\nmsgstr {json.dumps(header)}\n\n'.encode() + po_entry(text)


def mo(pairs: Mapping[bytes, bytes], count: int | None = None) -> bytes:
    """A ``.mo`` as the manual of GNU gettext has it; ``count`` may lie."""
    start = 28 + 16 * len(pairs)
    places, data = b"", b""
    for text in (*pairs, *pairs.values()):
        places += struct.pack("<2I", len(text), start + len(data))
        data += text + b"\0"
    return _mo_head(len(pairs) if count is None else count, 28, 28 + 8 * len(pairs)) + places + data


def _mo_head(count: int, keys: int, texts: int) -> bytes:
    return struct.pack("<7I", 0x950412DE, 0, count, keys, texts, 0, 0)


def gettext_mo(text: str, header: str = "") -> bytes:
    """The same as :func:`gettext_po`, compiled."""
    key = f"reasons.expired.message\4{ENGLISH['expired']}".encode()
    return mo({b"": header.encode(), key: text.encode("utf-8", "surrogatepass")})


_HEADERS = [
    "Plural-Forms: nplurals=2; plural=__import__('os').system('touch /tmp/evaluated');",
    "Plural-Forms: nplurals=999999999; plural=n**n**n**n;",
    "Plural-Forms: nplurals=2; plural=" + "(" * 5000 + "n" + ")" * 5000 + ";",
    "Plural-Forms: nplurals=2; plural=n" + "?n:n" * 5000 + ";",
    "Language: ../../../etc/passwd",
    "Language: __import__('os')",
    *(f"Content-Type: text/plain; charset={each}" for each in ("unicode_escape", "idna", "../../x", "rot13", "os")),
    *(f"{field}: {{0.__class__}}" for field in ("Last-Translator", "Project-Id-Version", "PO-Revision-Date")),
    "PO-Revision-Date: YEAR-MO-DA HO:MI+ZONE",
    "Content-Transfer-Encoding: ../../x",
]
POS = [*(gettext_po("x", header) for header in _HEADERS), *(gettext_po(text) for text in (*TEXTS, *NAMES))]
MO = [*(gettext_mo("x", header) for header in _HEADERS), *(gettext_mo(text) for text in (*TEXTS, *NAMES))]


def mixtures(seed: int, number: int) -> Iterator[tuple[str, bytes]]:
    """Files of every kind with something of another in the middle: their ending, and their octets."""
    chance = random.Random(seed)
    kinds = {"yaml": YAMLS, "po": POS, "mo": MO}
    for _ in range(number):
        ending = chance.choice([*kinds])
        file = bytearray(chance.choice(kinds[ending]))
        piece = chance.choice([*YAMLS, *POS, *(text.encode("utf-8", "surrogatepass") for text in (*NAMES, *TEXTS))])
        start = chance.randrange(len(file) + 1)
        file[start : start + chance.choice([0, 0, 1, 30])] = piece
        yield ending, bytes(file)


# --- what costs most ------------------------------------------------------------------------------------------------

_MEGABYTE = 1 << 20


def _numbered(text: bytes, number: int) -> bytes:
    return b"".join(text % index for index in range(number))


COSTLY: Mapping[str, Mapping[str, bytes | str | list[str]]] = {
    "yaml": {
        "a list of 262,000": b"- a\n" * (_MEGABYTE // 4),
        "a list on one line": b"[" + b"a," * (_MEGABYTE // 2 - 2) + b"]",
        "nested lists": b"[" * _MEGABYTE,
        "nested maps": b"{a: " * (_MEGABYTE // 4),
        "nested dashes": b"- " * (_MEGABYTE // 2),
        "100,000 unknown keys": _numbered(b"k%d: a\n", 95_000),
        "one key 200,000 times": b"a: 1\n" * 200_000,
        "keys without a name": b"? \n" * (_MEGABYTE // 3),
        "empty values": b"a:\n" * 340_000,
        "aliases": b"a: &a x\nb: [" + b"*a," * 300_000 + b"]",
        "aliases of aliases": b"a: &a [x]\n"
        + b"".join(b"%c: &%c [*%c,*%c]\n" % (98 + i, 98 + i, 97 + i, 97 + i) for i in range(20)),
        "a list in itself": b"&a [*a, *a]",
        "anchors": _numbered(b"- &a%d x\n", 80_000),
        "tags": b"- !x y\n" * 140_000,
        "a long tag": b"!" * _MEGABYTE,
        "a long key": b"? " + b"a" * (_MEGABYTE - 10) + b"\n: b",
        "a long text": _SAID % (b"a" * (_MEGABYTE - 60)),
        "a text of quotes": b"version: 1\nmessages:\n  expired: '" + b'"' * (_MEGABYTE - 60) + b"'",
        "braces": _SAID % (b"{" * (_MEGABYTE - 60)),
        "doubled braces": _SAID % (b"{{}}" * 262_000),
        "placeholders": _SAID % (b"{server}" * 130_000),
        "unknown placeholders": _SAID % _numbered(b"{a%d}", 110_000),
        "controls": b"\x01" * _MEGABYTE,
        "escaped controls": _SAID % (b"\\u200e" * 170_000),
        "tabs": b"\t" * _MEGABYTE,
        "quotes": b"'" * _MEGABYTE,
        "a folded text": b"a: >\n" + b" b\n" * 340_000,
        "comments": b"#\n" * (_MEGABYTE // 2),
        "line breaks": b"\r" * _MEGABYTE,
        "line separators": b'"' + "\u2028".encode() * 300_000 + b'"',
        "digits": b"version: " + b"1" * (_MEGABYTE - 9),
        "sixties": b"- " + b"1:1" * 300_000,
        "a date": b"a: 2001-01-01 " + b" " * 1_000_000 + b"x",
        "documents": b"---\n" * (_MEGABYTE // 4),
        "the most that can be said": _SAID % ("{server}{contact}" * 5 + "\U0001f600" * 1900).encode(),
        "languages": b"version: 1\nmessages:\n  expired:\n" + _numbered(b"    de-%05d: x\n", 70_000),
        "no languages": b"version: 1\nmessages:\n  expired:\n" + _numbered(b"    xx-%05d: x\n", 70_000),
        "more than a megabyte": b"a" * (_MEGABYTE + 1),
    },
    "po": {
        "30,000 entries": _numbered(b'msgctxt "c%d"\nmsgid "a"\nmsgstr "b"\n\n', 28_000),
        "one entry in 340,000 lines": b'msgid ""\nmsgstr ""\n' + b'""\n' * 340_000,
        "one long line": b'msgid "' + b"a" * (_MEGABYTE - 30) + b'"\nmsgstr ""',
        "backslashes": b'msgid "' + b"\\\\" * 500_000 + b'"\nmsgstr "x"',
        "an unclosed quote": b'msgid "' + b'\\"' * 500_000,
        "quotes": b'"' * _MEGABYTE,
        "comments": b"#\n" * (_MEGABYTE // 2),
        "flags": b"#, fuzzy\n" * (_MEGABYTE // 9),
        "places": b"#: " + b"a " * (_MEGABYTE // 2 - 9),
        "isolates in places": b"#: " + "\u2068".encode() * 300_000,
        "obsolete entries": b'#~ msgid "x"\n#~ msgstr "y"\n' * 39_000,
        "white space": b" " * _MEGABYTE,
        "plural forms": b'msgid "a"\nmsgid_plural "b"\n' + b'msgstr[0] "x"\n' * 74_000,
        "charsets": b'msgid ""\nmsgstr "' + b"charset=" * 130_000 + b'"',
        "plural rule": gettext_po("x", "Plural-Forms: nplurals=9999999999; plural=n**n**n**n;"),
        "placeholders": gettext_po("{server}" * 130_000),
        "braces": gettext_po("{" * 1_000_000),
        "more than a megabyte": b"#" * (_MEGABYTE + 1),
    },
    "mo": {
        "4,294,967,295 entries": _mo_head(2**32 - 1, 28, 28) + b"\0" * (_MEGABYTE - 28),
        "100,000 entries at one place": _mo_head(100_000, 28, 28) + struct.pack("<2I", 0, 28) * 100_000,
        "100,000 entries of one megabyte": (_mo_head(100_000, 28, 28) + struct.pack("<2I", 1_000_000, 28) * 131_000)[
            :_MEGABYTE
        ],
        "places beyond the end": _mo_head(1, 2**32 - 1, 2**32 - 1),
        "a head alone": b"\xde\x12\x04\x95",
        "plural rule": gettext_mo("x", "Plural-Forms: nplurals=9999999999; plural=n**n**n**n;"),
        "placeholders": gettext_mo("{server}" * 130_000),
        "more than a megabyte": b"\xde\x12\x04\x95" + b"\0" * _MEGABYTE,
    },
    "header": {
        "commas": "," * _MEGABYTE,
        "one word": "a" * _MEGABYTE,
        "words": "a " * (_MEGABYTE // 2),
        "equals signs": "a=" * (_MEGABYTE // 2),
        "quotes": '"' * _MEGABYTE,
        "backslashes": 'a="' + "\\" * _MEGABYTE,
        "escaped quotes": 'a="' + '\\"' * (_MEGABYTE // 2),
        "white space": "Bearer " + " " * _MEGABYTE,
        "white space before a sign": "Bearer a" + " " * _MEGABYTE + "=",
        "white space between": ("a" + " " * 1000 + "=") * 1000,
        "parameters": "Bearer " + "a=b," * (_MEGABYTE // 4),
        "parameters without commas": "Bearer " + "a=b " * (_MEGABYTE // 4),
        "schemes": "Bearer x=y, " * (_MEGABYTE // 12),
        "a token68": "Bearer " + "a" * _MEGABYTE + "=",
        "padding": "Bearer a" + "=" * _MEGABYTE,
    },
    "languages": {
        "ranges": "de," * (_MEGABYTE // 3),
        "subtags": "de" + "-a" * (_MEGABYTE // 2),
        "short subtags": "de" + "-a" * 490,
        "weights": "de;q=0." * (_MEGABYTE // 7),
        "white space": " " * _MEGABYTE,
        "underscores": "_" * _MEGABYTE,
        "a list of a million": ["de"] * 1_000_000,
        "a list of commas": [","] * 100_000,
    },
}
"""What is read, and the name and the octets of the worst of it."""
