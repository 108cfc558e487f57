"""``load``: a spec with its parameters bound, as a value that the other functions take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from os import PathLike, fspath
from typing import TYPE_CHECKING

from assay.api.bundled import locate_spec
from assay.api.input_error import raises_input_error
from assay.grammar.diagnostics.diagnostic import Diagnostic
from assay.grammar.kernel import Kernel
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded, load_spec

if TYPE_CHECKING:
    from assay.checker.stepper.stepper import Stepper

Setting = bool | int | str | Sequence[str] | frozenset[str] | set[str]
"""The value of a parameter: as ``--set`` has it, or a Python value. A set of names, or their number, is a set."""


@dataclass(frozen=True, slots=True)
class Spec:
    """A spec that was read without an error, with its parameters bound.

    ``name`` is how it was named: a file, or a bundled spec such as ``kafka/controller``.
    """

    name: str
    loaded: Loaded = field(repr=False, compare=False)

    @property
    def kernel(self) -> Kernel:
        """The model on which every engine works: variables, actions, properties, trace clauses."""
        return self.loaded.kernel

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the steps of the system."""
        return self.kernel.next

    @property
    def properties(self) -> tuple[str, ...]:
        """The names of the properties, without deadlocks and scenarios."""
        return tuple(each.name for each in self.kernel.properties)

    @property
    def clauses(self) -> tuple[str, ...]:
        """The names of the trace clauses, by which logs can be validated."""
        return tuple(each.name for each in self.kernel.traces)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is noteworthy in the spec, and no error."""
        return self.loaded.diagnostics

    def stepper(self) -> Stepper:
        """A walk through the model by hand, see ``assay.stepper``."""
        from assay.checker.stepper.stepper import Stepper  # noqa: PLC0415 - a tenth of a second

        return Stepper(self.loaded, self.name)


SpecLike = Spec | str | PathLike[str]
"""A loaded spec, its file, or the name of a bundled one."""


@raises_input_error
def load(spec: SpecLike, *, model: str | None = None, settings: Mapping[str, Setting] | None = None) -> Spec:
    """Read a spec, and bind its parameters: by ``settings``, else by the ``model`` of that name, else by defaults.

    Raises ``InputError`` with every mistake that was found. A spec that is loaded already is returned as it is, if
    nothing is to be bound anew.
    """
    if isinstance(spec, Spec):
        if model is None and not settings:
            return spec
        # A spec that is bound anew keeps what it was bound to, as far as nothing else is said now.
        bound = {**spec.loaded.overrides, **_texts(settings or {})}
        return Spec(spec.name, read_spec(spec.name, model or spec.loaded.model, bound))
    name = fspath(spec)
    return Spec(name, read_spec(name, model, _texts(settings or {})))


def read_spec(spec: str, model: str | None, settings: Mapping[str, str], added: Sequence[str] = ()) -> Loaded:
    """The spec that a SPEC argument names, with its parameters bound, and with the declarations ``added`` to its
    end. Raises ``SpecError``.
    """
    return load_spec(locate_spec(spec), model=model, overrides=settings, added=added)


def _texts(settings: Mapping[str, Setting]) -> dict[str, str]:
    return {name: _text(value) for name, value in settings.items()}


def _text(value: Setting) -> str:
    """A value as ``--set`` has it."""
    # Before `int`, of which `bool` is a kind: the language has `true`, not `True`.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | str):
        return str(value)
    names = sorted(value) if isinstance(value, set | frozenset) else value
    return f"{{{', '.join(map(str, names))}}}"
