"""Imports go down, and the root costs little: one table says where each module stands."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mcp_auth_failures
from mcp_auth_failures import load_catalog

PACKAGE = "mcp_auth_failures"
SOURCE = Path(mcp_auth_failures.__file__).parent
ROOT = "__init__"

# Every module, in levels from the lowest to the highest: the third-party packages that it may import. A module may
# import those of lower levels, and beside them the standard library alone.
LEVELS: tuple[dict[str, str], ...] = (
    {"host": ""},
    {"lock": "", "text": "", "failure": "", "tags": "babel", "challenge": "", "diagnosis": "", "po_lines": ""},
    {"languages": "", "datafile": "", "recording": ""},
    {"document": "yaml", "gettext_files": "", "brand": ""},
    {"catalog": "yaml"},
    {"refusal": "", "rules": "", "translations": "", "overrides": "yaml", "settings": "", "texts": ""},
    {"wording": "", "request": "", "inner": "", "translating": "babel"},
    {"require_scopes": ""},
    {ROOT: "", "asgi": "", "operating": "yaml", "console": "", "pages": "babel jinja2 markupsafe"},
    {"cli_translations": "babel", "cli_pages": "jinja2"},
    {"cli": ""},
    {"__main__": "", "mcp": "anyio joserfc jwt mcp", "fastmcp": "fastmcp httpx2 joserfc mcp"},
)
TABLE = {module: (level, set(names.split())) for level, row in enumerate(LEVELS) for module, names in row.items()}
MODULES = {".".join(file.relative_to(SOURCE).with_suffix("").parts): file for file in sorted(SOURCE.rglob("*.py"))}


def _imported(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported anywhere in a tree, in full; a relative import is one of ours."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = ".".join(filter(None, (PACKAGE if node.level else None, node.module)))
            within = [alias.name for alias in node.names if origin == PACKAGE and alias.name in MODULES]
            yield from (f"{origin}.{name}" for name in within)
            if len(within) < len(node.names):
                yield origin


def _ours(imported: Iterator[str]) -> set[str]:
    """Those of our modules that are imported; the package itself is its root."""
    return {name.partition(".")[2] or ROOT for name in imported if name.partition(".")[0] == PACKAGE}


def _in_functions(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _imported(node)


def _tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


FORMS = [
    ("import os", set()),
    ("import mcp_auth_failures", {ROOT}),
    ("import mcp_auth_failures.text, os", {"text"}),
    ("import mcp_auth_failures.text as mcp", {"text"}),
    ("import mcp", set()),
    ("from mcp_auth_failures import Wording", {ROOT}),
    ("from mcp_auth_failures import text", {"text"}),
    ("from mcp_auth_failures import text, Wording", {"text", ROOT}),
    ("from mcp_auth_failures.text import split", {"text"}),
    ("from .text import split", {"text"}),
    ("from . import text", {"text"}),
    ("from . import *", {ROOT}),
    ("from mcp.types import text", set()),
    ("if TYPE_CHECKING:\n    from mcp_auth_failures.text import split", {"text"}),
    ("def f():\n    from mcp_auth_failures import text", {"text"}),
]


@pytest.mark.parametrize(("source", "ours"), FORMS)
def test_every_form_of_import_is_seen(source: str, ours: set[str]) -> None:
    """The tests below see an import of ours however it is written, and one in a function as such."""
    tree = ast.parse(source)
    assert _ours(_imported(tree)) == ours
    assert _ours(_in_functions(tree)) == (ours if source.startswith("def") else set())


@pytest.mark.parametrize("module", MODULES)
def test_module_stands_in_the_table(module: str) -> None:
    """A new module says where it stands before anything imports it."""
    assert module in TABLE, (
        f"{module} is in no level: place it in LEVELS of {Path(__file__).name}, above what it imports"
    )


def test_table_has_no_module_that_is_gone() -> None:
    """The table is about the modules there are."""
    assert TABLE.keys() - MODULES.keys() == set()


@pytest.mark.parametrize("module", [module for module in MODULES if module in TABLE])
def test_imports_go_down(module: str) -> None:
    """A module imports what stands in lower levels, and never its equals."""
    level, _ = TABLE[module]
    upward = {name for name in _ours(_imported(_tree(module))) if name not in TABLE or TABLE[name][0] >= level}
    assert upward == set(), f"{module} is on level {level} and imports what is not below it"


@pytest.mark.parametrize("module", [module for module in MODULES if module in TABLE])
def test_third_party_is_what_the_table_allows(module: str) -> None:
    """Beside ours a module imports the standard library, and only the packages it is there to know."""
    _, allowed = TABLE[module]
    imported = {name.partition(".")[0] for name in _imported(_tree(module))}
    assert imported - {PACKAGE} - sys.stdlib_module_names <= allowed


@pytest.mark.parametrize("module", MODULES)
def test_no_cycle_is_dodged(module: str) -> None:
    """No function imports a module of ours: that would hide a cycle. A heavy package of others it may."""
    assert _ours(_in_functions(_tree(module))) == set()


@pytest.mark.parametrize("module", ["asgi", "request"])
def test_asgi_needs_the_standard_library_alone(module: str) -> None:
    """The middleware stands around any server: it knows no framework and no SDK."""
    assert TABLE[module][1] == set()


def _reached(module: str) -> set[str]:
    direct = {name for name in _ours(_imported(_tree(module))) if name != module}
    return direct.union(*map(_reached, direct))


def test_root_reaches_no_extra() -> None:
    """Whatever the root imports, in however many steps, an optional package's module is not among it."""
    assert _reached(ROOT).isdisjoint({"mcp", "fastmcp", "pages", "asgi", "cli", "__main__"})


# --- in a fresh interpreter -----------------------------------------------------------------------------------------


def _run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_import_is_light_and_silent() -> None:
    """Importing the package loads no heavy package, and writes nothing: stdout is a stdio server's channel."""
    heavy = ["asyncio", "babel", "fastmcp", "mcp", "pydantic", "starlette"]
    ran = _run(f"import sys, {PACKAGE}; sys.exit(' '.join(sorted(set({heavy}) & sys.modules.keys())) or None)")
    assert (ran.stdout, ran.stderr, ran.returncode) == ("", "", 0)


def test_import_reads_the_catalog_alone() -> None:
    """No other file of data is opened at import, whatever the operator's variables name."""
    program = f"""if True:
        import sys
        opened = []
        sys.addaudithook(lambda event, arguments: event == "open" and opened.append(str(arguments[0])))
        import {PACKAGE}
        print(*(name for name in opened if not name.endswith((".py", ".pyc", ".so"))), sep="\\n")
    """
    variables = {
        f"MCP_AUTH_FAILURES_{name}": "/nonexistent" for name in ("OVERRIDES", "LOCALES", "LANGUAGE", "HELP_URL")
    }
    ran = _run(program, **variables)
    assert (ran.stderr, ran.stdout.splitlines()) == ("", [str(load_catalog().path)])
