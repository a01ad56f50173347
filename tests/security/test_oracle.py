"""No oracle: an answer tells that a token could not be verified, and never why."""

import asyncio
import base64
import hashlib
import hmac
import http.client
import itertools
import json
import logging
import random
import re
import socket
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import jwt
import pytest
from figures import Figures
from guarded import BRANCHES, GUARDED, KID, branching, key_set, uvicorn_process
from servers import AUDIENCE, CALL, ISSUER, KEY, NOW, OTHER_KEY, PEM, SCOPES, bearer, connect, exchange, serve

from mcp_auth_failures import Refusal

FUTURE, PAST = NOW + 36_000, NOW - 600

# Every value is one that occurs nowhere else, so that it is found wherever it should not be.
MARKS = {
    "jti": "mark-of-the-token",
    "email": "mark@person.example",
    "sub": "mark-of-the-person",
    "client_id": "mark-of-the-client",
    "host": "mark.internal.example",
}
OTHER_ISSUER, OTHER_AUDIENCE = "https://mark-issuer.example", "https://mark-audience.example/mcp"
OTHER_KID = "mark-of-a-key"


# --- tokens ---------------------------------------------------------------------------------------------------------


def _claims(**claims: object) -> dict[str, object]:
    whole = {"iss": ISSUER, "aud": AUDIENCE, "scope": " ".join(SCOPES), "exp": FUTURE, **MARKS, **claims}
    return {name: value for name, value in whole.items() if value is not None}


def _signed(claims: Mapping[str, object], key: Any = KEY, **header: object) -> str:
    return jwt.encode(dict(claims), key, "RS256", {"kid": KID, **header})


def _encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def _by_hand(claims: Mapping[str, object], sign: Callable[[bytes], bytes], **header: object) -> str:
    parts = [{"kid": KID, "typ": "JWT", **header}, dict(claims)]
    signed = ".".join(_encoded(json.dumps(part).encode()) for part in parts)
    return f"{signed}.{_encoded(sign(signed.encode()))}"


def _hmac(signed: bytes) -> bytes:
    return hmac.digest(PEM.encode(), signed, hashlib.sha256)


CAUSES: Mapping[str, Callable[..., str]] = {
    "bad signature": lambda **more: _signed(_claims(**more), OTHER_KEY),
    "one bit of the signature": lambda **more: _flipped(_signed(_claims(**more))),
    "wrong issuer": lambda **more: _signed(_claims(iss=OTHER_ISSUER, **more)),
    "wrong audience": lambda **more: _signed(_claims(aud=OTHER_AUDIENCE, **more)),
    "wrong issuer and audience": lambda **more: _signed(_claims(iss=OTHER_ISSUER, aud=[OTHER_AUDIENCE], **more)),
    "unknown key": lambda **more: _signed(_claims(**more), OTHER_KEY, kid=OTHER_KID),
    "key in the token's own header": lambda **more: _signed(
        _claims(**more), OTHER_KEY, jwk=json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(OTHER_KEY.public_key()))
    ),
    "alg none": lambda **more: _by_hand(_claims(**more), lambda _: b"", alg="none"),
    "public key taken for a secret": lambda **more: _by_hand(_claims(**more), _hmac, alg="HS256"),
    "garbage": lambda **more: _signed(_claims(**more))[::-1],
    "garbage for claims": lambda **more: ".".join([*_signed(_claims(**more)).split(".")[:1], "e30x", "c2ln"]),
    "cut short": lambda **more: _signed(_claims(**more)).rpartition(".")[0],
    "not yet valid": lambda **more: _signed(_claims(nbf=FUTURE, **more)),
}

ALSO: Mapping[str, Mapping[str, object]] = {
    "alone": {},
    "expired": {"exp": PAST},
    "short of a scope": {"scope": SCOPES[0]},
    "without any scope": {"scope": None},
    "expired and short of a scope": {"exp": PAST, "scope": SCOPES[0]},
    "expired, with more scopes": {"exp": PAST, "scope": " ".join([*SCOPES, "files:write"])},
    "nobody's": {"sub": None, "client_id": None},
    "expired and nobody's": {"exp": PAST, "sub": None, "client_id": None},
}


def _flipped(token: str) -> str:
    signed, _, signature = token.rpartition(".")
    octets = bytearray(base64.urlsafe_b64decode(signature + "=="))
    octets[17] ^= 1
    return f"{signed}.{_encoded(bytes(octets))}"


# --- requests, octet by octet ---------------------------------------------------------------------------------------


def _request(method: str = "POST", content: object = CALL, **headers: str) -> Callable[[str, str], bytes]:
    body = b"" if content is None else json.dumps(content).encode()
    lines = {"accept": "application/json, text/event-stream", **headers}
    if content is not None:
        lines |= {"content-type": "application/json", "content-length": str(len(body))}
    fields = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())

    def written(token: str, host: str) -> bytes:
        start = f"{method} /mcp HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n"
        return f"{start}{fields}\r\n".encode() + body

    return written


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "first",
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
REQUESTS = {
    "a call": _request(),
    "a call in German": _request(accept_language="de-AT, de;q=0.9"),
    "a call of a tool that needs more": _request(mcp_method="tools/call", mcp_name="write"),
    "the first request": _request(content=INITIALIZE),
    "a request for the stream": _request("GET", None),
    "the end of a session": _request("DELETE", None),
    "headers alone": _request("HEAD", None),
}

# RFC 9110 §5.6.7, IMF-fixdate: the one thing that may differ, since the clock goes on
_DATE = re.compile(rb"\r\ndate: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r\n")


def _answer(url: str, request: Callable[[str, str], bytes], token: str) -> bytes:
    """Every octet that comes back, but for the time of day."""
    with connect(url) as connection:
        connection.sendall(request(token, urlsplit(url).netloc))
        octets = b"".join(iter(lambda: connection.recv(65_536), b""))
    octets, dates = _DATE.subn(b"\r\n", octets)
    assert dates == 1, octets
    return octets


@pytest.fixture(scope="module")
def jwks() -> Iterator[str]:
    """The URL of the issuer's key set."""
    with serve(key_set(PEM)) as url:
        yield f"{url}/jwks"


@pytest.fixture(scope="module", params=GUARDED)
def url(request: pytest.FixtureRequest, jwks: str) -> Iterator[str]:
    """A running server of each kind."""
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)  # it logs to the terminal by itself
    with serve(GUARDED[request.param](PEM, jwks)) as url:
        yield url


def _reason(octets: bytes) -> str:
    return str(json.loads(octets.partition(b"\r\n\r\n")[2])["error"]["data"]["reason"])


def _what_differs(answers: Mapping[Any, bytes]) -> str:
    """The answers that are there, each with what gave it; empty if there is one."""
    groups: dict[bytes, list[str]] = {}
    for name, answer in answers.items():
        groups.setdefault(answer, []).append(", ".join(name))
    if len(groups) == 1:
        return ""
    return "\n\n".join(f"{'; '.join(names)}:\n{answer.decode()}" for answer, names in groups.items())


# --- what is told ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", REQUESTS)
def test_unverified_is_never_narrowed(url: str, kind: str, figures: Figures) -> None:
    """Whatever does not hold, and whatever else is wrong: one answer, octet by octet."""
    answers = {
        (cause, more): _answer(url, REQUESTS[kind], CAUSES[cause](**ALSO[more]))
        for cause, more in itertools.product(CAUSES, ALSO)
    }
    figures.count("answers to unverified tokens compared, octet by octet", len(answers))
    assert _what_differs(answers) == ""
    if kind != "headers alone":
        assert {_reason(answer) for answer in answers.values()} == {"unverified"}


@pytest.mark.parametrize("kind", REQUESTS)
def test_expired_tells_nothing_of_scopes(url: str, kind: str, figures: Figures) -> None:
    """An expired token is told the same, whichever scopes it held and whichever are asked for."""
    held = ["", None, *SCOPES, " ".join(SCOPES), " ".join([*SCOPES, "files:write"]), "files:write", "other", ["a", "b"]]
    tokens = {(str(scopes),): _signed(_claims(exp=PAST, scope=scopes)) for scopes in held}
    tokens |= {
        ("nobody's", str(scopes)): _signed(_claims(exp=PAST, scope=scopes, sub=None, client_id=None)) for scopes in held
    }
    answers = {name: _answer(url, REQUESTS[kind], token) for name, token in tokens.items()}
    figures.count("answers to expired tokens compared, octet by octet", len(answers))
    assert _what_differs(answers) == ""
    if kind != "headers alone":
        assert {_reason(answer) for answer in answers.values()} == {"expired"}


@pytest.mark.parametrize(
    "request_id", [0, 7, -1, 2**53 - 1, "", "x" * 256, "ключ", None, 2**53, "x" * 257, 1.5, True, {}]
)
def test_ids_apart(url: str, request_id: object) -> None:
    """With every kind of id, two unverified tokens get one answer."""
    request = _request(content={**CALL, "id": request_id})
    causes = ("bad signature", "wrong audience", "alg none", "not yet valid")
    answers = {(cause,): _answer(url, request, CAUSES[cause]()) for cause in causes}
    assert _what_differs(answers) == ""


def _leaks(text: str, forbidden: Mapping[str, str]) -> list[str]:
    return [name for name, mark in forbidden.items() if mark.lower() in text.lower()]


def _forbidden(jwks: str) -> dict[str, str]:
    marks = {**MARKS, "kid": KID, "kid in the token": OTHER_KID, "iss": OTHER_ISSUER, "aud": OTHER_AUDIENCE}
    hosts = {"host of the keys": urlsplit(jwks).netloc, "host": socket.gethostname(), "issuer": urlsplit(ISSUER).netloc}
    return {**marks, **hosts, "path of the code": "site-packages", "traceback": "Traceback"}


def test_no_detail_reaches_the_caller(url: str, jwks: str, caplog: pytest.LogCaptureFixture, figures: Figures) -> None:
    """No claim, key, host or text of an exception is in an answer, though the log has them."""
    caplog.set_level(logging.DEBUG, "mcp_auth_failures")
    tokens = [CAUSES[cause](**ALSO[more]) for cause, more in itertools.product(CAUSES, ALSO)]
    answers = [_answer(url, REQUESTS["a call"], token).decode() for token in tokens]
    raised = {
        f"exception {argument}": str(argument)
        for record in caplog.records
        if "did not verify" in record.msg and isinstance(record.args, tuple)
        for argument in record.args
    }
    assert raised
    forbidden = _forbidden(jwks) | raised
    parts = {f"a part of token {number}": part for number, token in enumerate(tokens) for part in token.split(".")}
    forbidden |= {name: part for name, part in parts.items() if len(part) > 8}
    figures.count("details searched for in answers", len(forbidden))
    for answer in answers:
        assert _leaks(answer, forbidden) == []
        refusal = Refusal.from_response(401, {}, answer.partition("\r\n\r\n")[2])
        assert refusal
        assert _leaks(json.dumps(refusal.tool_result), forbidden) == []
    log = "\n".join(record.getMessage() for record in caplog.records)
    assert _leaks(log, {name: part for name, part in parts.items() if len(part) > 60}) == []


@pytest.mark.parametrize("name", [name for name in GUARDED if name.startswith("SDK")])
def test_default_log_tells_nothing(name: str, jwks: str) -> None:
    """A server started by uvicorn's command, with its default log, writes a line a request and none of ours."""
    variables = {"GUARDED": name, "GUARDED_PEM": PEM, "GUARDED_JWKS": jwks}
    with uvicorn_process("guarded:from_environment", quiet=False, **variables) as process:
        for cause, more in itertools.product(CAUSES, ALSO):
            answer = _answer(process.url, REQUESTS["a call"], CAUSES[cause](**ALSO[more]))
            assert _reason(answer) == "unverified"
        process.stop()
        written = process.written
    assert written.count('"POST /mcp HTTP/1.1" 401') == len(CAUSES) * len(ALSO)
    assert _leaks(written, _forbidden(jwks)) == []


# --- how long it takes ----------------------------------------------------------------------------------------------

Samples = Mapping[str, list[int]]


def _interleaved(measure: Callable[[str], int], rounds: int) -> Samples:
    samples: dict[str, list[int]] = {name: [] for name in BRANCHES}
    order = list(BRANCHES)
    chance = random.Random(6)
    for _ in range(rounds):
        chance.shuffle(order)
        for name in order:
            samples[name].append(measure(name))
    return samples


def _compare(figures: Figures, where: str, samples: Samples) -> tuple[float, float, float]:
    """A branch's median; how far the farthest is from it; and the quartile range of what two that are alike differ by.

    Compared are the times of one round, so that whatever slows the machine down slows down both.
    """
    one = samples["issuer"]
    differences = {
        name: [other - own for own, other in zip(one, times, strict=True)]
        for name, times in samples.items()
        if name != "issuer"
    }
    apart, branch = max((abs(statistics.median(each)), name) for name, each in differences.items())
    first, _, third = statistics.quantiles(differences["issuer, again"], n=4)
    median, noise = statistics.median(one), third - first
    slower = statistics.mean(each > 0 for each in differences[branch])
    figures[f"{where}: times of each of {len(samples)} branches"] = len(one)
    figures[f"{where}: median"] = f"{median / 1000:.1f} µs"
    figures[f"{where}: the farthest branch"] = f"{branch}, {apart / 1000:.1f} µs"
    figures[f"{where}: two that are alike differ by (quartile range)"] = f"{noise / 1000:.1f} µs"
    # four standard errors of a share, that of the rounds in which it was slower
    figures[f"{where}: rounds from which on that can be told"] = round(4 / max(abs(slower - 0.5), 1e-3) ** 2)
    return median, apart, noise


def test_time_in_process(figures: Figures, budget: float) -> None:
    """From claims to bytes, without the noise of any network, the branches differ by a twentieth at most."""
    app = branching()
    tasks = asyncio.Runner()
    requests = {
        name: partial(exchange, app, path=f"/{number}", headers=bearer("x"), content=CALL)
        for number, name in enumerate(BRANCHES)
    }

    def measure(name: str) -> int:
        waiting = requests[name]()
        before = time.perf_counter_ns()
        answer = tasks.run(waiting)
        taken = time.perf_counter_ns() - before
        assert answer.status == 401
        return taken

    with tasks:
        _interleaved(measure, 100)
        samples = _interleaved(measure, int(1000 * budget))
    median, apart, _ = _compare(figures, "in process", samples)
    assert apart <= median / 20


def test_time_over_http(figures: Figures, budget: float) -> None:
    """For a caller on the very same machine, branches differ by less than a quarter of what two alike ones do."""
    body = json.dumps(CALL)
    requests = {
        name: (
            f"POST /{number} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer x\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}"
        ).encode()
        for number, name in enumerate(BRANCHES)
    }

    def measure(name: str) -> int:
        before = time.perf_counter_ns()
        connection.sendall(requests[name])
        response = http.client.HTTPResponse(connection)
        response.begin()
        answer = response.read()
        taken = time.perf_counter_ns() - before
        assert b'"unverified"' in answer
        return taken

    with uvicorn_process("guarded:branching") as process, connect(process.url) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _interleaved(measure, 100)
        samples = _interleaved(measure, int(1500 * budget))
    median, apart, noise = _compare(figures, "over HTTP", samples)
    assert apart <= max(noise / 4, median / 50)
