"""What loading a spec yields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from assay.grammar import kernel
from assay.grammar.diagnostics.diagnostic import Diagnostic, Span, SpecError
from assay.grammar.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from assay.grammar.elaborate.modules.module_tree import ModuleTree

Elements = Mapping[str, Sequence[str]]
"""The names of the elements of set parameters, by parameter."""


@dataclass(frozen=True, slots=True)
class KnownTree:
    """Modules that need not be read, as what reads them."""

    tree: ModuleTree

    def __call__(self) -> ModuleTree:
        """The modules."""
        return self.tree


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded spec: its kernel, its modules, which are read when they are first asked for, the texts of all files, and
    warnings.

    ``sorts`` and ``sizes`` are what a log binds, of a kernel that ``log_kernel`` made.
    """

    kernel: kernel.Kernel
    read_tree: Callable[[], ModuleTree]
    sources: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]
    model: str | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)
    sorts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def tree(self) -> ModuleTree:
        """The modules."""
        return self.read_tree()

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process gets the modules themselves: it may have no files to read them from."""
        rest = self.sources, self.diagnostics, self.model, self.overrides, self.sorts, self.sizes
        return Loaded, (self.kernel, KnownTree(self.tree), *rest)


class UnusableSpecError(SpecError):
    """A spec with errors; ``sources`` are the texts of the files that were read, by the names that the
    diagnostics use."""

    def __init__(self, diagnostics: Sequence[Diagnostic], sources: Mapping[str, str]) -> None:
        super().__init__(diagnostics)
        self.sources = sources


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """A parameter that the command line may bind: its name, and whether it is a set or a size."""

    name: str
    kind: str
    symmetric: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Outline:
    """The models and parameters that a spec offers, known without binding anything."""

    name: str
    models: tuple[str, ...]
    parameters: tuple[ParameterInfo, ...]
