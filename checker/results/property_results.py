"""The results of properties, from the findings of a search."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from assay.checker.explain import explain
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.liveness.confirm import Counterexample, Decision, Decisions, NotViolated
from assay.checker.print_kernel import Sources
from assay.checker.report import Explanation, Outcome, PropertyResult, Trace, Violation
from assay.checker.results.deadlock_reason import blocked_actions
from assay.checker.results.refinement_steps import abstract_side, reason_of
from assay.checker.results.reorder_trace import fewest_changes
from assay.checker.results.undo_symmetry import confirmed
from assay.checker.search_interface.finding import DEADLOCK, DEFINED, PropertyFinding
from assay.checker.search_interface.protocols import EndedSearch
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import NOWHERE, Span

IN_SOME_ORDER = "a quantifier is undefined for some elements and decided by others (search without `--symmetry`)"


class Answers:
    """The answers of a finished (or stopped) search about the properties of its model."""

    def __init__(self, search: EndedSearch, sources: Sources, decisions: Decisions | None = None) -> None:
        self._search = search
        self._kernel = search.model.kernel
        self._sources = sources
        self._decisions = decisions

    def all(self) -> list[PropertyResult]:
        """Defined, deadlock, then the selected properties in the order of their declaration."""
        options = self._search.options
        found = [self._defined()]
        if options.check_deadlock and options.selects(DEADLOCK):
            found.append(self._deadlock())
        return found + [self._property(each) for each in self._kernel.properties if options.selects(each.name)]

    def _defined(self) -> PropertyResult:
        finding = self._search.watch.found.get(DEFINED)
        # Nothing was evaluated, so that nothing was undefined says nothing.
        if finding is None and not (self._kernel.next or self._kernel.properties):
            return PropertyResult(DEFINED, DEFINED, Outcome.VACUOUS, NOWHERE, "there are no actions and no properties")
        if finding is None:
            outcome, reason = self._not_violated()
            return PropertyResult(DEFINED, DEFINED, outcome, NOWHERE, reason)
        trace = self._trace(finding)
        # Under symmetry a quantifier meets elements in another order. What is undefined only then is no fault of the
        # spec.
        if self._search.reduction is not None and trace is not None:
            found = confirmed(self._search.reduction, self._search.options, finding, trace)
            if found is None:
                return PropertyResult(DEFINED, DEFINED, Outcome.UNKNOWN, finding.span or NOWHERE, IN_SOME_ORDER)
            finding, trace = found
        span = finding.span or NOWHERE
        why = Explanation(finding.subject or DEFINED, span, (), (), finding.undefined)
        reason = f"{finding.undefined}, in {finding.subject}"
        return PropertyResult(DEFINED, DEFINED, Outcome.VIOLATED, span, reason, trace, why)

    def _deadlock(self) -> PropertyResult:
        finding = self._search.watch.found.get(DEADLOCK)
        if not self._kernel.next:
            return PropertyResult(DEADLOCK, DEADLOCK, Outcome.VACUOUS, NOWHERE, "there are no actions")
        if finding is None:
            outcome, reason = self._not_violated()
            return PropertyResult(DEADLOCK, DEADLOCK, outcome, NOWHERE, reason)
        first, *others = self._violations(DEADLOCK, finding)
        return PropertyResult(
            DEADLOCK, DEADLOCK, Outcome.VIOLATED, NOWHERE, first.reason, first.trace, None, first.blocked, tuple(others)
        )

    def _violations(self, name: str, finding: PropertyFinding) -> list[Violation]:
        """The first violation, and as many more as were asked for."""
        # The first was kept by the search; the others are looked for among its states only now, and only if asked for.
        more = self._search.options.violations - 1
        further = islice(self._search.offenders(name, finding.state), more) if more and finding.state >= 0 else ()
        return [self._violation(name, each) for each in (finding, *further)]

    def _violation(self, name: str, finding: PropertyFinding) -> Violation:
        refined = self._search.watch.refinements.get(name)
        if refined is not None:
            side = abstract_side(refined, self._search.store.states[finding.state], finding.step, self._sources)
            return Violation(self._trace(finding), reason_of(side), abstract=side)
        if finding.conjunct is not None:
            reason = f"`{finding.conjunct.label}` is false"
            return Violation(self._trace(finding), reason, self._explanation(finding))
        # Neither a refinement nor a conjunct: the finding is a deadlock.
        blocked = blocked_actions(self._search.model, self._search.store.states[finding.state], self._sources)
        reason = "no action is enabled, and the state is not terminal"
        return Violation(self._trace(finding), reason, None, blocked)

    def _property(self, node: k.Property) -> PropertyResult:
        match node.kind:
            case "temporal":
                return self._temporal(node)
            case "refinement":
                return self._refinement(node)
            case "reachable":
                return self._reachable(node)
            case "invariant" | "lemma" | "transition":
                return self._safety(node)

    def _temporal(self, node: k.Property) -> PropertyResult:
        if self._decisions is None:
            reason = "temporal properties are not decided in this way of searching (`assay check` without `--engine` decides them)"
            return PropertyResult(node.name, node.kind, Outcome.UNKNOWN, node.span, reason)
        decision = self._decisions.get(node.name)
        # Before `_undefined`: a run that violates the property was confirmed, whatever has no value elsewhere.
        if isinstance(decision, Counterexample):
            kept = (decision.reason, decision.trace, None, (), (), decision.remarks)
            return PropertyResult(node.name, node.kind, Outcome.VIOLATED, node.span, *kept)
        undefined = self._undefined(node)
        if undefined is not None:
            return undefined
        return PropertyResult(node.name, node.kind, *self._not_refuted(decision, node))

    def _not_refuted(self, decision: Decision | None, node: k.Property) -> tuple[Outcome, Span, str | None]:
        """The answer about a temporal property without a counterexample."""
        outcome, reason = self._not_violated()
        if isinstance(decision, NotViolated):
            # "Up to a bound" would claim something of fair runs within it, and there are none.
            if decision.empty and outcome is Outcome.UP_TO_BOUND:
                return Outcome.UNKNOWN, node.span, f"vacuous: every fair run is cut off, {reason}; {_UNCUT}"
            if decision.vacuous is None or outcome is Outcome.UNKNOWN:
                return outcome, node.span, reason
            said = decision.vacuous if reason is None else f"{reason}, and {decision.vacuous}"
            return Outcome.VACUOUS if outcome is Outcome.HOLDS else outcome, node.span, said
        if outcome in {Outcome.VACUOUS, Outcome.UNKNOWN}:
            return outcome, node.span, reason
        why = (
            "something is undefined"
            if DEFINED in self._search.watch.found
            else "the search of its states took all the time"
        )
        return Outcome.UNKNOWN, node.span, f"not decided: {why}"

    def _safety(self, node: k.Property) -> PropertyResult:
        finding = self._search.watch.found.get(node.name)
        if finding is not None:
            first, *others = self._violations(node.name, finding)
            return PropertyResult(
                node.name,
                node.kind,
                Outcome.VIOLATED,
                node.span,
                first.reason,
                first.trace,
                first.explanation,
                (),
                tuple(others),
            )
        # After the finding: one violation decides, though other states give the property no value.
        undefined = self._undefined(node)
        if undefined is not None:
            return undefined
        outcome, reason = self._not_violated()
        return PropertyResult(node.name, node.kind, outcome, node.span, reason)

    def _refinement(self, node: k.Property) -> PropertyResult:
        name = node.name
        finding = self._search.watch.found.get(name)
        if finding is not None:
            first, *others = self._violations(name, finding)
            return PropertyResult(
                name,
                node.kind,
                Outcome.VIOLATED,
                node.span,
                first.reason,
                first.trace,
                others=tuple(others),
                abstract=first.abstract,
            )
        # No finding means nothing here: nobody looked.
        if not self._search.refines:
            reason = "steps are not followed on the abstract side here: `assay check` searches for that"
            return PropertyResult(name, node.kind, Outcome.UNKNOWN, node.span, reason)
        undefined = self._undefined(node)
        if undefined is not None:
            return undefined
        beyond = self._search.watch.beyond.get(name)
        if beyond is not None:
            reason = f"undecided where the abstract side is too small: {beyond.undefined}"
            return PropertyResult(name, node.kind, Outcome.UNKNOWN, node.span, reason, self._trace(beyond))
        outcome, why = self._not_violated()
        return PropertyResult(name, node.kind, outcome, node.span, why)

    def _reachable(self, node: k.Property) -> PropertyResult:
        finding = self._search.watch.found.get(node.name)
        if finding is not None:
            return PropertyResult(node.name, node.kind, Outcome.HOLDS, node.span, None, self._trace(finding))
        undefined = self._undefined(node)
        if undefined is not None:
            return undefined
        outcome, reason = self._not_reached()
        return PropertyResult(node.name, node.kind, outcome, node.span, reason)

    def _undefined(self, node: k.Property) -> PropertyResult | None:
        finding = self._search.watch.undefined.get(node.name)
        if finding is None:
            return None
        reason = f"it has no value in a reachable state: {finding.undefined}"
        trace = self._trace(finding)
        return PropertyResult(node.name, node.kind, Outcome.UNKNOWN, node.span, reason, trace)

    def _not_violated(self) -> tuple[Outcome, str | None]:
        """The answer about a property that was checked everywhere and never failed."""
        if self._search.stopped is not None:
            return Outcome.UNKNOWN, f"no violation was found, but {self._search.stopped}"
        if not self._search.initial:
            return Outcome.VACUOUS, self._no_initial_state()
        # An accepted bound is part of the question, not of the answer.
        hit = {label: n for label, n in self._search.bounds.items() if label not in self._kernel.accepted_bounds}
        limits = [*self._depth(), *([bounds_text(hit)] if hit else [])]
        if limits:
            return Outcome.UP_TO_BOUND, f"up to {' and '.join(limits)}"
        return Outcome.HOLDS, None

    def _not_reached(self) -> tuple[Outcome, str]:
        if self._search.stopped is not None:
            return Outcome.UNKNOWN, f"no such state was found, but {self._search.stopped}"
        if not self._search.initial:
            return Outcome.VACUOUS, self._no_initial_state()
        # Here accepted bounds count too: behind any of them there may be such a state.
        limits = [*self._depth(), *([bounds_text(self._search.bounds)] if self._search.bounds else [])]
        if limits:
            return Outcome.UNKNOWN, f"no such state was found up to {' and '.join(limits)}"
        # A reachable is violated when the whole search ends without it; everything less leaves it open.
        return Outcome.VIOLATED, "no reachable state satisfies it"

    def _depth(self) -> list[str]:
        return [] if self._search.up_to_depth is None else [f"depth {self._search.up_to_depth:,}"]

    def _no_initial_state(self) -> str:
        if DEFINED in self._search.watch.found:
            return "there is no initial state: one is undefined"
        cut = f": all were cut by {bounds_text(self._search.bounds)}" if self._search.bounds else ""
        return f"there is no initial state{cut}"

    def _trace(self, finding: PropertyFinding) -> Trace | None:
        if finding.state < 0:
            return None
        # A violated transition is about a step, which ends behind the last state of the search.
        more = () if finding.step is None else (finding.step,)
        trace = self._search.trace(finding.state, *more)
        return fewest_changes(self._search.model, trace, pinned=finding.step is not None)

    def _explanation(self, finding: PropertyFinding) -> Explanation | None:
        if finding.conjunct is None:
            return None
        state = self._search.store.states[finding.state]
        frame = Frame(state) if finding.step is None else Frame(finding.step.state, state)
        return explain(self._search.model, finding.conjunct, frame, self._sources)


_UNCUT = (
    "raise what limits it, or let the spec itself stop before the bound: a run that only the bound stops is no fair run"
)
"""What to do about a bound that leaves no fair run."""


def bounds_text(hits: Mapping[str, int]) -> str:
    """Bounds, and how often each was hit."""
    shown = ", ".join(f"`{label}` (hit {'once' if n == 1 else f'{n:,} times'})" for label, n in sorted(hits.items()))
    return f"bound {shown}" if len(hits) == 1 else f"bounds {shown}"
