"""One module instance: its file, the prefix of its names in the kernel, and its scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from assay.grammar import kernel, syntax
from assay.grammar.elaborate.modules.module_tree import ModuleFile
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.rewrite import nodes
from assay.grammar.elaborate.scopes.scope import Scope
from assay.grammar.elaborate.scopes.symbol_tables import OwnNames
from assay.grammar.kernel.types import Type
from assay.grammar.lazy_dataclass import dataclass

DeclarationT = TypeVar("DeclarationT", bound=syntax.Declaration)


@dataclass(frozen=True, slots=True)
class ArrayIndex:
    """The index of an array of instances: its name and type, the expression that selects this unit, and the array's
    prefix."""

    name: str
    type: Type
    expr: kernel.Expr
    root: str


@dataclass(slots=True, eq=False)
class Unit:
    """A module instance. ``array`` is set on the outermost unit of an array: the declaration, and the unit that
    contains it."""

    module: ModuleFile
    prefix: str
    own: OwnNames
    scope: Scope
    index: ArrayIndex | None
    array: tuple[syntax.Instance, Unit] | None = None

    @property
    def is_top(self) -> bool:
        """Whether this is the top module."""
        return not self.prefix

    @property
    def used_modules(self) -> frozenset[str]:
        """The names that the module gives to the modules it uses; they are not exported."""
        return frozenset((use.alias or use.path.parts[-1]).text for use in self.declared(syntax.Use))

    def declared(self, kind: type[DeclarationT]) -> Iterator[DeclarationT]:
        """The declarations of one kind, in the order of the file."""
        return (d for d in self.module.tree.declarations if isinstance(d, kind))

    def fresh(self) -> Fresh:
        """Local names for an expression of the module that is elaborated by itself."""
        # A parameter may stand for the index of the array. A binder of the index's name would capture it.
        index = () if self.index is None else nodes(self.index.expr)
        return Fresh.beside(node.name for node in index if isinstance(node, kernel.Local))

    @property
    def state(self) -> Iterator[syntax.StateVariable]:
        """The state variables."""
        return (variable for block in self.declared(syntax.StateBlock) for variable in block.variables)
