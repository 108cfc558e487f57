"""`python -m benchmarks traces [PART…] [COUNT] [keep=FOLDER]`: how good verdicts about logs are, measured on the recorded runs.

Parts are ``healthy``, ``kraft``, ``protocol``, ``fields``, ``coherent``, ``control``, ``ablation``, ``wrong``, ``lines`` and ``skew``; all of them if none is named. COUNT is how many mutants are made of
one field (1,000 if none is given); there are three tenths as many coherent ones, and as many changes of whole lines. One line of JSON for each
measurement, then one for each row of the table, with the target. All of it takes hours on a busy machine; with ``keep`` each part's lines are written to the folder when the
part is done, and a part whose lines are there is not measured again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .coherent import blames_the_rule, coherent_mutants
from .control import EVERY, Outcome, Rule, exercised, needed_guards, outcome_without, wrong_specs
from .fields import field_mutants, summary
from .healthy import STATING, healthy_run
from .order import is_accepted, misordered, needed_shift
from .protocol import REPLICATION, protocol_run
from .recorded import KRAFT_RUNS, RUNS, retrial

Line = dict[str, Any]
SEED = 1
KEEP = "keep="
MUTANTS = 1_000


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """The measurements; raises ValueError for a part that there is not."""
    folder = next((Path(each.removeprefix(KEEP)) for each in arguments if each.startswith(KEEP)), None)
    names = [each for each in arguments if not each.isdigit() and not each.startswith(KEEP)]
    if unknown := set(names) - set(PARTS):
        raise ValueError(f"no part {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    count = next((int(each) for each in arguments if each.isdigit()), MUTANTS)
    for name in names or PARTS:
        yield from PARTS[name](count) if folder is None else _kept(folder / f"{name}-{count}.jsonl", name, count)


def _kept(file: Path, part: str, count: int) -> Iterator[Line]:
    """A part's lines from the file, or measured and then written there."""
    if not file.exists():
        found = list(PARTS[part](count))
        file.parent.mkdir(parents=True, exist_ok=True)
        begun = file.with_suffix(".begun")
        begun.write_text("".join(json.dumps(each) + "\n" for each in found), encoding="utf-8")
        begun.replace(file)
    yield from (json.loads(each) for each in file.read_text(encoding="utf-8").splitlines())


def _row(what: str, measured: object, target: str) -> Line:
    return {"table": what, "measured": measured, "target": target}


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({100 * part / max(1, whole):.1f} %)"


def healthy(_: int) -> Iterator[Line]:
    """The runs in ZooKeeper mode as they are, with ZooKeeper's own log and without."""
    found = [healthy_run(run, brokers_alone=alone) for run in RUNS for alone in (False, True)]
    yield from found
    yield _row("false alarms", sum(each["false_alarms"] + each["inconclusive"] for each in found), "0")
    yield _row("unmapped lines", sum(each["unmapped"] for each in found), "0")
    contained, writes = (sum(each[key] for each in found) for key in ("contained", "state_writes"))
    yield _row("state writes of user topics contained", _share(contained, writes), "99 %")


def kraft(_: int) -> Iterator[Line]:
    """The runs in KRaft mode as they are, with the controllers' logs and without."""
    found = [healthy_run(run, brokers_alone=alone) for run in KRAFT_RUNS for alone in (False, True)]
    yield from found
    yield _row("KRaft: false alarms", sum(each["false_alarms"] + each["inconclusive"] for each in found), "0")
    yield _row("KRaft: unmapped lines", sum(each["unmapped"] for each in found), "0")
    writes = sum(each["state_writes"] for each in found)
    for name, target in (("versions", "99 %"), ("leader_and_epoch", "97 %"), ("isr", "95 %")):
        contained = sum(each[f"contained_{name}"] for each in found)
        yield _row(f"KRaft: {name} of writes contained", _share(contained, writes), target)
    stated = {name: sum(each["stated"][name] for each in found) for name in STATING}
    yield _row("KRaft: of these stated by a line, the rest inferred", stated, "told apart")


def protocol(_: int) -> Iterator[Line]:
    """The lines of the protocol, in both modes."""
    for mode, runs in (("ZooKeeper mode", RUNS), ("KRaft mode", KRAFT_RUNS)):
        found = [protocol_run(run) for run in runs]
        yield from found
        lines, used = (sum((Counter(each[key]) for each in found), Counter[str]()) for key in ("lines", "used"))
        yield _row(f"{mode}: protocol lines used", _share(used.total(), lines.total()), "95 %")
        whole, part = (counts.total() - counts[REPLICATION] for counts in (lines, used))
        yield _row(f"{mode}: but for lines of offsets and connections", _share(part, whole), "95 %")


def fields(count: int) -> Iterator[Line]:
    """One field of one line."""
    found = [mutant for run in RUNS for mutant in field_mutants(run, -(-count // len(RUNS)), SEED)]
    yield from (mutant.as_line() for mutant in found if not mutant.is_right)
    sums = summary(found)
    yield _row("one-field mutants rejected", _share(sums["rejected"], sums["mutants"]), "95 %")
    first, several = sums["of_these_blamed_first"], sums["stated_by_others"]
    yield _row("changed line blamed first, two others state the fact", _share(first, several), "90 %")
    second, once = sums["of_these_blamed_first_or_second"], sums["stated_once"]
    yield _row("changed line among the first two, otherwise", _share(second, once), "all")


def coherent(count: int) -> Iterator[Line]:
    """One fact in all lines that state it."""
    tried, rejected, blamed = (Counter[str]() for _ in range(3))
    for mutant in coherent_mutants(RUNS, 3 * count // 10, SEED):
        judgement = retrial(mutant.run).judge(mutant.change)
        named = blames_the_rule(mutant, judgement)
        tried[mutant.kind] += 1
        rejected[mutant.kind] += judgement.rejected
        blamed[mutant.kind] += judgement.rejected and named
        if not (judgement.rejected and named):
            yield mutant.as_line(judgement)
    for kind in tried:
        yield {"coherent": kind, "mutants": tried[kind], "rejected": rejected[kind], "rule_blamed": blamed[kind]}
    yield _row("coherent mutants rejected", _share(rejected.total(), tried.total()), "90 %")
    yield _row("of these the rule is blamed", _share(blamed.total(), rejected.total()), "all")


def control(count: int) -> Iterator[Line]:
    """The same against the spec without guards, and without guards and invariants: what the model contributes."""
    mutants = coherent_mutants(RUNS, 3 * count // 10, SEED)
    whole = sum(retrial(mutant.run).judge(mutant.change).rejected for mutant in mutants)
    found = Counter((mutant.kind, outcome_without(mutant, EVERY)) for mutant in mutants)
    yield from ({"control": kind, "without_guards": o.value, "mutants": n} for (kind, o), n in found.items())
    sums = {outcome: sum(n for (_, each), n in found.items() if each is outcome) for outcome in Outcome}
    bare = sums[Outcome.REJECTED]
    yield _row("control: rejected by the whole spec", _share(whole, len(mutants)), "beside")
    unguarded = bare + sums[Outcome.BY_INVARIANT]
    yield _row("control: rejected without guards", _share(unguarded, len(mutants)), "beside")
    yield _row("control: rejected without guards and invariants", _share(bare, len(mutants)), "beside")
    undecided = Outcome.UNDECIDED
    yield _row(f"control: {undecided.value} without guards", _share(sums[undecided], len(mutants)), "beside")


def ablation(count: int) -> Iterator[Line]:
    """Each guard that logs exercise: a log that is rejected with it and accepted without it."""
    rules: dict[Rule, str] = {}
    open_: set[Rule] = set()
    for mutant in coherent_mutants(RUNS, 3 * count // 10, SEED):
        for rule in needed_guards(mutant, rules.keys()):
            outcome = outcome_without(mutant, frozenset({rule}))
            if outcome is Outcome.ACCEPTED:
                rules[rule] = f"{mutant.run} {mutant.partition} version {mutant.version}: {mutant.kind}, {mutant.text}"
            elif outcome is Outcome.UNDECIDED:
                open_.add(rule)
    yield from ({"guard": " ".join(rule), "witness": witness} for rule, witness in sorted(rules.items()))
    own = exercised(RUNS)
    yield {"guards_without_such_a_log": sorted(" ".join(rule) for rule in own - rules.keys())}
    yield {"of_these_not_decided": sorted(" ".join(rule) for rule in open_ - rules.keys())}
    yield _row(
        "guards with a log that they alone reject", _share(len(own & rules.keys()), len(own)), "each that logs exercise"
    )


def wrong(_: int) -> Iterator[Line]:
    """Specs with one mistake against a healthy run."""
    found = list(wrong_specs("A1"))
    yield from found
    noticed = sum(each["verdict"] == "inconsistent" for each in found)
    yield _row("wrong specs that a healthy run refutes", _share(noticed, len(found)), "6")


def whole_lines(count: int) -> Iterator[Line]:
    """Lines dropped, doubled, exchanged."""
    found = [each for run in RUNS for each in misordered(run, -(-3 * count // 10 // len(RUNS)), SEED)]
    right = [each for each in found if each.is_right]
    for kind in ("dropped", "doubled", "exchanged"):
        own = sum(each.kind == kind for each in found)
        yield {"lines": kind, "logs": own, "right": sum(each.kind == kind for each in right)}
    yield _row("dropped, doubled, exchanged lines: the right answer", _share(len(right), len(found)), "80 %")


def skew(_: int) -> Iterator[Line]:
    """The least shift of one node's clock that 4 ms of skew do not allow, and 5 ms do."""
    run, node = "A1", "broker-3"
    shift = needed_shift(run, node, 4)
    accepted = [is_accepted(run, node, shift, milliseconds) for milliseconds in (4, 5)]
    yield {"skew": node, "run": run, "shift_ms": shift, "accepted_at_4": accepted[0], "accepted_at_5": accepted[1]}
    yield _row(
        "a log that needs 5 ms of skew", "rejected at 4, accepted at 5" if accepted == [False, True] else accepted, "so"
    )


PARTS: dict[str, Callable[[int], Iterator[Line]]] = {
    "healthy": healthy,
    "kraft": kraft,
    "protocol": protocol,
    "fields": fields,
    "coherent": coherent,
    "control": control,
    "ablation": ablation,
    "wrong": wrong,
    "lines": whole_lines,
    "skew": skew,
}
