"""What names denote, and the scopes in which they do.

A scope is a chain: locals (parameters, picks, pattern variables) over a module's own declarations over the names of the
modules it uses. Scopes are immutable once elaboration of bodies begins; a scope with one more local is a new scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.kernel.types import EnumType, MapType, RecordType, Sort, Type, VariantType
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SortEntity:
    """A set parameter: a type, and the set of its elements."""

    sort: Sort
    span: Span


@dataclass(frozen=True, slots=True)
class AtomEntity:
    """A named element of a set parameter. An element of a symmetric set may be named only in scenarios and bindings."""

    expr: kernel.Const
    sort: Sort
    span: Span


@dataclass(frozen=True, slots=True)
class ValueEntity:
    """Anything that denotes a value without arguments: a local, a pattern variable, a value parameter.

    ``size`` marks a size parameter, which may be read only in type ranges and bounds.
    """

    expr: kernel.Expr
    span: Span
    size: bool = False


@dataclass(frozen=True, slots=True)
class StateEntity:
    """A state variable. In an array of instances the kernel's variable is a map, read at ``index``."""

    variable: str
    type: Type
    span: Span
    index: kernel.Expr | None = None
    ghost: bool = False

    def read(self, span: Span) -> kernel.Expr:
        """The expression that reads the variable."""
        if self.index is None:
            return kernel.StateVar(self.type, self.variable, span=span)
        # One map for all instances, of which this unit reads its own entry.
        whole = kernel.StateVar(MapType(self.index.type, self.type), self.variable, span=span)
        return kernel.Lookup(self.type, whole, self.index, span=span)


@dataclass(frozen=True, slots=True)
class TypeEntity:
    """A type alias, an enum or a record; a record's name is also its constructor."""

    type: Type
    span: Span

    @property
    def record(self) -> RecordType | None:
        """The record type, if this is one; a tuple has no constructor."""
        return self.type if isinstance(self.type, RecordType) and not self.type.is_tuple else None


@dataclass(frozen=True, slots=True)
class VariantEntity:
    """A variant of an enum: a constructor and a pattern. Two enums may share a variant's name; the expected type
    decides."""

    candidates: tuple[tuple[EnumType, VariantType], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class FunctionEntity:
    """A ``def`` with the module scope in which its body is read.

    ``given`` are the arguments that it has already, by parameter; ``calls`` the functions inside which it was passed to
    another one.
    """

    declaration: syntax.Def
    home: Scope
    given: Mapping[str, kernel.Local] = field(default_factory=dict)
    calls: tuple[syntax.Def, ...] | None = None


@dataclass(frozen=True, slots=True)
class FunctionParameter:
    """A function that is not known: a parameter of a function that is read by itself, or that function inside its own
    body."""

    name: str
    parameters: tuple[tuple[str, Type], ...]
    result: Type
    span: Span


@dataclass(frozen=True, slots=True)
class ActionEntity:
    """An action of a module; ``index`` is the expression that selects an instance of an array (its first kernel
    parameter)."""

    name: str
    parameters: tuple[tuple[str, Type], ...]
    span: Span
    index: kernel.Expr | None = None


@dataclass(frozen=True, slots=True)
class ModuleEntity:
    """A module or instance, whose members are accessed with a dot."""

    scope: Scope
    span: Span


@dataclass(frozen=True, slots=True)
class ArrayEntity:
    """An array of instances: ``r[p]`` is the module scope at an index of type ``index``."""

    index: Type
    at: Callable[[kernel.Expr], Scope]
    span: Span


Entity = (
    SortEntity
    | AtomEntity
    | ValueEntity
    | StateEntity
    | TypeEntity
    | VariantEntity
    | FunctionEntity
    | FunctionParameter
    | ActionEntity
    | ModuleEntity
    | ArrayEntity
)


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the place being elaborated allows."""

    state: bool = True  # read state variables (not in parameters, type ranges, initial values)
    ghost: bool = True  # read ghost variables (not in guards and updates of ordinary variables)
    size: bool = False  # read size parameters (type ranges, bounds)
    name_symmetric: bool = False  # name elements of symmetric sets (scenarios, bindings)
    old: bool = False  # old(e) (transition, then)
    temporal: bool = False  # temporal operators, enabled, occurs (property)
    enabled: bool = False  # enabled(a) as an expression (invariant, terminal, show, updates of ghosts)
    new: Callable[..., kernel.Expr] | None = None  # new(e): what makes of e its value after the step
    initial: bool = False  # an initial value is made, which may depend on what was picked


@dataclass(frozen=True)
class Scope:
    """A module's names with locals on top.

    ``own`` takes precedence over ``used``. A name that several used modules offer is ambiguous, and ``used`` lists them
    all. ``calls`` are the functions being expanded, to find recursion.
    """

    module: str
    own: Mapping[str, Entity]
    used: Mapping[str, tuple[Entity, ...]] = field(default_factory=dict)
    locals: Mapping[str, Entity] = field(default_factory=dict)
    narrowed: Mapping[kernel.Expr, kernel.Expr] = field(default_factory=dict)
    """Optional expressions known to be present, with what stands for them (an ``Unwrap``)."""
    permissions: Permissions = Permissions()
    calls: tuple[syntax.Def, ...] = ()
    for_log: bool = False
    """Whether a log gives the elements of sets. It also gives the arguments of actions, so these need not be listed."""

    def find(self, name: str) -> tuple[Entity, ...]:
        """What the name may denote: nothing, one entity, or those of several used modules (ambiguous)."""
        # Locals hide little (E104): elements of sets, names of used modules, and what a field of an event may be called as.
        for table in (self.locals, self.own):
            if name in table:
                return (table[name],)
        return self.used.get(name, ())

    def names(self) -> Iterator[str]:
        """Every visible name, for suggestions."""
        # From the innermost on, so that the nearest of equally similar names is suggested.
        yield from self.locals
        yield from self.own
        yield from self.used

    def bind(self, name: str, entity: Entity) -> Scope:
        """This scope with one more local."""
        # Copied and not changed: other branches go on with the scope as it was.
        return replace(self, locals={**self.locals, name: entity})

    def narrow(self, optional: kernel.Expr, present: kernel.Expr) -> Scope:
        """This scope in which an optional expression is known to be present."""
        return replace(self, narrowed={**self.narrowed, optional: present})

    def allowing(self, **changes: bool | Callable[..., kernel.Expr] | None) -> Scope:
        """This scope with other permissions."""
        return replace(self, permissions=replace(self.permissions, **changes))  # type: ignore[arg-type]


def present(expr: kernel.Expr, *_: object) -> kernel.Expr:
    """What ``new(e)`` means where the state that is read is the one after the step: e itself."""
    return expr


def span_of(entity: Entity) -> Span:
    """Where an entity is declared."""
    return entity.declaration.span if isinstance(entity, FunctionEntity) else entity.span
