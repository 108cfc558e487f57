"""Which parameters a spec has: every parameter of every module instance that is left to defaults, models and ``--set``.

The names of an instance's variables and actions begin with its prefix in the kernel. The prefix is ``""`` for the top
module, ``membership.`` for the shared instance of ``kafka.membership``, ``left.`` for an ``instance left = …`` of the
top module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.grammar import syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Span
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.modules.module_tree import ModuleFile, ModuleTree
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FreeParameter:
    """A parameter that may be bound from outside; ``shown`` is its shortest unambiguous name."""

    prefix: str
    declaration: syntax.Param
    module: ModuleFile
    shown: str

    @property
    def name(self) -> str:
        """The parameter's own name."""
        return self.declaration.name.text

    @property
    def qualified(self) -> str:
        """The name with the prefix of its instance."""
        return self.prefix + self.name


@dataclass(frozen=True, slots=True)
class Slots:
    """All free parameters, found by the name that a binding uses."""

    all: tuple[FreeParameter, ...]
    aliases: Mapping[str, str]
    """Names that the top module or a file gives to a shared module, with its prefix."""

    def find(self, name: str) -> tuple[FreeParameter, ...]:
        """The parameters that a binding of that name may mean: none, one, or several (ambiguous)."""
        # A parameter of the top module has no prefix. So its plain name means it, and none of the used modules.
        exact = tuple(slot for slot in self.all if slot.qualified == name)
        if exact:
            return exact
        base, _, last = name.rpartition(".")
        if base:
            return tuple(slot for slot in self.all if slot.prefix == self.aliases.get(base) and slot.name == last)
        return tuple(slot for slot in self.all if slot.name == name)

    def named(self, name: str, span: Span, diagnostics: Diagnostics) -> FreeParameter | None:
        """The one parameter of that name. Reports an unknown or an ambiguous name."""
        found = self.find(name)
        if len(found) == 1:
            return found[0]
        if found:
            several = " and ".join(f"`{slot.qualified}`" for slot in found)
            diagnostics.error("E307", span, f"`{name}` may mean {several}", "write the longer name")
        else:
            guess = did_you_mean(name, (slot.shown for slot in self.all))
            notes = [f"did you mean `{guess}`?"] if guess else [self._offer()]
            diagnostics.error("E306", span, f"there is no parameter `{name}`", *notes)
        return None

    def _offer(self) -> str:
        names = ", ".join(slot.shown for slot in self.all)
        return f"the parameters are {names}" if names else "this spec has no parameters"


def shared_modules(tree: ModuleTree) -> dict[ModuleFile, str]:
    """The modules with a shared instance, and its prefix: the last part of the name, or all of it where that
    is taken."""
    found = list(dict.fromkeys(_used(tree.top, set())))
    stems = [module.stem for module in found]
    # The prefix of an instance is its name. A shared module must not get the same.
    taken = {d.name.text for d in tree.top.tree.declarations if isinstance(d, syntax.Instance)}
    return {m: f"{m.stem if stems.count(m.stem) == 1 and m.stem not in taken else m.name}." for m in found}


def find_slots(tree: ModuleTree) -> Slots:
    """Every parameter of the spec that an ``instance`` does not bind, the top module's first."""
    shared = shared_modules(tree)
    found: list[tuple[str, syntax.Param, ModuleFile]] = list(_of_unit(tree.top, "", frozenset()))
    for module, prefix in shared.items():
        found += _of_unit(module, prefix, frozenset())
    names = [param.name.text for _, param, _ in found]
    slots = tuple(FreeParameter(p, d, m, _shortest(p, d, names)) for p, d, m in found)
    return Slots(slots, _aliases(tree.top, shared))


def _shortest(prefix: str, declaration: syntax.Param, names: Sequence[str]) -> str:
    name = declaration.name.text
    return name if not prefix or names.count(name) == 1 else prefix + name


def _used(module: ModuleFile, known: set[ModuleFile]) -> Iterator[ModuleFile]:
    """The modules that a module and its instances use, directly or not; ``known`` are those that were looked into."""
    # Two modules may use the same two, and so on: the ways to a module double with each such pair above it.
    if module in known:
        return
    known.add(module)
    for declaration in module.tree.declarations:
        match declaration:
            case syntax.Use(path=path):
                used = module.imports.get(str(path))
                if used is not None:
                    yield used
                    yield from _used(used, known)
            case syntax.Instance(path=path):
                own = module.imports.get(str(path))
                if own is not None:
                    yield from _used(own, known)
            case _:
                pass


def _of_unit(module: ModuleFile, prefix: str, bound: frozenset[str]) -> Iterator[tuple[str, syntax.Param, ModuleFile]]:
    for declaration in module.tree.declarations:
        match declaration:
            case syntax.Param(name=name) if name.text not in bound:
                yield prefix, declaration, module
            case syntax.Instance(name=name, path=path, bindings=bindings):
                own = module.imports.get(str(path))
                if own is not None:
                    # What an instance binds is not bound from outside as well.
                    given = frozenset(str(binding.name) for binding in bindings)
                    yield from _of_unit(own, f"{prefix}{name.text}.", given)
            case _:
                pass


def _aliases(top: ModuleFile, shared: Mapping[ModuleFile, str]) -> dict[str, str]:
    aliases = {module.name: prefix for module, prefix in shared.items()}
    for declaration in top.tree.declarations:
        if isinstance(declaration, syntax.Use) and str(declaration.path) in top.imports:
            name = declaration.alias or declaration.path.parts[-1]
            aliases[name.text] = shared[top.imports[str(declaration.path)]]
    return aliases
