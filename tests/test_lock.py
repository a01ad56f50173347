"""A lock that a child process finds open."""

import contextlib
import os
import threading

import pytest

from mcp_auth_failures.lock import Lock


def test_lock_is_held_by_one() -> None:
    """While it is held nobody else gets it, and whatever ends the block gives it back."""
    lock = Lock()
    with contextlib.suppress(KeyError), lock:
        assert not lock.acquire(blocking=False)
        raise KeyError
    assert lock.acquire(blocking=False)
    lock.release()


def test_another_thread_waits() -> None:
    """Who waits for it gets it when it is given back."""
    lock = Lock()
    lock.acquire()
    thread = threading.Thread(target=lock.acquire)
    thread.start()
    lock.release()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # of fork, since Python 3.12
def test_child_finds_it_open() -> None:
    """A child can take what was held when it was forked, and gives back its own; the parent holds on."""
    lock = Lock()
    with lock:
        if not (process := os.fork()):
            os._exit([lock.acquire(blocking=False), lock.acquire(blocking=False)] != [True, False])
        _, status = os.waitpid(process, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert not lock.acquire(blocking=False)
