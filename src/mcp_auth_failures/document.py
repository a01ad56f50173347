"""Strict YAML: one document whose nodes are checked and never turned into Python objects."""

import re
from collections.abc import Collection, Iterator

import yaml

from mcp_auth_failures.datafile import MAX_BYTES, DataError, Fault, decode, one_of, text_fault
from mcp_auth_failures.text import character_faults

__all__ = ["Document", "found", "join"]

_MAX_DEPTH = 16
_MAX_FAULTS = 100

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is ten times faster; a few wheels lack it

_KINDS = {
    "tag:yaml.org,2002:int": "the number",
    "tag:yaml.org,2002:float": "the number",
    "tag:yaml.org,2002:bool": "the boolean",
    "tag:yaml.org,2002:timestamp": "the date",
}


class Document:
    """One YAML file being read, and what is wrong with it so far.

    ``root`` is the top node, or ``None`` for a file that is empty or holds comments alone. The reading methods take
    a node and its path, note every fault in ``faults``, and return what could be used; :meth:`finish` raises them.
    """

    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.source = source
        self.root: yaml.Node | None = None
        self.faults: list[Fault] = []

    @classmethod
    def parse(cls, data: bytes, file: str) -> "Document":
        """Parse a file's bytes. Raises :class:`DataError` when there is no tree to go on with."""
        text = re.sub("\r\n?", "\n", decode(data, file))  # YAML 1.1 §4.1.4; other line breaks are refused
        document = cls(file, text)
        for index, name in character_faults(text, allowed="\n"):
            line: int | None
            column: int | None
            line, column = text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)
            indent = "; indent with spaces" if name == "a tab" else ""
            document._note(line, column, "", f"{name} is not allowed here{indent}")
        try:
            document._screen(text)
            document.root = yaml.compose(text, _Loader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
            if "single document" in str(getattr(error, "context", "")):
                document._note(line, column, "", "a second document begins here; a file holds one")
            elif not document.faults or line not in {None, *(fault.line for fault in document.faults)}:
                # else the parser stumbled over the very character that is named already
                document._note(line, column, "", f"is not YAML: {getattr(error, 'problem', None) or error}")
            document.finish()
        return document

    def _screen(self, text: str) -> None:
        """Refuse what composing would resolve silently (aliases, tags) or recurse into (depth)."""
        depth = 0
        aliases = False
        for event in yaml.parse(text, _Loader):
            if isinstance(event, yaml.AliasEvent):
                aliases = True
                self.fault(event, "", f"the alias *{event.anchor} is not allowed; write the text out")
            elif tag := getattr(event, "tag", None):
                self.fault(event, "", f"the tag {tag} is not allowed; put a text in quotes")
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > _MAX_DEPTH:
                    self.fault(event, "", f"is nested more than {_MAX_DEPTH} levels deep")
                    self.finish()
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
        if aliases:
            self.finish()  # an alias can hold itself: there may be no end to the tree

    def _note(self, line: int | None, column: int | None, path: str, message: str) -> None:
        if len(self.faults) == _MAX_FAULTS:
            self.faults.append(Fault(self.file, None, None, "", f"and more: only {_MAX_FAULTS} faults are shown"))
            self.finish()
        self.faults.append(Fault(self.file, line, column, path, message))

    def fault(self, node: yaml.Node | yaml.Event | None, path: str, message: str) -> None:
        """Note a fault at a node."""
        mark = node and node.start_mark
        self._note(mark.line + 1 if mark else None, mark.column + 1 if mark else None, path, message)

    def finish(self) -> None:
        """Raise :class:`DataError` if there was any fault, in the file's order."""
        if self.faults:
            raise DataError(sorted(self.faults, key=lambda fault: (fault.line or MAX_BYTES, fault.column or 0)))

    def mapping(
        self,
        node: yaml.Node | None,
        path: str,
        *,
        known: Collection[str] | None = None,
        required: Collection[str] = (),
    ) -> dict[str, yaml.Node]:
        """The values of a mapping by key. Other keys than ``known``, duplicates and missing ones are faults.

        A key is taken as it is written: an unquoted ``no:`` is the language ``no``, never ``False``.
        """
        if not isinstance(node, yaml.MappingNode):
            if node is not None or not path:
                self.fault(node, path, f"expected a mapping, found {found(node)}")
            return {}
        values: dict[str, yaml.Node] = {}
        lines: dict[str, int] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else None
            if name is None:
                self.fault(key, path, f"expected a name, found {found(key)}")
            elif name in values:
                self.fault(key, join(path, name), f"is here twice: it is on line {lines[name]} already")
            elif known is not None and name not in known:
                self.fault(key, join(path, name), one_of(name, known))
            else:
                values[name], lines[name] = value, key.start_mark.line + 1
        for name in required:
            if name not in values:
                self.fault(node, join(path, name), "is missing")
        return values

    # A node that is None is a key that is not there, which mapping() has reported; the methods below pass it over.

    def text(self, node: yaml.Node | None, path: str) -> str | None:
        """A text on one line, without white space round it; any other value (``yes``, ``12:30``, a list) is a fault."""
        if node is None or self._has_fault_in(node):
            return None
        if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:str":
            self.fault(node, path, f"expected a text in quotes, found {found(node)}")
            return None
        text = str(node.value).strip(" \n")
        if not text:
            self.fault(node, path, "expected a text in quotes, found an empty one")
            return None
        if fault := text_fault(text):
            self.fault(node, path, fault)
            return None
        return text

    def _has_fault_in(self, node: yaml.Node) -> bool:
        """Whether the file's characters or a tag were at fault within the node, and reported at their own place."""
        first, last = node.start_mark.line + 1, node.end_mark.line + 1
        return any(fault.line and first <= fault.line <= last and not fault.path for fault in self.faults)

    def choice(self, node: yaml.Node | None, path: str, allowed: Collection[str]) -> str | None:
        """One of the allowed words."""
        if node is None:
            return None
        if isinstance(node, yaml.ScalarNode) and node.value in allowed:
            return str(node.value)
        if isinstance(node, yaml.ScalarNode) and node.value:
            self.fault(node, path, one_of(node.value, allowed))
        else:
            self.fault(node, path, f"expected one of {', '.join(allowed)}, found {found(node)}")
        return None

    def items(self, node: yaml.Node | None, path: str) -> Iterator[tuple[str, yaml.Node]]:
        """The items of a list, each with its path."""
        if isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                yield f"{path}[{index}]", item
        elif node is not None:
            self.fault(node, path, f"expected a list, found {found(node)}")


def join(path: str, name: str) -> str:
    """The path of a key below a path."""
    return f"{path}.{name[:80]}" if path else name[:80]


def found(node: yaml.Node | None) -> str:
    """Name what stands in the place of something else."""
    if node is None or node.tag == "tag:yaml.org,2002:null":
        return "nothing"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    return f"{_KINDS.get(node.tag, 'the text')} {node.value[:40]!r}"
