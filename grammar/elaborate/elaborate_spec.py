"""From the files of a spec to its kernel, with every mistake found; ``grammar.load`` asks for it where no kernel is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assay.grammar import kernel
from assay.grammar.current_work import doing
from assay.grammar.diagnostics.diagnostic import Diagnostic, Diagnostics, Severity
from assay.grammar.elaborate.build_kernel import Configuration, build_kernel, build_with_units
from assay.grammar.elaborate.modules.find_parameters import Slots, find_slots
from assay.grammar.elaborate.modules.library import Library, UnreadModule, command_line_source
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.module_instances import Units
from assay.grammar.elaborate.modules.module_tree import ModuleTree, every_module, imports_of, read_tree
from assay.grammar.elaborate.modules.parameter_overrides import (
    Bindings,
    chosen_model,
    collect,
    default_model,
    from_log,
    models_of,
)
from assay.grammar.loaded import Elements, KnownTree, Loaded, Outline, ParameterInfo, UnusableSpecError


def elaborated(
    top: UnreadModule, library: Library, model: str | None, overrides: Mapping[str, str]
) -> tuple[Loaded, Mapping[str, tuple[str, ...]]]:
    """The spec, read and elaborated, and the names of the modules that each of its files uses.

    Raises ``UnusableSpecError`` with every mistake found.
    """
    loaded, _ = analysed(top, library, model, overrides)
    return loaded, {each.file: tuple(map(str, imports_of(each.tree))) for each in every_module(loaded.tree)}


def analysed(
    top: UnreadModule, library: Library, model: str | None, overrides: Mapping[str, str]
) -> tuple[Loaded, Units]:
    """The spec, read and elaborated, with its units. Raises ``UnusableSpecError`` with every mistake found."""
    doing(f"`{top.file}` was read")
    diagnostics = Diagnostics()
    command_line = command_line_source(overrides)
    tree = modules_of(top, library, diagnostics, command_line)
    sources = {**tree.sources, **command_line}
    slots = find_slots(tree)
    configuration = _configuration(tree, slots, model or default_model(tree.top), overrides, diagnostics)
    made, units = build_with_units(tree, slots, configuration, diagnostics)
    _raise_errors(diagnostics, tree, sources)
    return Loaded(made, KnownTree(tree), sources, tuple(diagnostics), model, dict(overrides)), units


def modules_of(top: UnreadModule, library: Library, diagnostics: Diagnostics, sources: Mapping[str, str]) -> ModuleTree:
    """The modules of a spec; raises ``UnusableSpecError`` if the top one cannot be read."""
    tree = read_tree(top, library, diagnostics)
    if tree is None:
        raise UnusableSpecError(tuple(diagnostics), sources)
    return tree


def configuration_of(tree: ModuleTree, slots: Slots, diagnostics: Diagnostics) -> Configuration:
    """What is made of a spec where nothing is said: its default model, or none."""
    return _configuration(tree, slots, default_model(tree.top), {}, diagnostics)


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
    # Words of declarations that did not parse. What is unknown (E101) or has no start (E411) may be declared there.
    words = frozenset().union(*tree.broken.values())
    if diagnostic.code not in ("E101", "E411") or not words:
        return False
    span = diagnostic.span
    # The word at the place of the error, as written: the message may have it in another form.
    line = tree.sources.get(span.file, "").split("\n")[span.line - 1 : span.line]
    return bool(line) and line[0][span.column - 1 : span.end_column - 1] in words


def sized_kernel(loaded: Loaded, sorts: Elements, sizes: Mapping[str, int]) -> kernel.Kernel:
    """The kernel with elements and sizes of a log, made anew. Raises ``UnusableSpecError``."""
    diagnostics = Diagnostics()
    slots = find_slots(loaded.tree)
    # Not the default model: its sizes are chosen for checking, and a log says how large its cluster is.
    configuration = _configuration(loaded.tree, slots, loaded.model, loaded.overrides, diagnostics)
    bindings = from_log(configuration.bindings, slots, sorts, sizes, diagnostics)
    made = build_kernel(loaded.tree, slots, replace(configuration, bindings=bindings, scenarios=False), diagnostics)
    _raise_errors(diagnostics, loaded.tree, loaded.sources)
    return made


def _default(loaded: Loaded) -> str | None:
    """The model that is taken if none is named; none for a log."""
    return None if loaded.sorts or loaded.sizes else default_model(loaded.tree.top)


def bound_units(loaded: Loaded) -> tuple[Unit, ...]:
    """See ``grammar.load.units_of``."""
    diagnostics = Diagnostics()
    slots = find_slots(loaded.tree)
    configuration = _configuration(loaded.tree, slots, loaded.model or _default(loaded), loaded.overrides, diagnostics)
    if loaded.sorts or loaded.sizes:
        bindings = from_log(configuration.bindings, slots, loaded.sorts, loaded.sizes, diagnostics)
        configuration = replace(configuration, bindings=bindings)
    # Asked for names alone, which no scenario and no refinement declares.
    _, units = build_with_units(loaded.tree, slots, replace(configuration, scenarios=False), diagnostics)
    return units.canonical()


def outlined(top: UnreadModule, library: Library) -> Outline:
    """See ``grammar.load.outline``."""
    diagnostics = Diagnostics()
    tree = modules_of(top, library, diagnostics, {})
    _raise_errors(diagnostics, tree, tree.sources)
    return _outline(tree, find_slots(tree))


def _outline(tree: ModuleTree, slots: Slots) -> Outline:
    parameters = []
    for slot in slots.all:
        declared = slot.declaration
        kind = "size" if declared.size else "set" if declared.type is None else "value"
        parameters.append(ParameterInfo(slot.shown, kind, declared.symmetric, declared.name.span))
    return Outline(tree.top.name, tuple(m.name.text for m in models_of(tree.top)), tuple(parameters))
