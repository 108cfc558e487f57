"""Which parts of a model logs have exercised, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from assay.grammar.kernel import Kernel
from assay.report.lines import Line, Tone, plural
from assay.report.specs.check_object import VERSION
from assay.traces.coverage import LogCoverage, all_guards, uncovered_actions

WIDTH = 100


def log_coverage_lines(coverage: LogCoverage, kernel: Kernel) -> Iterator[Line]:
    """The actions, with how often each was taken, and what no log has exercised."""
    missing = uncovered_actions(kernel, coverage)
    guards = all_guards(kernel)
    passed = sum(guard in coverage.guards for guard in guards)
    seen = len(kernel.next) - len(missing)
    yield Line(f"{coverage.spec}, exercised by {plural(coverage.logs, 'log')}", Tone.HEADING)
    yield Line(f"  {'actions':10}{seen:,} of {len(kernel.next):,}")
    yield Line(f"  {'guards':10}{passed:,} of {len(guards):,}")
    yield Line(f"  {'pairs':10}{len(coverage.pairs):,} of actions in a row")
    counts = ", ".join(f"{name} {count:,}" for name, count in sorted(coverage.actions.items(), key=lambda e: -e[1]))
    yield from (Line(f"  {'':10}{text}", Tone.FAINT) for text in wrap(counts, WIDTH))
    if missing:
        yield Line("")
        yield Line("seen in no log", Tone.HEADING)
    for each in missing:
        shown = (
            f"scenario {', '.join(each.scenarios)}"
            if each.scenarios
            else "none of this spec's scenarios shows it either"
        )
        yield Line(f"  {each.action}: {shown}", Tone.WARN)


def log_coverage_object(coverage: LogCoverage, kernel: Kernel) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "assay": VERSION,
        "spec": coverage.spec,
        "logs": coverage.logs,
        "actions": dict(coverage.actions),
        "guards": [{"action": a, "guard": g, "count": n} for (a, g), n in coverage.guards.items()],
        "pairs": [{"first": a, "then": b, "count": n} for (a, b), n in coverage.pairs.items()],
        "unseen": [
            {"action": each.action, "scenarios": list(each.scenarios)} for each in uncovered_actions(kernel, coverage)
        ],
        "unseen_guards": [{"action": a, "guard": g} for a, g in all_guards(kernel) if (a, g) not in coverage.guards],
    }
