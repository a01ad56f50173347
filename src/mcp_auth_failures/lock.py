"""A lock that a child process finds open."""

import os
import threading
from weakref import WeakSet

__all__ = ["Lock"]


class Lock:
    """As ``threading.Lock``, but free in a forked child, whichever thread held it in the parent.

    Only the thread that forks goes on in the child: whatever another held would stay locked there for ever. A thread
    does not fork while it holds one itself.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def acquire(self, *, blocking: bool = True) -> bool:
        """Take it, and say whether that could be done."""
        return self._lock.acquire(blocking)

    def release(self) -> None:
        """Give it back."""
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    @staticmethod
    def _free_all() -> None:
        for lock in _locks:
            lock._lock = threading.Lock()


_locks: WeakSet[Lock] = WeakSet()

if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=Lock._free_all)
