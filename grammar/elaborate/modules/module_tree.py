"""Reading modules: the first pass, from one file to the tree of all the files that it uses (``library`` finds them)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from assay.grammar import syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.modules.library import SUFFIX, Library, UnreadModule
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.parsing.parse import Parsed, parse
from assay.grammar.parsing.spec_text import normalized, read_text


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


def every_module(tree: ModuleTree) -> tuple[ModuleFile, ...]:
    """The modules of a tree, each once, the top module first."""
    found: dict[ModuleFile, None] = {}
    waiting = [tree.top]
    while waiting:
        module = waiting.pop()
        found[module] = None
        waiting.extend(each for each in module.imports.values() if each not in found)
    return tuple(found)


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
        # The top file may call itself anything: nobody looks for it by its name.
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
        # Only when all its imports are read. Until then `above` holds the file, which tells a circle.
        self.done[found.file] = made
        return made

    def _parsed(self, found: UnreadModule) -> Parsed | None:
        text = read_text(Path(found.file), self.diagnostics) if found.text is None else normalized(found.text)
        if text is None:
            return None
        parsed = parse(text, found.file)
        self.diagnostics.items.extend(parsed.diagnostics)
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
        # One object for each file: modules are told apart by identity, and one that two others use has one set of
        # variables.
        return self.done.get(found.file) or self.read(found, name, above)

    def _report_missing(self, path: syntax.DottedName, user: UnreadModule) -> None:
        name = str(path)
        guess = did_you_mean(name, self.library.offers(user))
        where = f"`{name.replace('.', '/')}{SUFFIX}` is looked for beside this file, above it, and among the specs that come with assay"
        self.diagnostics.error(
            "E302", path.span, f"there is no module `{name}`", f"did you mean `{guess}`?" if guess else where
        )
