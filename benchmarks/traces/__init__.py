"""`python -m benchmarks traces [PART…] [COUNT] [runs=RUN,…] [keep=FOLDER]`: how good verdicts about logs are, measured on the recorded runs.

Parts are ``healthy``, ``kraft``, ``protocol``, ``fields``, ``kraft_fields``, ``coherent``, ``control``, ``ablation``,
``shared_ablation``, ``wrong``, ``lines`` and ``skew``; all of them if none is named. COUNT is how many mutants of one
field are made (1,000 by default). There are three tenths as many coherent ones, and as many changes of whole lines. One
line of JSON for each measurement, then one for each row of the table, with the target. All of it takes hours on a busy
machine. With ``keep`` the lines of each piece are written to the folder when the piece is done. A piece whose lines are
there is not measured again. So the same command goes on where it was ended, and prints the whole table in the end. A
piece is some mutants of a run, or what a part says of a run. With ``runs`` only these are measured; their pieces are
those of the whole table.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .coherent import Coherent
from .control import EVERY, Outcome, Rule, exercised, needed_guards, outcome_without, wrong_specs
from .fields import field_mutants, summary
from .healthy import STATING, healthy_run
from .kinds import blames_the_rule, coherent_mutants
from .order import is_accepted, misordered, needed_shift
from .protocol import REPLICATION, protocol_run
from .recorded import KRAFT_RUNS, RUNS, retrial
from .shared_witnesses import exercised_by_all, shared_witness
from .witnesses import Found, witness

Line = dict[str, Any]
SEED = 1
PIECE = 20
"""How many one-field mutants are measured before their lines are kept."""

KEEP, ONLY = "keep=", "runs="
MUTANTS = 1_000


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """The measurements; raises ValueError for a part that there is not."""
    folder = next((Path(each.removeprefix(KEEP)) for each in arguments if each.startswith(KEEP)), None)
    only = [run for each in arguments if each.startswith(ONLY) for run in each.removeprefix(ONLY).split(",")]
    names = [each for each in arguments if not each.isdigit() and not each.startswith((KEEP, ONLY))]
    if unknown := set(names) - set(PARTS):
        raise ValueError(f"no part {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    if unknown := set(only) - {*RUNS, *KRAFT_RUNS}:
        raise ValueError(f"no run {', '.join(sorted(unknown))}; runs: {', '.join((*RUNS, *KRAFT_RUNS))}")
    count = next((int(each) for each in arguments if each.isdigit()), MUTANTS)
    for name in names or PARTS:
        yield from PARTS[name](Asked(name, count, folder, frozenset(only)))


@dataclass(frozen=True, slots=True)
class Asked:
    """A part that is to be measured, with so many mutants, and the folder for what was measured."""

    part: str
    count: int
    folder: Path | None
    only: frozenset[str] = frozenset()

    def of(self, runs: Sequence[str]) -> list[str]:
        """Those of some runs that are to be measured."""
        return [run for run in runs if not self.only or run in self.only]

    @property
    def share(self) -> int:
        """How many mutants of one field each run has to give."""
        return -(-self.count // len(RUNS))

    def piece(self, name: str, measure: Callable[..., Iterable[Line]], *given: Any) -> list[Line]:
        """The lines of a piece: from its file, or measured and then written there."""
        if self.folder is None:
            return list(measure(*given))
        file = self.folder / f"{self.part}-{name}.jsonl"
        if not file.exists():
            found = list(measure(*given))
            file.parent.mkdir(parents=True, exist_ok=True)
            begun = file.with_suffix(".begun")
            begun.write_text("".join(json.dumps(each) + "\n" for each in found), encoding="utf-8")
            # Renamed when it is whole: a command that is ended leaves no half of a piece behind.
            begun.replace(file)
        return [json.loads(each) for each in file.read_text(encoding="utf-8").splitlines()]


def _row(what: str, measured: object, target: str) -> Line:
    return {"table": what, "measured": measured, "target": target}


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({100 * part / max(1, whole):.1f} %)"


def healthy(asked: Asked) -> Iterator[Line]:
    """The runs in ZooKeeper mode as they are, with ZooKeeper's own log and without."""
    found = [line for run in asked.of(RUNS) for line in asked.piece(run, _as_they_are, run)]
    yield from found
    yield _row("false alarms", sum(each["false_alarms"] + each["inconclusive"] for each in found), "0")
    yield _row("unmapped lines", sum(each["unmapped"] for each in found), "0")
    contained, writes = (sum(each[key] for each in found) for key in ("contained", "state_writes"))
    yield _row("state writes of user topics contained", _share(contained, writes), "99 %")


def _as_they_are(run: str) -> list[Line]:
    return [healthy_run(run, brokers_alone=alone) for alone in (False, True)]


def kraft(asked: Asked) -> Iterator[Line]:
    """The runs in KRaft mode as they are, with the controllers' logs and without."""
    found = [line for run in asked.of(KRAFT_RUNS) for line in asked.piece(run, _as_they_are, run)]
    yield from found
    yield _row("KRaft: false alarms", sum(each["false_alarms"] + each["inconclusive"] for each in found), "0")
    yield _row("KRaft: unmapped lines", sum(each["unmapped"] for each in found), "0")
    writes = sum(each["state_writes"] for each in found)
    for name, target in (("versions", "99 %"), ("leader_and_epoch", "97 %"), ("isr", "95 %")):
        contained = sum(each[f"contained_{name}"] for each in found)
        yield _row(f"KRaft: {name} of writes contained", _share(contained, writes), target)
    stated = {name: sum(each["stated"][name] for each in found) for name in STATING}
    yield _row("KRaft: of these stated by a line, the rest inferred", stated, "told apart")


def protocol(asked: Asked) -> Iterator[Line]:
    """The lines of the protocol, in both modes."""
    for mode, runs in (("ZooKeeper mode", RUNS), ("KRaft mode", KRAFT_RUNS)):
        found = [line for run in asked.of(runs) for line in asked.piece(run, _used_of, run)]
        yield from found
        lines, used = (sum((Counter(each[key]) for each in found), Counter[str]()) for key in ("lines", "used"))
        yield _row(f"{mode}: protocol lines used", _share(used.total(), lines.total()), "95 %")
        whole, part = (counts.total() - counts[REPLICATION] for counts in (lines, used))
        yield _row(f"{mode}: but for lines of offsets and connections", _share(part, whole), "95 %")


def _used_of(run: str) -> list[Line]:
    return [protocol_run(run)]


def fields(asked: Asked) -> Iterator[Line]:
    """One field of one line, in ZooKeeper mode."""
    yield from _fields(asked, RUNS, "")


def kraft_fields(asked: Asked) -> Iterator[Line]:
    """One field of one line, in KRaft mode."""
    yield from _fields(asked, KRAFT_RUNS, "KRaft: ")


def _fields(asked: Asked, runs: Sequence[str], mode: str) -> Iterator[Line]:
    found: list[Line] = []
    for run, first in ((run, first) for run in asked.of(runs) for first in range(0, asked.share, PIECE)):
        size = min(PIECE, asked.share - first)
        lines = asked.piece(f"{run}-{first}-{size}", _mutants, run, size, first)
        found += lines
        yield from (line for line in lines if not (line["rejected"] and line["blamed"] == 1))
    sums = summary(found)
    yield _row(f"{mode}one-field mutants rejected", _share(sums["rejected"], sums["mutants"]), "95 %")
    yield _row(f"{mode}one-field mutants that state what was written, left out", sums["still_true"], "beside")
    foremost, several = sums["of_these_blamed_first"], sums["stated_by_others"]
    yield _row(f"{mode}changed line blamed first, two others state the fact", _share(foremost, several), "90 %")
    second, once = sums["of_these_blamed_first_or_second"], sums["stated_once"]
    yield _row(f"{mode}changed line among the first two, otherwise", _share(second, once), "all")


def _mutants(run: str, size: int, first: int) -> Iterator[Line]:
    return (mutant.as_line() for mutant in field_mutants(run, size, SEED, first))


def coherent(asked: Asked) -> Iterator[Line]:
    """One fact in all lines that state it."""
    found = [line for run in asked.of(RUNS) for line in asked.piece(f"{run}-{asked.count}", _judged, run, asked)]
    yield from (line for line in found if not (line["rejected"] and line["rule_named"]))
    tried = Counter(line["kind"] for line in found)
    rejected = Counter(line["kind"] for line in found if line["rejected"])
    blamed = Counter(line["kind"] for line in found if line["rejected"] and line["rule_named"])
    for kind in tried:
        yield {"coherent": kind, "mutants": tried[kind], "rejected": rejected[kind], "rule_blamed": blamed[kind]}
    yield _row("coherent mutants rejected", _share(rejected.total(), tried.total()), "90 %")
    yield _row("of these the rule is blamed", _share(blamed.total(), rejected.total()), "all")


def _false_histories(run: str, asked: Asked) -> list[Coherent]:
    """A run's share of the coherent mutants."""
    return coherent_mutants((run,), -(-3 * asked.share // 10), SEED)


def _judged(run: str, asked: Asked) -> Iterator[Line]:
    for mutant in _false_histories(run, asked):
        judgement = retrial(run).judge(mutant.change)
        named = blames_the_rule(mutant, judgement)
        yield {**mutant.as_line(judgement), "rejected": judgement.rejected, "rule_named": named}


def control(asked: Asked) -> Iterator[Line]:
    """The same against the spec without guards, and without guards and invariants: what the model contributes."""
    found = [line for run in asked.of(RUNS) for line in asked.piece(f"{run}-{asked.count}", _bare, run, asked)]
    for (kind, outcome), mutants in Counter((line["control"], line["without_guards"]) for line in found).items():
        yield {"control": kind, "without_guards": outcome, "mutants": mutants}
    sums = Counter(line["without_guards"] for line in found)
    whole, bare = sum(line["rejected"] for line in found), sums[Outcome.REJECTED.value]
    yield _row("control: rejected by the whole spec", _share(whole, len(found)), "beside")
    unguarded = bare + sums[Outcome.BY_INVARIANT.value]
    yield _row("control: rejected without guards", _share(unguarded, len(found)), "beside")
    yield _row("control: rejected without guards and invariants", _share(bare, len(found)), "beside")
    undecided = Outcome.UNDECIDED.value
    yield _row(f"control: {undecided} without guards", _share(sums[undecided], len(found)), "beside")


def _bare(run: str, asked: Asked) -> Iterator[Line]:
    for mutant in _false_histories(run, asked):
        rejected = retrial(run).judge(mutant.change).rejected
        yield {"control": mutant.kind, "without_guards": outcome_without(mutant, EVERY).value, "rejected": rejected}


def ablation(asked: Asked) -> Iterator[Line]:
    """Each guard of a partition's actions that logs exercise: a log that is rejected with it and accepted without it."""
    yield from _ablation(asked, _ablated, "of partitions")


def shared_ablation(asked: Asked) -> Iterator[Line]:
    """The same of what all partitions share: sessions, registrations, who is controller."""
    yield from _ablation(asked, _ablated_of_all, "of what partitions share")


Ablated = Callable[[str, Asked, frozenset[Rule]], Iterator[Line]]
"""What is said of the guards that a run exercises, but for those with a log already."""


def _ablation(asked: Asked, measure: Ablated, whose: str) -> Iterator[Line]:
    found: dict[Outcome, dict[Rule, str]] = {outcome: {} for outcome in Outcome}
    rules: dict[Rule, tuple[int, int]] = {}
    for run in asked.of(RUNS):
        known = frozenset(found[Outcome.ACCEPTED])
        for line in asked.piece(f"{run}-{asked.count}", measure, run, asked, known):
            rule = _rule(line)
            if "states" in line:
                states, alone = rules.get(rule, (0, 0))
                rules[rule] = states + line["states"], alone + line["alone"]
            if "outcome" in line:
                found[Outcome(line["outcome"])].setdefault(rule, line["witness"])
    yield from _ablation_of(whose, rules, found)


def _ablation_of(
    whose: str, rules: Mapping[Rule, tuple[int, int]], found: Mapping[Outcome, Mapping[Rule, str]]
) -> Iterator[Line]:
    """What was found for some guards; with each in how many states it was tried, and in how many it alone forbade something."""
    alone = {rule: text for rule, text in found[Outcome.ACCEPTED].items() if rule in rules}
    beside = found[Outcome.BY_INVARIANT].keys() & rules.keys() - alone.keys()
    held = found[Outcome.NOT_ACCEPTED].keys() & rules.keys() - alone.keys() - beside
    left = rules.keys() - alone.keys() - beside - held
    implied = {rule for rule in left if not rules[rule][1]}
    yield from ({"guard": " ".join(rule), "witness": witness} for rule, witness in sorted(alone.items()))
    yield {f"guards {whose} that an invariant stands beside": sorted(map(" ".join, beside))}
    yield {f"guards {whose} that hidden steps stand beside": sorted(map(" ".join, held))}
    yield {f"guards {whose} that forbade nothing alone": {" ".join(rule): rules[rule][0] for rule in sorted(implied)}}
    yield {f"guards {whose} without such a log": {" ".join(rule): rules[rule] for rule in sorted(left - implied)}}
    yield _row(f"guards {whose} with a log that they alone reject", _share(len(alone), len(rules)), "each exercised")
    for what, some in (
        ("with a log that they and an invariant reject", beside),
        ("with a log that is inconclusive with them, and consistent without", held),
        ("that forbade nothing alone, in any state of the runs: others forbid it", implied),
    ):
        yield _row(f"guards {whose} {what}", f"{len(some):,} of {len(rules):,}", "beside")


def _ablated(run: str, asked: Asked, known: frozenset[Rule]) -> Iterator[Line]:
    """A log for each guard: one that ends with what it forbids, or else a false history."""
    done = set(known)
    for line in _witnessed(sorted(exercised((run,))), known, partial(witness, run)):
        done |= {_rule(line)} if line.get("outcome") == Outcome.ACCEPTED.value else set()
        yield line
    for mutant in _false_histories(run, asked):
        for rule in sorted(needed_guards(mutant, done)):
            outcome = outcome_without(mutant, frozenset({rule}))
            done |= {rule} if outcome is Outcome.ACCEPTED else set()
            yield {"guard": " ".join(rule), "outcome": outcome.value, "witness": _text(mutant)}


def _ablated_of_all(run: str, _: Asked, known: frozenset[Rule]) -> Iterator[Line]:
    return _witnessed(sorted(exercised_by_all(run)), known, partial(shared_witness, run))


def _witnessed(rules: Iterable[Rule], known: frozenset[Rule], search: Callable[[Rule], Found]) -> Iterator[Line]:
    """What a search finds for guards, but for those that have a log already."""
    for rule in rules:
        found = Found() if rule in known else search(rule)
        line: Line = {"guard": " ".join(rule), "states": found.states, "alone": found.alone}
        yield line | ({"outcome": found.outcome.value, "witness": found.text} if found.text else {})


def _rule(line: Line) -> Rule:
    action, _, label = line["guard"].partition(" ")
    return action, label


def _text(mutant: Coherent) -> str:
    return f"{mutant.run} {mutant.partition} version {mutant.version}: {mutant.kind}, {mutant.text}"


def wrong(asked: Asked) -> Iterator[Line]:
    """Specs with one mistake against a healthy run."""
    found = asked.piece("A1", wrong_specs, "A1")
    yield from found
    noticed = sum(each["verdict"] == "inconsistent" for each in found)
    yield _row("wrong specs that a healthy run refutes", _share(noticed, len(found)), "6")


def whole_lines(asked: Asked) -> Iterator[Line]:
    """Lines dropped, doubled, exchanged."""
    found = [line for run in asked.of(RUNS) for line in asked.piece(f"{run}-{asked.count}", _moved, run, asked)]
    for kind in ("dropped", "doubled", "exchanged"):
        own = [each for each in found if each["lines"] == kind]
        yield {"lines": kind, "logs": len(own), "right": sum(each["right"] for each in own)}
    right = sum(each["right"] for each in found)
    yield _row("dropped, doubled, exchanged lines: the right answer", _share(right, len(found)), "80 %")


def _moved(run: str, asked: Asked) -> Iterator[Line]:
    for each in misordered(run, -(-3 * asked.share // 10), SEED):
        yield {"lines": each.kind, "run": run, "right": each.is_right}


def skew(asked: Asked) -> Iterator[Line]:
    """The least shift of one node's clock that 4 ms of skew do not allow, and 5 ms do."""
    (found,) = asked.piece("A1", _shifted)
    yield found
    accepted = [found["accepted_at_4"], found["accepted_at_5"]]
    yield _row(
        "a log that needs 5 ms of skew", "rejected at 4, accepted at 5" if accepted == [False, True] else accepted, "so"
    )


def _shifted() -> Iterator[Line]:
    run, node = "A1", "broker-3"
    shift = needed_shift(run, node, 4)
    accepted = [is_accepted(run, node, shift, milliseconds) for milliseconds in (4, 5)]
    yield {"skew": node, "run": run, "shift_ms": shift, "accepted_at_4": accepted[0], "accepted_at_5": accepted[1]}


PARTS: dict[str, Callable[[Asked], Iterator[Line]]] = {
    "healthy": healthy,
    "kraft": kraft,
    "protocol": protocol,
    "fields": fields,
    "kraft_fields": kraft_fields,
    "coherent": coherent,
    "control": control,
    "ablation": ablation,
    "shared_ablation": shared_ablation,
    "wrong": wrong,
    "lines": whole_lines,
    "skew": skew,
}
