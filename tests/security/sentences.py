"""Sentences that show which version of a file they are from, and whether they are whole; and files of them."""

import json
import re
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from mcp_auth_failures import load_catalog

__all__ = ["EVERYWHERE", "LANGUAGES", "REASONS", "Sentence", "file_of", "parse", "sentence"]

REASONS = tuple(load_catalog().reasons)
LANGUAGES = ("en", "de", "zh-Hant")
"""Those that a file has texts in."""
EVERYWHERE = "every language"
"""Said of a text that has none."""


class Sentence(NamedTuple):
    """What a sentence says about itself."""

    version: int
    reason: str
    language: str


def sentence(version: int, reason: str, language: str) -> str:
    """A sentence of any length, with a check sum at its end."""
    told = f"Version {version} of {reason} in {language}, {'so ' * (zlib.crc32(f'{version}{reason}'.encode()) % 40)}"
    return f"{told}it ends: {zlib.crc32(told.encode()):08x}."


_WHOLE = re.compile(r"(Version (-?\d+) of (\w+) in ([\w -]+), (?:so )*)it ends: ([0-9a-f]{8})\.")


def parse(text: str) -> Sentence | None:
    """What a sentence says, if it is whole and one."""
    found = _WHOLE.fullmatch(text)
    if not found or f"{zlib.crc32(found[1].encode()):08x}" != found[5]:
        return None
    return Sentence(int(found[2]), found[3], found[4])


def _message(version: int, reason: str) -> object:
    # now one text for every language, now one for each
    if (version + REASONS.index(reason)) % 3 == 0:
        return sentence(version, reason, EVERYWHERE)
    return {language: sentence(version, reason, language) for language in LANGUAGES}


def file_of(version: int, reasons: Iterable[str] = REASONS) -> bytes:
    """An override file, a line for each reason."""
    lines = [f"  {reason}: {json.dumps(_message(version, reason))}\n" for reason in reasons]
    return "".join(["version: 1\n", "messages:\n", *lines]).encode()
