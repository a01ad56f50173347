"""Tell the agent behind an MCP client why its call was refused, what to do, and in the person's language."""

from mcp_auth_failures.catalog import (
    AuthFailure,
    AuthFailureData,
    Catalog,
    Reason,
    Recovery,
    auth_failure_data,
    load_catalog,
)
from mcp_auth_failures.challenge import Challenge
from mcp_auth_failures.datafile import DataError
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
