"""One failure, resolved: the words that a server and its clients share about it."""

from dataclasses import dataclass, field
from typing import Literal, TypedDict

__all__ = ["AuthFailure", "AuthFailureData", "ErrorCode", "HeaderRule", "Reason", "Recovery", "auth_failure_data"]

Reason = Literal[
    "no_token", "expired", "unverified", "incomplete", "not_provisioned", "surface_disabled", "insufficient_scope"
]
"""The shipped reasons, for type checkers; ``load_catalog().reasons`` holds them at run time, with any a host added."""

Recovery = Literal["refresh", "reconnect", "contact_operator"]
"""What can be done about a failure: the vocabulary that a client may automate on, closed for that purpose."""

ErrorCode = Literal["invalid_token", "insufficient_scope"]
"""RFC 6750 §3.1, without ``invalid_request``: that is no refusal of a token."""

HeaderRule = Literal["error", "bare", "none"]
"""Whether ``WWW-Authenticate`` names the error, is a challenge without one (RFC 6750 §3.1), or is not sent."""


@dataclass(frozen=True, slots=True)
class AuthFailure:
    """Why a call was refused and what can be done about it, with the sentence to say in one language.

    :ivar reason: the stable id, such as ``expired``.
    :ivar challenge: the ``error`` of the Bearer challenge (RFC 6750 §3.1), for the OAuth machinery.
    :ivar action: for a client that automates.
    :ivar message: one sentence that an agent relays to a person.
    :ivar recoverable: whether anything on the caller's side can help.
    :ivar status: the HTTP status of the refusal.
    :ivar language: BCP 47 tag of the message; ``None`` where the operator's one text stands for every language.
    :ivar header: whether ``WWW-Authenticate`` names the error (``error``), only challenges (``bare``), or is not sent
        (``none``).
    :ivar description: ASCII English for developers, the ``error_description`` (RFC 6750 §3); ``None`` if there is none.
        It takes no part in comparisons.
    """

    reason: str
    challenge: str
    action: Recovery
    message: str
    recoverable: bool
    status: int
    language: str | None
    header: HeaderRule
    description: str | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.message, self.reason))


class AuthFailureData(TypedDict):
    """The machine-readable half of a failure."""

    reason: str
    action: Recovery
    recoverable: bool


def auth_failure_data(failure: AuthFailure) -> AuthFailureData:
    """The part of a failure that a client may act on, ready for ``error.data`` or ``_meta``; never its wording."""
    return {"reason": failure.reason, "action": failure.action, "recoverable": failure.recoverable}
