"""Coverage-guided fuzzing of everything that reads what others write.

    python tests/fuzz/fuzz.py TARGET [--seconds 60] [--corpus FOLDER]

Without a target it lists them. A finding ends the run with its traceback, and with the input in the current folder;
``--input FILE`` runs that alone. Needs ``atheris``, Node with the packages of
``tests/clients``, and what ``pip install -e '.[test]'`` brings.
"""

import argparse
import asyncio
import json
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import atheris

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "security")]

with atheris.instrument_imports(include=["mcp_auth_failures", "babel.messages.pofile"]):
    from mcp_auth_failures import Challenge, DataError, Refusal, Wording, load_catalog, negotiate
    from mcp_auth_failures.asgi import AuthFailureMiddleware
    from mcp_auth_failures.challenge import other_challenges, parse_challenges
    from mcp_auth_failures.gettext_files import read_language
    from mcp_auth_failures.languages import preferences

from hostile import gettext_mo, gettext_po  # noqa: E402
from promises import check_body, check_challenge, check_faults, check_header, check_refusal  # noqa: E402
from servers import CALL, Message, expired  # noqa: E402
from typescript import TypeScript, typescript  # noqa: E402

DETAILS = {"server": "Acme", "contact": "it@acme.example"}
WORDING = Wording(env=False, **DETAILS)
LANGUAGES = WORDING.languages
ENGLISH = {reason: entry.failure.message for reason, entry in WORDING.catalog.reasons.items()}

FOLDER = Path(tempfile.mkdtemp())
OWN = FOLDER / "own.yaml"
PO, MO = (FOLDER / ending / "de/LC_MESSAGES" / f"mcp_auth_failures.{ending}" for ending in ("po", "mo"))
for _file in (PO, MO):
    _file.parent.mkdir(parents=True)

STACK = ExitStack()

Target = Callable[[bytes], None]


# --- targets --------------------------------------------------------------------------------------------------------


def challenge(data: bytes) -> None:
    """What a peer calls a challenge, and one made of any values."""
    header = data.decode("latin-1")
    parse_challenges(header)
    other_challenges([header])
    if read := Challenge.from_header(header):
        _read_alike(check_challenge(read))
    error, first, second, *others = [*header.split("\n"), "", ""]
    try:
        made = Challenge(error or None, tuple(filter(None, (first, second))), *(value or None for value in others[:3]))
    except ValueError:
        return
    _read_alike(check_challenge(made))


@cache
def _node() -> TypeScript:
    return STACK.enter_context(typescript())


@lru_cache(maxsize=10_000)
def _read_alike(header: str) -> None:
    _node().check(header)


def refusal(data: bytes) -> None:
    """A refusal made of any values, and one read from any answer."""
    parts = _text(data).split("\n")
    reason = list(ENGLISH)[len(data) % len(ENGLISH)]
    url = parts[2] if len(parts) > 2 else None
    check_refusal(WORDING.refusal(reason, parts[0], scopes=parts[1:2], resource_metadata_url=url, request_id=parts[-1]))
    if read := Refusal.from_response(401, [("WWW-Authenticate", parts[0])], data):
        check_refusal(read)
    if read := Refusal.from_error(_json(data)):
        check_refusal(read)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _say(**arguments: Any) -> None:
    """What a server makes of a file: it is refused, or what it says can be sent."""
    try:
        wording = Wording(env=False, builtin=False, **DETAILS, **arguments)
    except DataError as error:
        check_faults(error.faults)
        return
    for language in wording.languages[:3]:
        for reason, english in ENGLISH.items():
            if wording.describe(reason, language).message != english:
                check_refusal(wording.refusal(reason, language, scopes=["mcp:use"]))


def overrides(data: bytes) -> None:
    """An operator's file of any octets; and one whose text, and one whose language, they are."""
    text = json.dumps(data.decode("utf-8", "replace"), ensure_ascii=False).encode()
    for content in (
        data,
        b"version: 1\nmessages:\n  expired: " + text,
        b"version: 1\nmessages:\n  expired: {%b: x}" % text,
    ):
        OWN.write_bytes(content)
        _say(overrides=OWN)


def catalog(data: bytes) -> None:
    """A host's catalog of any octets."""
    OWN.write_bytes(data)
    try:
        load_catalog(OWN)
    except DataError as error:
        check_faults(error.faults)


def _translation(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    try:
        read_language(file)
    except DataError as error:
        check_faults(error.faults)
    _say(translations=file.parents[2])


def po(data: bytes) -> None:
    """A translator's file of any octets."""
    _translation(PO, data)


def mo(data: bytes) -> None:
    """A compiled one."""
    _translation(MO, data)


def accept_language(data: bytes) -> None:
    """What a caller calls its languages."""
    header = data.decode("latin-1")
    assert negotiate(header, LANGUAGES) in LANGUAGES
    assert {*preferences(header.split("\n"), LANGUAGES)} <= {*LANGUAGES}
    check_refusal(WORDING.refusal("expired", header))


APP = AuthFailureMiddleware(expired, WORDING)
LOOP = asyncio.new_event_loop()


def request(data: bytes) -> None:
    """A request's body of any octets, with headers that are the first two of its lines."""
    first, _, rest = data.partition(b"\n")
    second, _, body = rest.partition(b"\n")
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    async def send(message: Message) -> None:
        sent.append(message)

    fields = [(b"accept-language", first), (b"mcp-name", second), (b"content-type", b"application/json")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": second.decode("latin-1"),
        "query_string": b"",
        "headers": [*fields, (b"content-length", b"%d" % len(body))],
    }
    LOOP.run_until_complete(APP(scope, receive, send))
    start, content = sent
    assert start["status"] == 401
    check_header(dict(start["headers"])[b"www-authenticate"].decode())
    check_body(content["body"], 401)


# --- where they begin -----------------------------------------------------------------------------------------------

_OVERRIDES = (
    b'version: 1\nmessages:\n  expired:\n    de: "{server}: abgelaufen, {{x}}"\n  insufficient_scope: "{scope}"\n'
)
_ANSWER = WORDING.refusal("insufficient_scope", "de", scopes=["a", "b"])

TARGETS: Mapping[str, tuple[Target, list[bytes]]] = {
    "challenge": (
        challenge,
        [
            _ANSWER.headers["WWW-Authenticate"].encode(),
            b'Basic realm="x", Bearer error = invalid_token , scope="a b"',
            b"invalid_token\na\nb\nhttps://mcp.example/meta\nwords\nhttps://help.example/",
        ],
    ),
    "refusal": (
        refusal,
        [_ANSWER.body, b"de\nmcp:use\nhttps://mcp.example/\n7", json.dumps(_ANSWER.json_rpc_error).encode()],
    ),
    "overrides": (overrides, [_OVERRIDES]),
    "catalog": (catalog, [WORDING.catalog.path.read_bytes()]),
    "po": (po, [gettext_po("Abgelaufen.", "Plural-Forms: nplurals=9; plural=n;\n")]),
    "mo": (mo, [gettext_mo("Abgelaufen.")]),
    "accept_language": (
        accept_language,
        [b"de-AT, de;q=0.9, zh-TW;q=0, *;q=0.1", b"zh_Hant_HK", b"sr-Latn\npt_BR\nno"],
    ),
    "request": (request, [b"de\nwrite\n" + json.dumps(CALL).encode()]),
}

_WORDS = [
    "version: 1", "messages:", "expired", "insufficient_scope", "{server}", "{scope}", "{{", "\u202e", "!!python/",
    "*a", "msgctxt", "msgid", "msgstr", "msgid_plural", "#, fuzzy", "#~", "charset=UTF-8", "reasons.expired.message\4",
    "Bearer ", "error=", "scope=", "resource_metadata=", "error_description=", "invalid_token", "https://", '"',
    "\\", "de-AT", ";q=0.", "zh-Hant", "jsonrpc", "openai/locale", "_meta", "\0", "\n", "\ud800", "\u2028", "\r\n",
]  # fmt: skip


def main() -> int:
    """Fuzz one target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--corpus", type=Path, help="kept from run to run")
    parser.add_argument("--input", type=Path, help="run this alone")
    arguments = parser.parse_args()
    if not arguments.target:
        print("\n".join(TARGETS))
        shutil.rmtree(FOLDER)
        return 0
    logging.getLogger("mcp_auth_failures").setLevel(logging.CRITICAL + 1)
    if arguments.input:
        TARGETS[arguments.target][0](arguments.input.read_bytes())
        return 0
    if process := os.fork():  # libFuzzer ends its process without asking anyone
        ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        shutil.rmtree(FOLDER)
        return ended
    fuzz(arguments.target, arguments.corpus or FOLDER / "corpus", arguments.seconds)
    return 1


def fuzz(name: str, corpus: Path, seconds: int) -> None:
    """Never returns."""
    target, seeds = TARGETS[name]
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    words = FOLDER / "words"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in _WORDS))
    limits = ["-max_len=16384", "-timeout=10", "-rss_limit_mb=1024", f"-max_total_time={seconds}"]
    atheris.Setup([sys.argv[0], f"-dict={words}", *limits, "-print_final_stats=1", str(corpus)], target)
    atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(f"\\x{octet:02x}" for octet in word.encode("utf-8", "surrogatepass"))


if __name__ == "__main__":
    sys.exit(main())
