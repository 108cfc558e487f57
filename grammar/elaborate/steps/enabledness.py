"""``enabled(a)`` outside temporal formulas, as an expression: some instance of the action can change the state.

Some resolution of the parameters and picks fulfils every ``when`` line, and leads to another state. A ``bound`` or a
capacity is left aside: it limits the model, not the system (docs/design/fairness-bounds.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from assay.grammar import kernel
from assay.grammar.diagnostics.diagnostic import Diagnostics, Span
from assay.grammar.elaborate.scopes.erroneous import erroneous
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.rewrite import NodeT, nodes, rewritten, with_fresh_binders
from assay.grammar.elaborate.steps.next_values import UnknownNextValueError, value_after
from assay.grammar.kernel.types import BOOL, Type
from assay.grammar.lazy_dataclass import dataclass


def written_out(made: kernel.Kernel, diagnostics: Diagnostics) -> kernel.Kernel:
    """The kernel in which ``enabled`` remains in temporal properties alone."""
    types = {variable.name: variable.type for variable in made.variables}
    enabled = Enabledness({action.name: action for action in made.actions}, types, diagnostics)
    return replace(
        made,
        actions=tuple(enabled.action(action.name) for action in made.actions),
        properties=tuple(each if each.kind == "temporal" else enabled.in_place(each) for each in made.properties),
        terminal=tuple(map(enabled.in_place, made.terminal)),
        scenarios=tuple(map(enabled.in_place, made.scenarios)),
        shows=tuple(map(enabled.in_place, made.shows)),
    )


@dataclass(slots=True)
class Enabledness:
    """Replaces ``enabled`` by what it means. An action may ask for another one in updates of ghosts, but not in a
    circle."""

    actions: Mapping[str, kernel.Action]
    types: Mapping[str, Type]
    diagnostics: Diagnostics
    known: dict[str, kernel.Action] = field(default_factory=dict)
    busy: list[str] = field(default_factory=list)

    def action(self, name: str) -> kernel.Action:
        """An action with what ``enabled`` means in its updates."""
        if name not in self.known:
            self.busy.append(name)
            self.known[name] = self.in_place(self.actions[name])
            self.busy.pop()
        return self.known[name]

    def in_place(self, root: NodeT) -> NodeT:
        """A declaration in which every ``enabled`` is written out, with names of its own."""
        if not any(isinstance(node, kernel.ActionAtom) for node in nodes(root)):
            return root
        # The declaration is complete, so its names are all known and the new ones differ from each.
        fresh = Fresh.beside(_local_names(root))

        def change(node: kernel.Node) -> kernel.Node:
            return self._written(node, fresh) if isinstance(node, kernel.ActionAtom) else node

        return rewritten(root, change)

    def _written(self, atom: kernel.ActionAtom, fresh: Fresh) -> kernel.Expr:
        if atom.action in self.busy:
            circle = " -> ".join([*self.busy[self.busy.index(atom.action) :], atom.action])
            message = f"whether `{atom.action}` is enabled depends on itself: {circle}"
            self.diagnostics.error("E415", atom.span, message, "ask in a property, or in another action")
            return erroneous(atom.span)
        # Its updates of ghosts may ask in turn, so it is taken with what they mean.
        action = self.action(atom.action)
        fresh.avoid(_local_names(action))  # an `enabled` in its updates brought names that this declaration lacks
        try:
            return _can_change(action, atom, self.types, fresh)
        except UnknownNextValueError as error:
            message = f"whether `{atom.action}` changes the state cannot be said here: {error}"
            self.diagnostics.error("E415", atom.span, message, "ask in a temporal `property`")
            return erroneous(atom.span)


def _local_names(root: kernel.Node) -> Iterator[str]:
    return (node.name for node in nodes(root) if isinstance(node, kernel.Local))


def _can_change(action: kernel.Action, atom: kernel.ActionAtom, types: Mapping[str, Type], fresh: Fresh) -> kernel.Expr:
    """Some instance that the atom means fulfils its guards and changes a variable."""
    # `enabled(a)` without arguments asks of some instance, as an argument `_` does.
    arguments = atom.arguments or tuple(None for _ in action.parameters)
    head = [line for line in action.body if isinstance(line, kernel.Guard | kernel.Pick)]
    # Guards, lets and picks precede updates in every kernel.
    first = next((at for at, line in enumerate(action.body) if isinstance(line, _UPDATES)), len(action.body))
    result = _beyond_bounds(head, _changes(action.body[first:], types, atom.span, fresh))
    # From the last line to the first, so that each name is bound around all that reads it.
    for line in reversed(action.body[:first]):
        match line:
            case kernel.Guard("when", _, condition):
                result = kernel.Logic(BOOL, "and", (condition, result), span=atom.span)
            case kernel.Let(binder, value):
                result = kernel.LetIn(BOOL, binder, value, result, span=atom.span)
            case kernel.Pick(binder, domain):
                result = kernel.Quantified(BOOL, "exists", binder, domain, result, span=atom.span)
            case _:
                pass
    result = with_fresh_binders(result, fresh)
    # All parameters get new names before an argument is put in: who asks may have a local of a parameter's name.
    binders = {p.binder.name: fresh(p.binder.name.partition("'")[0]) for p in action.parameters}
    result = rewritten(result, lambda x: _renamed(x, binders))
    for parameter, argument in reversed([*zip(action.parameters, arguments, strict=True)]):
        binder = replace(parameter.binder, name=binders[parameter.binder.name])
        result = _with_parameter(binder, parameter.domain, argument, result, fresh)
    return result


_UPDATES = (kernel.Assign, kernel.If, kernel.For)


def _renamed(node: kernel.Node, names: Mapping[str, str]) -> kernel.Node:
    return replace(node, name=names[node.name]) if isinstance(node, kernel.Local) and node.name in names else node


def _with_parameter(
    binder: kernel.Local, values: kernel.Expr, argument: kernel.Expr | None, body: kernel.Expr, fresh: Fresh
) -> kernel.Expr:
    """The body for the argument, which has to be one of the values of the parameter, or else for any of these."""
    domain = with_fresh_binders(values, fresh)
    if argument is None:
        return kernel.Quantified(BOOL, "exists", binder, domain, body, span=body.span)
    # An argument is checked against its type already. A smaller set is asked for here.
    if not isinstance(domain, kernel.TypeDomain):
        member = kernel.Member(BOOL, binder, domain, False, span=body.span)
        body = kernel.Logic(BOOL, "and", (member, body), span=body.span)
    return kernel.LetIn(BOOL, binder, argument, body, span=body.span)


def _beyond_bounds(head: Sequence[kernel.Statement], changes: kernel.Expr) -> kernel.Expr:
    """What lies behind a bound is not looked at: it may be outside of the model."""
    bounds = tuple(line.condition for line in head if isinstance(line, kernel.Guard) and line.kind == "bound")
    if not bounds:
        return changes
    inside = bounds[0] if len(bounds) == 1 else kernel.Logic(BOOL, "and", bounds, span=changes.span)
    return kernel.Logic(BOOL, "implies", (inside, changes), span=changes.span)


def _changes(updates: Sequence[kernel.Statement], types: Mapping[str, Type], place: Span, fresh: Fresh) -> kernel.Expr:
    """Whether the updates lead to another state."""
    assigned = dict.fromkeys(n.variable for line in updates for n in nodes(line) if isinstance(n, kernel.Assign))
    found = []
    for name in assigned:
        old = kernel.StateVar(types[name], name, span=place)
        new = value_after(updates, name, old, fresh)
        # As ENABLED ⟨A⟩_vars in TLA+: a step that leaves every variable as it is does not count.
        found.append(kernel.Equal(BOOL, new, old, True, span=place))
    whole: kernel.Expr = kernel.Const(BOOL, False, span=place)
    if found:
        whole = found[0] if len(found) == 1 else kernel.Logic(BOOL, "or", tuple(found), span=place)
    for line in reversed(updates):
        if isinstance(line, kernel.Let):
            whole = kernel.LetIn(BOOL, line.binder, line.value, whole, span=place)
    return whole
