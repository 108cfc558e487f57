"""`python -m benchmarks windows [OPTION]…`: random parts of recorded clusters, and what `assay validate` says of each.

A part of a healthy log should never be `inconsistent` or slow, never end in a traceback, and rarely be `inconclusive`.
A part that shows a breach should be rejected, and one of the lines that show it named. It prints a line of JSON for
each case, and tables on standard error. A case is known by RECORDING:KIND:NUMBER and the seed. The exit code is 1 if
any healthy case is inconsistent, over time, or ends in a traceback. On Linux, for it forks.

    python -m benchmarks windows --cases 300 --keep kept > healthy.jsonl
    python -m benchmarks windows --kinds ai --seed 7 --minutes 10
    python -m benchmarks windows --kinds p --cases 500           # one line is lost in each
    python -m benchmarks windows --kinds w --cases 24            # the whole recordings
    python -m benchmarks windows --check 20                      # 20 cases are asked of the program itself, too
    python -m benchmarks windows --only A3:n:14 --shrink small   # one case again, and a minimal input
    python -m benchmarks windows --breaches --tries 1 --each 1
    python -m benchmarks windows --breaches --without guards     # a control: what rejects then is not the protocol
    python -m benchmarks windows --lemmas 10                     # which lemmas few lines notice that are taken away
    python -m benchmarks windows --summary healthy.jsonl
"""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import sys
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from .breaches import BREACHES, breach_cases, note_evidence, twin
from .cases import APART, KINDS, Case, make, schedule
from .lemmas import lemma_lines
from .parts import everything
from .recordings import Recording, load_recordings, recordings_below
from .runner import OVER_TIME, WEAKENED, Result, Runner, agrees, warm, weaken
from .shrink import shrink
from .summary import breach_summary, healthy_summary

ROOT = Path(__file__).parents[2]
RECORDINGS = (ROOT / "tests" / "corpus" / "recordings", ROOT / "traces" / "samples")


class _Arguments(ArgumentParser):
    """Says what is wrong as the other benchmarks do."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def _parsed(arguments: Sequence[str]) -> Namespace:
    kinds = "; ".join(f"{kind} {title}" for kind, title in (KINDS | APART).items())
    parser = _Arguments("windows", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--recordings", nargs="+", type=Path, default=RECORDINGS, help="archives, recordings, or folders of them")
    add("--cases", type=int, default=150)
    add("--seed", type=int, default=1)
    add("--kinds", default="".join(KINDS), help=kinds.replace("%", "%%"))
    add("--jobs", type=int, default=1)
    add("--cpu", type=int, default=60, help="processor seconds that a case may take")
    add("--minutes", type=float, default=float("inf"), help="begin no case after so long")
    add(
        "--keep",
        type=Path,
        help="where to keep the inputs of cases that are inconsistent, over time, or end in a traceback",
    )
    add("--check", type=int, default=0, metavar="N", help="ask the first N cases of the program itself, too")
    add("--only", nargs="+", metavar="ID", help="these cases, whose inputs --keep keeps")
    add("--shrink", type=Path, metavar="FOLDER", help="with --only: write minimal inputs here")
    add("--budget", type=int, default=150, help="how many runs it may take to make one input minimal")
    add("--breaches", action="store_true", help="put breaches into recordings, and validate windows that show them")
    add("--tries", type=int, default=1, help="how many breaches of each sort there are in each recording")
    add("--each", type=int, default=1, help="how many windows of each kind there are for each breach")
    add(
        "--without",
        choices=WEAKENED,
        help="a control: the models without the guards of their actions, or without lemmas",
    )
    add("--lemmas", type=float, metavar="SECONDS", help="which lemmas are noticed; so long for each at most")
    add("--summary", nargs="+", type=Path, metavar="FILE", help="only the tables of earlier runs")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.kinds) - set(KINDS | APART))
    if unknown:
        raise ValueError(f"no such kind: {', '.join(unknown)}; there are {kinds}")
    return options


def lines(arguments: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One line a case; raises SystemExit(1) at the end where a healthy case went wrong."""
    options = _parsed(arguments)
    if options.summary:
        _tell_again(options.summary)
        return
    if options.lemmas is not None:
        yield from lemma_lines(options.lemmas, options.seed)
        return
    if options.without is not None:
        weaken(options.without)
    recordings = [each for path in recordings_below(options.recordings) for each in load_recordings(path)]
    warm()
    runner = Runner(options.cpu, options.jobs)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that its children are ended, too
    try:
        yield from (_only if options.only else _breaches if options.breaches else _healthy)(options, recordings, runner)
    finally:
        runner.close()


def _tell_again(files: Sequence[Path]) -> None:
    results = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    broken = [each for each in results if "breach" in each]
    _say(breach_summary(each for each in broken if "whole" not in each) if broken else healthy_summary(results))


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _in_time(options: Namespace) -> Iterator[None]:
    """As long as another case may begin."""
    begun = time.monotonic()
    while time.monotonic() - begun < options.minutes * 60:
        yield


def _is_wrong(result: Result) -> bool:
    """Whether this must not be said of a healthy part."""
    return result["verdict"] in ("inconsistent", OVER_TIME, "no answer") or result["traceback"] is not None


def _healthy(options: Namespace, recordings: list[Recording], runner: Runner) -> Iterator[Result]:
    cases = islice(schedule(recordings, options.kinds, options.seed), options.cases)
    results: list[Result] = []
    for case, result, source in runner.run(case for case, _ in zip(cases, _in_time(options), strict=False)):
        if len(results) < options.check:
            result["program_agrees"] = agrees(result, source)
        if _is_wrong(result):
            _keep(options.keep, case, source)
        results.append(result)
        yield result
    _say(healthy_summary(results))
    if options.check:
        differing = sum(not each.get("program_agrees", True) for each in results)
        _say(f"\nasked of the program, too: {min(options.check, len(results))}, differing: {differing}")
    if any(map(_is_wrong, results)):
        raise SystemExit(1)


def _keep(folder: Path | None, case: Case, source: Path) -> None:
    if folder is not None:
        target = _folder_of(folder, case)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)


def _folder_of(folder: Path, case: Case) -> Path:
    return folder / re.sub(r"[^\w.-]", "_", case.id)


def _only(options: Namespace, recordings: list[Recording], runner: Runner) -> Iterator[Result]:
    by_name = {each.name: each for each in recordings}
    for wanted in options.only:
        name, _, rest = wanted.partition(":")
        kind, _, number = rest.partition(":")
        case = make(by_name[name], kind, int(number), options.seed) if name in by_name and number.isdigit() else None
        if case is None:
            raise ValueError(
                f"there is no case {wanted}; a case is RECORDING:KIND:NUMBER of {', '.join(sorted(by_name))}"
            )
        for _, result, source in runner.run([case]):
            _keep(options.keep, case, source)
            yield result
            if options.shrink is not None:
                small = shrink(case, partial(_said_again, runner, result), options.budget)
                shutil.rmtree(_folder_of(options.shrink, case), ignore_errors=True)
                small.write(_folder_of(options.shrink, case))
                yield runner.one(small)


def _said_again(runner: Runner, one: Result, case: Case) -> bool:
    """Whether the verdict on a case is the same as before, and one of its findings."""
    other = runner.one(case)
    return bool(one["verdict"] == other["verdict"] and (not one["rules"] or set(one["rules"]) & set(other["rules"])))


def _breaches(options: Namespace, recordings: list[Recording], runner: Runner) -> Iterator[Result]:
    plan = [(each, name, number) for number in range(options.tries) for each in recordings for name in BREACHES]
    random.Random(options.seed).shuffle(plan)
    results: list[Result] = []
    wholes: Counter[str] = Counter()
    for (recording, name, number), _ in zip(plan, _in_time(options), strict=False):
        broken = recording.copy()
        if not BREACHES[name](broken, random.Random(f"{options.seed}/{recording.name}/{name}/{number}")):
            wholes[f"{name}: no place"] += 1
            continue
        whole = Case(recording.name, "whole", number, *everything(broken), name)
        note_evidence(whole)
        found = runner.one(whole)
        wholes[f"{name}: {found['verdict']}"] += 1
        yield found | {"breach": name, "whole": True}
        # Of a breach that the whole recording does not show, no part can be asked to show it.
        if found["verdict"] != "inconsistent":
            continue
        for case, result, _ in runner.run(breach_cases(broken, whole, options.kinds, options.each, options.seed)):
            is_rejected = result["verdict"] == "inconsistent"
            results.append(
                result | {"breach": name, "twin": runner.one(twin(case))["verdict"] if is_rejected else None}
            )
            yield results[-1]
    _say(f"whole recordings: {dict(sorted(wholes.items()))}")
    _say(breach_summary(results))
