"""The adapter for FastMCP, in real servers of it, with every kind of authentication provider."""

import asyncio
import base64
import hashlib
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.auth import AccessToken, AuthProvider, MultiAuth, OAuthProxy, RemoteAuthProvider, TokenVerifier
from fastmcp.server.auth.jwt_issuer import JWTIssuer
from fastmcp.server.auth.providers.aws import AWSCognitoTokenVerifier
from fastmcp.server.auth.providers.introspection import IntrospectionTokenVerifier
from fastmcp.server.auth.providers.jwt import JWTVerifier, StaticTokenVerifier
from fastmcp.tools import ToolResult
from joserfc import jwk
from key_value.aio.stores.memory import MemoryStore
from servers import (
    AUDIENCE,
    CALL,
    CASES,
    GOOD,
    ISSUER,
    KEY,
    METADATA,
    NOW,
    OTHER_KEY,
    SCOPES,
    TOKENS,
    Answer,
    App,
    ask,
    bearer,
    serve,
    token,
)
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcp_auth_failures import Refusal, Wording, load_catalog
from mcp_auth_failures.asgi import AuthFailureMiddleware
from mcp_auth_failures.fastmcp import tool_result, with_reasons

WORDING = Wording(env=False)
BASE = "https://mcp.example"
PEM = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
OTHER_PEM = OTHER_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
SIGNING_KEY = b"the proxy's own secret, of 32 octets at least"
REDIRECT = "http://127.0.0.1:1/callback"
HTTP = httpx2.Client(limits=httpx2.Limits(max_keepalive_connections=0))


def post(url: str, token: str | None, *, timeout: float = 30) -> Answer:
    """Call a tool without an MCP client, and see everything of the answer."""
    headers = [("accept", "application/json, text/event-stream"), *bearer(token)]
    response = HTTP.post(f"{url}/mcp", json=CALL, headers=headers, timeout=timeout)
    return Answer(response.status_code, response.headers.multi_items(), response.content)


def wire(answer: Answer) -> str:
    return str((answer.status, sorted(pair for pair in answer.headers if pair[0] != "date"), answer.body))


# --- the authorization server --------------------------------------------------------------------------------------


@dataclass
class Issuer:
    """A stub authorization server: keys, tokens for codes, and introspection (RFC 7662), every request counted.

    It does not judge ``exp``, so that an introspected token can be active and expired at once. A token that ``answers``
    knows is answered as that says.
    """

    requests: Counter[str] = field(default_factory=Counter)
    answers: dict[str, Callable[[], Response]] = field(default_factory=dict)

    def app(self) -> Starlette:
        routes = [
            Route(f"/{name}", getattr(self, name), methods=["GET", "POST"]) for name in ("jwks", "token", "about")
        ]
        return Starlette(routes=routes)

    async def jwks(self, request: Request) -> Response:
        self.requests["jwks"] += 1
        return JSONResponse({"keys": [jwk.import_key(PEM, "RSA").as_dict(private=False, kid="k1")]})

    async def token(self, request: Request) -> Response:
        self.requests["token"] += 1
        form = dict(parse_qsl((await request.body()).decode()))
        return JSONResponse({"access_token": form["code"], "token_type": "Bearer", "expires_in": 3600})

    async def about(self, request: Request) -> Response:
        self.requests["about"] += 1
        asked = dict(parse_qsl((await request.body()).decode()))["token"]
        if asked in self.answers:
            return await asyncio.to_thread(self.answers[asked])
        lenient = {f"verify_{name}": False for name in ("aud", "exp", "iat", "sub")}
        try:
            claims = jwt.decode(asked, KEY.public_key(), ["RS256"], issuer=ISSUER, options=lenient)
        except jwt.InvalidTokenError:
            return JSONResponse({"active": False})
        return JSONResponse({"active": "exp" in claims, **claims})


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Iterator[None]:
    """FastMCP logs to the terminal by itself, from the server's thread and at any moment."""
    logger = logging.getLogger("fastmcp")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture(scope="module")
def issuer_url(issuer: Issuer) -> Iterator[str]:
    with serve(issuer.app()) as url:
        yield url


# --- providers -----------------------------------------------------------------------------------------------------


def jwt_verifier(**options: object) -> JWTVerifier:
    keys = {} if "jwks_uri" in options else {"public_key": PEM}
    return JWTVerifier(**{"issuer": ISSUER, "audience": AUDIENCE, "required_scopes": SCOPES, **keys, **options})


def of_machines(**options: object) -> JWTVerifier:
    return jwt_verifier(public_key=OTHER_PEM, issuer="https://machines.example", **options)


def remote(verifier: TokenVerifier, **options: object) -> RemoteAuthProvider:
    return RemoteAuthProvider(verifier, [ISSUER], base_url=BASE, **options)


def introspection(url: str, **options: object) -> IntrospectionTokenVerifier:
    return IntrospectionTokenVerifier(
        **{
            "introspection_url": f"{url}/about",
            "client_id": "files",
            "client_secret": "s",
            "audience": AUDIENCE,
            "required_scopes": SCOPES,
            **options,
        }
    )


def proxy(url: str, verifier: TokenVerifier | None = None, **options: object) -> OAuthProxy:
    return OAuthProxy(
        upstream_authorization_endpoint=f"{url}/authorize",
        upstream_token_endpoint=f"{url}/token",
        upstream_client_id="files",
        upstream_client_secret="s",
        token_verifier=verifier or jwt_verifier(),
        base_url=BASE,
        client_storage=MemoryStore(),
        jwt_signing_key=SIGNING_KEY,
        require_authorization_consent="external",
        **options,
    )


PROVIDERS: dict[str, Callable[[str], AuthProvider]] = {
    "JWTVerifier": lambda url: jwt_verifier(),
    "JWTVerifier, key set": lambda url: jwt_verifier(jwks_uri=f"{url}/jwks"),
    "RemoteAuthProvider": lambda url: remote(jwt_verifier()),
    "MultiAuth, server": lambda url: MultiAuth(server=remote(jwt_verifier()), verifiers={"machines": of_machines()}),
    "MultiAuth, verifier": lambda url: MultiAuth(verifiers={"machines": of_machines(), "people": jwt_verifier()}),
    "IntrospectionTokenVerifier": introspection,
    "OAuthProxy": proxy,
    "MultiAuth, OAuthProxy": lambda url: MultiAuth(server=proxy(url), verifiers={"machines": of_machines()}),
}
PROXIES = {"OAuthProxy", "MultiAuth, OAuthProxy"}


def server(auth: AuthProvider) -> FastMCP:
    mcp = FastMCP("Files", auth=auth)

    @mcp.tool
    def echo(text: str) -> str:
        return text

    return mcp


def outside(mcp: FastMCP, **options: object) -> App:
    return AuthFailureMiddleware(mcp.http_app(), WORDING, **options)


def inside(mcp: FastMCP, **options: object) -> App:
    return mcp.http_app(middleware=[Middleware(AuthFailureMiddleware, wording=WORDING, **options)])


PLACEMENTS = [outside, inside]


def issued(url: str, upstream: str) -> str:
    """Sign in at a proxy whose authorization server gives this token, and get the proxy's own."""
    verifier = "v" * 43
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    client = {"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"}
    client_id = HTTP.post(f"{url}/register", json=client).json()["client_id"]
    asked = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": REDIRECT,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "scope": " ".join(SCOPES),
        "state": "s",
    }
    to_issuer = HTTP.get(f"{url}/authorize", params=asked).headers["location"]
    back = {"code": upstream, "state": parse_qs(urlsplit(to_issuer).query)["state"][0]}
    to_client = HTTP.get(f"{url}/auth/callback", params=back).headers["location"]
    grant = {
        "grant_type": "authorization_code",
        "code": parse_qs(urlsplit(to_client).query)["code"][0],
        "client_id": client_id,
        "redirect_uri": REDIRECT,
        "code_verifier": verifier,
    }
    return str(HTTP.post(f"{url}/token", data=grant).json()["access_token"])


# --- every reason ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    url: str
    provider: str

    def post(self, token: str | None) -> Answer:
        """Call a tool; through a proxy, as somebody for whom the authorization server has this token."""
        if token is not None and self.provider in PROXIES:
            token = issued(self.url, token)
        return post(self.url, token)


@pytest.fixture(
    scope="module",
    params=[(name, where) for name in PROVIDERS for where in PLACEMENTS],
    ids=lambda param: f"{param[0]}, {param[1].__name__}",
)
def place(request: pytest.FixtureRequest, issuer_url: str) -> Iterator[Place]:
    name, where = request.param
    with serve(where(server(with_reasons(PROVIDERS[name](issuer_url))))) as url:
        yield Place(url, name)


JUDGED = [(reason, name) for reason, name in CASES if name != "without exp"]  # which FastMCP accepts


@pytest.mark.parametrize(("reason", "name"), JUDGED, ids=[name for _, name in JUDGED])
def test_a_refused_token_is_told_why(place: Place, reason: str, name: str) -> None:
    """Every provider answers each kind of bad token with its reason and status, and all the scopes that are needed."""
    answer = place.post(TOKENS[reason][name])
    assert (answer.reason, answer.status) == (reason, load_catalog()[reason].failure.status)
    if reason == "insufficient_scope":
        assert sorted(answer.refusal.scopes) == sorted(SCOPES)


def test_a_good_token_is_accepted(place: Place) -> None:
    """FastMCP's own client connects and calls a tool."""
    good = issued(place.url, GOOD) if place.provider in PROXIES else GOOD

    async def call() -> object:
        async with Client(f"{place.url}/mcp", auth=good) as client:
            return (await client.call_tool("echo", {"text": "hi"})).data

    assert asyncio.run(call()) == "hi"


def test_nothing_narrows_unverified(place: Place) -> None:
    """Whatever is wrong with signature, issuer or audience, the answer is the same to the byte."""
    payload = jwt.decode(GOOD, options={"verify_signature": False})
    tokens = [
        *(TOKENS["unverified"][name] for reason, name in JUDGED if reason == "unverified"),
        jwt.encode(payload, None, "none"),
        jwt.encode(payload, "x" * 32, "HS256"),
        jwt.encode(payload, OTHER_KEY, "RS256", {"kid": "unknown"}),
        jwt.encode(payload, KEY, "PS256"),
        jwt.encode({**payload, "exp": NOW - 600}, KEY, "PS256"),
        GOOD[:-4],
        "a.b.c",
    ]
    assert len({wire(place.post(token)) for token in tokens}) == 1


@pytest.mark.parametrize("where", PLACEMENTS)
def test_reasons_are_not_mixed_up(where: Callable[..., App]) -> None:
    """Of many requests at once, each gets the reason of its own token."""
    kinds = [(reason, TOKENS[reason][name]) for reason, name in JUDGED] * 20
    auth = MultiAuth(verifiers={"machines": of_machines(), "people": jwt_verifier()}, required_scopes=SCOPES)

    async def run(url: str) -> list[str]:
        async with httpx2.AsyncClient(limits=httpx2.Limits(max_connections=100), timeout=60) as client:
            headers = [("accept", "application/json, text/event-stream")]
            sent = (client.post(f"{url}/mcp", json=CALL, headers=[*headers, *bearer(each)]) for _, each in kinds)
            return [response.json()["error"]["data"]["reason"] for response in await asyncio.gather(*sent)]

    with serve(where(server(with_reasons(auth)))) as url:
        assert asyncio.run(run(url)) == [reason for reason, _ in kinds]


@pytest.mark.parametrize("where", PLACEMENTS)
def test_the_deployments_own_reasons(where: Callable[..., App]) -> None:
    """The gate closes a FastMCP server in either placement, for good tokens as for none."""
    for reason in ("not_provisioned", "surface_disabled"):
        with serve(where(server(with_reasons(jwt_verifier())), gate=lambda scope, reason=reason: reason)) as url:
            assert {(answer.reason, answer.status) for answer in (post(url, GOOD), post(url, None))} == {(reason, 503)}


# --- what each kind of provider is asked ---------------------------------------------------------------------------


def refused(auth: AuthProvider, *tokens: str, **options: object) -> list[str]:
    """The reasons for tokens, from an application with this provider."""
    app = outside(server(with_reasons(auth, **options)))
    return [ask(app, headers=bearer(token), content=CALL).reason for token in tokens]


def accepts(auth: AuthProvider, token: str) -> bool:
    with serve(outside(server(with_reasons(auth)))) as url:
        return post(url, token).content["error"]["message"] == "Bad Request: Missing session ID"


def test_the_same_provider_comes_back() -> None:
    """It can be wrapped where it is made or where it is used, and twice is once."""
    verifier = jwt_verifier()
    auth = remote(verifier)
    assert with_reasons(auth) is auth
    once = verifier.verify_token
    assert with_reasons(verifier) is verifier
    assert verifier.verify_token is once


def test_a_token_without_exp_is_accepted_as_before() -> None:
    """What FastMCP accepts is accepted, but for a token without an identity."""
    assert accepts(jwt_verifier(), token(exp=None))
    assert accepts(jwt_verifier(issuer=None, audience=None), token(iss=None, aud=None))
    assert accepts(jwt_verifier(), token(nbf=NOW + 20))  # FastMCP's own leeway


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": "soon"}, "unverified"),
        ({"exp": True}, "unverified"),
        ({"exp": NOW - 5, "scope": {}}, "expired"),
        ({"exp": NOW - 5, "nbf": NOW + 36_000}, "unverified"),
        ({"exp": NOW - 5, "aud": [AUDIENCE, "x"]}, "expired"),
        ({"exp": NOW - 5, "aud": ["x"]}, "unverified"),
        ({"exp": NOW - 5, "iss": None}, "unverified"),
        ({"sub": None, "client_id": None, "scope": "x"}, "incomplete"),
        ({"sub": 7, "client_id": None}, "unverified"),
    ],
)
def test_the_verifier_itself_judges_all_but_the_date(claims: dict[str, object], reason: str) -> None:
    """A token that expired is ``expired`` only if FastMCP would accept it otherwise."""
    assert refused(jwt_verifier(), token(**claims)) == [reason]


@pytest.mark.parametrize(
    ("key", "public", "algorithm"),
    [
        ("s" * 32, "s" * 32, "HS256"),
        ("s" * 32, b"s" * 32, "HS256"),
        (KEY, PEM, "PS384"),
        (KEY, PEM.encode(), "RS512"),
    ],
)
def test_every_kind_of_key(key: object, public: str | bytes, algorithm: str) -> None:
    """Secrets and public keys, as text or bytes, serve for telling an expired token."""
    claims = jwt.decode(TOKENS["expired"]["expired"], options={"verify_signature": False})
    verifier = jwt_verifier(public_key=public, algorithm=algorithm)
    assert refused(verifier, jwt.encode(claims, key, algorithm)) == ["expired"]


def test_a_critical_extension_is_not_ignored() -> None:
    """RFC 7515 §4.1.11: nothing is told of a token that one must understand and does not; other headers do no harm."""
    claims = jwt.decode(TOKENS["expired"]["expired"], options={"verify_signature": False})
    critical = jwt.encode(claims, KEY, "RS256", {"crit": ["x-tenant"], "x-tenant": "acme"})
    harmless = jwt.encode(claims, KEY, "RS256", {"typ": "at+jwt", "x-tenant": "acme"})
    assert refused(jwt_verifier(), critical, harmless) == ["unverified", "expired"]


def test_a_subclass_keeps_its_own_rules() -> None:
    """Nothing is told of a token that a subclass would refuse whatever its date: here by its ``client_id``."""
    verifier = AWSCognitoTokenVerifier(public_key=PEM, issuer=ISSUER, audience="agent-1", required_scopes=SCOPES)
    late = {"exp": NOW - 600}
    tokens = token(**late), token(**late, client_id="agent-2"), token(client_id="agent-2"), token(scope="x")
    assert refused(verifier, *tokens) == ["expired", "unverified", "unverified", "insufficient_scope"]


class AccessTokensOnly(JWTVerifier):
    """A host's verifier that knows access tokens by their ``typ`` (RFC 9068 §2.1)."""

    async def load_access_token(self, token: str) -> AccessToken | None:
        typ = jwt.get_unverified_header(token).get("typ")
        return await super().load_access_token(token) if typ == "at+jwt" else None


def test_a_subclass_sees_the_header_too() -> None:
    """Of an expired token that was none for this server, nothing is told."""
    claims = jwt.decode(TOKENS["expired"]["expired"], options={"verify_signature": False})
    verifier = AccessTokensOnly(public_key=PEM, issuer=ISSUER, audience=AUDIENCE)
    tokens = [jwt.encode(claims, KEY, "RS256", {"typ": typ}) for typ in ("at+jwt", "JWT")]
    assert refused(verifier, *tokens) == ["expired", "unverified"]


@pytest.mark.parametrize(
    ("identity", "claims", "reason"),
    [
        (["email"], {}, "incomplete"),
        (["email"], {"exp": NOW - 600}, "expired"),
        (["email"], {"email": "a@b.example", "scope": "x"}, "insufficient_scope"),
        (["sub"], {"sub": None}, "incomplete"),
    ],
)
def test_the_host_says_what_an_identity_is(identity: list[str], claims: dict[str, object], reason: str) -> None:
    """Other claims than the usual ones can be asked for."""
    assert refused(jwt_verifier(), token(**claims), identity=identity) == [reason]


def test_keys_are_not_fetched_for_the_reason(issuer: Issuer, issuer_url: str) -> None:
    """Finding out why costs no more requests to the key set than FastMCP itself makes."""
    issuer.requests.clear()
    claims = jwt.decode(GOOD, options={"verify_signature": False})
    unknown = [jwt.encode(claims, OTHER_KEY, "RS256", {"kid": f"k{number}"}) for number in range(2, 6)]
    verifier = jwt_verifier(jwks_uri=f"{issuer_url}/jwks")
    reasons = refused(verifier, *unknown, TOKENS["expired"]["expired"], token(scope="x"))
    assert reasons == ["unverified"] * 4 + ["expired", "insufficient_scope"]
    assert issuer.requests == {"jwks": 1}


def test_keys_that_cannot_be_fetched_verify_nothing() -> None:
    """While the key set is out of reach, every token is ``unverified``."""
    verifier = jwt_verifier(jwks_uri="http://127.0.0.1:1/jwks")
    assert refused(verifier, GOOD, TOKENS["expired"]["expired"]) == ["unverified"] * 2


# --- introspection -------------------------------------------------------------------------------------------------

ACTIVE = {"active": True, "sub": "alice", "aud": AUDIENCE, "exp": NOW + 600, "scope": " ".join(SCOPES)}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"active": False}, "unverified"),
        ({**ACTIVE, "active": False, "exp": NOW - 600}, "unverified"),
        ({**ACTIVE, "active": None, "scope": "x"}, "unverified"),
        ({**ACTIVE, "exp": NOW - 600}, "expired"),
        ({**ACTIVE, "exp": NOW - 600, "aud": "x"}, "unverified"),
        ({**ACTIVE, "exp": "x"}, "unverified"),
        ({**ACTIVE, "aud": None}, "unverified"),
        ({**ACTIVE, "sub": None}, "incomplete"),
        ({**ACTIVE, "sub": None, "scope": "x"}, "incomplete"),
        ({**ACTIVE, "scope": SCOPES[:1]}, "insufficient_scope"),
        ({**ACTIVE, "scope": None}, "insufficient_scope"),
        ({}, "unverified"),
        ([ACTIVE], "unverified"),
        (None, "unverified"),
        ("active", "unverified"),
    ],
)
def test_an_introspected_token(issuer: Issuer, issuer_url: str, answer: object, reason: str) -> None:
    """As much is told as the authorization server said, in the one answer that it gave."""
    issuer.answers["opaque"] = lambda: JSONResponse(answer)
    issuer.requests.clear()
    assert refused(introspection(issuer_url), "opaque") == [reason]
    assert issuer.requests == {"about": 1}


@pytest.mark.parametrize(
    "answer",
    [
        Response("nonsense", media_type="application/json"),
        Response(status_code=204),
        JSONResponse({**ACTIVE, "exp": NOW - 600}, 500),
        JSONResponse({"error": "invalid_client"}, 401),
    ],
    ids=["nonsense", "nothing", "500", "401"],
)
def test_an_authorization_server_that_fails(issuer: Issuer, issuer_url: str, answer: Response) -> None:
    """No answer that is not one says anything of the token."""
    issuer.answers["opaque"] = lambda: answer
    assert refused(introspection(issuer_url), "opaque") == ["unverified"]


def test_an_authorization_server_that_hangs(issuer: Issuer, issuer_url: str) -> None:
    """The client's own timeout ends the wait; the server answers everybody else meanwhile."""
    asked, released = threading.Event(), threading.Event()

    def hang() -> Response:
        asked.set()
        released.wait(30)
        return JSONResponse({"active": False})

    issuer.answers["slow"] = hang
    with serve(outside(server(with_reasons(introspection(issuer_url))))) as url:
        with pytest.raises(httpx2.ReadTimeout):
            post(url, "slow", timeout=0.2)
        assert asked.wait(30)
        assert post(url, "garbage").reason == "unverified"
        released.set()


def test_introspection_keeps_its_cache_and_client(issuer: Issuer, issuer_url: str) -> None:
    """Accepted tokens are cached as before, refused ones are not, and the host's own HTTP client is used."""
    issuer.requests.clear()
    seen: list[str] = []

    async def hook(request: httpx2.Request) -> None:
        seen.append(request.url.path)

    async def run() -> list[bool]:
        async with httpx2.AsyncClient(event_hooks={"request": [hook]}) as client:
            auth = with_reasons(introspection(issuer_url, cache_ttl_seconds=600, http_client=client))
            tokens = (GOOD, GOOD, token(scope="x"), token(scope="x"), GOOD)
            return [await auth.verify_token(each) is not None for each in tokens]

    assert asyncio.run(run()) == [True, True, False, False, True]
    assert issuer.requests == {"about": 3}
    assert seen == ["/about"] * 3


def test_a_subclass_of_introspection_keeps_its_own_rules(issuer: Issuer, issuer_url: str) -> None:
    """Where a subclass judges more, no more is told than that the token is ``unverified``."""

    class Tenant(IntrospectionTokenVerifier):
        async def verify_token(self, token: str) -> AccessToken | None:
            accepted = await super().verify_token(token)
            return accepted if accepted and accepted.claims.get("tenant") == "acme" else None

    issuer.answers |= {
        "ours": lambda: JSONResponse({**ACTIVE, "tenant": "acme"}),
        "nobody's": lambda: JSONResponse({**ACTIVE, "tenant": "acme", "sub": None}),
        "theirs": lambda: JSONResponse({**ACTIVE, "tenant": "other", "exp": NOW - 600}),
    }
    verifier = Tenant(introspection_url=f"{issuer_url}/about", client_id="f", client_secret="s", required_scopes=SCOPES)
    assert refused(verifier, "theirs", "nobody's") == ["unverified", "incomplete"]
    assert accepts(verifier, "ours")


# --- several sources -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": NOW - 600}, "expired"),
        ({"scope": "x"}, "insufficient_scope"),
        ({"sub": None, "client_id": None}, "incomplete"),
        ({"aud": "x", "exp": NOW - 600}, "unverified"),
    ],
)
def test_the_source_that_knows_a_token_says_why(claims: dict[str, object], reason: str) -> None:
    """Of several sources, one has the reason, in whatever place it stands."""
    of_machine = token(OTHER_KEY, iss="https://machines.example", **claims)
    assert refused(MultiAuth(verifiers={"a": jwt_verifier(), "b": of_machines()}), of_machine) == [reason]
    assert refused(MultiAuth(verifiers={"b": of_machines(), "a": jwt_verifier()}), of_machine) == [reason]


def test_a_source_that_accepts_is_enough() -> None:
    """The reasons of one source are nothing where another accepts the token."""
    narrow = jwt_verifier(required_scopes=["admin"])
    assert accepts(MultiAuth(verifiers={"narrow": narrow, "wide": jwt_verifier()}, required_scopes=[]), GOOD)
    assert accepts(
        MultiAuth(verifiers={"late": introspection("http://127.0.0.1:1"), "wide": jwt_verifier()}, required_scopes=[]),
        GOOD,
    )


# --- which scopes are asked for ------------------------------------------------------------------------------------


class Azure(JWTVerifier):
    """Whose authorization server knows scopes by another name than its tokens do."""

    def get_challenge_scopes(self, required_scopes: list[str] | None = None) -> list[str]:
        return [f"api://files/{scope}" for scope in self.required_scopes if required_scopes is None]


def azure() -> Azure:
    return Azure(public_key=PEM, issuer=ISSUER, audience=AUDIENCE, required_scopes=["read"])


@pytest.mark.parametrize(
    ("auth", "scopes"),
    [
        (azure, ["api://files/read"]),
        (lambda: remote(azure()), ["api://files/read"]),
        (lambda: remote(azure(), challenge_scopes=["files.read"]), ["files.read"]),
        (lambda: MultiAuth(verifiers={"m": of_machines(), "a": azure()}, required_scopes=["x"]), ["api://files/read"]),
        (lambda: remote(jwt_verifier(required_scopes=[]), required_scopes=["a", "b"], challenge_scopes=["A"]), ["A"]),
    ],
    ids=["verifier", "RemoteAuthProvider", "its own", "MultiAuth", "required by the provider alone"],
)
def test_scopes_are_named_as_the_authorization_server_knows_them(
    auth: Callable[[], AuthProvider], scopes: list[str]
) -> None:
    """Of whatever provider can translate them, and with 403, wherever FastMCP finds that one is missing."""
    app = outside(server(with_reasons(auth())))
    answer = ask(app, headers=bearer(token(scope="other")), content=CALL)
    assert (answer.reason, answer.status) == ("insufficient_scope", 403)
    assert list(answer.refusal.scopes) == scopes


# --- the proxy's own tokens ----------------------------------------------------------------------------------------


def test_the_proxys_own_tokens(issuer_url: str) -> None:
    """A token that the proxy issued and that has expired is ``expired``; no other is told anything."""
    auth = with_reasons(proxy(issuer_url))
    with serve(outside(server(auth))) as url:
        issue = {"client_id": "c", "scopes": SCOPES, "jti": "j"}
        other = JWTIssuer(auth.jwt_issuer.issuer, "https://other.example/mcp", SIGNING_KEY)
        elsewhere = JWTIssuer("https://other.example", auth.jwt_issuer.audience, SIGNING_KEY)
        forged = JWTIssuer(auth.jwt_issuer.issuer, auth.jwt_issuer.audience, b"another secret of 32 octets and more")
        said = {
            "late": post(url, auth.jwt_issuer.issue_access_token(**issue, expires_in=-60)),
            "for another": post(url, other.issue_access_token(**issue, expires_in=-60)),
            "by another": post(url, elsewhere.issue_access_token(**issue, expires_in=-60)),
            "forged": post(url, forged.issue_access_token(**issue, expires_in=-60)),
            "refresh token": post(url, auth.jwt_issuer.issue_refresh_token(**issue, expires_in=-60)),
            "revoked": post(url, auth.jwt_issuer.issue_access_token(**issue)),
            "upstream": post(url, GOOD),
        }
    assert {name: answer.reason for name, answer in said.items()} == {"late": "expired"} | dict.fromkeys(
        ["for another", "by another", "forged", "refresh token", "revoked", "upstream"], "unverified"
    )
    assert len({wire(answer) for name, answer in said.items() if name != "late"}) == 1


# --- other verifiers -----------------------------------------------------------------------------------------------


class Custom(TokenVerifier):
    """A host's own verifier, that does what it is told."""

    def __init__(self, outcome: object, **options: object) -> None:
        super().__init__(**options)
        self.outcome = outcome

    async def verify_token(self, token: str) -> AccessToken | None:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def access(**fields: object) -> AccessToken:
    return AccessToken(**{"token": "t", "client_id": "agent-1", "scopes": SCOPES, **fields})


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (None, "unverified"),
        (access(client_id=" "), "incomplete"),
        (access(client_id="", claims={"sub": ""}), "incomplete"),
        (access(expires_at=NOW - 600), "expired"),
        (access(scopes=["x"]), "insufficient_scope"),
    ],
)
def test_a_hosts_own_verifier(outcome: object, reason: str) -> None:
    """Whose "no" says no more than that, and whose "yes" must name somebody."""
    assert refused(Custom(outcome, required_scopes=SCOPES), "t") == [reason]


@pytest.mark.parametrize("outcome", [access(), access(claims={"scope": 7, "exp": "x", "nbf": "x", "aud": 7})])
def test_a_hosts_own_claims_are_its_own(outcome: AccessToken) -> None:
    """Claims that a host's verifier has accepted are not judged again."""
    assert accepts(Custom(outcome), "t")


def test_the_shipped_static_tokens() -> None:
    """FastMCP's verifier for development works as before."""
    verifier = StaticTokenVerifier({"t": {"client_id": "c", "scopes": ["a"]}}, required_scopes=["a"])
    assert accepts(verifier, "t")
    assert refused(StaticTokenVerifier({"t": {"client_id": "c", "scopes": []}}), "x") == ["unverified"]


def test_an_outage_of_a_verifier_stays_what_it_is() -> None:
    """What a host's verifier raises is no refusal of a token: it stays a server error, and no reason is given."""
    with serve(outside(server(with_reasons(Custom(RuntimeError("down")))))) as url:
        answer = post(url, "t")
    assert (answer.status, answer.body) == (500, b"Internal Server Error")
    auth = MultiAuth(verifiers={"down": Custom(RuntimeError("down")), "people": jwt_verifier()}, required_scopes=[])
    assert refused(auth, TOKENS["expired"]["expired"]) == ["expired"]


def test_the_operator_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """What FastMCP logs of a refused token, it does not log again where it is asked for the reason."""
    caplog.set_level(logging.WARNING, "fastmcp")
    assert asyncio.run(with_reasons(jwt_verifier()).verify_token(token(aud="x"))) is None
    assert ["audience mismatch" in message for message in caplog.messages] == [True]


def test_the_operator_is_told_what_was_raised(caplog: pytest.LogCaptureFixture) -> None:
    """Why no more could be found out goes to the log."""
    caplog.set_level(logging.DEBUG, "mcp_auth_failures")
    assert asyncio.run(with_reasons(jwt_verifier()).verify_token(token(OTHER_KEY))) is None
    assert caplog.messages[0] == "a token did not verify: BadSignatureError: 'bad_signature: '"


# --- the tool's result ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tools() -> Iterator[str]:
    mcp = FastMCP("Files")

    @mcp.tool
    def refuse(reason: str, language: str) -> ToolResult:
        return tool_result(refusal(reason, language))

    with serve(mcp.http_app()) as url:
        yield url


def refusal(reason: str, language: str) -> Refusal:
    return WORDING.refusal(reason, language, scopes=["files:write"], resource_metadata_url=METADATA)


SERVER_INFO = "io.modelcontextprotocol/serverInfo"  # MCP 2026-07-28: in every result, from FastMCP itself


@pytest.mark.parametrize("reason", load_catalog().reasons)
def test_a_tool_refuses_with_all_that_a_client_reads(tools: str, reason: str) -> None:
    """In every language the client gets the sentence, ``isError`` and the whole ``_meta``, as the refusal has them."""

    async def call() -> list[dict[str, object]]:
        async with Client(f"{tools}/mcp") as client:
            calls = (
                client.call_tool_mcp("refuse", {"reason": reason, "language": language})
                for language in WORDING.languages
            )
            return [
                result.model_dump(include={"content", "is_error", "meta"}, by_alias=True, exclude_none=True)
                for result in await asyncio.gather(*calls)
            ]

    results = asyncio.run(call())
    assert all(result["_meta"].pop(SERVER_INFO)["name"] == "Files" for result in results)
    assert results == [refusal(reason, language).tool_result for language in WORDING.languages]


def test_fastmcps_client_raises_the_sentence(tools: str) -> None:
    """By default its client makes the sentence a ``ToolError``; told not to raise, it hands over everything."""
    expected = refusal("insufficient_scope", "en")

    async def call() -> None:
        async with Client(f"{tools}/mcp") as client:
            arguments = {"reason": "insufficient_scope", "language": "en"}
            with pytest.raises(ToolError) as caught:
                await client.call_tool("refuse", arguments)
            assert str(caught.value) == expected.failure.message
            result = await client.call_tool("refuse", arguments, raise_on_error=False)
            assert result.is_error
            assert result.meta == expected.tool_result["_meta"] | {SERVER_INFO: result.meta[SERVER_INFO]}

    asyncio.run(call())


# --- what of FastMCP this rests on ---------------------------------------------------------------------------------


def test_as_shipped_nothing_is_told() -> None:
    """FastMCP 4.2.3 by itself: every bad token is the same 401, and one without an identity is accepted."""
    with serve(outside(server(jwt_verifier()))) as url:
        bad = [TOKENS["expired"]["expired"], token(scope="x"), token(OTHER_KEY)]
        assert [post(url, each).reason for each in bad] == ["unverified"] * 3
        assert post(url, token(sub=None, client_id=None)).status == 400


def test_private_get_verification_key() -> None:
    """``JWTVerifier._get_verification_key(token)`` gives the key that FastMCP itself verifies with. Seen in 4.2.3."""
    assert asyncio.run(jwt_verifier()._get_verification_key(GOOD)) == PEM


def test_private_http_client() -> None:
    """``IntrospectionTokenVerifier._http_client`` is the client given, or ``None``, and its ``post`` is all that is
    used. Seen in 4.2.3.
    """

    class Stub:
        async def post(self, url: str, **request: object) -> httpx2.Response:
            return httpx2.Response(200, json=ACTIVE)

    stub = Stub()
    verifier = introspection("https://issuer.example", http_client=stub)
    assert verifier._http_client is stub
    assert introspection("https://issuer.example")._http_client is None
    accepted = asyncio.run(verifier.verify_token("t"))
    assert accepted
    assert accepted.claims == ACTIVE


def test_private_token_validator() -> None:
    """``OAuthProxy._token_validator`` is the verifier of upstream tokens. Seen in 4.2.3."""
    verifier = jwt_verifier()
    assert proxy("https://issuer.example", verifier)._token_validator is verifier


def test_private_jwt_key() -> None:
    """``JWTIssuer._jwt_key`` is the key of joserfc that the proxy signs with. Seen in 4.2.3."""
    assert JWTIssuer(ISSUER, AUDIENCE, SIGNING_KEY)._jwt_key.raw_value == SIGNING_KEY
