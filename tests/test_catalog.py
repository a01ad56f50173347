"""The catalog: what is shipped, what a host may change, and how a bad file is refused."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from typing import Any, get_args, get_type_hints

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import mcp_auth_failures
from mcp_auth_failures import (
    AuthFailure,
    AuthFailureData,
    Catalog,
    DataError,
    Reason,
    Recovery,
    Wording,
    auth_failure_data,
    describe_auth_failure,
    diagnose,
    load_catalog,
)
from mcp_auth_failures.catalog import ErrorCode, packaged

CATALOG = load_catalog()
TEXT = CATALOG.path.read_text(encoding="utf-8")
CONTRACT = json.loads((Path(__file__).parent / "cases" / "failures.json").read_text(encoding="utf-8"))

ADDED = """
  quota_spent:
    meaning: "The month's calls are used up."
    challenge: invalid_token
    action: contact_operator
    status: 429
    header: none
    message: "This month's calls are used up. The deployment's operator can raise the limit."
    note: "Said to the assistant."
    placeholders: []
"""

# --- what is shipped ------------------------------------------------------------------------------------------------


def test_shipped_reasons_are_the_contract() -> None:
    """Reasons, meanings, challenges, actions, recoverability and messages are the agreed ones, word for word."""
    assert tuple(CATALOG.challenges) == tuple(CONTRACT["challenges"])
    assert dict(CATALOG.actions) == CONTRACT["actions"]
    fields = ("challenge", "action", "recoverable", "message")
    shipped = {
        reason: {"meaning": entry.meaning} | {name: getattr(entry.failure, name) for name in fields}
        for reason, entry in CATALOG.reasons.items()
    }
    assert shipped == CONTRACT["reasons"]
    assert list(shipped) == list(CONTRACT["reasons"])


# A text of each kind that shares a translator's note with the others of its kind.
KINDS = {
    **{kind: f"reasons.expired.{kind}" for kind in ("title", "you", "operator")},
    "label": "labels.language",
}


def test_everything_in_the_file_is_in_the_catalog() -> None:
    """An independent reader finds nothing in the file that the catalog does not say too, and in the same order."""
    said = {
        "version": 1,
        "challenges": dict(CATALOG.challenges),
        "actions": {
            action: {"meaning": meaning, "recoverable": action != "contact_operator"}
            for action, meaning in CATALOG.actions.items()
        },
        "placeholders": dict(CATALOG.placeholders),
        "notes": {kind: CATALOG.texts[context].note for kind, context in KINDS.items()},
        "labels": {
            context.removeprefix("labels."): text.english
            for context, text in CATALOG.texts.items()
            if context.startswith("labels.")
        },
        "reasons": {
            reason: {
                "meaning": entry.meaning,
                "challenge": entry.failure.challenge,
                "action": entry.failure.action,
                "status": entry.failure.status,
                "header": entry.failure.header,
                "message": entry.failure.message,
                "note": CATALOG.texts[f"reasons.{reason}.message"].note,
                **{kind: CATALOG.texts[f"reasons.{reason}.{kind}"].english for kind in ("title", "you", "operator")},
                "placeholders": list(entry.placeholders),
            }
            for reason, entry in CATALOG.reasons.items()
        },
    }
    assert json.dumps(yaml.safe_load(TEXT)) == json.dumps(said)


# How each shipped reason travels: (HTTP status, what WWW-Authenticate says).
WIRE = {
    "no_token": (401, "bare"),
    "expired": (401, "error"),
    "unverified": (401, "error"),
    "incomplete": (401, "error"),
    "insufficient_scope": (403, "error"),
    "not_provisioned": (503, "none"),
    "surface_disabled": (503, "none"),
}


def test_shipped_statuses_and_header_rules() -> None:
    """No client is sent to log in where that cannot help, and a request without credentials gets no error."""
    failures = [entry.failure for entry in CATALOG.reasons.values()]
    assert {failure.reason: (failure.status, failure.header) for failure in failures} == WIRE


@pytest.mark.parametrize("reason", CATALOG.reasons)
def test_entry_states_where_it_stands(reason: str) -> None:
    """An entry is whole: its failure is English, a translator has a note, and its line is that of the message."""
    entry, text = CATALOG[reason], CATALOG.texts[f"reasons.{reason}.message"]
    assert (entry.failure.reason, entry.failure.language) == (reason, "en")
    assert text.note
    assert set(entry.placeholders) <= set(CATALOG.placeholders)
    assert TEXT.splitlines()[text.line - 1].strip() == f'message: "{entry.failure.message}"'


@pytest.mark.parametrize("reason", CATALOG.reasons)
def test_only_insufficient_scope_can_name_scopes(reason: str) -> None:
    """``{scope}`` makes sense only where scopes are what is lacking."""
    assert ("scope" in CATALOG[reason].placeholders) == (CATALOG[reason].failure.challenge == "insufficient_scope")


def test_static_types_agree_with_the_catalog() -> None:
    """What type checkers know is what the file says; a reason that is added to one is missed in the other."""
    assert get_args(Reason) == tuple(CATALOG.reasons)
    assert get_args(Recovery) == tuple(CATALOG.actions)
    assert get_args(ErrorCode) == tuple(CATALOG.challenges)


def test_diagnosis_reasons_are_in_the_catalog() -> None:
    """Whatever ``diagnose`` may say, the catalog has a sentence for."""
    verdict, nothing = get_args(get_type_hints(diagnose)["return"])
    assert nothing is type(None)
    assert set(get_args(verdict)) < set(CATALOG.reasons)


def test_shipped_catalog_is_read_once() -> None:
    """Without a path there is no file to read again."""
    assert load_catalog() is load_catalog(None) is CATALOG
    assert CATALOG.path == packaged("catalog") / "failures.yaml"


@pytest.mark.parametrize("name", ["challenges", "actions", "placeholders", "reasons"])
def test_catalog_cannot_be_changed(name: str) -> None:
    """A catalog is shared by everything in the process: its mappings are read-only."""
    with pytest.raises(TypeError):
        getattr(CATALOG, name)["expired"] = "something else"


# --- one failure ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", CATALOG.reasons)
def test_failure_data_is_what_a_client_acts_on(reason: str) -> None:
    """The machine-readable half is three members, and never wording."""
    failure = CATALOG[reason].failure
    data = auth_failure_data(failure)
    assert data == {"reason": reason, "action": failure.action, "recoverable": failure.recoverable}
    assert list(data) == list(AuthFailureData.__annotations__) == ["reason", "action", "recoverable"]
    assert json.loads(json.dumps(data)) == data


def test_failure_is_a_value() -> None:
    """Failures that say the same are equal and hash alike; the developers' English takes no part; none can change."""
    failure = CATALOG["expired"].failure
    again = dataclasses.replace(failure, description="for developers")
    assert (again, hash(again)) == (failure, hash(failure))
    assert "for developers" not in repr(again)
    for field in dataclasses.fields(AuthFailure):
        if field.compare:
            other: dict[str, Any] = {field.name: "other"}
            assert dataclasses.replace(failure, **other) != failure
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(failure, field.name, "other")


# --- unknown reasons ------------------------------------------------------------------------------------------------

KNOWN = ", ".join(CATALOG.reasons)
UNKNOWN = [
    ("expird", f"reason 'expird' is not one of {KNOWN} (did you mean 'expired'?)"),
    ("EXPIRED", f"reason 'EXPIRED' is not one of {KNOWN} (did you mean 'expired'?)"),
    ("zzz", f"reason 'zzz' is not one of {KNOWN}"),
    ("", f"reason '' is not one of {KNOWN}"),
    (None, f"reason 'None' is not one of {KNOWN}"),
    (["expired"], f"reason \"['expired']\" is not one of {KNOWN} (did you mean 'expired'?)"),
]
LOOK_UPS: dict[str, Callable[..., object]] = {
    "catalog": CATALOG.__getitem__,
    "describe_auth_failure": describe_auth_failure,
    "describe": Wording(env=False).describe,
    "refusal": Wording(env=False).refusal,
}


@pytest.mark.parametrize("look_up", LOOK_UPS.values(), ids=LOOK_UPS)
@pytest.mark.parametrize(("reason", "text"), UNKNOWN, ids=[str(reason) for reason, _ in UNKNOWN])
def test_unknown_reason_is_a_key_error(look_up: Callable[..., object], reason: object, text: str) -> None:
    """An unknown reason is told with those that are known and the nearest, whichever call it was given to."""
    with pytest.raises(KeyError) as raised:
        look_up(reason)
    assert raised.value.args == (text,)


# --- a host's own catalog -------------------------------------------------------------------------------------------


def _write(folder: Path, text: str) -> Path:
    file = folder / "failures.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("kind", [str, Path])
def test_copy_of_the_shipped_catalog_is_equal(tmp_path: Path, kind: type) -> None:
    """A copy says all that the shipped one says, and knows its own path."""
    file = _write(tmp_path, TEXT)
    copy = load_catalog(kind(file))
    assert copy.path == file
    assert dataclasses.replace(copy, file=CATALOG.file) == CATALOG


@pytest.mark.parametrize("change", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_windows_editor_does_no_harm(tmp_path: Path, change: Callable[[str], str]) -> None:
    """A byte order mark and Windows line ends change nothing."""
    file = tmp_path / "failures.yaml"
    file.write_bytes(change(TEXT).encode())
    assert load_catalog(file).reasons == CATALOG.reasons


def test_host_may_leave_the_help_pages_out(tmp_path: Path) -> None:
    """A host that makes no pages leaves their texts, labels and notes out, and loses nothing else."""
    whole = yaml.safe_load(TEXT)
    del whole["labels"], whole["notes"]
    for reason in whole["reasons"].values():
        del reason["title"], reason["you"], reason["operator"]
    catalog = load_catalog(_write(tmp_path, json.dumps(whole)))
    assert catalog.reasons == CATALOG.reasons
    assert set(catalog.texts) == {f"reasons.{reason}.message" for reason in CATALOG.reasons}


def test_catalog_of_just_the_bound_is_read(tmp_path: Path) -> None:
    """A file of 1 MiB is a catalog, one more byte is none."""
    padding = "#" * ((1 << 20) - len(TEXT.encode()))
    assert load_catalog(_write(tmp_path, TEXT + padding)).reasons == CATALOG.reasons
    file = _write(tmp_path, f"{TEXT}{padding}#")
    with pytest.raises(DataError) as raised:
        load_catalog(file)
    assert str(raised.value) == f"{file}: is larger than 1,048,576 bytes"


def test_added_reason_works_through_wording(tmp_path: Path) -> None:
    """A reason that a host adds is described, refused and listed like any other, in English where none else is."""
    catalog = load_catalog(_write(tmp_path, TEXT + ADDED))
    assert list(catalog.reasons) == [*CATALOG.reasons, "quota_spent"]
    wording = Wording(catalog=catalog, env=False)
    failure = wording.describe("quota_spent", "de-AT, fr;q=0.5")
    assert dataclasses.asdict(failure) == {
        "reason": "quota_spent",
        "challenge": "invalid_token",
        "action": "contact_operator",
        "message": "This month's calls are used up. The deployment's operator can raise the limit.",
        "recoverable": False,
        "status": 429,
        "language": "en",
        "header": "none",
        "description": "This month's calls are used up. The deployment's operator can raise the limit.",
    }
    refusal = wording.refusal("quota_spent")
    assert refusal.status == 429
    assert "WWW-Authenticate" not in refusal.headers
    with pytest.raises(KeyError):
        Wording(env=False).describe("quota_spent")


STATUSES = [
    ("not_provisioned", "    status: 503", "    status: 403", 403, None),
    ("surface_disabled", "    status: 503", "    status: 404", 404, None),
    (
        "not_provisioned",
        "    status: 503\n    header: none",
        "    status: 401\n    header: error",
        401,
        "invalid_token",
    ),
    ("insufficient_scope", "    status: 403", "    status: 401", 401, "insufficient_scope"),
]


@pytest.mark.parametrize(("reason", "old", "new", "status", "error"), STATUSES)
def test_another_status_works(tmp_path: Path, reason: str, old: str, new: str, status: int, error: str | None) -> None:
    """A host may answer with another status, with the header that goes with it."""
    start = TEXT.index(f"  {reason}:")
    text = TEXT[:start] + TEXT[start:].replace(old, new, 1)
    refusal = Wording(catalog=load_catalog(_write(tmp_path, text)), env=False).refusal(reason)
    assert (refusal.status, refusal.failure.status) == (status, status)
    header = refusal.headers.get("WWW-Authenticate")
    assert (header and header.split(",")[0]) == (error and f'Bearer error="{error}"')


@pytest.mark.parametrize("reason", get_args(Reason))
def test_shipped_reason_may_not_be_left_out(tmp_path: Path, reason: str) -> None:
    """Code and clients rely on the shipped reasons: a catalog without one of them is refused."""
    head, _, rest = TEXT.partition(f"  {reason}:\n")
    file = _write(tmp_path, f"{head}  {reason}_2:\n{rest}")
    with pytest.raises(DataError) as raised:
        load_catalog(file)
    assert str(raised.value) == f"{file}:{_line('no_token:')}:3: reasons.{reason}: is missing"


# --- the shipped file is the only place -----------------------------------------------------------------------------


def _run_with_catalog(folder: Path, text: str, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program against a copy of the package whose shipped catalog is this text."""
    package = folder / "src" / "mcp_auth_failures"
    source = Path(mcp_auth_failures.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("_data", "__pycache__", ".*"))
    shutil.copytree(str(packaged("locales")), folder / "locales")
    (folder / "catalog").mkdir()
    _write(folder / "catalog", text)
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=folder, capture_output=True, text=True, encoding="utf-8"
    )


def test_reason_added_to_the_file_is_known_everywhere(tmp_path: Path) -> None:
    """Adding a reason is an edit of the YAML alone: ``Wording`` and ``describe_auth_failure`` have it at once."""
    program = """if True:
        from mcp_auth_failures import Wording, describe_auth_failure, load_catalog
        print(load_catalog().path)
        print(*load_catalog().reasons)
        print(describe_auth_failure("quota_spent").message)
        print(Wording().describe("quota_spent", "de").action)
        print(Wording().refusal("quota_spent").status)
    """
    ran = _run_with_catalog(tmp_path, TEXT + ADDED, program)
    assert (ran.stderr, ran.stdout.splitlines()) == (
        "",
        [
            str(tmp_path / "catalog" / "failures.yaml"),
            f"{' '.join(CATALOG.reasons)} quota_spent",
            "This month's calls are used up. The deployment's operator can raise the limit.",
            "contact_operator",
            "429",
        ],
    )


def test_fault_in_the_shipped_file_stops_the_import(tmp_path: Path) -> None:
    """The file is checked at import, which says every fault of it."""
    text = TEXT.replace("action: refresh", "action: refesh").replace("status: 403", "status: 200")
    ran = _run_with_catalog(tmp_path, text, "import mcp_auth_failures")
    assert ran.returncode == 1
    assert [line.rpartition(": ")[2] for line in ran.stderr.splitlines()[-2:]] == [
        "'refesh' is not one of refresh, reconnect, contact_operator (did you mean 'refresh'?)",
        "expected an HTTP status from 400 to 599, found the number '200'",
    ]


# --- faults of the data ---------------------------------------------------------------------------------------------

# An edit replaces `old` by `new`, where it first stands after `after`. In `new`, each ¦ marks a place where a fault is
# expected, in the order of the faults.
Edit = tuple[str, str, str]
Expected = tuple[str, str]  # path, message

TOP_FIELDS = "version, challenges, actions, placeholders, reasons, notes, labels"
REASON_FIELDS = "meaning, challenge, action, status, header, message, note, placeholders, title, you, operator"
EXPIRED = "\n  expired:\n"
MESSAGE = f'"{CATALOG["expired"].failure.message}"'


def _line(text: str) -> int:
    """The line of the shipped catalog where a text first stands."""
    return TEXT.count("\n", 0, TEXT.index(text)) + 1


def _append(block: str) -> list[Edit]:
    return [("", TEXT[-80:], TEXT[-80:] + block)]


def _message(value: str) -> list[Edit]:
    return [(EXPIRED, f" {MESSAGE}", value)]


def _no_text(found: str) -> list[Expected]:
    return [("reasons.expired.message", f"expected a text in quotes, found {found}")]


def _status(value: str, found: str) -> tuple[list[Edit], list[Expected]]:
    message = f"expected an HTTP status from 400 to 599, found {found}"
    return [(EXPIRED, "status: 401", f"status:{value}")], [("reasons.expired.status", message)]


FAULTS: dict[str, tuple[list[Edit], list[Expected]]] = {
    # names
    "misspelt action": (
        [(EXPIRED, "action: refresh", "action: ¦refesh")],
        [
            (
                "reasons.expired.action",
                "'refesh' is not one of refresh, reconnect, contact_operator (did you mean 'refresh'?)",
            )
        ],
    ),
    "action in capitals": (
        [(EXPIRED, "action: refresh", "action: ¦REFRESH")],
        [
            (
                "reasons.expired.action",
                "'REFRESH' is not one of refresh, reconnect, contact_operator (did you mean 'refresh'?)",
            )
        ],
    ),
    "no action": (
        [(EXPIRED, "action: refresh", "action:¦")],
        [("reasons.expired.action", "expected one of refresh, reconnect, contact_operator, found nothing")],
    ),
    "list of actions": (
        [(EXPIRED, "action: refresh", "action: ¦[refresh]")],
        [("reasons.expired.action", "expected one of refresh, reconnect, contact_operator, found a list")],
    ),
    "challenge of RFC 6750 that is none here": (
        [(EXPIRED, "challenge: invalid_token", "challenge: ¦invalid_request")],
        [
            (
                "reasons.expired.challenge",
                "'invalid_request' is not one of invalid_token, insufficient_scope (did you mean 'invalid_token'?)",
            )
        ],
    ),
    "challenge more": (
        [("challenges:", "  invalid_token:", '  ¦invalid_request: "x"\n  invalid_token:')],
        [
            (
                "challenges.invalid_request",
                "'invalid_request' is not one of invalid_token, insufficient_scope (did you mean 'invalid_token'?)",
            )
        ],
    ),
    "action more": (
        [("actions:", "  refresh:", "  ¦wait: {}\n  refresh:")],
        [("actions.wait", "'wait' is not one of refresh, reconnect, contact_operator")],
    ),
    "unknown header rule": (
        [(EXPIRED, "header: error", "header: ¦errors")],
        [("reasons.expired.header", "'errors' is not one of error, bare, none (did you mean 'error'?)")],
    ),
    "other version": ([("", "version: 1", "version: ¦2")], [("version", "'2' is not one of 1")]),
    "recoverable that is yes": (
        [("actions:", "recoverable: true", "recoverable: ¦yes")],
        [("actions.refresh.recoverable", "'yes' is not one of true, false")],
    ),
    "reason with other characters": (
        _append(ADDED.replace("quota_spent", "Quota-spent").replace("meaning", "¦meaning")),
        [("reasons.Quota-spent", "an id is made of lower-case letters, digits and _, at most 64")],
    ),
    "reason of 65 characters": (
        _append(ADDED.replace("quota_spent", "q" * 65).replace("meaning", "¦meaning")),
        [(f"reasons.{'q' * 65}", "an id is made of lower-case letters, digits and _, at most 64")],
    ),
    "placeholder that nothing has a value for": (
        [("placeholders:\n", "  server:", '  ¦servers: "x"\n  server:')],
        [("placeholders.servers", "'servers' is not one of server, contact, scope (did you mean 'server'?)")],
    ),
    # keys
    "duplicate reason": (
        _append("  ¦no_token: {}\n"),
        [("reasons.no_token", f"is here twice: it is on line {_line('no_token:')} already")],
    ),
    "reason that is there three times": (
        _append("  ¦no_token: {}\n  ¦no_token: {}\n"),
        [("reasons.no_token", f"is here twice: it is on line {_line('no_token:')} already")] * 2,
    ),
    "duplicate field": (
        [(EXPIRED, "    note:", "    ¦action: reconnect\n    note:")],
        [("reasons.expired.action", f"is here twice: it is on line {_line('action: refresh')} already")],
    ),
    "duplicate section": (
        _append("¦version: 1\n"),
        [("version", f"is here twice: it is on line {_line('version:')} already")],
    ),
    "unknown key": (
        [(EXPIRED, "    action:", "    ¦retry: never\n    action:")],
        [("reasons.expired.retry", f"'retry' is not one of {REASON_FIELDS}")],
    ),
    "unknown key at the top": (
        [("", "version: 1", "version: 1\n¦reason: {}")],
        [
            (
                "reason",
                f"'reason' is not one of {TOP_FIELDS} (did you mean 'reasons'?)",
            )
        ],
    ),
    "misspelt key": (
        [(EXPIRED, "    meaning:", "    ¦meaning:"), (EXPIRED, "message:", "¦mesage:")],
        [
            ("reasons.expired.message", "is missing"),
            ("reasons.expired.mesage", f"'mesage' is not one of {REASON_FIELDS} (did you mean 'message'?)"),
        ],
    ),
    "missing field": (
        [(EXPIRED, "    meaning:", "    ¦meaning:"), (EXPIRED, "    status: 401\n", "")],
        [("reasons.expired.status", "is missing")],
    ),
    "missing fields": (
        [
            (EXPIRED, "    meaning:", "    ¦¦meaning:"),
            (EXPIRED, "    status: 401\n", ""),
            (EXPIRED, "    action: refresh\n", ""),
        ],
        [("reasons.expired.action", "is missing"), ("reasons.expired.status", "is missing")],
    ),
    "missing field of an action": (
        [("actions:\n", "    meaning:", "    ¦meaning:"), ("actions:", "    recoverable: true\n", "")],
        [("actions.refresh.recoverable", "is missing")],
    ),
    "missing section": (
        [("", "version: 1\n", "¦version: 1\n"), ("", TEXT[TEXT.index("reasons:") :], "")],
        [("reasons", "is missing")],
    ),
    "missing version": (
        [("", "version: 1\n", ""), ("", "\nchallenges:", "\n¦challenges:")],
        [("version", "is missing")],
    ),
    "missing challenge": (
        [("challenges:\n", "  invalid", "  ¦invalid"), ("challenges:", '  insufficient_scope: "', "# ")],
        [("challenges.insufficient_scope", "is missing")],
    ),
    "section of nothing": (
        [("", TEXT[TEXT.index("reasons:") :], "reasons:¦\n")],
        [("reasons", "expected a mapping, found nothing")],
    ),
    "section that is a list": (
        [("", TEXT[TEXT.index("reasons:") :], "reasons:\n  ¦- expired\n")],
        [("reasons", "expected a mapping, found a list")],
    ),
    "reason that is no mapping": (
        [("reasons:", "\n  no_token:", "\n  extra: ¦yes\n  no_token:")],
        [("reasons.extra", "expected a mapping, found the boolean 'yes'")],
    ),
    "key that is a list": (
        [("reasons:", "\n  no_token:", "\n  ¦[a]: b\n  no_token:")],
        [("reasons", "expected a name, found a list")],
    ),
    # messages
    "message that is a number": (_message(" ¦42"), _no_text("the number '42'")),
    "message that is yes": (_message(" ¦yes"), _no_text("the boolean 'yes'")),
    "message that is a time": (_message(" ¦12:30"), _no_text("the number '12:30'")),
    "message that is a date": (_message(" ¦2026-01-01"), _no_text("the date '2026-01-01'")),
    "message that is a list": (_message(" ¦[a, b]"), _no_text("a list")),
    "message that is a mapping": (_message(" ¦{en: a}"), _no_text("a mapping")),
    "message that is nothing": (_message("¦"), _no_text("nothing")),
    "message that is null": (_message(" ¦~"), _no_text("nothing")),
    "message that is empty": (_message(' ¦""'), _no_text("an empty one")),
    "message of two lines": (
        _message(" ¦|\n      one\n      two"),
        [("reasons.expired.message", "a line break is not allowed in a text")],
    ),
    "message with an escaped tab": (
        _message(' ¦"a\\tb"'),
        [("reasons.expired.message", "a tab is not allowed in a text")],
    ),
    "message with an escaped bidirectional control": (
        _message(' ¦"a\\u202eb"'),
        [("reasons.expired.message", "the bidirectional control U+202E is not allowed in a text")],
    ),
    "message with an escaped NUL": (
        _message(' ¦"a\\0b"'),
        [("reasons.expired.message", "the control character U+0000 is not allowed in a text")],
    ),
    "meaning that is a number": (
        [(EXPIRED, f'meaning: "{CATALOG["expired"].meaning}"', "meaning: ¦1")],
        [("reasons.expired.meaning", "expected a text in quotes, found the number '1'")],
    ),
    "note that is nothing": (
        [(EXPIRED, f' "{CATALOG.texts["reasons.expired.message"].note}"', "¦")],
        [("reasons.expired.note", "expected a text in quotes, found nothing")],
    ),
    # statuses
    "status of success": _status(" ¦200", "the number '200'"),
    "status beyond": _status(" ¦600", "the number '600'"),
    "status of four digits": _status(" ¦4010", "the number '4010'"),
    "status with a fraction": _status(" ¦401.0", "the number '401.0'"),
    "status in words": _status(" ¦Unauthorized", "the text 'Unauthorized'"),
    "status of other digits": _status(" ¦٤٠١", "the text '٤٠١'"),
    "status that is nothing": _status("¦", "nothing"),
    "statuses": _status(" ¦[401]", "a list"),
    "401 without a challenge": (
        [(EXPIRED, "status: 401", "status: ¦401"), (EXPIRED, "header: error", "header: none")],
        [("reasons.expired.status", "a 401 needs a challenge (RFC 9110 §15.5.2): header error or bare")],
    ),
    "challenge with a 503": (
        [(EXPIRED, "status: 401", "status: ¦503")],
        [("reasons.expired.status", "a challenge goes with 401 or 403 (RFC 6750 §3.1), not 503: header none")],
    ),
    # placeholders
    "unknown placeholder": (
        [(EXPIRED, "[server, contact]", "[server, ¦contat]")],
        [
            (
                "reasons.expired.placeholders[1]",
                "'contat' is not one of server, contact, scope (did you mean 'contact'?)",
            )
        ],
    ),
    "placeholders that are no list": (
        [(EXPIRED, "[server, contact]", "¦server")],
        [("reasons.expired.placeholders", "expected a list, found the text 'server'")],
    ),
    "placeholder that is a list": (
        [(EXPIRED, "[server, contact]", "[¦[server]]")],
        [("reasons.expired.placeholders[0]", "expected one of server, contact, scope, found a list")],
    ),
    "message with an unknown placeholder": (
        _message(' ¦"Ask {contract}."'),
        [
            (
                "reasons.expired.message",
                "the placeholder 'contract' is not one of server, contact (did you mean 'contact'?)",
            )
        ],
    ),
    "message with a placeholder that is not listed": (
        [(EXPIRED, f" {MESSAGE}", ' ¦"Ask {contact}."'), (EXPIRED, "[server, contact]", "[server]")],
        [("reasons.expired.message", "the placeholder 'contact' is not one of server")],
    ),
    "message with a placeholder where none is listed": (
        [(EXPIRED, f" {MESSAGE}", ' ¦"Ask {contact}."'), (EXPIRED, "[server, contact]", "[]")],
        [("reasons.expired.message", "'contact' is a placeholder where none is allowed")],
    ),
    "message that needs a scope": (
        [
            ("\n  insufficient_scope:\n", f'"{CATALOG["insufficient_scope"].failure.message}"', '¦"It needs {scope}."'),
        ],
        [("reasons.insufficient_scope.message", "the placeholder 'scope' is not one of server, contact")],
    ),
    # help pages
    "page text that is a number": (
        [(EXPIRED, "    title:", "    title: ¦7 #")],
        [("reasons.expired.title", "expected a text in quotes, found the number '7'")],
    ),
    "page text with a placeholder": (
        [(EXPIRED, "    title:", '    title: ¦"Ask {contact}" #')],
        [("reasons.expired.title", "'contact' is a placeholder where none is allowed")],
    ),
    "label with a placeholder of another": (
        [("labels:", "  none:", '  none: ¦"Ask {contact}" #')],
        [("labels.none", "'contact' is a placeholder where none is allowed")],
    ),
    "label that is none": (
        [("labels:", "  none:", '  ¦nothing: "x"\n  none:')],
        [("labels.nothing", f"'nothing' is not one of {', '.join(yaml.safe_load(TEXT)['labels'])}")],
    ),
    "note for a text that is none": (
        [("notes:", "  title:", '  ¦titel: "x"\n  title:')],
        [("notes.titel", "'titel' is not one of title, you, operator, label (did you mean 'title'?)")],
    ),
    "message with a brace": (
        _message(' ¦"Ask {0.__class__}."'),
        [
            (
                "reasons.expired.message",
                "a brace that is no {placeholder} in 'Ask {0.__class__}.'; write {{ or }} for a brace",
            )
        ],
    ),
}


def _edited(edits: list[Edit]) -> tuple[str, list[tuple[int, int]]]:
    """The shipped catalog with edits, and the (line, column) of each mark in it."""
    text = TEXT
    for after, old, new in edits:
        at = text.index(old, text.index(after))
        text = text[:at] + new + text[at + len(old) :]
    places = []
    while (at := text.find("¦")) >= 0:
        places.append((text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)))
        text = text.replace("¦", "", 1)
    return text, places


def _messages(file: Path, edits: list[Edit], expected: list[Expected]) -> tuple[list[str], list[str]]:
    """What is said of an edited catalog, and what should be."""
    text, places = _edited(edits)
    file.write_bytes(text.encode())
    with pytest.raises(DataError) as raised:
        load_catalog(file)
    return str(raised.value).splitlines(), [
        f"{file}:{line}:{column}: {path}: {message}"
        for (line, column), (path, message) in zip(places, expected, strict=True)
    ]


@pytest.mark.parametrize(("edits", "expected"), FAULTS.values(), ids=FAULTS)
def test_fault_is_told_whole(tmp_path: Path, edits: list[Edit], expected: list[Expected]) -> None:
    """A fault is told with file, line, column and path, what was found, what is allowed, and the nearest name."""
    said, should = _messages(tmp_path / "own.yaml", edits, expected)
    assert said == should


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    """Every fault of a file comes in one ``DataError``, from its top to its bottom."""
    names = ["other version", "recoverable that is yes", "misspelt action", "message that is yes"]
    names += ["unknown placeholder", "message that needs a scope", "duplicate reason"]
    edits = [edit for name in names for edit in FAULTS[name][0]]
    expected = [fault for name in names for fault in FAULTS[name][1]]
    said, should = _messages(tmp_path / "own.yaml", edits, expected)
    assert said == should


def test_missing_field_hides_no_other_fault(tmp_path: Path) -> None:
    """A reason that lacks a field is still looked through: its misspelt action is told in the same breath."""
    edits = [
        (EXPIRED, "    meaning:", "    ¦meaning:"),
        (EXPIRED, "action: refresh", "action: ¦refesh"),
        (EXPIRED, "status: 401", "status: ¦200"),
        (EXPIRED, "    note:", "    ¦nota:"),
    ]
    expected = [
        ("reasons.expired.note", "is missing"),
        FAULTS["misspelt action"][1][0],
        _status("", "the number '200'")[1][0],
        ("reasons.expired.nota", f"'nota' is not one of {REASON_FIELDS} (did you mean 'note'?)"),
    ]
    said, should = _messages(tmp_path / "own.yaml", edits, expected)
    assert said == should


def test_catalog_without_placeholders_says_so(tmp_path: Path) -> None:
    """Where the catalog names no placeholder at all, what is said of one in a reason is still a whole sentence."""
    start = TEXT.index("placeholders:\n")
    text = TEXT[:start] + "placeholders: {}\n" + TEXT[TEXT.index("\n\n", start) :]
    file = _write(tmp_path, text)
    with pytest.raises(DataError) as raised:
        load_catalog(file)
    assert {fault.message for fault in raised.value.faults} == {
        f"'{name}' is not known: there are none" for name in CATALOG.placeholders
    }


# --- faults of the file ---------------------------------------------------------------------------------------------

HEAD = TEXT.encode()
LINE = TEXT.count("\n") + 1

FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", ": expected a mapping, found nothing"),
    "comments alone": (b"# nothing\n", ": expected a mapping, found nothing"),
    "null": (b"~\n", ":1:1: expected a mapping, found nothing"),
    "a list": (b"- a\n", ":1:1: expected a mapping, found a list"),
    "a word": (b"failures\n", ":1:1: expected a mapping, found the text 'failures'"),
    "10 MB": (b"#" * 10_000_000, ": is larger than 1,048,576 bytes"),
    "two documents": (HEAD + b"---\n" + HEAD, f":{LINE}:1: a second document begins here; a file holds one"),
    "recursive alias": (
        b"version: 1\nreasons: &r\n  expired: *r\n",
        ":3:12: the alias *r is not allowed; write the text out",
    ),
    "merged alias": (
        b"version: &v {}\nreasons:\n  <<: *v\n",
        ":3:7: the alias *v is not allowed; write the text out",
    ),
    "tag": (
        HEAD.replace(b"version: 1", b"version: !!int 1"),
        f":{_line('version:')}:10: the tag tag:yaml.org,2002:int is not allowed; put a text in quotes",
    ),
    "tab": (HEAD + b"\tmore: {}\n", f":{LINE}:1: a tab is not allowed here; indent with spaces"),
    "control character": (HEAD + b"# \x07\n", f":{LINE}:3: the control character U+0007 is not allowed here"),
    "NUL": (HEAD + b"\0", f":{LINE}:1: the control character U+0000 is not allowed here"),
    "bidirectional control": (
        HEAD + "# \u202e\n".encode(),
        f":{LINE}:3: the bidirectional control U+202E is not allowed here",
    ),
    "second byte order mark": (
        b"\xef\xbb\xbf\xef\xbb\xbf" + HEAD,
        ":1:1: a second byte order mark is not allowed here",
    ),
    "Latin-1": (HEAD + b"# caf\xe9\n", f":{LINE}: is not UTF-8: byte 0xe9 at offset {len(HEAD) + 5}"),
    "UTF-16": (TEXT.encode("utf-16"), ":1: is not UTF-8: byte 0xff at offset 0"),
    "deep nesting": (HEAD + b"  more: " + b"[" * 50 + b"]" * 50, f":{LINE}:23: is nested more than 16 levels deep"),
    "lone surrogate": (
        HEAD + b'  more: "\\ud800"\n',
        f":{LINE}:12: is not YAML: found invalid Unicode character escape code",
    ),
    "not YAML": (HEAD + b"]\n", f":{LINE}:1: is not YAML: did not find expected key"),
}


@pytest.mark.parametrize(("data", "message"), FILES.values(), ids=FILES)
def test_file_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    """A file that is no catalog at all is one fault, with its place."""
    file = tmp_path / "own.yaml"
    file.write_bytes(data)
    with pytest.raises(DataError) as raised:
        load_catalog(file)
    assert str(raised.value) == f"{file}{message}"


def test_billion_laughs_are_refused(tmp_path: Path) -> None:
    """Nine aliases of nine aliases, nine times over: each is told, none is followed."""
    lines = ["a: &a [x]"]
    lines += [
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    file = _write(tmp_path, "\n".join(lines))
    with pytest.raises(DataError) as raised:
        load_catalog(file)
    assert [(fault.line, fault.message[:12]) for fault in raised.value.faults] == [
        (line, f"the alias *{name}") for line, name in enumerate("abcdefgh", 2) for _ in range(9)
    ]


def test_200000_unknown_keys_are_bounded(tmp_path: Path) -> None:
    """A file full of unknown keys gets a hundred faults and a word that there are more."""
    keys = ["".join(key) for length in (1, 2, 3, 4) for key in product(ascii_lowercase, repeat=length)][:200_000]
    with pytest.raises(DataError) as raised:
        load_catalog(_write(tmp_path, "{" + ",".join(keys) + "}"))
    lines = str(raised.value).splitlines()
    assert lines[0] == f"{tmp_path / 'failures.yaml'}:1:2: a: 'a' is not one of {TOP_FIELDS}"
    assert lines[100:] == [f"{tmp_path / 'failures.yaml'}: and more: only 100 faults are shown"]


def _nothing(path: Path) -> None:
    assert not path.exists()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_nothing, "cannot be read: No such file or directory"),
        (Path.mkdir, "cannot be read: it is a folder"),
        (os.mkfifo, "cannot be read: it is not a regular file"),
    ],
    ids=["no file", "folder", "FIFO"],
)
def test_what_is_no_file_is_refused(tmp_path: Path, make: Callable[[Path], None], message: str) -> None:
    """No file, a folder and a FIFO are refused by name, and nothing waits."""
    path = tmp_path / "own.yaml"
    make(path)
    with pytest.raises(DataError) as raised:
        load_catalog(path)
    assert str(raised.value) == f"{path}: {message}"


junk = st.sampled_from([
    "\t", "\0", "\u202e", "\ufeff", "*a", "&a ", "!!int ", "---\n", "[", "]", "{", "}", "- ", ": ", '"', "'", "\\",
    "\n", "  ", "#", "yes", "~", "42", "2026-01-01", "refesh", "{scope}", "{x", "\\ud800", "é", "<<: ",
    "\n  no_token: {}\n",
])  # fmt: skip
damages = st.lists(st.tuples(st.integers(0, len(TEXT)), st.integers(0, 12), junk), min_size=1, max_size=4)


def _load(text: str) -> Catalog | DataError:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return load_catalog(_write(Path(folder), text))
        except DataError as error:
            return error


@given(damages)
def test_damaged_catalog_is_read_or_refused(damage: list[tuple[int, int, str]]) -> None:
    """Whatever is cut out of a catalog or typed into it, it is whole or a ``DataError`` that names the file."""
    text = TEXT
    for at, cut, put in damage:
        text = text[:at] + put + text[at + cut :]
    loaded = _load(text)
    if isinstance(loaded, DataError):
        assert loaded.faults
        assert all(Path(fault.file).name == "failures.yaml" for fault in loaded.faults)
    else:
        assert set(loaded.reasons) >= set(get_args(Reason))
        assert Wording(catalog=loaded, env=False, server="s", contact="c").describe("expired").message


def test_catalog_holds_its_reasons() -> None:
    """``in`` asks for a reason, whatever it is given."""
    assert "expired" in CATALOG
    assert not any(reason in CATALOG for reason in ("expird", None, []))
