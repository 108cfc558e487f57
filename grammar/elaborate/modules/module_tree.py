"""Finding and reading modules: the first pass, from one file to the tree of all the files that it uses.

A module ``kafka.membership`` used in file F is ``kafka/membership.assay`` in F's directory, else in the nearest
directory above it that has one, else among the specs bundled with assay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from assay.grammar import syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.parsing.parse import Parsed, normalized, parse
from assay.grammar.parsing.read_file import read_spec

SUFFIX = ".assay"


@dataclass(frozen=True, slots=True, eq=False)
class ModuleFile:
    """A parsed file with the modules that it uses, by the dotted names it uses for them."""

    name: str
    file: str
    tree: syntax.Module
    imports: Mapping[str, ModuleFile]

    @property
    def stem(self) -> str:
        """The last part of the module's name."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class ModuleTree:
    """The top module, the text of every file that was read, and the words in the declarations that could not
    be parsed."""

    top: ModuleFile
    sources: Mapping[str, str]
    broken: Mapping[str, frozenset[str]]


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
            yield from _modules_below(folder, depth=2)

    def _folders(self, user: UnreadModule) -> Iterator[Path]:
        if user.place is not None:
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


def read_tree(top: UnreadModule, library: Library, diagnostics: Diagnostics) -> ModuleTree | None:
    """The tree of all modules below ``top``, or None if ``top`` itself cannot be read.

    Errors are recorded; an import that fails is left out of the tree.
    """
    reader = _Reader(library, diagnostics)
    module = reader.read(top, None, ())
    return None if module is None else ModuleTree(module, reader.sources, reader.broken)


def imports_of(tree: syntax.Module) -> Iterator[syntax.DottedName]:
    """The modules that a file uses, instantiates or refines, as written."""
    for declaration in tree.declarations:
        match declaration:
            case syntax.Use(path=path) | syntax.Instance(path=path) | syntax.Refines(path=path):
                yield path
            case _:
                pass


@dataclass(slots=True)
class _Reader:
    library: Library
    diagnostics: Diagnostics
    sources: dict[str, str] = field(default_factory=dict)
    broken: dict[str, frozenset[str]] = field(default_factory=dict)
    done: dict[str, ModuleFile] = field(default_factory=dict)

    def read(self, found: UnreadModule, wanted: str | None, above: tuple[tuple[str, str], ...]) -> ModuleFile | None:
        """Parse a file and what it imports; ``above`` are the files being read, with their names, outermost first."""
        parsed = self._parsed(found)
        if parsed is None:
            return None
        tree = parsed.module
        name = str(tree.name) if tree.name else wanted or Path(found.file).stem
        if wanted is not None and tree.name is not None and name != wanted:
            self.diagnostics.error(
                "E304", tree.name.span, f"this file is used as module `{wanted}` but calls itself `{name}`"
            )
        imports: dict[str, ModuleFile] = {}
        for path in imports_of(tree):
            module = self._import(path, found, (*above, (found.file, name)))
            if module is not None:
                imports[str(path)] = module
        made = ModuleFile(name, found.file, tree, imports)
        self.done[found.file] = made
        return made

    def _parsed(self, found: UnreadModule) -> Parsed | None:
        if found.text is not None:
            text: str | None = normalized(found.text)
            parsed: Parsed | None = parse(found.text, found.file)
            reports = parsed.diagnostics if parsed else ()
        else:
            read = read_spec(Path(found.file))
            text, parsed, reports = read.text, read.parsed, read.diagnostics
        self.diagnostics.items.extend(reports)
        if text is not None and parsed is not None:
            self.sources[found.file] = text
            self.broken[found.file] = parsed.broken
        return parsed

    def _import(
        self, path: syntax.DottedName, user: UnreadModule, above: tuple[tuple[str, str], ...]
    ) -> ModuleFile | None:
        name = str(path)
        found = self.library.find(name, user)
        if found is None:
            self._report_missing(path, user)
            return None
        files = [file for file, _ in above]
        if found.file in files:
            cycle = " -> ".join([*(name for _, name in above[files.index(found.file) :]), name])
            self.diagnostics.error("E303", path.span, f"modules may not use each other in a circle: {cycle}")
            return None
        return self.done.get(found.file) or self.read(found, name, above)

    def _report_missing(self, path: syntax.DottedName, user: UnreadModule) -> None:
        name = str(path)
        guess = did_you_mean(name, self.library.offers(user))
        where = f"`{name.replace('.', '/')}{SUFFIX}` is looked for beside this file, above it, and among the specs that come with assay"
        self.diagnostics.error(
            "E302", path.span, f"there is no module `{name}`", f"did you mean `{guess}`?" if guess else where
        )


def _modules_below(folder: Path, depth: int) -> Iterator[str]:
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir()):
        if entry.suffix == SUFFIX and entry.is_file():
            yield entry.stem
        elif depth > 1 and not entry.name.startswith(".") and entry.is_dir():
            yield from (f"{entry.name}.{below}" for below in _modules_below(entry, depth - 1))
