"""Whose help pages they are: a name, a logo, and a colour that everyone can read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp_auth_failures.datafile import text_fault

__all__ = ["Brand", "accent_fault", "logo_fault", "name_fault"]


@dataclass(frozen=True, slots=True)
class Brand:
    """Whose pages they are.

    :param name: stands at the head of each page.
    :param logo: the bytes of an image, beside it.
    :param accent: the colour of links and marks, ``#rgb`` or ``#rrggbb``. It is shaded until people can read it who see
        little contrast.
    """

    name: str | None = None
    logo: bytes | None = None
    accent: str | None = None

    @property
    def logo_file(self) -> str | None:
        """The logo's name in the folder."""
        return _image(self.logo) if self.logo else None

    @property
    def schemes(self) -> Mapping[str, Mapping[str, str]]:
        """For light and dark, the ``surface`` with the least contrast, and the ``accent`` that can be read on it."""
        return {
            name: {"surface": surface, "accent": _readable(self.accent or _ACCENT, ink, surface)}
            for name, (surface, ink) in _SCHEMES.items()
        }


def name_fault(value: str) -> str | None:
    """Say why a text is no name for :class:`Brand`, or ``None`` if it is one; so do the others here."""
    return text_fault(value) if value.strip() else "is empty"


def logo_fault(data: bytes) -> str | None:
    """An SVG is refused: opened by itself, it can run scripts on the host's site."""
    return None if _image(data) else "is no PNG, JPEG or WebP image"


def accent_fault(value: str) -> str | None:
    """Any colour will do that is written in hexadecimal."""
    good = re.fullmatch("#(?:[0-9A-Fa-f]{3}){1,2}", value)
    return None if good else f"{value[:40]!r} is not a colour such as #07c or #0077cc"


def _image(data: bytes) -> str | None:
    return next((name for name, start in _IMAGES.items() if re.match(start, data, re.DOTALL)), None)


_IMAGES = {"logo.png": rb"\x89PNG\r\n\x1a\n", "logo.jpg": rb"\xff\xd8\xff", "logo.webp": rb"RIFF....WEBPVP8"}


# --- colours --------------------------------------------------------------------------------------------------------

_ACCENT = "#0f6a63"

# The surface, and what a link on it is moved towards.
_SCHEMES = {"light": ("#f0eeea", "#000000"), "dark": ("#26292d", "#ffffff")}
_AA = 4.5  # WCAG 2.2, 1.4.3


def _readable(colour: str, ink: str, surface: str) -> str:
    """The colour, moved towards the ink until it can be read on the surface."""
    wanted, towards = _channels(colour), _channels(ink)
    for step in range(101):
        mixed = [round(a + (b - a) * step / 100) for a, b in zip(wanted, towards, strict=True)]
        if _contrast(mixed, _channels(surface)) >= _AA:
            break
    return "#" + bytes(mixed).hex()


def _channels(colour: str) -> Sequence[int]:
    digits = colour.removeprefix("#")
    return bytes.fromhex(digits if len(digits) == 6 else "".join(digit * 2 for digit in digits))


def _contrast(one: Sequence[int], other: Sequence[int]) -> float:
    """WCAG 2.2's contrast ratio."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(channels: Sequence[int]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (value / 255 for value in channels)]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
