"""From a file to a kernel: reads a spec with the modules it uses, binds its parameters, and elaborates it.

``load_spec`` is what the command line calls; ``log_kernel`` makes the kernel of the same spec with sets and sizes taken
from a log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path

from assay.grammar import kernel
from assay.grammar.current_work import doing
from assay.grammar.diagnostics.diagnostic import Diagnostic, Diagnostics, Severity, Span, SpecError
from assay.grammar.elaborate.build_kernel import Configuration, build_kernel, build_with_units
from assay.grammar.elaborate.modules.find_parameters import Slots, find_slots
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.module_tree import (
    Folders,
    Given,
    Library,
    ModuleTree,
    UnreadModule,
    read_tree,
    shown,
)
from assay.grammar.elaborate.modules.parameter_overrides import (
    COMMAND_LINE,
    Bindings,
    chosen_model,
    collect,
    default_model,
    from_log,
    models_of,
    override_text,
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded spec: its kernel, its modules, the texts of all files, and warnings.

    ``sorts`` and ``sizes`` are what a log binds, of a kernel that ``log_kernel`` made.
    """

    kernel: kernel.Kernel
    tree: ModuleTree
    sources: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]
    model: str | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)
    sorts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)


class UnusableSpecError(SpecError):
    """A spec with errors; ``sources`` are the texts of the files that were read, by the names that the
    diagnostics use."""

    def __init__(self, diagnostics: Sequence[Diagnostic], sources: Mapping[str, str]) -> None:
        super().__init__(diagnostics)
        self.sources = sources


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """A parameter that the command line may bind: its name, whether it is a set or a size, and whether it has a
    default."""

    name: str
    kind: str
    symmetric: bool
    has_default: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Outline:
    """The models and parameters that a spec offers, known without binding anything."""

    name: str
    models: tuple[str, ...]
    parameters: tuple[ParameterInfo, ...]


def bundled_specs() -> tuple[Path, ...]:
    """The directory of the specs bundled with assay."""
    return (Path(str(resources.files("assay").joinpath("spec"))),)


def load_spec(
    path: Path | str,
    *,
    model: str | None = None,
    overrides: Mapping[str, str] | None = None,
    search: Sequence[Path] | None = None,
    added: Sequence[str] = (),
    text: str | None = None,
) -> Loaded:
    """Read a spec and make its kernel. Raises ``UnusableSpecError`` with every mistake found.

    ``added`` are declarations appended to it. ``text`` stands for what the file holds: that of an editor, for example.
    """
    folders = Folders(bundled_specs() if search is None else tuple(search))
    place = Path(path)
    if added and place.is_file():
        text = "\n".join([place.read_text(encoding="utf-8") if text is None else text, *added, ""])
    return _load(UnreadModule(shown(place), place, text), folders, model, overrides or {})


def load_text(
    text: str,
    *,
    file: str = "spec.assay",
    model: str | None = None,
    overrides: Mapping[str, str] | None = None,
    modules: Mapping[str, str] | None = None,
    search: Sequence[Path] | None = None,
) -> Loaded:
    """The same for a spec given as text; ``modules`` are texts of modules that it may use, by name."""
    folders = Folders(bundled_specs() if search is None else tuple(search))
    return _load(UnreadModule(file, None, text), Given(modules or {}, folders), model, overrides or {})


def log_kernel(loaded: Loaded, sorts: Mapping[str, Sequence[str]], sizes: Mapping[str, int]) -> kernel.Kernel:
    """The kernel of a spec for a log: set parameters get the elements, and size parameters the values, that the log
    needs.

    Everything else is bound as in ``loaded``, except by a model that was taken only because none was named. Elements
    may have any names, and scenarios are left out. Raises ``UnusableSpecError``.
    """
    diagnostics = Diagnostics()
    slots = find_slots(loaded.tree)
    configuration = _configuration(loaded.tree, slots, loaded.model, loaded.overrides, diagnostics)
    bindings = from_log(configuration.bindings, slots, sorts, sizes, diagnostics)
    made = build_kernel(loaded.tree, slots, replace(configuration, bindings=bindings, scenarios=False), diagnostics)
    _raise_errors(diagnostics, loaded.tree, loaded.sources)
    return made


def _default(loaded: Loaded) -> str | None:
    """The model that is taken if none is named; none for a log."""
    return None if loaded.sorts or loaded.sizes else default_model(loaded.tree.top)


def units_of(loaded: Loaded) -> tuple[Unit, ...]:
    """The modules of a loaded spec with the scopes in which their declarations are read; the top module is the first.

    They are bound as the kernel is.
    """
    diagnostics = Diagnostics()
    slots = find_slots(loaded.tree)
    configuration = _configuration(loaded.tree, slots, loaded.model or _default(loaded), loaded.overrides, diagnostics)
    if loaded.sorts or loaded.sizes:
        bindings = from_log(configuration.bindings, slots, loaded.sorts, loaded.sizes, diagnostics)
        configuration = replace(configuration, bindings=bindings)
    _, units = build_with_units(loaded.tree, slots, replace(configuration, scenarios=False), diagnostics)
    return units.canonical()


def outline(path: Path | str, *, search: Sequence[Path] | None = None) -> Outline:
    """The models and parameters of a spec. Raises ``UnusableSpecError`` if it cannot be read."""
    diagnostics = Diagnostics()
    folders = Folders(bundled_specs() if search is None else tuple(search))
    tree = _read(UnreadModule(shown(Path(path)), Path(path)), folders, diagnostics, {})
    _raise_errors(diagnostics, tree, tree.sources)
    return _outline(tree, find_slots(tree))


def model_names(path: Path | str) -> tuple[str, ...]:
    """The names of the ``model`` blocks of a spec. Raises ``UnusableSpecError`` if it cannot be read."""
    return outline(path).models


def _outline(tree: ModuleTree, slots: Slots) -> Outline:
    parameters = []
    for slot in slots.all:
        declared = slot.declaration
        kind = "size" if declared.size else "set" if declared.type is None else "value"
        default = declared.default is not None
        parameters.append(ParameterInfo(slot.shown, kind, declared.symmetric, default, declared.name.span))
    return Outline(tree.top.name, tuple(m.name.text for m in models_of(tree.top)), tuple(parameters))


def _load(top: UnreadModule, library: Library, model: str | None, overrides: Mapping[str, str]) -> Loaded:
    try:
        return _elaborated(top, library, model, overrides)
    except RecursionError:
        message = "something in this file is nested too deeply"
        raise UnusableSpecError([Diagnostic("E017", Span(top.file, 1, 1, 1, 1), message)], {}) from None


def _elaborated(top: UnreadModule, library: Library, model: str | None, overrides: Mapping[str, str]) -> Loaded:
    doing(f"`{top.file}` was read")
    diagnostics = Diagnostics()
    command_line = {COMMAND_LINE: override_text(overrides)} if overrides else {}
    tree = _read(top, library, diagnostics, command_line)
    sources = {**tree.sources, **command_line}
    slots = find_slots(tree)
    configuration = _configuration(tree, slots, model or default_model(tree.top), overrides, diagnostics)
    made = build_kernel(tree, slots, configuration, diagnostics)
    _raise_errors(diagnostics, tree, sources)
    return Loaded(made, tree, sources, tuple(diagnostics), model, dict(overrides))


def _read(top: UnreadModule, library: Library, diagnostics: Diagnostics, sources: Mapping[str, str]) -> ModuleTree:
    tree = read_tree(top, library, diagnostics)
    if tree is None:
        raise UnusableSpecError(tuple(diagnostics), sources)
    return tree


def _configuration(
    tree: ModuleTree, slots: Slots, model: str | None, overrides: Mapping[str, str], diagnostics: Diagnostics
) -> Configuration:
    chosen = chosen_model(tree.top, model, diagnostics)
    bindings: Bindings = collect(slots, models_of(tree.top), chosen, overrides, diagnostics)
    return Configuration(chosen, bindings)


def _raise_errors(diagnostics: Diagnostics, tree: ModuleTree, sources: Mapping[str, str]) -> None:
    """Raise the recorded errors, without those that follow from another one."""
    codes = frozenset(d.code for d in diagnostics)
    found = [d for d in diagnostics if not _follows(d, tree, codes)]
    if any(d.severity is Severity.ERROR for d in found):
        raise UnusableSpecError(found, sources)


def _follows(diagnostic: Diagnostic, tree: ModuleTree, codes: frozenset[str]) -> bool:
    """Whether an error follows from another: nothing is bound by a model that does not exist, nothing declared by what
    cannot be parsed."""
    if diagnostic.code == "E313" and "E308" in codes:
        return True
    words = frozenset().union(*tree.broken.values())
    if diagnostic.code not in ("E101", "E411") or not words:
        return False
    span = diagnostic.span
    line = tree.sources.get(span.file, "").split("\n")[span.line - 1 : span.line]
    return bool(line) and line[0][span.column - 1 : span.end_column - 1] in words
