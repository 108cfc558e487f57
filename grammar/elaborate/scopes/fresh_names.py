"""Local names that are unique within one declaration."""

from __future__ import annotations


class Fresh:
    """Makes local names that are unique within one action, property, scenario or rule: ``b``, then ``b'2``, ``b'3``.

    ``expansions`` counts the function calls that were expanded there.
    """

    def __init__(self) -> None:
        self._used: dict[str, int] = {}
        self.expansions = 0

    def __call__(self, name: str) -> str:
        """A new name, made from ``name``."""
        count = self._used.get(name, 0) + 1
        self._used[name] = count
        return name if count == 1 else f"{name}'{count}"
