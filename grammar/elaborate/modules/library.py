"""Finding modules: where the file of a module is that another one uses.

A module ``kafka.membership`` used in file F is ``kafka/membership.assay`` in F's directory. Otherwise the nearest
directory above it that has one counts, and then the specs bundled with assay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from assay.grammar.lazy_dataclass import dataclass

SUFFIX = ".assay"

COMMAND_LINE = "<--set>"
"""The file name of what ``--set`` gives, in messages."""


@dataclass(frozen=True, slots=True)
class UnreadModule:
    """A module before it is read: ``text`` if it was given as text, else the file at ``place``. ``file`` is its name in
    messages."""

    file: str
    place: Path | None
    text: str | None = None


class Library(Protocol):
    """A source of modules."""

    def find(self, name: str, user: UnreadModule) -> UnreadModule | None:
        """The module of that dotted name as used in ``user``, if there is one."""
        ...

    def offers(self, user: UnreadModule) -> Iterator[str]:
        """The dotted names of modules that could be used in ``user``, for suggestions."""
        ...


@dataclass(frozen=True, slots=True)
class Folders:
    """Modules as files on disk: beside the user, above it, and in ``search``."""

    search: Sequence[Path]

    def find(self, name: str, user: UnreadModule) -> UnreadModule | None:
        """The nearest file of that name."""
        *folders, stem = name.split(".")
        for folder in self._folders(user):
            place = folder.joinpath(*folders, stem + SUFFIX)
            if place.is_file():
                return UnreadModule(shown(place), place)
        return None

    def offers(self, user: UnreadModule) -> Iterator[str]:
        """Modules beside the user and among the bundled specs; directories further up are not listed."""
        for folder in [*([user.place.parent] if user.place else []), *self.search]:
            # For suggestions alone, so two levels: below the folder of a user may be a whole disk.
            yield from _modules_below(folder, depth=2)

    def _folders(self, user: UnreadModule) -> Iterator[Path]:
        if user.place is not None:
            # Of the file itself and not of a link to it: the modules that it uses lie beside the file.
            yield from _resolved(user.place).parents
        yield from self.search


@dataclass(frozen=True, slots=True)
class Given:
    """Modules given as texts by name, before those of another library."""

    texts: Mapping[str, str]
    beyond: Library

    def find(self, name: str, user: UnreadModule) -> UnreadModule | None:
        """The text given under that name, else what the other library has."""
        if name in self.texts:
            # It lies in no folder. What it uses is found among the texts and the bundled specs.
            return UnreadModule(f"{name}{SUFFIX}", None, self.texts[name])
        return self.beyond.find(name, user)

    def offers(self, user: UnreadModule) -> Iterator[str]:
        """The given names, then the other library's."""
        yield from self.texts
        yield from self.beyond.offers(user)


def shown(path: Path) -> str:
    """The name of a file in messages: relative to the current directory if the file is below it."""
    absolute, here = _resolved(path), Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(absolute)


def _resolved(path: Path) -> Path:
    """The path without links. A path with a cycle of links stays as it is; reading it will report the cycle."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


def _modules_below(folder: Path, depth: int) -> Iterator[str]:
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir()):
        if entry.suffix == SUFFIX and entry.is_file():
            yield entry.stem
        elif depth > 1 and not entry.name.startswith(".") and entry.is_dir():
            yield from (f"{entry.name}.{below}" for below in _modules_below(entry, depth - 1))


def command_line_source(overrides: Mapping[str, str]) -> dict[str, str]:
    """The ``--set`` options, one binding a line, as the source text that messages about them quote."""
    text = "\n".join(f"{name}={value}" for name, value in overrides.items())
    return {COMMAND_LINE: text} if overrides else {}
