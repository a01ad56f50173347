"""What the proofs have measured, to be printed at the end of a run."""

__all__ = ["ALL", "Figures"]

ALL: dict[str, list[tuple[str, str]]] = {}
"""Names and values, by what they are figures of."""


class Figures:
    """What one file of tests has measured."""

    def __init__(self, title: str) -> None:
        self._figures = ALL.setdefault(title, [])
        self._counts: dict[str, int] = {}

    def __setitem__(self, name: str, value: object) -> None:
        self._figures.append((name, f"{value:,}" if isinstance(value, int) else str(value)))

    def count(self, name: str, number: int = 1) -> None:
        """Add to a figure that is printed at the end."""
        self._counts[name] = self._counts.get(name, 0) + number

    def finish(self) -> None:
        """Take what was counted among the figures."""
        for name, number in self._counts.items():
            self[name] = number
