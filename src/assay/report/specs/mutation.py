"""A mutation run as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from assay.checker.mutation.judge import Fate, MutantJudgement, Mutation
from assay.report.diagnostics import place_object
from assay.report.lines import Line, Tone, plural

_HEADINGS = {
    Fate.SURVIVED: ("survived: no property notices", Tone.BAD),
    Fate.UNDECIDED: ("undecided: a limit was reached", Tone.WARN),
    Fate.EXPLAINED: ("survived, and the spec says why", Tone.PLAIN),
    Fate.EQUIVALENT: ("equivalent: the same states and changes of state in this model", Tone.FAINT),
}


def mutation_lines(mutation: Mutation) -> list[Line]:
    """The score, what each property killed, and every mutant that survived."""
    return list(_lines(mutation))


def _lines(mutation: Mutation) -> Iterator[Line]:
    yield _summary(mutation)
    yield Line("")
    for name, number in _kills(mutation).most_common():
        yield Line(f"  {name} kills {plural(number, 'mutant')}")
    # First of all: an explanation that is wrong misleads whoever reads the spec.
    stale = tuple(each for each in mutation.judged if each.stale)
    yield from _listed(stale, "killed, though the spec says why it survives", Tone.BAD)
    for fate, (heading, tone) in _HEADINGS.items():
        yield from _listed(mutation.of(fate), heading, tone)


def _summary(mutation: Mutation) -> Line:
    killed, equivalent = len(mutation.of(Fate.KILLED)), len(mutation.of(Fate.EQUIVALENT))
    # No property could notice an equivalent mutant: it counts neither for the spec nor against it.
    counted = len(mutation.judged) - equivalent
    tone = Tone.GOOD if not mutation.of(Fate.SURVIVED, Fate.UNDECIDED) else Tone.BAD
    text = f"{killed:,} of {plural(counted, 'mutant')} killed"
    if mutation.score is not None:
        text += f" ({mutation.score:.1%})"
    if mutation.interrupted:
        text += "; interrupted"
    return Line(text, tone)


def _kills(mutation: Mutation) -> Counter[str]:
    return Counter(name for each in mutation.judged for name in each.killers)


def _listed(judged: tuple[MutantJudgement, ...], heading: str, tone: Tone) -> Iterator[Line]:
    if not judged:
        return
    yield Line("")
    yield Line(f"{heading}: {len(judged):,}", tone)
    for each in judged:
        span = each.mutant.span
        yield Line(f"  {span.file}:{span.line}:{span.column} {each.mutant.kind} {each.mutant.text}")
        if each.remark is not None:
            yield Line(f"      {each.remark}", Tone.FAINT)


def mutation_object(mutation: Mutation) -> dict[str, Any]:
    """The JSON object that docs/cli.md describes."""
    numbers = {fate.value: len(mutation.of(fate)) for fate in Fate}
    statistics = mutation.original.statistics
    return {
        "assay": "1",
        "verdict": _verdict(mutation),
        "module": mutation.original.kernel.name,
        "model": mutation.original.kernel.model,
        "score": mutation.score,
        "mutants": {"total": len(mutation.judged), **numbers},
        "kills": dict(_kills(mutation).most_common()),
        "judged": [_judgement(each) for each in mutation.judged],
        "states": {"distinct": statistics.distinct, "generated": statistics.generated, "depth": statistics.depth},
    }


def _verdict(mutation: Mutation) -> str:
    if mutation.interrupted:
        return "interrupted"
    if not mutation.judged:
        return "vacuous"
    if mutation.of(Fate.SURVIVED):
        return "survivors"
    if any(each.stale for each in mutation.judged):
        return "wrong explanations"
    return "undecided" if mutation.of(Fate.UNDECIDED) else "all killed or explained"


def _judgement(each: MutantJudgement) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": each.mutant.kind,
        "actions": list(each.mutant.actions),
        "place": place_object(each.mutant.span),
        "text": each.mutant.text,
        "fate": each.fate.value,
        "killers": list(each.killers),
    }
    return found | ({} if each.remark is None else {"remark": each.remark})
