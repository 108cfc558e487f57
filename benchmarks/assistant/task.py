"""A description of a protocol, and what is kept back from whoever writes the spec."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Task:
    """One task. ``properties`` are declarations that are appended to an answer, by name; with the changed rule that of
    the name ``breaks`` is violated. ``states`` and ``actions`` are what the description leads to: the distinct states,
    and how many steps of each action there are between them.
    """

    name: str
    states: int
    actions: Mapping[str, int]
    breaks: str
    properties: Mapping[str, str]

    @property
    def description(self) -> Path:
        """What the assistant is given."""
        return _HERE / "tasks" / f"{self.name}.md"

    @property
    def answer(self) -> str:
        """The name of the module that answers it."""
        return self.name.partition("-")[2].replace("-", "_")


def tasks() -> list[Task]:
    """All tasks, in their order."""
    return [_read(path) for path in sorted((_HERE / "tasks").glob("*.md"))]


def _read(description: Path) -> Task:
    kept = tomllib.loads((_HERE / "held_back" / f"{description.stem}.toml").read_text(encoding="utf-8"))
    declarations = kept["properties"].strip().splitlines()
    return Task(
        description.stem,
        kept["states"],
        kept["actions"],
        kept["breaks"],
        {line.split()[1].rstrip(":"): line for line in declarations},
    )
