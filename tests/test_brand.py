"""A name, a logo and a colour: any colour can be read in the end."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_auth_failures.brand import Brand, accent_fault, logo_fault, name_fault

COLOURS = st.from_regex("#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})", fullmatch=True)


def luminance(colour: str) -> float:
    """WCAG 2.2's relative luminance of ``#rrggbb``."""
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2.2's contrast ratio of two colours."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@given(COLOURS)
def test_any_accent_can_be_read(colour: str) -> None:
    """Whatever colour the operator likes, links have the contrast of WCAG's AA in both schemes."""
    assert accent_fault(colour) is None
    for scheme in Brand(accent=colour).schemes.values():
        assert re.fullmatch("#[0-9a-f]{6}", scheme["accent"])
        assert contrast(scheme["accent"], scheme["surface"]) >= 4.5


def test_a_readable_accent_is_kept() -> None:
    """A colour that can be read is the operator's own, in either spelling."""
    assert Brand(accent="#005A9c").schemes["light"]["accent"] == "#005a9c"
    assert Brand(accent="#9cf").schemes["dark"]["accent"] == "#99ccff"


@pytest.mark.parametrize("colour", ["#ff0000", "#00ff00", "#0000ff"])
def test_a_shade_keeps_the_hue(colour: str) -> None:
    """What is shaded is still red, green or blue."""
    for scheme in Brand(accent=colour).schemes.values():
        channels = [int(scheme["accent"][at : at + 2], 16) for at in (1, 3, 5)]
        strongest = [int(colour[at : at + 2], 16) for at in (1, 3, 5)].index(255)
        assert channels.index(max(channels)) == strongest


@pytest.mark.parametrize(
    "value",
    ["", "#", "07c", "#07", "#07cc", "#07c7", "#07c\n", "#ggg", "red", "rgb(0, 0, 0)", "#07c;} a {b: c", "＃07c"],
)  # fmt: skip
def test_no_colour(value: str) -> None:
    """Anything but the two spellings is refused, so that nothing of it gets into the stylesheet."""
    assert accent_fault(value) == f"{value!r} is not a colour such as #07c or #0077cc"


@pytest.mark.parametrize(
    ("data", "file"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "logo.png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "logo.jpg"),
        (b"RIFF\n\n\0\0WEBPVP8 ", "logo.webp"),
        (b"RIFF\n\n\0\0WEBPVP8L", "logo.webp"),
        (b"", None),
        (b"\x89PNG", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (b"<?xml version='1.0'?><svg/>", None),
        (b"<html>", None),
        (b"GIF89a", None),
        (b"RIFF\0\0\0\0WAVEfmt ", None),
        (b" \x89PNG\r\n\x1a\n", None),
    ],
)
def test_a_logo_is_known_by_its_bytes(data: bytes, file: str | None) -> None:
    """The name of the file counts for nothing; what can hold a script is refused."""
    assert logo_fault(data) == (None if file else "is no PNG, JPEG or WebP image")
    assert Brand(logo=data).logo_file == file


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("Acme", None),
        ("<Acme & Söhne>", None),
        ("أكمي", None),
        ("", "is empty"),
        (" ", "is empty"),
        ("\u200b\u2060", "holds nothing that can be seen"),
        ("A" * 2001, "is longer than 2,000 characters"),
        ("Ac\nme", "a line break is not allowed in a text"),
        ("Ac\u202eme", "the bidirectional control U+202E is not allowed in a text"),
    ],
)
def test_a_name(name: str, fault: str | None) -> None:
    """A name is any text that a message might be."""
    assert name_fault(name) == fault


def test_shading_goes_no_further_than_it_must() -> None:
    """From yellow, which nobody can read on white, light links grow darker step by step and stop in time."""
    accents = [Brand(accent=f"#{red:02x}{red:02x}00").schemes["light"]["accent"] for red in range(0, 256, 15)]
    assert all(luminance(one) <= luminance(other) + 0.01 for one, other in pairwise(accents))
    surface = Brand().schemes["light"]["surface"]
    assert contrast(Brand(accent="#ffff00").schemes["light"]["accent"], surface) < 4.8
