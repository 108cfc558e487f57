"""Remarks on a run that violates a temporal property: that it stops, or repeats itself, and which fairness would rule
it out."""

from __future__ import annotations

from collections.abc import Iterator

from assay.checker.liveness.lasso_semantics import Run
from assay.grammar import kernel as k

MOST = 6
"""The most actions that are named."""


def reason(run: Run, conjunct: k.Conjunct) -> str:
    """Why the run is a counterexample, as half a sentence."""
    name = conjunct.label if ":" not in conjunct.label else "the property"
    said = name if name == "the property" else f"`{name}`"
    if run.stops:
        return f"{said} is false of this run, which stops: its last state is kept for ever"
    return f"{said} is false of this run, which repeats the states from step {run.loop + 1} on for ever"


def remarks(run: Run) -> tuple[str, ...]:
    """What makes the run possible: the fairness that would rule it out, by action; for a run that stops, also that
    nothing is fair."""
    said = list(_missing(run))
    if run.stops and not said:
        said = ["nothing that could still happen would change the state"]
    more = len(said) - MOST
    return (*said[:MOST], *([f"so it is with {more} more actions"] if more > 0 else []))


def _missing(run: Run) -> Iterator[str]:
    """The missing fairness; first that of actions which are fair already, but too weakly."""
    kernel = run.model.kernel
    found = sorted(run.missing_fairness(), key=lambda missing: kernel.action(missing[0].action).fairness is None)
    for event, strong, names in found:
        own = kernel.action(event.action).fairness
        sort = "strong fair" if strong else "fair"
        wanted = f"{sort} per {', '.join(names)}" if names else sort
        lacks = (
            f"no {'strong ' if strong else ''}fairness on"
            if own is None or not names
            else f"no fairness per {names[0]} on"
        )
        able = "again and again" if strong else "all the time"
        yield (
            f"{lacks} `{event.action}` makes this possible: from step {run.loop + 1} on `{event.show(kernel)}` is enabled {able} and never happens "
            f"(with `{wanted}` this run would be ruled out)"
        )
