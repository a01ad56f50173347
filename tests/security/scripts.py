"""The scripts of this folder, each to be run in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["ENVIRONMENT", "command", "run"]

_HERE = Path(__file__).parent
_PATHS = filter(None, [str(_HERE), str(_HERE.parent), os.environ.get("PYTHONPATH")])
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(_PATHS)}
"""In which they find each other."""


def command(script: str, *arguments: object, python: tuple[str, ...] = ()) -> list[str]:
    """What runs a script; ``python`` holds options of Python's own."""
    return [sys.executable, *python, str(_HERE / script), *map(str, arguments)]


def run(script: str, *arguments: object) -> list[str]:
    """The lines that a script prints."""
    result = subprocess.run(command(script, *arguments), env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()
