"""How a reason travels from the token verifier to the middleware that answers: :func:`refuse` and what it writes to."""

import asyncio
import logging
from collections.abc import Iterable, MutableMapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from mcp_auth_failures.challenge import usable_scopes

__all__ = ["Record", "recording", "refuse", "say_once", "sendable"]

_log = logging.getLogger("mcp_auth_failures")

_SCOPE_KEY = "mcp_auth_failures"


@dataclass(slots=True)
class Record:
    """What was said of one request. Mutable, since a ``ContextVar`` set below the middleware is lost to it.

    :ivar reasons: the reasons given to :func:`refuse`, in order.
    :ivar scopes: the scopes given with ``insufficient_scope``.
    :ivar answered: whether one of our middlewares has answered; one further out then leaves it alone.
    """

    reasons: list[str] = field(default_factory=list)
    scopes: tuple[str, ...] = ()
    answered: bool = False
    _task: "asyncio.Task[Any] | None" = None
    _seen: bool = False
    _over: bool = False

    @property
    def _is_current(self) -> bool:
        """Whether it is of this request: what was recorded before the server started is in every context since."""
        return not self._over and (self._seen or (self._task is not None and self._task is _task()))

    def __del__(self) -> None:
        if self.reasons and not self._seen:  # the request is over, and nothing will ever say why it was refused
            say_once(
                "refuse() was called where no AuthFailureMiddleware is: wrap the app in AuthFailureMiddleware(app)"
            )


_current: ContextVar[Record | None] = ContextVar("mcp_auth_failures", default=None)


@lru_cache(maxsize=64)
def say_once(message: str) -> None:
    """Log a warning that every request would repeat."""
    _log.warning("%s", message)


def sendable(scopes: object) -> tuple[str, ...]:
    """The scopes that can stand in a challenge; the others are logged."""
    usable, faults = usable_scopes(scopes)
    for fault in faults:
        say_once(f"a scope is left out of a challenge: {fault}")
    return usable


def refuse(reason: str, *, scopes: str | Iterable[str] = ()) -> None:
    """Record why the current request is about to be refused, for the middleware that answers it. Never raises.

    For a token verifier, just before it says no. Several may record; the first reason other than ``unverified`` counts.

    :param reason: a reason of the catalog.
    :param scopes: all scopes that the operation needs. They count for ``insufficient_scope`` alone: on another reason
        they would tell a token of the wrong audience from a forged one.
    """
    record = _current.get()
    if record is None or not record._is_current:
        record = Record(_task=_task())
        _current.set(record)
    record.reasons.append(reason if isinstance(reason, str) else repr(reason))
    if reason == "insufficient_scope":
        record.scopes = record.scopes or sendable(scopes)


class recording:  # noqa: N801  # named like contextlib's
    """Collect what is recorded while one connection is served.

    A middleware further out has a record of this very connection already. Inside authentication the verifier has run
    before, and its :func:`refuse` has made one that nobody has seen.
    """

    __slots__ = ("_before", "_record", "_scope")

    def __init__(self, scope: MutableMapping[str, Any]) -> None:
        self._scope = scope

    def __enter__(self) -> Record:
        outer = self._scope.get(_SCOPE_KEY)
        if isinstance(outer, Record):
            self._record = None
            return outer
        self._before = before = _current.get()
        if before is not None and not before._seen and before._is_current:
            self._before, record = None, before
        else:
            record = Record()
            _current.set(record)
        record._seen = True
        self._scope[_SCOPE_KEY] = self._record = record
        return record

    def __exit__(self, *_: object) -> None:
        if self._record:
            self._record._over = True
            self._scope.pop(_SCOPE_KEY, None)  # a host may use the same dictionary again, or have emptied it
            _current.set(self._before)


def _task() -> "asyncio.Task[Any] | None":
    try:
        return asyncio.current_task()
    except RuntimeError:  # no event loop of asyncio runs here
        return None
