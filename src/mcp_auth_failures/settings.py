"""What a host passes and what an operator sets: ``MCP_AUTH_FAILURES_…`` variables beside arguments, checked alike."""

import os
from collections.abc import Iterable

from mcp_auth_failures.challenge import url_fault
from mcp_auth_failures.datafile import Fault, one_of, text_fault
from mcp_auth_failures.tags import canonical
from mcp_auth_failures.text import fill, split

__all__ = ["Settings", "StrPath"]

StrPath = str | os.PathLike[str]

_MAX_DETAIL = 500
_URL_NAMES = ("language", "reason")
_LONGEST_NAME = 64


class Settings:
    """Reads one setting after the other; what is wrong with any is noted in ``faults`` under the name it was given by.

    :param env: whether the environment counts.
    """

    def __init__(self, env: bool) -> None:
        self.faults: list[Fault] = []
        self._environment = os.environ if env else {}

    def paths(self, variable: str, value: StrPath | Iterable[StrPath]) -> tuple[str, ...]:
        """Paths of the operator, then those of the host."""
        given = (value,) if isinstance(value, str | os.PathLike) else value
        operators = self._environment.get(_variable(variable), "").split(os.pathsep)
        return (*filter(None, operators), *(os.fspath(path) for path in given))

    def folders(self, variable: str, value: StrPath | Iterable[StrPath]) -> tuple[str, ...]:
        """As :meth:`paths`, of folders that can be listed."""
        folders: list[str] = []
        for folder in self.paths(variable, value):
            try:
                os.listdir(folder)
                folders.append(folder)
            except OSError as error:
                self._refuse(folder, f"cannot be read: {error.strerror}")
            except ValueError:  # a NUL in the name
                self._refuse(repr(folder), "cannot be read: no file has such a name")
        return tuple(folders)

    def single(self, argument: str, variable: str, value: str | None) -> tuple[str, str | None]:
        """A setting's name, for faults, and its value: the operator's, else the host's."""
        if operators := self._environment.get(_variable(variable)):
            return _variable(variable), operators
        return f"Wording({argument}=…)", value

    def detail(self, argument: str, value: str | None) -> str | None:
        """A text that is put into messages."""
        name, text = self.single(argument, argument, value)
        if text is None:
            return None
        if not isinstance(text, str) or not text.strip() or len(text) > _MAX_DETAIL:
            self._refuse(name, f"expected a text of at most {_MAX_DETAIL} characters, found {text!r:.80}")
            return None
        if fault := text_fault(text):
            self._refuse(name, fault)
            return None
        return text.strip()

    def language(self, argument: str, value: str | None) -> str | None:
        """A BCP 47 tag, in our spelling."""
        name, tag = self.single(argument, "language", value)
        if tag is None:
            return None
        try:
            return canonical(tag)
        except ValueError as error:
            self._refuse(name, str(error))
        return None

    def help_url(self, argument: str, value: str | None) -> tuple[str, ...] | None:
        """A URL with ``{language}`` and ``{reason}`` in it, taken apart."""
        name, url = self.single(argument, argument, value)
        if url is None:
            return None
        try:
            parts = tuple(split(url))
        except (ValueError, TypeError) as error:
            self._refuse(name, str(error))
            return None
        if unknown := next((name for name in parts[1::2] if name not in _URL_NAMES), None):
            self._refuse(name, f"the placeholder {one_of(unknown, _URL_NAMES)}")
            return None
        for stand_in in ("x", "x" * _LONGEST_NAME):
            if fault := url_fault(fill(parts, dict.fromkeys(_URL_NAMES, stand_in))):
                self._refuse(name, fault)
                return None
        return parts

    def _refuse(self, name: str, message: str) -> None:
        self.faults.append(Fault(name, None, None, "", message))


def _variable(setting: str) -> str:
    return f"MCP_AUTH_FAILURES_{setting.upper()}"
