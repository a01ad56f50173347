"""The public signatures, as a type checker sees them: this file is read by mypy and never run."""

from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal, assert_type

from mcp_auth_failures import (
    AuthFailure,
    AuthFailureData,
    Catalog,
    Challenge,
    DataError,
    Reason,
    Recovery,
    Refusal,
    Wording,
    auth_failure_data,
    describe_auth_failure,
    diagnose,
    load_catalog,
    negotiate,
)
from mcp_auth_failures.asgi import AuthFailureMiddleware, RequireScopes, refuse


def one_failure() -> None:
    failure = describe_auth_failure("expired")
    assert_type(failure, AuthFailure)
    assert_type(describe_auth_failure("expired", "de-AT, de;q=0.9"), AuthFailure)
    assert_type(describe_auth_failure("expired", ["de-AT", "fr"]), AuthFailure)
    assert_type(describe_auth_failure("expired", None), AuthFailure)
    assert_type(failure.reason, str)
    assert_type(failure.challenge, str)
    assert_type(failure.action, Recovery)
    assert_type(failure.message, str)
    assert_type(failure.recoverable, bool)
    assert_type(failure.status, int)
    assert_type(failure.language, str | None)

    describe_auth_failure("expird")  # type: ignore[arg-type]
    describe_auth_failure("expired", 7)  # type: ignore[arg-type]
    failure.action = "refresh"  # type: ignore[misc]

    data = auth_failure_data(failure)
    assert_type(data, AuthFailureData)
    assert_type(data["reason"], str)
    assert_type(data["action"], Recovery)
    assert_type(data["recoverable"], bool)
    data["message"]  # type: ignore[typeddict-item]


def vocabularies(reason: Reason, recovery: Recovery) -> None:
    assert_type(describe_auth_failure(reason), AuthFailure)
    if recovery == "refresh":
        return
    assert_type(recovery, Literal["reconnect", "contact_operator"])
    if recovery == "reconnct":  # type: ignore[comparison-overlap]
        return


def a_catalog(path: PathLike[str]) -> None:
    assert_type(load_catalog(), Catalog)
    assert_type(load_catalog("own.yaml"), Catalog)
    catalog = load_catalog(path)
    assert_type(catalog, Catalog)
    assert_type(catalog["a reason of the host's own"].failure, AuthFailure)
    assert_type(list(catalog.reasons), list[str])
    assert_type(catalog.actions, Mapping[str, str])
    catalog.reasons["expired"] = catalog["expired"]  # type: ignore[index]


def wording(catalog: Catalog, reason: str, languages: str | list[str] | None) -> None:
    own = Wording(
        catalog=catalog,
        overrides=["acme.yaml"],
        translations=["/etc/acme/locales"],
        default_language="de",
        server="Acme",
        contact="it@acme.example",
        help_url="https://help.acme.example/mcp/{language}/{reason}/",
    )
    assert_type(own, Wording)
    assert_type(Wording(), Wording)
    assert_type(Wording(catalog, env=False, builtin=False), Wording)
    assert_type(own.catalog, Catalog)
    assert_type(own.languages, tuple[str, ...])
    assert_type(own.describe(reason, languages), AuthFailure)
    assert_type(own.source(reason, languages), str)
    assert_type(
        own.refusal(
            "insufficient_scope",
            languages,
            scopes=["files:write"],
            resource_metadata_url="https://api.example/metadata",
            request_id=7,
        ),
        Refusal,
    )
    Wording(["acme.yaml"])  # type: ignore[arg-type]
    Wording(catalog, ["acme.yaml"])  # type: ignore[call-arg]
    own.refusal("expired", "de", ["files:write"])  # type: ignore[call-arg]


def a_refusal(refusal: Refusal, catalog: Catalog) -> None:
    assert_type(refusal.failure, AuthFailure)
    assert_type(refusal.scopes, tuple[str, ...])
    assert_type(refusal.status, int)
    assert_type(refusal.headers, dict[str, str])
    assert_type(refusal.body, bytes)
    assert_type(refusal.json_rpc_error["code"], int)
    assert_type(refusal.json_rpc_error["message"], str)
    assert_type(refusal.json_rpc_error["data"]["reason"], str)
    assert_type(refusal.json_rpc_error["data"]["action"], Recovery)
    assert_type(refusal.json_rpc_error["data"]["recoverable"], bool)
    assert_type(refusal.json_rpc_error["data"]["language"], str | None)
    assert_type(refusal.tool_result["isError"], bool)
    assert_type(refusal.tool_result["content"], list[dict[str, str]])
    assert_type(Refusal.from_response(401, refusal.headers, refusal.body), Refusal | None)
    assert_type(Refusal.from_response(401, [(b"content-type", b"application/json")], "{}"), Refusal | None)
    assert_type(Refusal.from_response(401, {}, b"", catalog=catalog), Refusal | None)
    assert_type(Refusal.from_error({"code": 401, "message": "", "data": {}}), Refusal | None)
    assert_type(Refusal.from_error(ValueError(), catalog=catalog), Refusal | None)


def a_challenge() -> None:
    challenge = Challenge(error="invalid_token", scope=("a",), resource_metadata="https://api.example/metadata")
    assert_type(challenge.to_header(), str)
    assert_type(challenge.scope, tuple[str, ...])
    assert_type(challenge.error, str | None)
    assert_type(Challenge.from_header("Bearer"), Challenge | None)
    Challenge(scope="files:read")  # type: ignore[arg-type]


def languages() -> None:
    assert_type(negotiate("pt_BR", ["en", "pt-BR"]), str)
    assert_type(negotiate(["pt-BR"], ("en",), "en"), str)
    assert_type(negotiate(None, {"en", "de"}, default="de"), str)


def a_data_error(error: DataError) -> None:
    for fault in error.faults:
        assert_type(fault.file, str)
        assert_type(fault.line, int | None)
        assert_type(fault.column, int | None)
        assert_type(fault.path, str)
        assert_type(fault.message, str)


def diagnosis(claims: dict[str, Any], typed: Mapping[str, object]) -> None:
    reason = diagnose(claims, issuer="https://login.example", audience=["https://api.example"])
    assert_type(reason, Literal["unverified", "expired", "incomplete", "insufficient_scope"] | None)
    as_reason: Reason | None = reason
    if as_reason:
        describe_auth_failure(as_reason)
    diagnose(
        typed,
        issuer={"https://login.example"},
        audience="https://api.example",
        required_scopes=("files:read",),
        identity=["sub"],
        require_exp=False,
        leeway=1.5,
        now=lambda: 0,
    )
    diagnose(claims, "https://login.example", "https://api.example")  # type: ignore[call-arg]
    diagnose(claims)  # type: ignore[call-arg]


def around_an_app() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None: ...

    async def slow_gate(scope: Mapping[str, Any]) -> str | None:
        return None

    assert_type(refuse("expired"), None)
    refuse("insufficient_scope", scopes=["files:write"])
    inner = RequireScopes(app, lambda method, name: [f"{method}:{name}"])
    AuthFailureMiddleware(inner)
    AuthFailureMiddleware(app, Wording(), gate=lambda scope: None, scopes="a b", on_refusal=print)
    AuthFailureMiddleware(app, gate=slow_gate, languages=lambda scope: ["de"], resource_metadata_url=None)
    AuthFailureMiddleware(app, gate="surface_disabled")  # type: ignore[arg-type]
