"""The answer of a replay as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.checker.saved_traces.replay import Replay
from assay.checker.saved_traces.saved_trace import SavedTrace
from assay.grammar.kernel import Kernel
from assay.report.lines import Line, Tone
from assay.report.specs.check_object import VERSION, blocked_object, explanation_object, model_object, trace_object
from assay.report.specs.text import blocked_lines, explanation_lines, model_lines, trace_lines


def fate(answer: Replay) -> str:
    """What became of the saved trace, in a few words."""
    # Asked first: of a run that was not followed to its end nothing else is known.
    if answer.diverged is not None:
        return "no longer possible"
    if answer.violated is None:
        return "undecided"
    return "still violated" if answer.violated else "no longer violated"


def replay_lines(kernel: Kernel, saved: SavedTrace, answer: Replay) -> Iterator[Line]:
    """What became of the trace, then the trace, and why it violates the property or ends early."""
    tone = Tone.BAD if answer.violated else Tone.GOOD
    yield Line(f"{saved.property}: {fate(answer)}", tone)
    yield from model_lines(kernel)
    yield Line("")
    yield from trace_lines(kernel, answer.trace)
    if answer.differs is not None:
        step, names = answer.differs
        yield Line(f"  from step {step + 1} on the state differs from the saved one in {', '.join(names)}", Tone.WARN)
    reason = answer.diverged or answer.reason
    if reason is not None:
        yield Line(f"  {reason}", tone)
    if answer.explanation is not None:
        yield from explanation_lines(answer.explanation)
    yield from blocked_lines(kernel, answer.blocked)
    # A run that does no harm now is easily taken for a proof.
    if not answer.violated:
        yield Line("This says nothing of other runs: `assay check` does.", Tone.FAINT)


def replay_object(kernel: Kernel, saved: SavedTrace, answer: Replay) -> dict[str, Any]:
    """The whole answer."""
    return {
        "assay": VERSION,
        "verdict": fate(answer),
        **model_object(kernel),
        "property": saved.property,
        "steps": {"saved": answer.total, "followed": len(answer.trace)},
        "trace": trace_object(kernel, answer.trace),
        **({} if answer.trace.loop is None else {"loop": answer.trace.loop}),
        "reason": answer.diverged or answer.reason,
        "differs": list(answer.differs[1]) if answer.differs is not None else [],
        "explanation": explanation_object(answer.explanation) if answer.explanation is not None else None,
        "blocked": [blocked_object(kernel, each) for each in answer.blocked],
    }
