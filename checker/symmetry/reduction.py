"""The reduction of a search to one state of each orbit, where that is sound.

The argument (after C. N. Ip and D. L. Dill, "Better verification through symmetry", 1996), and why quantifiers become
strict under a reduction, are in docs/design/symmetry-reduction.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.checker.interpreter.values.sort_occurrence import mentions
from assay.checker.options import SearchOptions
from assay.checker.report import State, Step, Trace
from assay.checker.symmetry.permute import permuted
from assay.checker.symmetry.soundness import obstacles
from assay.checker.symmetry_group import Group, Permutation
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Diagnostic, Note, Span, SpecError
from assay.grammar.kernel.types import Sort, Type
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value, sort_key

NOT_SYMMETRIC = "E809"
LARGEST = 40_320
"""The most permutations of a group. With more, the parameters with most elements are left out of the reduction."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A group under which a kernel and the checked properties are symmetric; ``left`` are symmetric sorts that it
    leaves out."""

    kernel: k.Kernel
    group: Group
    left: tuple[Sort, ...] = ()

    def permuted(self, state: State, by: Permutation) -> State:
        """The state with the elements permuted."""
        return tuple(permuted(value, v.type, by) for value, v in zip(state, self.kernel.variables, strict=True))

    def orbit(self, state: State) -> Iterator[tuple[Permutation, State]]:
        """Every permutation, with the permuted state."""
        for by in self.group:
            yield by, self.permuted(state, by)

    def canonical(self, state: State) -> State:
        """The representative of a state's orbit: the least of its states."""
        # A permutation leaves all other variables as they are, so that these need not be compared.
        touched = [mentions(v.type, self.group.names) for v in self.kernel.variables]

        def key(other: State) -> list[object]:
            return [_key(value) for value, changes in zip(other, touched, strict=True) if changes]

        return min((other for _, other in self.orbit(state)), key=key)

    def step(self, step: Step, by: Permutation) -> Step:
        """The step with the elements permuted."""
        if step.action is None:
            return Step(
                None, (), _named(step.picks, _pick_types(self.kernel.init.body), by), self.permuted(step.state, by)
            )
        action = self.kernel.action(step.action)
        types = {parameter.binder.name: parameter.binder.type for parameter in action.parameters}
        picks = _named(step.picks, _pick_types(action.body), by)
        return Step(step.action, _named(step.arguments, types, by), picks, self.permuted(step.state, by))

    def ending_in(self, steps: list[Step], state: State) -> Trace:
        """The run, permuted so that it ends in that state of its last state's orbit."""
        # A permutation maps runs to runs, so the whole run is permuted and not its last state alone.
        by = next(by for by, other in self.orbit(steps[-1].state) if other == state)
        return Trace(tuple(self.step(step, by) for step in steps))


def _key(value: Value) -> object:
    return sort_key(value)


def _pick_types(body: tuple[k.Statement, ...]) -> dict[str, Type]:
    return {each.binder.name: each.binder.type for each in body if isinstance(each, k.Pick)}


def _named(
    values: tuple[tuple[str, Value], ...], types: dict[str, Type], by: Permutation
) -> tuple[tuple[str, Value], ...]:
    return tuple((name, permuted(value, types[name], by)) for name, value in values)


def reduction_of(kernel: k.Kernel, options: SearchOptions) -> Reduction | None:
    """The reduction that the options ask for, if any. Raises ``SpecError`` (E809) where it would be unsound, or nothing
    is symmetric."""
    if not options.symmetry:
        return None
    sorts = [sort for sort in kernel.sorts if sort.symmetric and len(sort.elements) > 1]
    if not sorts:
        note = Note("declare a set parameter `symmetric` and give it two elements or more")
        raise SpecError([Diagnostic(NOT_SYMMETRIC, kernel.span, "no set parameter is symmetric", (note,))])
    checked = [prop for prop in kernel.properties if options.selects(prop.name)]
    found = dict.fromkeys(each for sort in sorts for each in obstacles(kernel, sort, checked))
    if found:
        raise SpecError(_refusal(what, span) for what, span in found)
    group = _small_enough(sorts)
    return Reduction(kernel, group, tuple(sort for sort in sorts if sort not in group.sorts))


def _refusal(what: str, span: Span) -> Diagnostic:
    note = Note("search without `--symmetry`, or check other properties with `--property`")
    return Diagnostic(NOT_SYMMETRIC, span, f"states cannot be taken for one another: {what}", (note,))


def _small_enough(sorts: list[Sort]) -> Group:
    """The group of as many sorts as ``LARGEST`` allows, those with few elements first."""
    # A subgroup is as sound as the whole group: fewer states share a representative, and no state is lost.
    group = Group(())
    for sort in sorted(sorts, key=lambda sort: len(sort.elements)):
        larger = Group((*group.sorts, sort))
        if larger.order <= LARGEST:
            group = larger
    return group
