"""Why verified claims do not suffice: the first reason that applies, whatever the claims hold."""

import json
import math
import time
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_auth_failures import diagnose

ISSUER = "https://login.example"
AUDIENCE = "https://api.example/mcp"
NOW = 1_800_000_000
ABSENT = object()

CLAIMS: dict[str, object] = {
    "iss": ISSUER,
    "aud": AUDIENCE,
    "exp": NOW + 60,
    "nbf": NOW - 60,
    "iat": NOW - 60,
    "sub": "user-1",
    "scope": "files:read files:write",
}


def _diagnose(changes: dict[str, object] | None = None, **arguments: Any) -> str | None:
    claims = {name: value for name, value in {**CLAIMS, **(changes or {})}.items() if value is not ABSENT}
    defaults: dict[str, Any] = {"issuer": ISSUER, "audience": AUDIENCE, "now": NOW}
    return diagnose(claims, **(defaults | arguments))


def test_good_claims_have_no_reason() -> None:
    """A token that is in order is refused for nothing."""
    assert _diagnose(required_scopes=["files:read", "files:write"]) is None


# --- which reason wins ----------------------------------------------------------------------------------------------

# Each thing that can be wrong, in the order in which it counts: (what is changed, the reason).
WRONG: list[tuple[dict[str, object], str]] = [
    ({"aud": "https://other.example"}, "unverified"),
    ({"exp": NOW - 60}, "expired"),
    ({"sub": ABSENT}, "incomplete"),
    ({"scope": "files:read"}, "insufficient_scope"),
]


@pytest.mark.parametrize("present", list(product([False, True], repeat=len(WRONG))), ids=str)
def test_first_reason_wins(present: tuple[bool, ...]) -> None:
    """Of several things that are wrong the first in the order of the reasons is told, in every combination."""
    chosen = [wrong for wrong, is_present in zip(WRONG, present, strict=True) if is_present]
    changes = {name: value for change, _ in chosen for name, value in change.items()}
    expected = chosen[0][1] if chosen else None
    assert _diagnose(changes, required_scopes=["files:write"]) == expected


UNVERIFIED: dict[str, dict[str, object]] = {
    "another issuer": {"iss": "https://other.example"},
    "an issuer that begins alike": {"iss": ISSUER + "/"},
    "no issuer": {"iss": ABSENT},
    "another audience": {"aud": "https://other.example"},
    "no audience": {"aud": ABSENT},
    "an empty list of audiences": {"aud": []},
    "not valid yet": {"nbf": NOW + 1},
    "no expiry": {"exp": ABSENT},
    "a null expiry": {"exp": None},
}


@pytest.mark.parametrize("changes", UNVERIFIED.values(), ids=UNVERIFIED)
@pytest.mark.parametrize("expiry", [NOW + 60, NOW - 60], ids=["current", "expired"])
def test_unverified_comes_before_all(changes: dict[str, object], expiry: int) -> None:
    """A token that was never good for this server is ``unverified``: that it has expired too tells nothing."""
    assert _diagnose({"exp": expiry, **changes}) == "unverified"
    assert _diagnose({"exp": expiry, **changes, "sub": ABSENT, "scope": ""}, required_scopes=["a"]) == "unverified"


class _Asked(Mapping[str, object]):
    """Claims that know which of them were looked at."""

    def __init__(self, claims: Mapping[str, object]) -> None:
        self.claims = claims
        self.names: list[str] = []

    def __getitem__(self, name: str) -> object:
        self.names.append(name)
        return self.claims[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.claims)

    def __len__(self) -> int:
        return len(self.claims)


@pytest.mark.parametrize("changes", UNVERIFIED.values(), ids=UNVERIFIED)
def test_every_claim_is_looked_at(changes: dict[str, object]) -> None:
    """Whichever claim does not hold, the same are looked at, so that the time it takes does not say which."""
    right = _Asked(CLAIMS)
    assert diagnose(right, issuer=ISSUER, audience=AUDIENCE, now=NOW + 3600) == "expired"
    wrong = _Asked({name: value for name, value in {**CLAIMS, **changes}.items() if value is not ABSENT})
    assert diagnose(wrong, issuer=ISSUER, audience=AUDIENCE, now=NOW) == "unverified"
    assert wrong.names == right.names


def test_expired_for_another_audience_is_unverified() -> None:
    """Libraries that check ``exp`` first would say "expired" of a token that will never verify here."""
    assert _diagnose({"exp": NOW - 60, "aud": "https://other.example"}) == "unverified"


def test_expired_without_the_scope_is_expired() -> None:
    """A renewed token may carry the scope: renewing comes first."""
    assert _diagnose({"exp": NOW - 60, "scope": "files:read"}, required_scopes=["files:write"]) == "expired"


# --- RFC 7519 -------------------------------------------------------------------------------------------------------

AUDIENCES: list[tuple[object, object, str | None]] = [
    (AUDIENCE, AUDIENCE, None),
    ([AUDIENCE], AUDIENCE, None),
    (["https://other.example", AUDIENCE], AUDIENCE, None),
    ((AUDIENCE,), AUDIENCE, None),
    (AUDIENCE, ["https://other.example", AUDIENCE], None),
    (["b", AUDIENCE], {"a", AUDIENCE}, None),
    (["b"], ["a"], "unverified"),
    (AUDIENCE, [], "unverified"),
    (AUDIENCE[:-1], AUDIENCE, "unverified"),
    (AUDIENCE.upper(), AUDIENCE, "unverified"),
    (list(AUDIENCE), AUDIENCE, "unverified"),
    ([[AUDIENCE]], AUDIENCE, "unverified"),
    ({AUDIENCE: True}, AUDIENCE, "unverified"),
]


@pytest.mark.parametrize(("claim", "accepted", "reason"), AUDIENCES)
def test_audience(claim: object, accepted: object, reason: str | None) -> None:
    """``aud`` is a string or a list, and one of it must be one of ours, compared exactly (RFC 7519 §4.1.3)."""
    assert _diagnose({"aud": claim}, audience=accepted) == reason


ISSUERS: list[tuple[object, object, str | None]] = [
    (ISSUER, ISSUER, None),
    (ISSUER, ["https://other.example", ISSUER], None),
    (ISSUER, [], "unverified"),
    (ISSUER.upper(), ISSUER, "unverified"),
    ([ISSUER], ISSUER, "unverified"),
    ("i", "issuer", "unverified"),
]


@pytest.mark.parametrize(("claim", "accepted", "reason"), ISSUERS)
def test_issuer(claim: object, accepted: object, reason: str | None) -> None:
    """``iss`` is one string, and one of those that are accepted, compared exactly (RFC 7519 §4.1.1)."""
    assert _diagnose({"iss": claim}, issuer=accepted) == reason


SCOPES: list[tuple[dict[str, object], list[str], str | None]] = [
    ({"scope": "a b"}, [], None),
    ({"scope": "a b"}, ["a"], None),
    ({"scope": "a b"}, ["b", "a"], None),
    ({"scope": "a  b "}, ["b"], None),
    ({"scope": ["a", "b"]}, ["a", "b"], None),
    ({"scope": ("a", "b")}, ["a", "b"], None),
    ({"scope": "a b"}, ["a", "c"], "insufficient_scope"),
    ({"scope": "a:b"}, ["a"], "insufficient_scope"),
    ({"scope": "A"}, ["a"], "insufficient_scope"),
    ({"scope": ["a b"]}, ["a"], "insufficient_scope"),
    ({"scope": ""}, ["a"], "insufficient_scope"),
    ({"scope": []}, ["a"], "insufficient_scope"),
    ({"scope": ABSENT}, ["a"], "insufficient_scope"),
    ({"scope": ABSENT}, [], None),
    ({"scope": None}, ["a"], "insufficient_scope"),
    ({"scope": ABSENT, "scp": ["a"]}, ["a"], None),
    ({"scope": ABSENT, "scp": "a b"}, ["a", "b"], None),
    ({"scope": None, "scp": "a b"}, ["a", "b"], None),
    ({"scope": "b", "scp": "a"}, ["a"], "insufficient_scope"),
]


@pytest.mark.parametrize(("changes", "required", "reason"), SCOPES)
def test_scopes(changes: dict[str, object], required: list[str], reason: str | None) -> None:
    """Scopes stand in ``scope`` (RFC 8693 §4.2) or else ``scp``, as a string or a list; all required ones must."""
    assert _diagnose(changes, required_scopes=required) == reason


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset, dict.fromkeys])
def test_required_scopes_may_be_any_collection(kind: Callable[[list[str]], object]) -> None:
    """A server keeps its scopes in whatever it likes."""
    assert _diagnose(required_scopes=kind(["files:read"])) is None
    assert _diagnose(required_scopes=kind(["files:delete"])) == "insufficient_scope"


IDENTITIES: list[tuple[dict[str, object], str | None]] = [
    ({}, None),
    ({"sub": ABSENT, "client_id": "c"}, None),
    ({"sub": ABSENT, "azp": "c"}, None),
    ({"sub": "", "client_id": "c"}, None),
    ({"sub": 7, "azp": "c"}, None),
    ({"sub": ABSENT}, "incomplete"),
    ({"sub": ""}, "incomplete"),
    ({"sub": " \t"}, "incomplete"),
    ({"sub": None}, "incomplete"),
    ({"sub": 7}, "incomplete"),
    ({"sub": True}, "incomplete"),
    ({"sub": ["user-1"]}, "incomplete"),
    ({"sub": {"id": "user-1"}}, "incomplete"),
    ({"sub": ABSENT, "email": "a@b.example"}, "incomplete"),
]


@pytest.mark.parametrize(("changes", "reason"), IDENTITIES)
def test_identity(changes: dict[str, object], reason: str | None) -> None:
    """One of ``sub``, ``client_id`` and ``azp`` must be a text that says something."""
    assert _diagnose(changes) == reason


def test_identity_is_the_hosts_choice() -> None:
    """A host may count on other claims, and only on those."""
    assert _diagnose({"sub": ABSENT, "email": "a@b.example"}, identity=["email"]) is None
    assert _diagnose(identity=["email"]) == "incomplete"
    assert _diagnose(identity=()) == "incomplete"


# --- time -----------------------------------------------------------------------------------------------------------

TIMES: list[tuple[dict[str, object], float, str | None]] = [
    # RFC 7519 §4.1.4: not accepted on or after exp
    ({"exp": NOW + 1}, 0, None),
    ({"exp": NOW}, 0, "expired"),
    ({"exp": NOW - 1}, 0, "expired"),
    ({"exp": NOW + 0.5}, 0, None),
    ({"exp": NOW - 0.5}, 0, "expired"),
    ({"exp": 0}, 0, "expired"),
    ({"exp": -1}, 0, "expired"),
    ({"exp": NOW}, 1, None),
    ({"exp": NOW - 9}, 10, None),
    ({"exp": NOW - 10}, 10, "expired"),
    ({"exp": NOW - 1}, 1.5, None),
    ({"exp": 2**62}, 0, None),
    # RFC 7519 §4.1.5: accepted on or after nbf
    ({"nbf": NOW}, 0, None),
    ({"nbf": NOW + 1}, 0, "unverified"),
    ({"nbf": NOW + 10}, 10, None),
    ({"nbf": NOW + 11}, 10, "unverified"),
    ({"nbf": ABSENT}, 0, None),
    ({"nbf": None}, 0, None),
    # iat is not judged (RFC 7519 §4.1.6: it tells a token's age)
    ({"iat": NOW + 3600}, 0, None),
    ({"iat": "yesterday"}, 0, None),
]


@pytest.mark.parametrize(("changes", "leeway", "reason"), TIMES)
def test_time(changes: dict[str, object], leeway: float, reason: str | None) -> None:
    """``exp`` and ``nbf`` are judged to the second, with the leeway on the token's side in both."""
    assert _diagnose(changes, leeway=leeway) == reason


@pytest.mark.parametrize(
    "now", [NOW, float(NOW), lambda: NOW, lambda: NOW + 0.5], ids=["int", "float", "clock", "half"]
)
def test_clock_is_a_number_or_a_callable(now: object) -> None:
    """The time may be given, or the clock that tells it."""
    assert _diagnose({"exp": NOW + 1}, now=now) is None
    assert _diagnose({"exp": NOW - 1}, now=now) == "expired"


def test_zero_is_a_time() -> None:
    """The epoch itself is a time like any other, and not the absence of one."""
    assert _diagnose({"exp": 1, "nbf": 0}, now=0) is None
    assert _diagnose({"exp": 1, "nbf": 0}, now=lambda: 0) is None


def test_default_is_the_systems_clock() -> None:
    """Without a time the system's clock counts."""
    now = time.time()
    assert _diagnose({"exp": now + 3600, "nbf": now - 1}, now=None) is None
    assert _diagnose({"exp": now - 1, "nbf": now - 2}, now=None) == "expired"
    assert _diagnose({"exp": now + 7200, "nbf": now + 3600}, now=None) == "unverified"


def test_expiry_may_be_left_optional() -> None:
    """A host may accept tokens without ``exp``; one that is there is judged all the same."""
    assert _diagnose({"exp": ABSENT}, require_exp=False) is None
    assert _diagnose({"exp": None}, require_exp=False) is None
    assert _diagnose({"exp": NOW - 1}, require_exp=False) == "expired"
    assert _diagnose({"exp": "never"}, require_exp=False) == "unverified"


# --- malformed claims -----------------------------------------------------------------------------------------------

HUGE = 10**400  # JSON has no bound, and no float holds it

NO_DATES: list[object] = [True, False, "1800000060", "", math.nan, math.inf, -math.inf, [NOW], [], {}, {"exp": NOW}]
NO_STRINGS: list[object] = [True, 0, 1.5, math.nan, HUGE, {}, {"a": "b"}, [None], [1], [["a"]], None]
NO_SCOPES: list[object] = [True, False, 0, 1.5, math.nan, HUGE, {}, {"a": "b"}, [1], [None], [["a"]], ["a", 1]]
MALFORMED = [
    *(("exp", value) for value in NO_DATES),
    *(("nbf", value) for value in NO_DATES),
    *(("iss", value) for value in NO_STRINGS),
    *(("aud", value) for value in NO_STRINGS),
    *(("aud", [AUDIENCE, value]) for value in NO_STRINGS),
    *(("scope", value) for value in NO_SCOPES),
]


@pytest.mark.parametrize(("name", "value"), MALFORMED, ids=[f"{name}-{value!r:.20}" for name, value in MALFORMED])
def test_malformed_claim_is_unverified(name: str, value: object) -> None:
    """A claim that is not what RFC 7519 says it is makes a token ``unverified``, expired or not."""
    assert _diagnose({name: value}) == "unverified"
    assert _diagnose({"exp": NOW - 1, name: value}) == "unverified"


def test_malformed_scp_is_unverified() -> None:
    """The same holds for ``scp`` where it is what counts."""
    assert _diagnose({"scope": ABSENT, "scp": 7}) == "unverified"
    assert _diagnose({"scp": 7}) is None


HUGE_TIMES = [
    ("exp", HUGE, None),
    ("exp", -HUGE, "expired"),
    ("nbf", -HUGE, None),
    ("nbf", HUGE, "unverified"),
]


@pytest.mark.parametrize(("name", "value", "reason"), HUGE_TIMES, ids=["exp", "-exp", "-nbf", "nbf"])
def test_huge_time_is_far_away(name: str, value: int, reason: str | None) -> None:
    """A number that no float holds is still a JSON number: far in the future or in the past, or refused; no crash."""
    assert _diagnose({name: value}) in {reason, "unverified"}


@pytest.mark.parametrize("claims", [None, "claims", 7, [], [("iss", ISSUER)], b"{}", object()], ids=repr)
def test_claims_that_are_none_are_unverified(claims: Any) -> None:
    """What is no mapping at all has no claims: a library gave something else."""
    assert diagnose(claims, issuer=ISSUER, audience=AUDIENCE) == "unverified"


@pytest.mark.parametrize("kind", [dict, MappingProxyType, UserDict])
def test_claims_may_be_any_mapping(kind: Callable[[dict[str, object]], Any]) -> None:
    """A library may wrap the claims it verified."""
    assert diagnose(kind(CLAIMS), issuer=ISSUER, audience=AUDIENCE, now=NOW) is None


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
scalars |= st.sampled_from([HUGE, -HUGE, NOW, ISSUER, AUDIENCE, "user-1", "files:read"])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)
names = st.sampled_from([*CLAIMS, "scp", "azp", "client_id"])
VERDICTS = {None, "unverified", "expired", "incomplete", "insufficient_scope"}


@given(st.dictionaries(names | st.text(max_size=3), values), st.booleans(), st.floats(0, 1e6))
@example({"exp": HUGE}, True, 0)
@example({"nbf": HUGE}, False, 0)
@example({"aud": [{}]}, True, 0)
def test_any_claims_have_a_verdict(changes: dict[str, object], require_exp: bool, leeway: float) -> None:
    """Whatever JSON a token's claims are, the answer is one of the reasons or none, and never an exception."""
    arguments: dict[str, Any] = {"require_exp": require_exp, "leeway": leeway, "required_scopes": ["files:read"]}
    assert _diagnose(changes, **arguments) in VERDICTS
    assert diagnose(changes, issuer=ISSUER, audience=AUDIENCE, now=NOW, **arguments) in VERDICTS


@given(st.dictionaries(names, values, min_size=1))
def test_claims_are_judged_as_their_json(changes: dict[str, object]) -> None:
    """Claims that went through JSON, NaN and huge numbers included, get the same verdict."""
    claims = {**CLAIMS, **changes}
    again = json.loads(json.dumps(claims))
    arguments: dict[str, Any] = {"issuer": ISSUER, "audience": AUDIENCE, "now": NOW}
    assert diagnose(again, **arguments) == diagnose(claims, **arguments)


def test_required_scopes_in_one_text() -> None:
    """Scopes are separated by spaces wherever they are written as one text."""
    claims = {"iss": "i", "aud": "a", "exp": 2, "sub": "s", "scope": "x y"}
    given = {"issuer": "i", "audience": "a", "now": 1}
    assert diagnose(claims, **given, required_scopes="y x") is None
    assert diagnose(claims, **given, required_scopes="y z") == "insufficient_scope"
