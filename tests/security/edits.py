"""Every way in which an override file is written, and every way in which that goes wrong."""

import os
import random
import resource
import time
from collections import Counter
from pathlib import Path

from sentences import REASONS, file_of

__all__ = ["Editor"]


class Editor:
    """Edits one file, again and again. Each edit has a version of its own, which its sentences tell.

    :ivar goods: the ways to edit it after which a server says something else.
    :ivar bads: the ways after which it goes on as before.
    :ivar good: the versions that a server may say.
    :ivar last: the version of the last good edit.
    :ivar done: how often each kind of edit was made.
    :ivar version: of the last edit, good or bad.
    :ivar slow: torn edits that were left torn for longer than they should be, since the machine was busy.
    """

    def __init__(self, file: Path, check_seconds: float, seed: int) -> None:
        self.file = file
        self.good: set[int] = set()
        self.last = 0
        self.done: Counter[str] = Counter()
        self.slow = 0
        self._check = check_seconds
        self._chance = random.Random(seed)
        self.version = 0
        self.goods = (self.rename, self.in_place, self.swap_link, self.touch, self.torn, self.moved_away)
        self.bads = (
            self.cut_short, self.empty, self.deleted, self.folder, self.dangling, self.loop, self.fifo, self.unreadable,
            self.broken, self.full_disk, self.too_large,
        )  # fmt: skip
        self.rename()

    def edit(self) -> None:
        """Edit once, in any way."""
        kind = self._chance.choice(self.goods if self._chance.random() < 0.6 else self.bads)
        kind()
        self.done[kind.__name__.replace("_", " ")] += 1

    def pause(self) -> None:
        """Leave the file alone for a moment, now and then long enough for a server to see it twice."""
        looks = self._chance.uniform(2, 3) if self._chance.random() < 0.2 else self._chance.uniform(0, 0.8)
        time.sleep(looks * self._check)

    def _next(self, *, good: bool) -> int:
        self.version += 1
        if not good:
            return -self.version  # so that a sentence which should not be said tells that, too
        self.good.add(self.version)
        return self.version

    def _clear(self) -> None:
        """Whatever stands there and could not be written to."""
        if self.file.is_dir() and not self.file.is_symlink():
            self.file.rmdir()
        elif not self.file.is_file():
            self.file.unlink(missing_ok=True)

    def _put(self, content: bytes) -> None:
        temporary = self.file.with_suffix(".new")
        temporary.write_bytes(content)
        self._replace(temporary)

    def _replace(self, by: Path) -> None:
        if self.file.is_dir() and not self.file.is_symlink():
            self.file.rmdir()
        os.replace(by, self.file)

    # good ones

    def rename(self) -> None:
        """Write beside it and rename: the documented way."""
        self.last = self._next(good=True)
        self._put(file_of(self.last))

    def in_place(self) -> None:
        """Write into it."""
        self._clear()
        self.last = self._next(good=True)
        self.file.write_bytes(file_of(self.last))

    def swap_link(self) -> None:
        """Let it be a link to another file, as a ConfigMap is."""
        self.last = self._next(good=True)
        target = self.file.parent / f"..{self.version}"
        target.write_bytes(file_of(self.last))
        link = self.file.with_suffix(".link")
        link.symlink_to(target)
        self._replace(link)

    def touch(self) -> None:
        """Write it, with any time: the writer's clock may be wrong, or jump."""
        self.rename()
        moment = self._chance.choice([0, 1, time.time(), time.time() + 1e9, self._chance.uniform(0, 4e9)])
        os.utime(self.file, (moment, moment))

    def torn(self) -> None:
        """Write it in three steps, half of it a file that could be read."""
        self._clear()
        half = self._next(good=False)
        begun = time.monotonic()
        with self.file.open("wb", buffering=0) as file:
            time.sleep(self._check / 8)
            file.write(file_of(half, REASONS[:4]))
            time.sleep(self._check / 8)
            file.seek(0)
            self.last = self._next(good=True)
            file.write(file_of(self.last))
            file.truncate()
        if time.monotonic() - begun > 0.9 * self._check:  # two looks may have seen the half
            self.slow += 1
            self.good.add(half)

    def moved_away(self) -> None:
        """The folder vanishes, and comes back."""
        away = self.file.parent.with_suffix(".away")
        self.file.parent.rename(away)
        self.pause()
        away.rename(self.file.parent)
        self.rename()

    # bad ones, which stay until the next

    def cut_short(self) -> None:
        """It ends within a sentence."""
        self._clear()
        self.file.write_bytes(self._half(file_of(self._next(good=False))))

    def full_disk(self) -> None:
        """The disk is full in the middle of writing."""
        self._clear()
        content = file_of(self._next(good=False))
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(self._half(content)), limits[1]))
        try:
            with self.file.open("wb", buffering=0) as file:
                file.write(content)
                file.write(content)
        except OSError:  # EFBIG, where a full disk gives ENOSPC: what is there is the same
            pass
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    @staticmethod
    def _half(content: bytes) -> bytes:
        return content[: content.index(b"it ends", len(content) // 2)]

    def empty(self) -> None:
        """It has no content."""
        self._clear()
        self.file.write_bytes(b"")

    def deleted(self) -> None:
        """It is gone."""
        self._clear()
        self.file.unlink(missing_ok=True)

    def folder(self) -> None:
        """It is a folder."""
        self.deleted()
        self.file.mkdir()

    def dangling(self) -> None:
        """It is a link to nothing."""
        self.deleted()
        self.file.symlink_to("nothing")

    def loop(self) -> None:
        """It is a link to itself."""
        self.deleted()
        self.file.symlink_to(self.file.name)

    def fifo(self) -> None:
        """It is a pipe that nobody writes to."""
        self.deleted()
        os.mkfifo(self.file)

    def unreadable(self) -> None:
        """Nobody may read it."""
        temporary = self.file.with_suffix(".secret")
        temporary.write_bytes(file_of(self._next(good=False)))
        temporary.chmod(0)
        self._replace(temporary)

    def broken(self) -> None:
        """It is whole, and says something that is not allowed."""
        content = file_of(self._next(good=False))
        breaks = [
            lambda data: data + b"  expried: x\n",
            lambda data: data + b"  expired: x\n",
            lambda data: data + b"status: 200\n",
            lambda data: data.replace(b"version: 1", b"version: 2"),
            lambda data: data.replace(b"Version", b"{sever} Version", 1),
            lambda data: data.replace(b"Version", b"\\u202eVersion", 1),
            lambda data: data.replace(b"Version", b"Version\xff", 1),
            lambda data: data + b"\0",
            lambda data: data + b"---\n" + data,
            lambda data: b"\t" + data,
            lambda data: b"&a " + data.replace(b"messages:", b"messages: !x", 1),
            lambda data: b"<html>" + data,
        ]
        self._put(self._chance.choice(breaks)(content))

    def too_large(self) -> None:
        """It is larger than any is read."""
        self._put(file_of(self._next(good=False)) + b"#" * (1 << 20))
