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
    "xn--1und1-mnchen-jlb.example",  # 1und1-münchen
    "xn--24htel-kxa.example",  # 24hôtel
    "xn--8-948a.example",  # 8号
    "xn----1hcy7apyk.example",  # בית-ספר
    "xn--12-3ldii3ii.example",  # חדשות12
    "xn--24-btdi7jya.example",  # قناة24
    "xn--mgbe7eqa6lma.example",  # قناة٢٤
    "xn--gckg0cgw47agad.example",  # スター・ウォーズ
    "xn--8dbq2a9c.example",  # צה״ל
    "xn--6dbeo8bt8d.example",  # ג׳ירפה
    "xn--zca.example",  # ß
    "xn--collegi-xma.example",  # col·legi
    "mcp-1.xn--4dbrk0ce",
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
    "1password.xn--4dbrk0ce",  # a label that begins with a digit beside one from right to left
    "-a.xn--4dbrk0ce",
    "a-.xn--4dbrk0ce.com",
    "1.xn--wgbh1c",
    "xn--a-.example",  # ASCII in disguise
    "xn--abc-",
    "xn--a-egb",  # what nobody sees
    "xn--a-i89h",  # a variation
    "xn--a1-dtd4u",
    "xn--9caaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",  # longer than any label
]


@pytest.mark.parametrize("host", GOOD)
def test_host_is_one(host: str) -> None:
    """A name, in other scripts too, and an address in its usual form are read alike by every client."""
    assert is_host(host)


@pytest.mark.parametrize("host", BAD)
def test_host_is_none(host: str) -> None:
    """What one client reads as another host, or refuses, is no host."""
    assert not is_host(host)
