"""The adapter for the official SDK, in real servers of it. It runs under ``mcp`` 2 and under ``mcp`` 1.30."""

import asyncio
import http.client
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jwk
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import CallToolResult, ListToolsResult, Tool
from servers import (
    AUDIENCE,
    CALL,
    CASES,
    GOOD,
    ISSUER,
    KEY,
    NOW,
    OTHER_KEY,
    SCOPES,
    TOKENS,
    Answer,
    App,
    serve,
    token,
)
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from mcp_auth_failures import Refusal, Wording, load_catalog
from mcp_auth_failures.asgi import AuthFailureMiddleware
from mcp_auth_failures.mcp import (
    ClaimsVerifier,
    NotProvisionedError,
    call_tool_result,
    joserfc_decoder,
    pyjwt_decoder,
)

try:
    import httpx2 as httpx
    from mcp.server.mcpserver import MCPServer
except ImportError:  # mcp 1.30
    import httpx
    from mcp.server.fastmcp import FastMCP as MCPServer

WORDING = Wording(env=False)
PUBLIC = KEY.public_key()
PEM = PUBLIC.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
JWK = jwk.import_key(PEM, "RSA", {"kid": "k1", "alg": "RS256", "use": "sig"})
WITH_KID = jwt.encode(jwt.decode(GOOD, options={"verify_signature": False}), KEY, "RS256", {"kid": "k1"})
DECODERS: Mapping[str, Callable[[], object]] = {
    "PyJWT": lambda: pyjwt_decoder(PUBLIC, ["RS256"]),
    "PyJWT, PEM": lambda: pyjwt_decoder(PEM, ["RS256", "ES256"]),
    "joserfc": lambda: joserfc_decoder(JWK, ["RS256"]),
    "joserfc, key found by a function": lambda: joserfc_decoder(lambda _: JWK, ["RS256", "ES256"]),
}
BY_KID = {
    "PyJWT": lambda url: pyjwt_decoder(jwt.PyJWKClient(url), ["RS256"]),
    "joserfc": lambda _: joserfc_decoder(jwk.KeySet([JWK]), ["RS256"]),
}


def verifier(decode: object = None, **options: object) -> ClaimsVerifier:
    return ClaimsVerifier(
        decode or pyjwt_decoder(PUBLIC, ["RS256"]),
        **{"issuer": ISSUER, "audience": AUDIENCE, "required_scopes": SCOPES, **options},
    )


def server(token_verifier: ClaimsVerifier, **settings: object) -> MCPServer:
    auth = {
        "issuer_url": ISSUER,
        "resource_server_url": AUDIENCE,
        "required_scopes": SCOPES,
        "validate_token_resource": True,
        **settings,
    }
    mcp = MCPServer("Files", token_verifier=token_verifier, auth=AuthSettings(**auth))

    @mcp.tool()
    def echo(text: str) -> str:
        return text

    return mcp


def wrapped(app: Starlette, **options: object) -> App:
    return AuthFailureMiddleware(app, WORDING, **options)


def added(app: Starlette, **options: object) -> App:
    app.add_middleware(AuthFailureMiddleware, wording=WORDING, **options)
    return app


def inside(app: Starlette, **options: object) -> App:
    """Where only what authentication lets through arrives, as in FastMCP's ``http_app(middleware=[…])``."""
    app.user_middleware.append(Middleware(AuthFailureMiddleware, wording=WORDING, **options))
    return app


PLACEMENTS = [wrapped, added, inside]


def post(url: str, token: str | None, *, timeout: float = 30) -> Answer:
    """Call a tool without an MCP client, and see everything of the answer."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    try:
        connection.request("POST", "/mcp", json.dumps(CALL), headers)
        response = connection.getresponse()
        return Answer(response.status, response.getheaders(), response.read())
    finally:
        connection.close()


@asynccontextmanager
async def connected(url: str, token: str | None) -> AsyncIterator[ClientSession]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(headers=headers) as client,
        streamable_http_client(f"{url}/mcp", http_client=client) as (read, write, *_),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


def call(url: str, name: str, *arguments: Mapping[str, object], token: str = GOOD) -> list[dict[str, object]]:
    """The result of a tool for each of these arguments, through the SDK's own client, as it stood on the wire."""

    async def run() -> list[CallToolResult]:
        async with connected(url, token) as session:
            return [await session.call_tool(name, dict(each)) for each in arguments]

    return [result.model_dump(by_alias=True, exclude_none=True, mode="json") for result in asyncio.run(run())]


def echoed(url: str, *, token: str = GOOD) -> bool:
    [result] = call(url, "echo", {"text": "hi"}, token=token)
    return result["content"] == [{"type": "text", "text": "hi"}]


def wire(answer: Answer) -> tuple[object, ...]:
    return answer.status, sorted(pair for pair in answer.headers if pair[0] != "date"), answer.body


# --- every reason ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[*DECODERS], ids=[*DECODERS])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with serve(wrapped(server(verifier(DECODERS[request.param]())).streamable_http_app())) as url:
        yield url


@pytest.mark.parametrize(("reason", "name"), CASES, ids=[name for _, name in CASES])
def test_a_refused_token_is_told_why(url: str, reason: str, name: str) -> None:
    """The SDK's server answers each kind of bad token with its reason, status and id."""
    answer = post(url, TOKENS[reason][name])
    assert (answer.reason, answer.status) == (reason, load_catalog()[reason].failure.status)
    assert answer.refusal.scopes == (tuple(SCOPES) if reason == "insufficient_scope" else ())
    assert answer.content["id"] == CALL["id"]


def test_a_good_token_is_accepted(url: str) -> None:
    """The SDK's own client connects and calls a tool, with the token's resource checked by the SDK as well."""
    assert echoed(url)


def test_nothing_narrows_unverified(url: str) -> None:
    """Whatever is wrong with signature, issuer or audience, the answer is the same to the byte."""
    payload = jwt.decode(GOOD, options={"verify_signature": False})
    confused = ".".join(jwt.encode(payload, "x" * 32, "HS256").split(".")[:2])
    hmac = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    signature = jwt.utils.base64url_encode(hmac.sign(confused.encode(), PEM.encode())).decode()
    tokens = [
        *TOKENS["unverified"].values(),
        jwt.encode(payload, None, "none"),
        jwt.encode(payload, None, "none") + GOOD.rsplit(".", 1)[1],
        f"{confused}.{signature}",  # the public key taken for an HMAC secret
        jwt.encode(payload, OTHER_KEY, "RS256", {"kid": "unknown"}),
        jwt.encode(payload, OTHER_KEY, "RS256", {"kid": "../../etc/passwd\r\nX: y", "jwk": {"kty": "oct", "k": "eA"}}),
        jwt.encode(payload, KEY, "PS256"),
        GOOD[:-4],
        GOOD.rsplit(".", 1)[0],
        "a.b.c",
        "=" * 5000,
    ]
    assert len({str(wire(post(url, token))) for token in tokens}) == 1


@pytest.mark.parametrize("library", BY_KID)
def test_keys_are_found_by_their_id(library: str) -> None:
    """A key set serves the token that names one of its keys; an unknown or absent id is ``unverified``."""

    async def keys(_: object) -> JSONResponse:
        return JSONResponse({"keys": [JWK.as_dict(private=False)]})

    payload = jwt.decode(GOOD, options={"verify_signature": False})
    with serve(Starlette(routes=[Route("/jwks", keys)])) as jwks:
        decode = BY_KID[library](f"{jwks}/jwks")
        with serve(wrapped(server(verifier(decode)).streamable_http_app())) as url:
            assert echoed(url, token=WITH_KID)
            refused = [
                post(url, jwt.encode(payload, KEY, "RS256", {"kid": "k2"})),
                post(url, jwt.encode(payload, OTHER_KEY, "RS256", {"kid": "k1"})),
                post(url, jwt.encode({**payload, "aud": "https://other.example"}, KEY, "RS256", {"kid": "k1"})),
            ]
            late = post(url, jwt.encode({**payload, "exp": NOW - 9}, KEY, "RS256", {"kid": "k1"}))
    assert [answer.reason for answer in refused] == ["unverified"] * 3
    assert len({str(wire(answer)) for answer in refused}) == 1
    assert late.reason == "expired"


def test_keys_are_fetched_beside_other_requests() -> None:
    """While a key set is slow to come, the server answers everybody who does not need it."""
    asked, released = threading.Event(), threading.Event()

    def keys(_: object) -> JSONResponse:
        asked.set()
        released.wait(30)
        return JSONResponse({"keys": [JWK.as_dict(private=False)]})

    with serve(Starlette(routes=[Route("/jwks", keys)])) as jwks, ThreadPoolExecutor(1) as pool:
        decode = pyjwt_decoder(jwt.PyJWKClient(f"{jwks}/jwks"), ["RS256"])
        with serve(wrapped(server(verifier(decode)).streamable_http_app())) as url:
            late = jwt.encode({"iss": ISSUER, "aud": AUDIENCE, "exp": NOW - 600}, KEY, "RS256", {"kid": "k1"})
            waiting = pool.submit(post, url, late)
            assert asked.wait(30)
            assert post(url, None, timeout=10).reason == "no_token"
            released.set()
            assert waiting.result(30).reason == "expired"


def test_keys_that_cannot_be_fetched_verify_nothing() -> None:
    """While the key set is out of reach, every token is ``unverified``, and the log says what happened."""
    decode = pyjwt_decoder(jwt.PyJWKClient("http://127.0.0.1:1/jwks"), ["RS256"])
    with serve(wrapped(server(verifier(decode)).streamable_http_app())) as url:
        assert post(url, WITH_KID).reason == "unverified"


DEPLOYMENT = {"not_provisioned": None, "surface_disabled": "surface_disabled"}
ALL = [(reason, next(iter(tokens.values()))) for reason, tokens in TOKENS.items()]


@pytest.mark.parametrize("place", PLACEMENTS)
def test_every_reason_in_every_placement(place: Callable[..., App]) -> None:
    """Wrapped round the app, added to it or put inside authentication, the middleware tells all seven reasons."""
    app = place(server(verifier()).streamable_http_app())
    with serve(app) as url:
        said = {reason: post(url, token).reason for reason, token in ALL}
    with serve(place(server(verifier(pyjwt_decoder(None, ["RS256"]))).streamable_http_app())) as url:
        said["not_provisioned"] = post(url, GOOD).reason
    off = place(server(verifier()).streamable_http_app(), gate=lambda scope: "surface_disabled")
    with serve(off) as url:
        said["surface_disabled"] = post(url, GOOD).reason
    assert said == {reason: reason for reason in load_catalog().reasons}


@pytest.mark.parametrize(
    "decode",
    [
        pyjwt_decoder(None, ["RS256"]),
        pyjwt_decoder("", ["RS256"]),
        joserfc_decoder(None, ["RS256"]),
        lambda token: (_ for _ in ()).throw(NotProvisionedError),
    ],
    ids=["PyJWT", "PyJWT, blank", "joserfc", "the host's own"],
)
def test_without_a_key_nothing_is_provisioned(decode: object) -> None:
    """A decoder without any key makes every token, good or garbage, ``not_provisioned``: 503, no challenge."""
    with serve(wrapped(server(verifier(decode)).streamable_http_app())) as url:
        answers = [post(url, token) for token in (GOOD, "garbage")]
    assert {(answer.reason, answer.status, *answer.lines("www-authenticate")) for answer in answers} == {
        ("not_provisioned", 503)
    }


def test_the_sdks_client_hands_over_the_refusal() -> None:
    """With ``mcp`` 2 the client's exception reads back as the refusal; with 1.30 it holds the status alone."""

    async def connect(url: str) -> None:
        async with connected(url, TOKENS["expired"]["expired"]):
            raise AssertionError("it was let in")

    def leaf(error: BaseException) -> BaseException:
        return leaf(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error

    app = wrapped(server(verifier()).streamable_http_app())
    with serve(app) as url, pytest.raises(BaseException) as caught:  # noqa: PT011
        asyncio.run(connect(url))
    error = leaf(caught.value)
    if isinstance(error, httpx.HTTPStatusError):
        assert error.response.status_code == 401
    else:
        refusal = Refusal.from_error(error)
        assert refusal
        assert refusal.failure == WORDING.describe("expired")


# --- decoders that fail -------------------------------------------------------------------------------------------


class OwnError(Exception):
    pass


RAISED = [
    ValueError(f"no good: {GOOD}"),
    KeyError(GOOD.split(".")[1]),
    LookupError("kid\r\nforged: line"),
    jwt.ExpiredSignatureError("Signature has expired"),
    jwt.InvalidAudienceError("Audience doesn't match"),
    RecursionError(),
    MemoryError(),
    TimeoutError("https://keys.internal.example/jwks"),
    OwnError("the host's own"),
]
RETURNED = [None, "claims", 7, [], [("iss", ISSUER)], b"{}", object(), {}, {1: 2}, {"iss": [ISSUER]}]


def failing(raised: Exception) -> Callable[[str], object]:
    def decode(token: str) -> object:
        raise raised

    return decode


def failing_later(raised: Exception) -> Callable[[str], object]:
    async def decode(token: str) -> object:
        await asyncio.sleep(0)
        raise raised

    return decode


def later(returned: object) -> Callable[[str], object]:
    async def decode(token: str) -> object:
        return returned

    return decode


BROKEN = [
    *(failing(raised) for raised in RAISED),
    *(failing_later(raised) for raised in RAISED),
    *((lambda token, returned=returned: returned) for returned in RETURNED),
    *(later(returned) for returned in RETURNED),
]


def test_a_decoder_that_fails_tells_nothing() -> None:
    """Whatever a decoder raises or returns, plain or async, the answer is that of a forged token, to the byte."""
    chosen: list[Callable[[str], object]] = []
    app = wrapped(server(verifier(lambda token: chosen[-1](token))).streamable_http_app())
    answers = set()
    with serve(app) as url:
        for decode in [pyjwt_decoder(OTHER_KEY.public_key(), ["RS256"]), *BROKEN]:
            chosen.append(decode)
            answers.add(str(wire(post(url, GOOD))))
    assert len(answers) == 1
    assert "unverified" in answers.pop()


@pytest.mark.parametrize("raised", RAISED, ids=lambda raised: type(raised).__name__)
def test_the_operator_is_told_what_was_raised(raised: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """Type and text go to the log, on one line, and no part of the token with them."""
    caplog.set_level(logging.DEBUG, "mcp_auth_failures")
    assert asyncio.run(verifier(failing(raised)).verify_token(GOOD)) is None
    message = caplog.messages[0]
    assert message.startswith(f"a token did not verify: {type(raised).__name__}: ")
    assert "\n" not in message
    assert not any(part in message for part in GOOD.split("."))


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        (None, "a token did not verify: TypeError: 'decode returned NoneType, not claims'"),
        ([], "a token did not verify: TypeError: 'decode returned list, not claims'"),
        ({"iss": "x"}, "a token's claims: {'iss': 'x', 'aud': None, 'exp': None, 'nbf': None}"),
        (
            {"iss": ISSUER, "aud": ["a", "b"], "exp": 1, "nbf": 2, "sub": "alice"},
            f"a token's claims: {{'iss': '{ISSUER}', 'aud': ['a', 'b'], 'exp': 1, 'nbf': 2}}",
        ),
    ],
)
def test_the_operator_is_told_which_claim(claims: object, message: str, caplog: pytest.LogCaptureFixture) -> None:
    """Issuer, audience and dates of a token that did not hold go to the log, and nobody's identity."""
    caplog.set_level(logging.DEBUG, "mcp_auth_failures")
    assert asyncio.run(verifier(lambda token: claims).verify_token("t")) is None
    assert caplog.messages[0] == message


def test_a_decoder_that_hangs_holds_up_its_own_request_alone() -> None:
    """The client's own timeout ends the wait; the server answers everybody else meanwhile."""
    asked, released = threading.Event(), threading.Event()

    async def decode(token: str) -> object:
        if token == "slow":
            asked.set()
            await asyncio.to_thread(released.wait)
        raise ValueError

    with serve(wrapped(server(verifier(decode)).streamable_http_app())) as url:
        with pytest.raises(TimeoutError):
            post(url, "slow", timeout=0.2)
        assert asked.wait(30)
        assert post(url, "quick").reason == "unverified"
        released.set()


# --- what the SDK gets to see --------------------------------------------------------------------------------------


def accepted(claims: Mapping[str, object], **options: object) -> dict[str, object]:
    whole = {"iss": ISSUER, "aud": AUDIENCE, "exp": NOW + 36_000, "sub": "alice", "scope": " ".join(SCOPES), **claims}
    access = asyncio.run(verifier(lambda token: whole, **options).verify_token("t"))
    assert access is not None
    assert access.claims == whole
    assert access.token == "t"
    return access.model_dump(exclude={"claims", "token"})


DEFAULT = {
    "client_id": "alice",
    "scopes": sorted(SCOPES),
    "expires_at": NOW + 36_000,
    "resource": AUDIENCE,
    "subject": "alice",
}
ALIASES = {"audience": [AUDIENCE, "api://files"]}


@pytest.mark.parametrize(
    ("claims", "options", "fields"),
    [
        ({}, {}, {}),
        ({"client_id": "agent-1", "azp": "agent-2"}, {}, {"client_id": "agent-1"}),
        ({"azp": "agent-2"}, {}, {"client_id": "agent-2"}),
        ({"client_id": " ", "azp": 7}, {}, {"client_id": "alice"}),
        ({"sub": None, "client_id": "agent-1"}, {}, {"client_id": "agent-1", "subject": None}),
        ({"sub": 7, "client_id": "agent-1"}, {}, {"client_id": "agent-1", "subject": None}),
        ({"sub": None, "email": "a@b.example"}, {"identity": ["email"]}, {"client_id": "a@b.example", "subject": None}),
        ({"aud": ["x", AUDIENCE]}, {}, {}),
        ({"aud": "api://files"}, ALIASES, {}),
        ({"iss": "https://two.example"}, {"issuer": {ISSUER, "https://two.example"}}, {}),
        ({"scope": [*SCOPES, "files:write"]}, {}, {"scopes": sorted([*SCOPES, "files:write"])}),
        ({"scope": None, "scp": SCOPES}, {}, {}),
        ({"scope": f" {SCOPES[1]}  {SCOPES[0]} "}, {}, {}),
        ({"scope": None}, {"required_scopes": ()}, {"scopes": []}),
        ({}, {"required_scopes": " ".join(SCOPES)}, {}),
        ({"exp": None}, {"require_exp": False}, {"expires_at": None}),
        ({"exp": NOW + 36_000.25}, {}, {"expires_at": NOW + 36_001}),
        ({"exp": NOW + 36_000.25}, {"leeway": 30}, {"expires_at": NOW + 36_031}),
    ],
)
def test_claims_become_an_access_token(
    claims: Mapping[str, object], options: Mapping[str, object], fields: Mapping[str, object]
) -> None:
    """Each field of the SDK's ``AccessToken`` has the claim that it stands for, and a good token's resource is ours."""
    assert accepted(claims, **options) == DEFAULT | dict(fields)


def test_an_alias_of_this_server_passes_the_sdks_check_of_the_resource() -> None:
    """A token for another of this server's identifiers is accepted to the end, for the first is its resource."""
    with serve(wrapped(server(verifier(**ALIASES)).streamable_http_app())) as url:
        assert echoed(url, token=token(aud="api://files"))


def test_the_leeway_counts_to_the_end() -> None:
    """A token that expired within the leeway is accepted by the SDK too, and one beyond it is told that it expired."""
    late = token(exp=int(time.time()) - 60)
    with serve(wrapped(server(verifier(leeway=600)).streamable_http_app())) as url:
        assert echoed(url, token=late)
        assert post(url, TOKENS["expired"]["expired"]).reason == "expired"
    with serve(wrapped(server(verifier(leeway=59)).streamable_http_app())) as url:
        assert post(url, late).reason == "expired"


@given(
    exp=st.one_of(st.integers(1, 2**40), st.floats(1, 2**40)),
    leeway=st.one_of(st.integers(0, 3600), st.floats(0, 3600)),
    passed=st.floats(-10, 7200),
)
def test_the_sdk_drops_nothing_that_was_accepted(exp: float, leeway: float, passed: float) -> None:
    """At the moment at which a token is accepted, the SDK's own check of ``expires_at`` holds as well."""
    moment = exp + passed
    claims = {"iss": ISSUER, "aud": AUDIENCE, "exp": exp, "sub": "alice"}
    checked = verifier(lambda token: claims, required_scopes=(), leeway=leeway, now=lambda: moment)
    access = asyncio.run(checked.verify_token("t"))
    assert (access is not None) == (exp > moment - leeway)
    if access:
        assert access.expires_at >= int(moment)
        assert exp + leeway <= access.expires_at <= exp + leeway + 2


@given(
    st.dictionaries(
        st.one_of(st.sampled_from(["iss", "aud", "exp", "nbf", "sub", "client_id", "azp", "scope", "scp"]), st.text()),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text() | st.just(AUDIENCE)),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
            max_leaves=5,
        ),
    )
)
def test_no_claims_raise(claims: Mapping[str, object]) -> None:
    """Whatever a verified token holds, it is accepted or refused."""
    base = {"iss": ISSUER, "aud": AUDIENCE, "exp": NOW + 36_000, "sub": "alice"}
    access = asyncio.run(verifier(lambda token: {**base, **claims}, required_scopes=()).verify_token("t"))
    assert access is None or access.client_id.strip()


@pytest.mark.parametrize("leeway", [0, 0.5])
def test_a_date_that_no_clock_reaches(leeway: float) -> None:
    """An ``exp`` of four hundred digits, which JSON allows and no ``float`` holds, is as good as any other."""
    assert accepted({"exp": 10**400}, leeway=leeway)["expires_at"] >= 10**400


@pytest.mark.parametrize("scopes", [["files read"], "a\\b", ["scope=x"], [7]])
def test_a_scope_that_no_challenge_can_name_is_refused_at_once(scopes: object) -> None:
    """Not at the first refusal but when the server starts."""
    with pytest.raises(ValueError, match=r"^scope: .* (is not a scope-token|contains 'scope=')"):
        verifier(required_scopes=scopes)


# --- the decoders ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize(
    "claims",
    [
        {"exp": 1},
        {"exp": "never"},
        {"exp": None, "iss": None, "aud": None, "sub": None},
        {"nbf": NOW + 36_000},
        {"iat": NOW + 36_000},
        {"iat": "x"},
        {"sub": 7, "jti": 7},
        {"aud": [1, 2]},
    ],
)
def test_a_decoder_judges_the_signature_alone(name: str, claims: Mapping[str, object]) -> None:
    """Dates, issuer, audience and subject are left to :func:`diagnose`, however wrong they are."""
    signed = jwt.PyJWS().encode(json.dumps(claims).encode(), KEY, "RS256", {"typ": "at+jwt", "x-tenant": "acme"})
    decoded = DECODERS[name]()(signed)
    assert (asyncio.run(decoded) if asyncio.iscoroutine(decoded) else decoded) == claims


@pytest.mark.parametrize("name", DECODERS)
def test_a_critical_extension_is_not_ignored(name: str) -> None:
    """RFC 7515 §4.1.11: a token that says one must understand what is not understood is not verified."""
    signed = jwt.PyJWS().encode(b"{}", KEY, "RS256", {"crit": ["x-tenant"], "x-tenant": "acme"})
    assert asyncio.run(verifier(DECODERS[name](), required_scopes=()).verify_token(signed)) is None


@pytest.mark.parametrize("decoder", [pyjwt_decoder, joserfc_decoder])
@pytest.mark.parametrize("algorithms", [[], ["none"], "none", ["RS256", "None"], ["RS256", "HS256"]])
def test_algorithms_that_would_let_anybody_in(decoder: Callable[..., object], algorithms: object) -> None:
    """No decoder is made for unsigned tokens, for whatever algorithm comes, or for HMAC beside public keys."""
    names = [algorithms] if isinstance(algorithms, str) else algorithms
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        decoder(None, algorithms)
    assert str(caught.value) == f"algorithms: {names!r} should be those that the issuer signs with, such as ['RS256']"


@pytest.mark.parametrize(
    "decode",
    [pyjwt_decoder("s" * 32, ["HS256"]), joserfc_decoder(jwk.OctKey.import_key("s" * 32), "HS256")],
    ids=["PyJWT", "joserfc"],
)
def test_a_shared_secret_serves_as_well(decode: object) -> None:
    """HMAC alone is an algorithm like another."""
    claims = jwt.decode(GOOD, options={"verify_signature": False})
    access = asyncio.run(verifier(decode).verify_token(jwt.encode(claims, "s" * 32, "HS256")))
    assert access
    assert access.subject == "alice"


# --- the tool's result ----------------------------------------------------------------------------------------------

REASONS = [*load_catalog().reasons]


def refusal(reason: str, language: str) -> Refusal:
    return WORDING.refusal(
        reason, language, scopes=["files:write"], resource_metadata_url="https://mcp.example/.well-known/x"
    )


def low_level() -> App:
    """The same tool in a ``Server`` without conveniences, as each major version has it."""
    tools = [Tool.model_validate({"name": "refuse", "inputSchema": {"type": "object"}})]
    if hasattr(Server, "call_tool"):  # mcp 1.30
        server = Server("Low")

        @server.list_tools()
        async def list_tools() -> list[Tool]:
            return tools

        @server.call_tool()
        async def call_tool(name: str, arguments: dict[str, str]) -> CallToolResult:
            return call_tool_result(refusal(**arguments))

    else:

        async def on_list_tools(context: object, params: object) -> ListToolsResult:
            return ListToolsResult(tools=tools)

        async def on_call_tool(context: object, params: object) -> CallToolResult:
            return call_tool_result(refusal(**params.arguments))

        server = Server("Low", on_list_tools=on_list_tools, on_call_tool=on_call_tool)
    manager = StreamableHTTPSessionManager(server)
    return Starlette(routes=[Mount("/", manager.handle_request)], lifespan=lambda _: manager.run())


@pytest.fixture(scope="module", params=["MCPServer", "Server"])
def tools(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "MCPServer":
        mcp = server(verifier())

        @mcp.tool()
        def refuse(reason: str, language: str) -> CallToolResult:
            return call_tool_result(refusal(reason, language))

        app = mcp.streamable_http_app()
    else:
        app = low_level()
    with serve(app) as url:
        yield url


@pytest.mark.parametrize("reason", REASONS)
def test_a_tool_refuses_with_all_that_a_client_reads(tools: str, reason: str) -> None:
    """In every language the client gets the sentence, ``isError`` and the whole ``_meta``, as the refusal has them."""
    results = call(tools, "refuse", *({"reason": reason, "language": language} for language in WORDING.languages))
    assert [{name: result[name] for name in ("content", "isError", "_meta")} for result in results] == [
        refusal(reason, language).tool_result for language in WORDING.languages
    ]
