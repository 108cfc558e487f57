"""Local names that are unique within one declaration."""

from __future__ import annotations

from collections.abc import Iterable


class Fresh:
    """Makes local names that are unique within one action, property, scenario or rule: ``b``, then ``b'2``, ``b'3``.

    ``expansions`` counts the function calls that were expanded there.
    """

    def __init__(self) -> None:
        self._used: dict[str, int] = {}
        self.expansions = 0

    @classmethod
    def beside(cls, names: Iterable[str]) -> Fresh:
        """Names that differ from those given."""
        made = cls()
        made.avoid(names)
        return made

    def avoid(self, names: Iterable[str]) -> None:
        """Make none of these names from now on."""
        for name in names:
            # As `b'2` was made: from here on `b'3` is the next.
            stem, _, number = name.partition("'")
            self._used[stem] = max(self._used.get(stem, 0), int(number) if number.isdigit() else 1)

    def __call__(self, name: str) -> str:
        """A new name, made from ``name``."""
        count = self._used.get(name, 0) + 1
        self._used[name] = count
        # No name in a spec has a quote in it, so a number behind one makes a name that nobody wrote.
        return name if count == 1 else f"{name}'{count}"
