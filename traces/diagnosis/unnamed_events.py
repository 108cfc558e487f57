"""What to say of events of a user's own service that the trace clause does not name: their names, and what was meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.kernel import TracePlan
from assay.traces.event import Notice
from assay.traces.observe.binding import NO_RULE, READ_BY_CLAUSE
from assay.traces.observe.binding_tally import Unread
from assay.traces.result import TraceVerdict, Validation

MOST_NAMES = 8
"""How many names are listed."""

MANY = 2_000
"""From so many elements on a log is validated slowly as a whole."""


def own_clause(validation: Validation) -> TracePlan | None:
    """The trace clause of an answer if it reads the events of a user's own service; None if they are Kafka's."""
    plans = (plan for plan in validation.kernel.traces if plan.name == validation.clause)
    return next((plan for plan in plans if plan.catalogue in READ_BY_CLAUSE), None)


def with_names(validation: Validation) -> Validation:
    """The answer, which tells what events are called that no rule speaks of, and which name may have been meant."""
    plan = own_clause(validation)
    if plan is None:
        return validation
    names = sorted({rule.event for rule in plan.rules})
    notices = (*validation.notices, *large_model(validation))
    answer = replace(validation, unmapped=tuple(_suggested(validation.unmapped, names)), notices=notices)
    if validation.verdict is not TraceVerdict.VACUOUS or validation.counts.used or not validation.counts.read:
        return answer
    called = Counter[str]()
    for each in (*validation.unmapped, *validation.ignored):
        called[each.kind] += each.count
    # Some events do have a rule: that nothing was checked has another reason, which the answer gives already.
    if called.keys() & set(names):
        return answer
    if not names:
        return replace(
            answer, reason=f"nothing was checked: the clause has no rule; events are called {_listed(called)}"
        )
    count = (
        "the only event is not" if validation.counts.read == 1 else f"none of the {validation.counts.read:,} events is"
    )
    reason = f"nothing was checked: {count} called {_either(names)}; they are called {_listed(called)}"
    return replace(answer, reason=reason + _meant(list(called), names))


def _suggested(unmapped: Sequence[Unread], names: Sequence[str]) -> Iterator[Unread]:
    for each in unmapped:
        guess = did_you_mean(each.kind, names) if each.reason == NO_RULE else None
        yield each if guess is None else replace(each, reason=f"{NO_RULE}; did you mean `{guess}`?")


def _either(names: Sequence[str]) -> str:
    shown = [f"`{name}`" for name in names[:MOST_NAMES]]
    more = len(names) - len(shown)
    return (
        ", ".join(shown) + f" or any of {more} more"
        if more
        else " or ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
    )


def _listed(called: Counter[str]) -> str:
    shown = ", ".join(f"`{name}` ({count:,})" for name, count in called.most_common(MOST_NAMES))
    more = len(called) - MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown


def _meant(called: Sequence[str], names: Sequence[str]) -> str:
    guesses = ((name, did_you_mean(name, names)) for name in called)
    found = next(((name, guess) for name, guess in guesses if guess is not None), None)
    return "" if found is None else f" (did you mean `{found[1]}` for `{found[0]}`?)"


def large_model(validation: Validation) -> list[Notice]:
    """A notice if a step of the model copies thousands of elements, and the clause does not cut the log by them."""
    plan = own_clause(validation)
    if plan is None or plan.slicing is not None or not validation.kernel.sorts:
        return []
    sort = max(validation.kernel.sorts, key=lambda each: len(each.elements))
    if len(sort.elements) <= MANY:
        return []
    advice = (
        f"if they do not concern each other, `slice {sort.name} by FIELD` in the trace clause takes them one by one"
    )
    return [Notice("large model", None, f"each step is about {len(sort.elements):,} elements of {sort.name}: {advice}")]
