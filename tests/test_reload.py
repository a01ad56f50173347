"""Operators edit the files of a running server: what it takes up, when, and what it does about a broken one."""

import asyncio
import errno
import gc
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from servers import (
    AUDIENCE,
    CALL,
    GOOD,
    ISSUER,
    SCOPES,
    TOKENS,
    Verifier,
    authenticated,
    bearer,
    exchange,
    on_the_wire,
    serve,
)

from mcp_auth_failures import DataError, Refusal, Wording, load_catalog, overrides
from mcp_auth_failures.asgi import AuthFailureMiddleware
from mcp_auth_failures.overrides import CHECK_SECONDS
from mcp_auth_failures.translations import Folder

ENGLISH = {reason: entry.failure.message for reason, entry in load_catalog().reasons.items()}
REASONS = ", ".join(ENGLISH)
KEPT = "the wording stays as it was; the changed override files cannot be used:\n"


def _said(text: str, reason: str = "expired") -> str:
    return f'version: 1\nmessages:\n  {reason}: "{text}"\n'


class Clock:
    """The time that the files are checked by; it stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def step(self, seconds: float = CHECK_SECONDS) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of ``overrides``, and of no other module: a real server keeps its own time."""
    clock = Clock()
    monkeypatch.setattr(overrides, "time", SimpleNamespace(monotonic=clock.monotonic))
    return clock


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    """An override file that says "old"."""
    path = tmp_path / "acme.yaml"
    path.write_text(_said("old"))
    return path


def _looks(wording: Wording, clock: Clock, number: int = 2) -> str:
    """Let the wording look at its files so many times, and give what it says then."""
    for _ in range(number):
        clock.step()
        wording.check()
    return wording.describe("expired").message


def _logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "mcp_auth_failures"]


# --- ways to write a file -------------------------------------------------------------------------------------------


def _in_place(path: Path, content: str) -> None:
    with path.open("r+") as file:
        file.write(content)
        file.truncate()


def _rename(path: Path, content: str) -> None:
    temporary = path.with_name(".new")
    temporary.write_text(content)
    temporary.replace(path)


def _recreate(path: Path, content: str) -> None:
    path.unlink()
    path.write_text(content)


def _move_away(path: Path, content: str) -> None:
    path.rename(path.with_name("acme.yaml~"))  # as some editors do
    path.write_text(content)


def _same_time(path: Path, content: str) -> None:
    found = path.stat()
    path.write_text(content)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _same_size_and_time(path: Path, content: str) -> None:
    found = path.stat()
    _rename(path, content)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _older(path: Path, content: str) -> None:
    _rename(path, content)
    os.utime(path, (0, 0))


def _link(path: Path, content: str) -> None:
    target = path.with_name("elsewhere.yaml")
    target.write_text(content)
    path.unlink()
    path.symlink_to(target.name)


WAYS = [
    (_in_place, "new"),
    (_in_place, "newer"),
    (Path.write_text, "newer"),
    (_rename, "new"),
    (_recreate, "new"),
    (_move_away, "newer"),
    (_same_time, "newer"),
    (_same_size_and_time, "new"),
    (_older, "new"),
    (_link, "new"),
]


@pytest.mark.parametrize(("write", "text"), WAYS, ids=[f"{write.__name__.strip('_')}-{text}" for write, text in WAYS])
def test_changed_file_is_taken_up(
    acme: Path, clock: Clock, caplog: pytest.LogCaptureFixture, write: Callable[[Path, str], object], text: str
) -> None:
    """However a file is written, the second look that sees the same of it reads it; until then the old text holds."""
    wording = Wording(overrides=acme)
    os.utime(acme, ns=(0, acme.stat().st_mtime_ns - 10**9))
    assert _looks(wording, clock) == "old"
    write(acme, _said(text))
    assert _looks(wording, clock, 1) == "old"
    assert _looks(wording, clock, 1) == text
    assert _looks(wording, clock, 5) == text
    assert _logged(caplog) == []


def _config_map(folder: Path, content: str, number: int) -> None:
    """Publish a file as Kubernetes does: ``acme.yaml`` → ``..data/acme.yaml``, and ``..data`` → a folder in a swap."""
    data = folder / f"..{number}"
    data.mkdir()
    (data / "acme.yaml").write_text(content)
    os.utime(data / "acme.yaml", (1, 1))
    (folder / "..data_tmp").symlink_to(data.name)
    (folder / "..data_tmp").replace(folder / "..data")
    if not (folder / "acme.yaml").is_symlink():
        (folder / "acme.yaml").symlink_to("..data/acme.yaml")


@pytest.mark.parametrize("keep", [True, False], ids=["old folder stays", "old folder goes"])
def test_config_map_swap_is_taken_up(tmp_path: Path, clock: Clock, keep: bool) -> None:
    """A ConfigMap's swap of ``..data`` is seen, although link, size and time stay the same."""
    _config_map(tmp_path, _said("old"), 1)
    wording = Wording(overrides=tmp_path / "acme.yaml")
    for number, text in [(2, "new"), (3, "two"), (4, "old")]:
        before = (tmp_path / "acme.yaml").stat(), (tmp_path / "acme.yaml").lstat()
        _config_map(tmp_path, _said(text), number)
        after = (tmp_path / "acme.yaml").stat(), (tmp_path / "acme.yaml").lstat()
        assert [(found.st_size, found.st_mtime_ns) for found in before] == [
            (found.st_size, found.st_mtime_ns) for found in after
        ]
        if not keep:
            shutil.rmtree(tmp_path / f"..{number - 1}")
        assert _looks(wording, clock) == text


def test_torn_write_is_not_taken_for_an_edit(acme: Path, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """A file that changes from look to look is read when it has come to rest; nothing is logged on the way."""
    wording = Wording(overrides=acme)
    content = _said("new")
    with acme.open("w") as file:  # it is empty now
        for character in content:
            assert _looks(wording, clock, 1) == "old"
            file.write(character)
            file.flush()
    assert _looks(wording, clock, 1) == "old"
    assert _looks(wording, clock, 1) == "new"
    assert _logged(caplog) == []


def test_file_that_is_away_for_one_look_is_no_fault(acme: Path, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """A file that is deleted and written anew between two looks is an edit like any other."""
    wording = Wording(overrides=acme)
    acme.unlink()
    assert _looks(wording, clock, 1) == "old"
    acme.write_text(_said("newer"))
    assert _looks(wording, clock, 2) == "newer"
    assert _logged(caplog) == []


def test_touched_file_says_the_same(acme: Path, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """A file that is only touched is read again, and nothing is said of it."""
    wording = Wording(overrides=acme)
    os.utime(acme, (5, 5))
    assert _looks(wording, clock, 3) == "old"
    assert _logged(caplog) == []


# --- how often, and what it costs -----------------------------------------------------------------------------------


@pytest.fixture
def stats(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every path that ``os.stat`` is asked for, from now on."""
    asked: list[str] = []
    real = os.stat

    def count(path: str, *arguments: object, **keywords: object) -> os.stat_result:
        asked.append(os.fspath(path))
        return real(path, *arguments, **keywords)

    monkeypatch.setattr(os, "stat", count)
    return asked


def test_look_costs_a_stat_for_each_file(tmp_path: Path, clock: Clock, stats: list[str]) -> None:
    """A look at files that did not change is one ``stat`` each, and no more often than every ``CHECK_SECONDS``."""
    paths = [tmp_path / f"{number}.yaml" for number in range(3)]
    for path in paths:
        path.write_text(_said("old"))
    wording = Wording(overrides=paths)
    stats.clear()
    for _ in range(100):
        wording.check()
    assert stats == []
    for _ in range(5):
        clock.step(CHECK_SECONDS / 2)
        wording.check()
        assert stats == []
        clock.step(CHECK_SECONDS / 2)
        for _ in range(100):
            wording.check()
        assert stats == [str(path) for path in paths]
        stats.clear()


def test_nothing_is_looked_at_where_there_is_no_file(clock: Clock, stats: list[str]) -> None:
    """Without override files there is nothing to look at."""
    wording = Wording()
    stats.clear()
    _looks(wording, clock, 5)
    assert stats == []


def test_saying_looks_at_nothing(acme: Path, clock: Clock, stats: list[str]) -> None:
    """Only ``check`` looks: a text is said without asking the file system."""
    wording = Wording(overrides=acme)
    wording.load()
    stats.clear()
    clock.step()
    for reason in ENGLISH:
        wording.describe(reason, "de, fr")
        wording.refusal(reason, "zh-TW")
    assert stats == []


# --- a broken edit --------------------------------------------------------------------------------------------------


def _broken(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


BROKEN: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "misspelt": (
        _broken("version: 1\nmessages:\n  expird: a\n  unverified: 5\n"),
        [
            f":3:3: messages.expird: 'expird' is not one of {REASONS} (did you mean 'expired'?)",
            ":4:15: messages.unverified: expected a text in quotes, found the number '5'",
        ],
    ),
    "no YAML": (_broken("version: 1\nmessages: ]\n"), [":2:11: is not YAML: did not find expected node content"]),
    "a detail without a value": (
        _broken(_said("{contact}")),
        [
            ":3:12: messages.expired: uses {contact}, which has no value: "
            "give Wording(contact=…) or MCP_AUTH_FAILURES_CONTACT"
        ],
    ),
    "changes an action": (
        _broken("version: 1\nmessages:\n  expired: {action: reconnect}\n"),
        [":3:21: messages.expired.action: is not wording: only what is said can be changed here"],
    ),
    "zero bytes": (_broken(""), [": is empty"]),
    "gone": (Path.unlink, [": cannot be read: No such file or directory"]),
    "too large": (_broken("#" * ((1 << 20) + 1)), [": is larger than 1,048,576 bytes"]),
    "a NUL": (_broken(_said("a\0")), [":3:14: the control character U+0000 is not allowed here"]),
    "a FIFO": (_fifo, [": cannot be read: it is not a regular file"]),
    "a folder": (_folder, [": cannot be read: it is a folder"]),
    "a device": (_device, [": cannot be read: it is not a regular file"]),
    "a loop": (_loop, [": cannot be read: Too many levels of symbolic links"]),
}


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize(("write", "faults"), BROKEN.values(), ids=BROKEN)
def test_broken_edit_keeps_the_last_good(
    acme: Path,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    write: Callable[[Path], object],
    faults: list[str],
) -> None:
    """A broken edit changes nothing, is logged once with every fault, and is over by itself when it is mended."""
    wording = Wording(overrides=acme)
    write(acme)
    assert _looks(wording, clock, 10) == "old"
    assert _logged(caplog) == [("ERROR", KEPT + "\n".join(f"{acme}{fault}" for fault in faults))]
    _remove(acme)
    acme.write_text(_said("mended"))
    assert _looks(wording, clock) == "mended"
    assert len(_logged(caplog)) == 1
    assert capfd.readouterr() == ("", "")


def test_broken_edit_is_logged_for_each_change(acme: Path, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """Each broken state is logged once, the same one too when it comes back after a good one."""
    wording = Wording(overrides=acme)
    for content in ("", "a", "", _said("good"), ""):
        _rename(acme, content)
        _looks(wording, clock, 4)
    assert [message.removeprefix(f"{KEPT}{acme}") for _, message in _logged(caplog)] == [
        ": is empty",
        ":1:1: expected a mapping, found the text 'a'",
        ": is empty",
        ": is empty",
    ]
    assert wording.describe("expired").message == "good"


def test_every_fault_of_every_file_is_logged(tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """Where several files are broken at once, what is wrong with each is told, in their order."""
    paths = [tmp_path / f"{number}.yaml" for number in range(4)]
    for path in paths:
        path.write_text(_said(path.stem))
    wording = Wording(overrides=paths)
    paths[0].write_text("version: 1\nmessages: {expired: 5}\n")
    paths[1].write_text("")
    paths[2].unlink()
    paths[3].write_text("version: 1\nmesages: {}\n")
    assert _looks(wording, clock, 5) == "0"
    faults = [
        f"{paths[0]}:2:21: messages.expired: expected a text in quotes, found the number '5'",
        f"{paths[1]}: is empty",
        f"{paths[2]}: cannot be read: No such file or directory",
        f"{paths[3]}:1:1: messages: is missing",
        f"{paths[3]}:2:1: mesages: 'mesages' is not one of version, messages (did you mean 'messages'?)",
    ]
    assert _logged(caplog) == [("ERROR", KEPT + "\n".join(faults))]


IN_NEED = {
    "a broken disk": (OSError(errno.EIO, "Input/output error"), "{path}: cannot be read: Input/output error"),
    "no right": (PermissionError(errno.EACCES, "Permission denied"), "{path}: cannot be read: Permission denied"),
    "no descriptor": (OSError(errno.EMFILE, "Too many open files"), "{path}: cannot be read: Too many open files"),
    "no memory": (MemoryError(), "MemoryError: ''"),
    "no library": (ImportError("a\nb"), r"ImportError: 'a\nb'"),
}


@pytest.mark.parametrize(("raised", "fault"), IN_NEED.values(), ids=IN_NEED)
def test_what_cannot_be_read_is_tried_again(
    acme: Path,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    raised: Exception,
    fault: str,
) -> None:
    """A file that cannot be read for want of something is told of once, and taken up once there is enough."""
    wording = Wording(overrides=acme)
    real = os.open

    def fail(path: str, *arguments: int, **keywords: int) -> int:
        if os.fspath(path) == str(acme):
            raise raised
        return real(path, *arguments, **keywords)

    for text in ("new", "newer"):
        _rename(acme, _said(text))
        with monkeypatch.context() as patch:
            patch.setattr(os, "open", fail)
            assert _looks(wording, clock, 10) != text
        assert _looks(wording, clock, 1) == text
    assert _logged(caplog) == [("ERROR", KEPT + fault.format(path=acme))] * 2


def test_file_that_goes_again_is_told_of_again(acme: Path, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """A file that was moved away, came back as it was and was moved away again is missed twice."""
    wording = Wording(overrides=acme)
    for _ in range(2):
        acme.rename(acme.with_suffix(".away"))
        assert _looks(wording, clock, 5) == "old"
        acme.with_suffix(".away").rename(acme)
        assert _looks(wording, clock, 5) == "old"
    assert _logged(caplog) == [("ERROR", KEPT + f"{acme}: cannot be read: No such file or directory")] * 2


def test_comments_alone_take_everything_back(acme: Path, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """A file of comments alone is a good one, and overrides nothing."""
    wording = Wording(overrides=acme)
    acme.write_text("# nothing for now\n")
    assert _looks(wording, clock) == ENGLISH["expired"]
    assert _logged(caplog) == []


@pytest.mark.parametrize("content", ["", "version: 1\nmessages: {", _said("another")])
def test_file_that_changes_while_it_is_read(
    acme: Path, clock: Clock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    """What was written between a look and the reading is not taken up and no fault yet: its rest is waited for."""
    wording = Wording(overrides=acme)
    _rename(acme, _said("new"))
    assert _looks(wording, clock, 1) == "old"
    real = os.stat
    asked: list[str] = []

    def write_after_the_look(path: str, *arguments: object, **keywords: object) -> os.stat_result:
        found = real(path, *arguments, **keywords)
        if os.fspath(path) == str(acme) and not asked:
            asked.append("once")
            _rename(acme, content)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", write_after_the_look)
        assert _looks(wording, clock, 1) == "old"
    assert asked
    assert _logged(caplog) == []
    _rename(acme, _said("done"))
    assert _looks(wording, clock) == "done"
    assert _logged(caplog) == []


# --- reload ---------------------------------------------------------------------------------------------------------


def test_reload_reads_at_once(acme: Path, clock: Clock) -> None:
    """``reload`` waits for no look, and what it has read is not read again."""
    wording = Wording(overrides=acme)
    acme.write_text(_said("newer"))
    wording.reload()
    assert wording.describe("expired").message == "newer"
    assert _looks(wording, clock, 3) == "newer"


def test_reload_raises_every_fault_and_keeps(tmp_path: Path, acme: Path) -> None:
    """``reload`` of broken files raises with every fault, those of the gettext folders first, and changes nothing."""
    po = _po(tmp_path / "locales", "gl", "old")
    wording = Wording(overrides=acme, translations=tmp_path / "locales")
    _po(tmp_path / "locales", "gl", "{contact}")
    acme.write_text("version: 1\nmessages: {expired: 5, no_token: {xx: a}}\n")
    missing = "uses {contact}, which has no value: give Wording(contact=…) or MCP_AUTH_FAILURES_CONTACT"
    for _ in range(2):
        with pytest.raises(DataError) as raised:
            wording.reload()
        assert str(raised.value).splitlines() == [
            f"{po}:5: reasons.unverified.message: {missing}",
            f"{acme}:2:21: messages.expired: expected a text in quotes, found the number '5'",
            f"{acme}:2:39: messages.no_token.xx: 'xx' is in no language that is known",
        ]
        assert wording.describe("expired").message == wording.describe("unverified", "gl").message == "old"
    acme.write_text(_said("new"))
    _po(tmp_path / "locales", "gl", "new")
    wording.reload()
    assert wording.describe("expired").message == wording.describe("unverified", "gl").message == "new"


def _po(folder: Path, locale: str, text: str) -> Path:
    file = folder / locale / "LC_MESSAGES" / "mcp_auth_failures.po"
    file.parent.mkdir(parents=True, exist_ok=True)
    entry = f'msgctxt "reasons.unverified.message"\nmsgid "{ENGLISH["unverified"]}"\nmsgstr "{text}"\n'
    file.write_text(f'msgid ""\nmsgstr ""\n\n{entry}')
    return file


def test_reload_reads_the_gettext_folders(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """New languages come, deleted ones go, and a broken file leaves its language as it was until it is mended."""
    root = tmp_path / "locales"
    gl = _po(root, "gl", "old")
    _po(root, "sv", "gammal")
    wording = Wording(translations=root, builtin=False)
    assert wording.languages == ("en", "gl", "sv")

    gl.write_text('msgstr "old\n')
    shutil.rmtree(root / "sv")
    _po(root, "is", "nýtt")
    for _ in range(3):
        wording.reload()
    assert wording.languages == ("en", "gl", "is")
    assert wording.describe("unverified", "gl").message == "old"
    assert wording.describe("unverified", "is").message == "nýtt"
    assert wording.describe("unverified", "sv").language == "en"
    fault = "is not a line of a .po: a text is not closed by a quote, or a quote in it lacks its backslash"
    assert _logged(caplog) == [("ERROR", f"gl is left as it was:\n{gl}:1: {fault}")] * 3

    _po(root, "gl", "new")
    _po(root, "sv", "ny")
    wording.reload()
    assert wording.describe("unverified", "gl").message == "new"
    assert wording.describe("unverified", "sv").message == "ny"


def test_reload_of_a_folder_that_is_gone(tmp_path: Path) -> None:
    """A gettext folder that cannot be listed any more is a fault like any other, and the wording stays."""
    root = tmp_path / "locales"
    _po(root, "gl", "old")
    wording = Wording(translations=root)
    shutil.rmtree(root)
    with pytest.raises(DataError) as raised:
        wording.reload()
    assert str(raised.value) == f"{root}: cannot be read: No such file or directory"
    assert wording.describe("unverified", "gl").message == "old"


def test_reload_keeps_one_state(tmp_path: Path, acme: Path) -> None:
    """A process that reloads for ever holds what is current, and nothing of what was before."""
    _po(tmp_path / "locales", "gl", "old")
    wording = Wording(overrides=acme, translations=tmp_path / "locales")

    def states() -> int:
        gc.collect()
        return sum(isinstance(found, Folder) for found in gc.get_objects())

    wording.reload()
    before = states()
    for _ in range(20):
        wording.reload()
    assert states() == before


def test_what_is_read_again_is_said_everywhere(acme: Path, clock: Clock) -> None:
    """After a reload every reason, language, header and list of languages is the new one."""
    acme.write_text('version: 1\nmessages: {expired: {en: "Ask A.", gl: "Pregunte."}, unverified: {de: "Alt."}}\n')
    wording = Wording(overrides=acme)
    wording.load()
    assert "gl" in wording.languages
    acme.write_text('version: 1\nmessages: {expired: {en: "Ask Acme B.", is: "Spyrja."}}\n')
    _looks(wording, clock)
    fresh = Wording(overrides=acme)
    assert wording.languages == fresh.languages
    for reason in ENGLISH:
        for language in (*fresh.languages, "gl", None):
            mine, other = wording.refusal(reason, language), fresh.refusal(reason, language)
            assert (mine.failure, mine.headers, mine.body) == (other.failure, other.headers, other.body)
    for language in (None, "de", "is"):
        description = 'error_description="Ask Acme B."'
        assert description in wording.refusal("expired", language).headers["WWW-Authenticate"]


# --- many at once ---------------------------------------------------------------------------------------------------

VERSIONS = 30


def _version(number: int) -> str:
    """A state of the file: even ones say English and German, odd ones one text for every language."""
    texts = f'{{en: "v{number}", de: "v{number}"}}' if number % 2 == 0 else f'"v{number}"'
    return "version: 1\nmessages:\n" + "".join(f"  {reason}: {texts}\n" for reason in ENGLISH)


def _is_whole(refusal: Refusal, asked: str | None) -> bool:
    """Whether all that a refusal says is of one state of the file."""
    message = refusal.failure.message
    language = (asked or "en") if int(message[1:]) % 2 == 0 else None
    header = refusal.headers.get("WWW-Authenticate", "")
    return (
        refusal.failure.language == refusal.headers.get("Content-Language") == language
        and refusal.json_rpc_error["message"] == message
        and ("error_description" not in header or f'error_description="{message}"' in header)
    )


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Threads take turns as often as the interpreter lets them."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("eager_threads")
def test_threads_see_old_or_new(acme: Path, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """While files are swapped and several threads look and reload, each answer is wholly of one state."""
    acme.write_text(_version(0))
    wording = Wording(overrides=acme)
    done = threading.Event()

    def answer(number: int) -> tuple[bool, int]:
        whole, answers = True, 0
        asked = (None, "en", "de")[number % 3]
        while not done.is_set() or answers < 50:
            for reason in ENGLISH:
                whole &= _is_whole(wording.refusal(reason, asked), asked)
                answers += 1
            clock.step(CHECK_SECONDS / 4)
            wording.check()
            if number == 0:
                wording.reload()
        return whole, answers

    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(answer, number) for number in range(8)]
        for number in range(1, VERSIONS):
            _rename(acme, _version(number))
            wording.reload()
        done.set()
        assert all(whole and count for whole, count in (found.result() for found in answers))
    wording.reload()
    assert wording.describe("expired").message == f"v{VERSIONS - 1}"
    assert _logged(caplog) == []


@pytest.mark.usefixtures("eager_threads")
def test_last_reload_wins(acme: Path) -> None:
    """Once a file is written and read again, no thread that began to read before brings back what was there."""
    wording = Wording(overrides=acme)
    wording.load()
    stale = []
    for number in range(100):
        others = [threading.Thread(target=wording.reload) for _ in range(3)]
        for other in others:
            other.start()
        _rename(acme, _said(f"v{number}"))
        wording.reload()
        for other in others:
            other.join()
        if wording.describe("expired").message != f"v{number}":
            stale.append(number)
    assert stale == []


async def _never(scope: object, receive: object, send: object) -> None:
    raise AssertionError("a refused request reached the application")


GARBAGE = bearer("garbage")


def test_tasks_see_old_or_new(acme: Path, clock: Clock) -> None:
    """While a file is swapped under many tasks, each answer of the middleware is wholly of one state."""
    acme.write_text(_version(0))
    app = AuthFailureMiddleware(authenticated(_never), Wording(overrides=acme))
    seen: list[tuple[Refusal, str | None]] = []

    async def client(asked: str | None) -> None:
        for _ in range(30):
            headers = [*GARBAGE, ("accept-language", asked or "*")]
            seen.append(((await exchange(app, headers=headers)).refusal, asked))
            await asyncio.sleep(0)

    async def operator() -> None:
        for number in range(1, VERSIONS):
            _rename(acme, _version(number))
            for _ in range(3):
                clock.step()
                await asyncio.sleep(0)

    async def everybody() -> None:
        await asyncio.gather(operator(), *(client(asked) for asked in (None, "en", "de") * 20))

    asyncio.run(everybody())
    assert len(seen) == 30 * 60
    assert all(_is_whole(refusal, asked) for refusal, asked in seen)
    assert len({refusal.failure.message for refusal, _ in seen}) > 1


# --- a server that runs ---------------------------------------------------------------------------------------------


def _request(asked: str | None) -> bytes:
    body = json.dumps(CALL).encode()
    language = f"Accept-Language: {asked}\r\n" if asked else ""
    return (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer garbage\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n{language}\r\n"
    ).encode() + body


def test_server_follows_its_operator(tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """While a server runs its file is edited, broken, mended, deleted, rewritten and swapped, and callers are told."""
    acme = tmp_path / "acme.yaml"
    acme.write_text(_said("first", "unverified"))

    with serve(AuthFailureMiddleware(authenticated(_never), Wording(overrides=acme))) as url:

        def told() -> str:
            """What a caller is told once there was time for two looks; every refusal makes one."""
            for _ in range(2):
                clock.step()
                answer = on_the_wire(url, _request("de"))
            assert (answer.status, answer.refusal.request_id, answer.reason) == (401, CALL["id"], "unverified")
            return answer.refusal.failure.message

        assert told() == "first"
        acme.write_text(_said("edited", "unverified"))
        assert told() == "edited"
        acme.write_text("version: 1\nmessages: {unverified: 5}\n")
        assert told() == told() == "edited"
        acme.write_text("")
        assert told() == "edited"
        acme.write_text(_said("mended", "unverified"))
        assert told() == "mended"
        acme.unlink()
        assert told() == told() == "mended"
        _config_map(tmp_path, _said("swap 1", "unverified"), 1)
        assert told() == "swap 1"
        _config_map(tmp_path, _said("swap 2", "unverified"), 2)
        assert told() == "swap 2"
        acme.unlink()
        acme.write_text("version: 1\nmessages: {unverified: {de: deutsch, en: English}}\n")
        assert told() == "deutsch"
        assert 'error_description="English"' in on_the_wire(url, _request("de")).lines("www-authenticate")[0]

    assert [message.removeprefix(KEPT) for level, message in _logged(caplog) if level == "ERROR"] == [
        f"{acme}:2:24: messages.unverified: expected a text in quotes, found the number '5'",
        f"{acme}: is empty",
        f"{acme}: cannot be read: No such file or directory",
    ]


def test_client_is_told_what_the_operator_says_now(acme: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The official SDK's client, in one session with its server whose code knows no file, is told each new sentence."""
    monkeypatch.setenv("MCP_AUTH_FAILURES_OVERRIDES", str(acme))
    server = MCPServer(
        "example",
        token_verifier=Verifier(),
        auth=AuthSettings(
            issuer_url=ISSUER, resource_server_url=AUDIENCE, required_scopes=SCOPES, validate_token_resource=True
        ),
    )

    async def told(client: Client) -> str:
        for _ in range(2):
            clock.step()
            with pytest.raises(MCPError) as raised:
                await client.call_tool("echo", {})
        refusal = Refusal.from_error(raised.value)
        assert refusal
        return refusal.failure.message

    async def session(url: str) -> list[str]:
        async with (
            httpx2.AsyncClient(headers=dict(bearer(GOOD)), timeout=20) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            http.headers.update(bearer(TOKENS["expired"]["expired"]))
            sentences = []
            for content in (None, _said("edited"), "broken", _said("mended"), "", "# nothing\n"):
                if content is not None:
                    _rename(acme, content)
                sentences.append(await told(client))
            http.headers.update(bearer(GOOD))
            return sentences

    with serve(AuthFailureMiddleware(server.streamable_http_app())) as url:
        sentences = asyncio.run(session(url))
    assert sentences == ["old", "edited", "edited", "mended", "mended", ENGLISH["expired"]]


def test_callers_of_a_server_see_old_or_new(acme: Path, clock: Clock) -> None:
    """While a file is swapped, many callers at once are each answered wholly from one state, in the end the last."""
    acme.write_text(_version(0))
    done = threading.Event()

    def call(url: str, asked: str | None) -> list[bool]:
        whole = []
        while not done.is_set() or not whole:
            whole.append(_is_whole(on_the_wire(url, _request(asked)).refusal, asked))
        return whole

    with serve(AuthFailureMiddleware(authenticated(_never), Wording(overrides=acme))) as url:
        with ThreadPoolExecutor(9) as pool:
            callers = [pool.submit(call, url, asked) for asked in (None, "en", "de") * 3]
            for number in range(1, VERSIONS):
                _rename(acme, _version(number))
                for _ in range(2):
                    clock.step()
                    on_the_wire(url, _request(None))
            done.set()
            assert all(all(caller.result()) for caller in callers)
        assert on_the_wire(url, _request("de")).refusal.failure.message == f"v{VERSIONS - 1}"
