"""The host of a URL: what Python and JavaScript read alike."""

import pytest

from mcp_auth_failures.host import is_host

GOOD = [
    "h.example",
    "H.Example.",
    "localhost:3000",
    "h.example:",
    "my_host-1",
    "1password.example",
    "a.0xg",
    "127.0.0.1",
    "127.0.0.1:8000",
    "[::1]:8000",
    "[2001:DB8::1]",
    "[::ffff:1.2.3.4]",
    "xn--bcher-kva.example",
    "xn--fa-hia.example",
    "xn--d1acpjx3f.xn--p1ai",
    "xn--wgbh1c",
    "xn--fiqs8s",
    "a.XN--BCHER-KVA",
]
BAD = [
    "",
    ":80",
    ".",
    ".example",
    "a..example",
    "a^b",
    "a%41.example",
    "a,b",
    "a*b",
    "a&b",
    "{a}",
    "a|b",
    "a b",
    "a:b",
    "1.2.3.999",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.4.",
    "01.2.3.4",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "a.0x7f",
    "a.0x",
    "a.1",
    "[::1",
    "[::1]a",
    "[1.2.3.4]",
    "[1::2::3]",
    "[fe80::1%25eth0]",
    "[v1.a]",
    "[]",
    "xn--",
    "xn--a.example",
    "xn--a-b.example",
    "xn--0.example",
    "xn--\u00fc",
    "a.xn--ksa",  # a mark with nothing to stand on
    "xn--bcher-kvb.example",
    "xn--a-zhc",  # a Hebrew letter before a Latin one
    "xn--wca",  # a capital
    "xn--jm6c",  # a ligature
]


@pytest.mark.parametrize("host", GOOD)
def test_host_is_one(host: str) -> None:
    """A name, in other scripts too, and an address in its usual form are read alike by every client."""
    assert is_host(host)


@pytest.mark.parametrize("host", BAD)
def test_host_is_none(host: str) -> None:
    """What one client reads as another host, or refuses, is no host."""
    assert not is_host(host)
