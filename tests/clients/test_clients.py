"""What each client must make of each reason: the sentence, or a recovery, and no more requests than these take."""

import json

import pytest
from drops import DROPS, drop_of
from harness import AUTH_KINDS, HERE, REASONS, ROWS, STREAM_ANSWERS, USELESS, Case, Cell, Results, Row, cases_of
from matrix import main_cells, markdown
from world import GATED, HELD, NEEDED, STREAM_CAP

OAUTH = [row for row in ROWS if row.auth == "oauth"]
TOOL = Case(reason="insufficient_scope", moment="tool", tool="write")
MOMENTS = ("connect", "call")


def named(row: object) -> str | None:
    return row.name if isinstance(row, Row) else None


def rows(client: str, *auth: str) -> list[Row]:
    return [row for row in ROWS if row.client == client and row.auth in auth]


def ours(results: Results) -> list[Cell]:
    return [cell for cell in results.cells if not cell.case.shipped]


def test_every_client_ran_every_case(results: Results) -> None:
    """No cell is missing, none is there twice."""
    assert [(cell.row, cell.case) for cell in results.cells] == [(row, case) for row in ROWS for case in cases_of(row)]


def test_what_the_readme_prints_is_what_was_measured(results: Results) -> None:
    """The tables in the README are those of this run."""
    assert markdown(results) in (HERE / "README.md").read_text()


@pytest.mark.parametrize("reason", sorted(GATED))
@pytest.mark.parametrize("row", ROWS, ids=named)
def test_a_fault_of_the_deployment_sends_nobody_to_sign_in(results: Results, row: Row, reason: str) -> None:
    """Zero requests for metadata, registration, authorization and tokens, and the sentence wherever a body is shown."""
    cells = [cell for cell in ours(results) if cell.row == row and cell.case.reason == reason]
    assert len(cells) == (1 if row.auth == "none" else 2)
    assert [cell.auth_requests for cell in cells] == [0] * len(cells)
    shows_no_body = row.client == "Python SDK 1"
    assert {cell.kind for cell in cells} == {"nothing" if shows_no_body else "sentence"}


def test_what_is_lost_is_lost_in_the_client(results: Results) -> None:
    """Where a host sees nothing, a line of the client's own code is why; and each line named is why somewhere."""
    lost = {drop_of(cell) for cell in ours(results) if cell.kind == "nothing"}
    assert lost == set(DROPS)
    assert all(drop.place for drop in DROPS)


def test_as_shipped_no_cell_shows_a_reason(results: Results) -> None:
    """The same servers without this library: a reason reaches nobody."""
    assert [cell for cell in main_cells(results, shipped=True) if cell.kind == "sentence"] == []


def test_nothing_that_recovers_as_shipped_no_longer_does(results: Results) -> None:
    """The library takes no recovery away, unless it says instead that there is none."""
    for shipped, mine in zip(*(main_cells(results, shipped=state) for state in (True, False)), strict=True):
        assert mine.kind == "recovered" or shipped.kind != "recovered", mine.row.name


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("row", rows("TypeScript SDK v2", "static", "token"), ids=named)
def test_insufficient_scope_error_carries_scopes_and_sentence(results: Results, row: Row, moment: str) -> None:
    """``InsufficientScopeError`` of the TypeScript client names all scopes of the operation, and has our sentence."""
    cell = results.cell(row, Case(reason="insufficient_scope", moment=moment))
    assert (cell.error, cell.kind, cell.where) == ("InsufficientScopeError", "sentence", "property")
    assert "requiredScope: 'mcp:use files:write'" in cell.more


KEEPS_NOTHING = {"Python SDK 1", "TypeScript SDK v1"}
KEEPS = [row for row in OAUTH if row.client not in KEEPS_NOTHING and row.mode != "terminal"]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("row", KEEPS, ids=named)
def test_step_up_asks_once_for_what_is_held_and_what_is_needed(results: Results, row: Row, moment: str) -> None:
    """One authorization, for the union of the scopes, and the call works."""
    cell = results.cell(row, Case(reason="insufficient_scope", moment=moment))
    assert cell.kind == "recovered"
    assert {frozenset(asked) for asked in cell.asked} == {frozenset({*HELD, *NEEDED})}
    assert cell.requests["token"] == 1


@pytest.mark.parametrize("row", [row for row in OAUTH if row.client in KEEPS_NOTHING], ids=named)
def test_older_clients_step_up_to_what_the_challenge_names(results: Results, row: Row) -> None:
    """They forget what they held, which is why all scopes of the operation stand in one challenge.

    (The TypeScript one steps up only where it holds no refresh token.)
    """
    cell = results.cell(row, Case(reason="insufficient_scope", refresh=False))
    assert (cell.kind, cell.asked) == ("recovered", [NEEDED])


@pytest.mark.parametrize("row", [row for row in OAUTH if row.modern], ids=named)
@pytest.mark.parametrize("refresh", [True, False])
def test_require_scopes_steps_up_for_one_tool(results: Results, row: Row, refresh: bool) -> None:
    """A call of the one tool that needs more is refused over HTTP, and the client steps up for it and succeeds."""
    cell = results.cell(row, Case(**(vars(TOOL) | {"refresh": refresh})))
    assert cell.kind == "recovered"
    assert {frozenset(asked) for asked in cell.asked} == {frozenset({*HELD, *NEEDED})}
    assert cell.requests["POST tools/call"] == 2


@pytest.mark.parametrize("reason", ["expired", "unverified", "incomplete"])
@pytest.mark.parametrize("row", [row for row in ROWS if row.auth == "static" and row.modern], ids=named)
def test_require_scopes_leaves_a_bad_token_to_authentication(results: Results, row: Row, reason: str) -> None:
    """A token that is no good lacks no scope: what stands inside authentication does not speak for it."""
    cell = results.cell(row, Case(reason=reason))
    assert (cell.kind, cell.where) == ("sentence", "message")


@pytest.mark.parametrize("row", [row for row in ROWS if row.auth != "none" and not row.modern], ids=named)
def test_older_protocol_gets_the_sentence_as_the_tools_result(results: Results, row: Row) -> None:
    """A request that names no tool in a header passes, and the tool itself refuses."""
    cell = results.cell(row, TOOL)
    assert (cell.kind, cell.where, cell.auth_requests) == ("sentence", "message", 0)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("row", rows("TypeScript SDK v1", "oauth") + rows("TypeScript SDK v2", "oauth"), ids=named)
def test_typescript_refreshes_an_expired_token(results: Results, row: Row, moment: str) -> None:
    """One refresh, no sign-in, and the call works."""
    cell = results.cell(row, Case(reason="expired", moment=moment))
    assert cell.kind == "recovered"
    assert {kind: cell.requests.get(kind, 0) for kind in AUTH_KINDS} == {
        "resource metadata": 1,
        "server metadata": 1,
        "register": 0,
        "authorize": 0,
        "token": 1,
    }


@pytest.mark.parametrize("row", OAUTH, ids=named)
def test_a_revoked_refresh_token_leads_to_one_sign_in(results: Results, row: Row) -> None:
    """Where refreshing fails the person signs in, and the call works."""
    assert results.cell(row, Case(reason="expired", renewal="revoked")).kind == "recovered"


@pytest.mark.parametrize("reason", USELESS)
@pytest.mark.parametrize("row", OAUTH, ids=named)
def test_no_client_loops_where_renewing_mends_nothing(results: Results, row: Row, reason: str) -> None:
    """The call is tried twice at most, and asked for are at most two sign-ins and four tokens."""
    cell = results.cell(row, Case(reason=reason, renewal="useless"))
    assert cell.kind in {"sentence", "nothing"}
    assert cell.requests["POST tools/call"] <= 2
    sign_ins = 2 * (2 if row.client == "FastMCP" else 1)  # FastMCP asks the authorization URL once itself
    assert cell.requests.get("authorize", 0) <= sign_ins
    assert cell.requests["token"] <= 4


STREAMING = [row for row in ROWS if any(case.moment == "stream" for case in cases_of(row))]
LOOPING = rows("TypeScript SDK v1", "oauth")


@pytest.mark.parametrize("row", STREAMING, ids=named)
def test_only_typescript_v1_reconnects_a_refused_stream_for_ever(results: Results, row: Row) -> None:
    """It does so as shipped and with us, refreshing each time: a 401 on the GET stream has no circuit breaker there."""
    for shipped in (True, False):
        cell = results.cell(row, Case(reason="expired", moment="stream", shipped=shipped))
        assert cell.kind == "recovered"  # the call itself
        if row in LOOPING:
            assert cell.requests["GET"] == cell.requests["token"] + 1 > STREAM_CAP
        else:
            assert cell.requests["GET"] <= 4
            assert cell.auth_requests <= 8


@pytest.mark.parametrize("answer", [answer for answer in STREAM_ANSWERS if answer != "ours"])
@pytest.mark.parametrize("row", [row for row in STREAMING if row.auth == "oauth"], ids=named)
def test_any_other_status_ends_a_refused_stream(results: Results, row: Row, answer: str) -> None:
    """403, 405 and 503 end it at once, without a sign-in; 405 from the third request on leaves it two refreshes."""
    cell = results.cell(row, Case(reason="expired", moment="stream", stream=answer))
    assert cell.requests["GET"] <= (3 if answer == "405 from the third on" else 2)
    assert cell.requests.get("token", 0) <= (2 if answer == "405 from the third on" else 0)


def test_the_lock_file_names_no_registry() -> None:
    """It pins what npm installs, wherever that comes from."""
    lock = json.loads((HERE / "package-lock.json").read_text())
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
    pinned = json.loads((HERE / "package.json").read_text())["dependencies"]
    assert {name: lock["packages"][f"node_modules/{name}"]["version"] for name in pinned} == pinned


def test_reasons_are_those_of_the_catalog(results: Results) -> None:
    """A reason added to the catalog is asked of every client."""
    assert {cell.case.reason for cell in results.cells} == set(REASONS)
