"""The context of a formula: the module that it becomes part of, and the names bound around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields, is_dataclass, replace

from assay.checker.tla.expressions.formula import Formula
from assay.checker.tla.expressions.names import TlaNames
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.identity_memo import IdentitySet
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Atom


@dataclass(slots=True)
class ModuleNeeds:
    """What the formulas written so far need of their module; ``definitions`` are texts by name, each after those it
    uses.

    ``called`` are the actions that are mentioned, in order.
    """

    names: TlaNames = field(default_factory=TlaNames)
    used: set[str] = field(default_factory=set)
    atoms: set[tuple[str, str]] = field(default_factory=set)
    ranked: set[t.Sort] = field(default_factory=set)
    needs_none: bool = False
    definitions: dict[str, list[str]] = field(default_factory=dict)
    actions: dict[str, k.Action] = field(default_factory=dict)
    called: dict[str, None] = field(default_factory=dict)

    def use(self, operator: str) -> str:
        """The operator; the module must now define it, or extend a standard module for it."""
        self.used.add(operator)
        return operator

    @property
    def none(self) -> Formula:
        """The constant for ``none``."""
        self.needs_none = True
        return Formula("none")

    def atom(self, atom: Atom) -> Formula:
        """The constant for an element of a set parameter."""
        # Only elements that formulas mention become constants; the others are in the set of the configuration.
        self.atoms.add((atom.sort, atom.name))
        return Formula(self.names.of("element", atom.name))

    def rank(self, sort: t.Sort) -> str:
        """The name of the function from elements to their positions."""
        self.ranked.add(sort)
        # The function of positions mentions all elements.
        for index, name in enumerate(sort.elements):
            self.atom(Atom(sort.name, index, name))
        return self.names.of("rank", sort.name)


@dataclass(frozen=True, slots=True)
class TlaScope:
    """The names bound around a formula. ``primed``: variables are read after the step.

    ``write`` turns a kernel expression into a formula; ``fitting`` are the bound names whose values are known to be of
    their types.
    """

    parts: ModuleNeeds
    write: Callable[[k.Expr, TlaScope], Formula]
    bound: tuple[tuple[str, Formula], ...] = ()
    around: frozenset[str] = frozenset()
    primed: bool = False
    fitting: frozenset[str] = frozenset()

    def formula(self, expr: k.Expr) -> Formula:
        """The expression in this scope."""
        return self.write(expr, self)

    def local(self, name: str) -> Formula:
        """The name of a bound variable of the kernel."""
        # The innermost first: an alias may give a name another text.
        return next(formula for known, formula in reversed(self.bound) if known == name)

    def bind(self, binder: k.Local, *, fits: bool) -> tuple[str, TlaScope]:
        """A name for a bound variable, and the scope in which it is bound."""
        name, inner = self.fresh(binder.name)
        fitting = inner.fitting | {binder.name} if fits else inner.fitting
        return name, replace(inner, bound=(*self.bound, (binder.name, Formula(name))), fitting=fitting)

    def alias(self, binder: k.Local, formula: Formula, *, fits: bool) -> TlaScope:
        """The scope in which a variable of the kernel is another text for a formula."""
        fitting = self.fitting | {binder.name} if fits else self.fitting
        return replace(self, bound=(*self.bound, (binder.name, formula)), fitting=fitting)

    def fresh(self, wish: str) -> tuple[str, TlaScope]:
        """A new bound name, and the scope in which it is taken."""
        # `around` holds the names that are bound here: TLA+ refuses an equal one inside.
        name = self.parts.names.local(wish, self.around)
        return name, replace(self, around=self.around | {name})

    def before(self) -> TlaScope:
        """The scope that reads variables before the step."""
        return replace(self, primed=False)

    def after(self) -> TlaScope:
        """The scope that reads variables after the step."""
        return replace(self, primed=True)

    def variable(self, name: str) -> Formula:
        """A state variable."""
        return Formula(self.parts.names.of("variable", name) + ("'" if self.primed else ""))


def register(kernel: k.Kernel) -> ModuleNeeds:
    """Names for everything global in the kernel. State variables, actions and properties are the first to
    keep theirs."""
    parts = ModuleNeeds(actions={action.name: action for action in kernel.actions})
    names = parts.names
    for variable in kernel.variables:
        # In this order: what the author knows best keeps its name, and what only the exporter needs gives way.
        names.give("variable", variable.name)
    for action in kernel.actions:
        names.give("action", action.name, action.name, f"do_{action.name}")
    for each in kernel.properties:
        names.give("property", each.name, each.name, f"always_{each.name}")
    for sort in kernel.sorts:
        names.give("sort", sort.name, sort.name, f"{sort.name}_set")
        for element in sort.elements:
            names.give("element", element, element, f"element_{element}")
    _name_types(kernel, names)
    for each in kernel.properties:
        names.give("witness", each.name, f"never_{each.name}")
        names.give("step", each.name, f"{each.name}_step")
    for sort in kernel.sorts:
        names.give("rank", sort.name, f"{sort.name}_position")
    return parts


def _name_types(kernel: k.Kernel, names: TlaNames) -> None:
    for of in named_types(kernel):
        # All tuples of one kind share a name, others get a number.
        name = of.name or "Tuple"
        names.give("type", type_key(of), name, f"{name}_type")
        for variant in of.variants if isinstance(of, t.EnumType) else ():
            names.give("variant", f"{type_key(of)}.{variant.name}", variant.name, f"{of.name}_{variant.name}")


def type_key(of: t.EnumType | t.RecordType) -> str:
    """The identity of a named type: two are the same if all their components are."""
    # Enums of two instances of a module have one name, and other elements.
    return f"{of.name}:{of!r}"


def named_types(kernel: k.Kernel) -> list[t.EnumType | t.RecordType]:
    """The enums and records that occur anywhere in the kernel, in order of occurrence."""
    found: dict[t.EnumType | t.RecordType, None] = {}
    seen = IdentitySet[object]()
    todo: list[object] = [kernel]
    while todo:
        at = todo.pop()
        if isinstance(at, t.EnumType | t.RecordType):
            found.setdefault(at)
        # Not only types of variables: a record may occur in an expression alone.
        if isinstance(at, tuple):
            todo.extend(reversed(at))
        elif is_dataclass(at) and not isinstance(at, Span) and seen.add(at):
            todo.extend(getattr(at, each.name) for each in reversed(fields(at)))
    return list(found)
