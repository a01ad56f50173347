"""Tell the agent behind an MCP client why its call was refused, what to do, and in the person's language."""

from importlib import import_module
from typing import TYPE_CHECKING

from mcp_auth_failures.catalog import (
    AuthFailure,
    AuthFailureData,
    Catalog,
    Reason,
    Recovery,
    auth_failure_data,
    load_catalog,
)
from mcp_auth_failures.datafile import DataError

if TYPE_CHECKING:
    from mcp_auth_failures.challenge import Challenge
    from mcp_auth_failures.diagnosis import diagnose
    from mcp_auth_failures.languages import negotiate
    from mcp_auth_failures.refusal import Refusal
    from mcp_auth_failures.wording import Wording, describe_auth_failure

__all__ = [
    "AuthFailure",
    "AuthFailureData",
    "Catalog",
    "Challenge",
    "DataError",
    "Reason",
    "Recovery",
    "Refusal",
    "Wording",
    "auth_failure_data",
    "describe_auth_failure",
    "diagnose",
    "load_catalog",
    "negotiate",
]

# Importing reads and checks the catalog, so that a bad one stops the start; the rest comes when it is first named.
_LATER = {
    "Challenge": "challenge",
    "Refusal": "refusal",
    "Wording": "wording",
    "describe_auth_failure": "wording",
    "diagnose": "diagnosis",
    "negotiate": "languages",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
