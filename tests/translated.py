"""Gettext folders for tests, as Babel writes them."""

from collections.abc import Mapping
from pathlib import Path

from babel.messages.catalog import Catalog as Messages
from babel.messages.mofile import write_mo
from babel.messages.pofile import write_po

from mcp_auth_failures import load_catalog

__all__ = ["ENGLISH", "line_of", "translate"]

ENGLISH = {reason: entry.failure.message for reason, entry in load_catalog().reasons.items()}


def translate(
    folder: Path, locale: str, ending: str = "po", english: Mapping[str, str] = ENGLISH, **texts: str
) -> Path:
    """Write one language, a text by reason; gives its file."""
    messages = Messages(charset="utf-8")
    for reason, text in texts.items():
        messages.add(english[reason], text, context=f"reasons.{reason}.message")
    file = folder / locale / "LC_MESSAGES" / f"mcp_auth_failures.{ending}"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as opened:
        write_po(opened, messages, width=0) if ending == "po" else write_mo(opened, messages)
    return file


def line_of(po: Path, reason: str) -> int:
    """The line of an entry's ``msgid``, which is the place of the entry."""
    return po.read_text("utf-8").split("\n").index(f'msgctxt "reasons.{reason}.message"') + 2
