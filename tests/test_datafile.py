"""Files that people write for us: read within bounds, and faults that say where and what."""

import copy
import os
import pickle
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_auth_failures.datafile import (
    MAX_BYTES,
    DataError,
    Fault,
    decode,
    missing_detail,
    one_of,
    placeholder_fault,
    read_bytes,
    text_fault,
)

FAULTS = [
    (Fault("a.yaml", 3, 7, "reasons.expired.action", "is missing"), "a.yaml:3:7: reasons.expired.action: is missing"),
    (Fault("a.po", 3, None, "", "is missing"), "a.po:3: is missing"),
    (Fault("a.yaml", None, None, "", "is empty"), "a.yaml: is empty"),
    (Fault("a.yaml", None, None, "version", "is missing"), "a.yaml: version: is missing"),
    (Fault("a\nb", None, None, "\x1b[2J", "is\u202e \ud800"), r"a\nb: \x1b[2J: is\u202e \ud800"),
    (Fault("a", None, None, "é" * 1000, "\u2028" * 200), "a: " + "é" * 1000 + ": " + r"\u2028" * 166 + "\\u2…"),
    (Fault("a", None, None, "\n" + "x" * 5000, "x" * 1001), f"a: \\n{'x' * 997}…: {'x' * 999}…"),
]


@pytest.mark.parametrize(("fault", "text"), FAULTS, ids=[text for _, text in FAULTS])
def test_fault_says_where_and_what(fault: Fault, text: str) -> None:
    """Place and path come first, as far as they are known; whatever they quote, it is a bounded line of its own."""
    assert str(fault) == text


def test_place_is_what_editors_link() -> None:
    """The place of a fault is its file, line and column, as far as they are known."""
    assert [fault.place for fault, _ in FAULTS[:4]] == ["a.yaml:3:7", "a.po:3", "a.yaml", "a.yaml"]


def test_data_error_says_all_of_them() -> None:
    """The text of the error is every fault on a line of its own, and ``faults`` has them one by one."""
    faults = [fault for fault, _ in FAULTS]
    error = DataError(iter(faults))
    assert str(error) == "\n".join(text for _, text in FAULTS)
    assert error.faults == tuple(faults)
    assert isinstance(error, ValueError)


@pytest.mark.parametrize("through", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
def test_data_error_travels(through: Callable[[DataError], DataError]) -> None:
    """It survives the way between processes and a copy."""
    error = DataError([fault for fault, _ in FAULTS])
    again = through(error)
    assert type(again) is DataError
    assert (again.faults, str(again)) == (error.faults, str(error))


ALLOWED = ("refresh", "reconnect", "contact_operator")
NEAREST = [
    ("refesh", "'refesh' is not one of refresh, reconnect, contact_operator (did you mean 'refresh'?)"),
    ("RECONNECT", "'RECONNECT' is not one of refresh, reconnect, contact_operator (did you mean 'reconnect'?)"),
    ("zzz", "'zzz' is not one of refresh, reconnect, contact_operator"),
    ("", "'' is not one of refresh, reconnect, contact_operator"),
    ("re\u202efresh", "'re\\u202efresh' is not one of refresh, reconnect, contact_operator (did you mean 'refresh'?)"),
    ("z" * 1_000_000, f"'{'z' * 80}' is not one of refresh, reconnect, contact_operator"),
]


def test_unknown_name_where_none_is_known() -> None:
    """Where nothing is allowed, that is said."""
    assert one_of("a", ()) == "'a' is not known: there are none"


@pytest.mark.parametrize(("found", "text"), NEAREST, ids=[found[:20] or "empty" for found, _ in NEAREST])
def test_unknown_name_is_told_with_the_nearest(found: str, text: str) -> None:
    """An unknown name is told with those that are allowed and the one it comes nearest to, shown safely and cut."""
    assert one_of(found, ALLOWED) == text


PLACEHOLDERS = [
    ("Ask {contact}.", ("server", "contact"), None),
    ("Ask {{contact}}.", (), None),
    (
        "Ask {contract}.",
        ("server", "contact"),
        "the placeholder 'contract' is not one of server, contact (did you mean 'contact'?)",
    ),
    ("{b} {a}", ("server",), "the placeholder 'a' is not one of server"),
    ("Ask {contact}.", (), "'contact' is a placeholder where none is allowed"),
    ("{server}" * 10, ("server",), None),
    ("{server}" * 10 + "{a}", ("server",), "has 11 placeholders, and may have 10"),
    ("Ask {}.", ("server",), "a brace that is no {placeholder} in 'Ask {}.'; write {{ or }} for a brace"),
]


@pytest.mark.parametrize(("text", "allowed", "fault"), PLACEHOLDERS)
def test_placeholder_fault(text: str, allowed: tuple[str, ...], fault: str | None) -> None:
    """A placeholder that a text may not have is told with those it may have."""
    assert placeholder_fault(text, allowed) == fault


TEXTS = [
    ("x" * 2000, None),
    ("x" * 2001, "is longer than 2,000 characters"),
    ("a\u200db", None),
    ("…", None),
    ("\u00a0\u3000", "holds nothing that can be seen"),
    ("\u200b\u00ad", "holds nothing that can be seen"),
    ("a\nb", "a line break is not allowed in a text"),
]


@pytest.mark.parametrize(("text", "fault"), TEXTS, ids=[f"{text!a:.10} ({len(text)})" for text, _ in TEXTS])
def test_text_fault(text: str, fault: str | None) -> None:
    """A text can be seen, is of a length that a client reads, and of characters that show what is said."""
    assert text_fault(text) == fault


def test_missing_detail_says_how_to_give_it() -> None:
    """A placeholder without a value is told with the argument and the variable; a refusal brings its scopes itself."""
    assert missing_detail({"contact", "server", "scope"}, ("server", "contact")) is None
    assert missing_detail({"server", "contact"}, ("server",)) == (
        "uses {contact}, which has no value: give Wording(contact=…) or MCP_AUTH_FAILURES_CONTACT"
    )


# --- reading --------------------------------------------------------------------------------------------------------


def _fault_of(path: str | os.PathLike[str]) -> Fault:
    with pytest.raises(DataError) as raised:
        read_bytes(path)
    (fault,) = raised.value.faults
    return fault


@pytest.mark.parametrize("size", [0, 1, MAX_BYTES])
def test_file_within_the_bound_is_read(tmp_path: Path, size: int) -> None:
    """A file of up to 1 MiB comes back whole, under a name that is text or a path."""
    file = tmp_path / "a.yaml"
    file.write_bytes(b"x" * size)
    assert read_bytes(file) == read_bytes(str(file)) == b"x" * size


@pytest.mark.parametrize("size", [MAX_BYTES + 1, 10_000_000, 1 << 40])
def test_larger_file_is_refused(tmp_path: Path, size: int) -> None:
    """A larger file is refused, however large: no more than the bound is ever read."""
    file = tmp_path / "a.yaml"
    with file.open("wb") as opened:
        opened.truncate(size)
    assert _fault_of(file) == Fault(str(file), None, None, "", "is larger than 1,048,576 bytes")


def _folder(path: Path) -> None:
    path.mkdir()


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(path))  # the name of a socket has room for about 100 characters


def _nothing(path: Path) -> None:
    assert not path.exists()


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


UNREADABLE = [
    (_folder, "it is a folder"),
    (os.mkfifo, "it is not a regular file"),
    (_socket, "it is not a regular file"),
    (_device, "it is not a regular file"),
    (_nothing, "No such file or directory"),
    (_dangling, "No such file or directory"),
    (_loop, "Too many levels of symbolic links"),
]


@pytest.mark.parametrize(("make", "why"), UNREADABLE, ids=[make.__name__.strip("_") for make, _ in UNREADABLE])
def test_what_is_no_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], why: str
) -> None:
    """What is no regular file is refused with its kind, and never opened: a FIFO would block, a device never end."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.yaml"
    make(path)
    assert _fault_of(path) == Fault(str(path), None, None, "", f"cannot be read: {why}")


def test_path_below_a_file_is_refused(tmp_path: Path) -> None:
    """A path that leads through a file names the system's reason."""
    (tmp_path / "a").write_text("")
    path = tmp_path / "a" / "b.yaml"
    assert _fault_of(path) == Fault(str(path), None, None, "", "cannot be read: Not a directory")


def test_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    """A NUL in a name, or too long a name, is a fault and not an exception of another kind."""
    assert _fault_of("a\0b") == Fault("'a\\x00b'", None, None, "", "cannot be read: no file has such a name")
    long = str(tmp_path / ("a" * 300))
    assert _fault_of(long) == Fault(long, None, None, "", "cannot be read: File name too long")


def test_link_is_followed(tmp_path: Path) -> None:
    """A symbolic link to a file is that file: Kubernetes mounts a ConfigMap as links."""
    (tmp_path / "real").write_bytes(b"text")
    (tmp_path / "link").symlink_to("real")
    assert read_bytes(tmp_path / "link") == b"text"


# --- decoding -------------------------------------------------------------------------------------------------------

NOT_UTF8 = [
    (b"caf\xe9\n", 1, "byte 0xe9 at offset 3"),
    (b"a\nb\nsch\xf6n", 3, "byte 0xf6 at offset 7"),
    ("a\n".encode("utf-16"), 1, "byte 0xff at offset 0"),
    (b"\xfe\xff\0a", 1, "byte 0xfe at offset 0"),
    (b"\n\xed\xa0\x80", 2, "byte 0xed at offset 1"),  # a surrogate
    (b"\xc0\x80", 1, "byte 0xc0 at offset 0"),  # an overlong NUL
    (b"ok \xf0\x9f\x98", 1, "byte 0xf0 at offset 3"),  # cut short
    (b"\xf4\x90\x80\x80", 1, "byte 0xf4 at offset 0"),  # beyond U+10FFFF
]


@pytest.mark.parametrize(("data", "line", "found"), NOT_UTF8)
def test_what_is_not_utf8_is_refused(data: bytes, line: int, found: str) -> None:
    """Another encoding is told with the line and the first bad byte, never guessed."""
    with pytest.raises(DataError) as raised:
        decode(data, "a.yaml")
    assert str(raised.value) == f"a.yaml:{line}: is not UTF-8: {found}"


def test_one_byte_order_mark_is_dropped() -> None:
    """Windows editors write one byte order mark; a second is left, for the reader to refuse."""
    assert decode(b"\xef\xbb\xbfa", "a.yaml") == decode(b"a", "a.yaml") == "a"
    assert decode(b"\xef\xbb\xbf\xef\xbb\xbfa", "a.yaml") == "\ufeffa"


@given(st.text())
def test_decode_reverses_encoding(text: str) -> None:
    """Any text comes back from its UTF-8, with a byte order mark before it or without."""
    encoded = text.encode()
    assert decode(b"\xef\xbb\xbf" + encoded, "a.yaml") == text
    assert decode(encoded, "a.yaml") == text.removeprefix("\ufeff")
