"""The symbolic engines on the models of the specification: one line for each row of the table of targets."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from assay.checker.evaluate.depth import deep_recursion
from assay.checker.evaluate.model import Model
from assay.checker.options import SearchOptions
from assay.checker.portfolio import prove
from assay.checker.symbolic import bmc
from assay.checker.symbolic.any_size import prove_any
from assay.checker.symbolic.ic3 import Ic3
from assay.checker.symbolic.initial import initial_states
from assay.checker.symbolic.invariant import Safe
from assay.checker.symbolic.system import encode_kernel
from assay.checker.verdict import Outcome, Report
from assay.grammar.kernel import Kernel
from assay.grammar.load import Loaded, load_spec

SPECS = Path(__file__).parent.parent / "spec" / "kafka"
LADDER: tuple[tuple[str, str | None, dict[str, str], str], ...] = (
    ("truncate_to_hw", "r2l2m2e2", {}, "strong_isr"),
    ("truncate_to_hw", "r3l2m2e2", {}, "strong_isr"),
    ("kip101", "r2l2m2e2", {}, "strong_isr"),
    ("kip101", "r3l2m2e2", {}, "strong_isr"),
    ("kip279", "r3l2m2e2", {}, "strong_isr"),
    ("kip320_first_try", "r3l2m2e2", {}, "strong_isr"),
    ("kip320", "r3l2m2e2", {"FenceFetch": "false"}, "weak_isr"),
    ("kip320", "r3l2m2e2", {"FenceFetch": "false"}, "epochs_rise"),
    ("kip320", "r3l2m2e2", {"FenceTruncation": "false"}, "strong_isr"),
    ("kip320", "r3l2m2e2", {"FenceTruncation": "false"}, "weak_isr"),
    ("kip320", "r3l2m2e2", {"FenceTruncation": "false"}, "follower_prefix"),
    ("kip320", "r3l2m2e2", {"FenceHighWatermark": "false"}, "strong_isr"),
    ("kip320", "r3l2m2e2", {"FenceHighWatermark": "false"}, "weak_isr"),
    ("kip320", "r3l2m2e2", {"EpochBeforeExpansion": "false"}, "strong_isr"),
    ("kip320", "r3l2m2e2", {"EpochBeforeExpansion": "false"}, "weak_isr"),
    ("async_isr", None, {"CountPending": "false"}, "valid_high_watermark"),
    ("async_isr", None, {"CheckVersion": "false"}, "valid_high_watermark"),
    ("async_isr", None, {"CheckVersion": "false"}, "isr_is_counted"),
)
LIMIT = 300.0
ONE = "one_controller_per_epoch"
REPLICATED = ("partition.leader_in_isr", "partition.one_leader_per_epoch", "strong_isr")

Line = dict[str, object]


def lines(wanted: Sequence[str]) -> Iterator[Line]:
    """All rows, or those of the named groups: ``encode``, ``bmc``, ``ic3``, ``any``, ``replication``; raises ValueError for another name."""
    groups = {"encode": _encodings, "ic3": _controllers, "any": _any, "replication": _replication, "bmc": _ladder}
    if unknown := set(wanted) - set(groups):
        raise ValueError(f"no group {', '.join(sorted(unknown))}; groups: {', '.join(groups)}")
    for name, group in groups.items():
        if not wanted or name in wanted:
            yield from group()


def _kernel(spec: str, model: str | None, settings: dict[str, str]) -> Kernel:
    return load_spec(SPECS / f"{spec}.assay", model=model, overrides=settings).kernel


def _cpu() -> float:
    """Processor time of this process and of the solvers that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _measured(name: str, what: Line, work: Callable[[], Line]) -> Line:
    load, started, cpu = os.getloadavg()[0], time.perf_counter(), _cpu()
    found = work()
    spent = {"cpu_seconds": round(_cpu() - cpu, 2), "seconds": round(time.perf_counter() - started, 2)}
    return {"benchmark": name, **what, **found, **spent, "load_before": round(load, 2)}


def _encodings() -> Iterator[Line]:
    sizes = [("controller", None, _elements(n)) for n in (3, 4, 5)]
    for spec, model, settings in [*sizes, ("replication/kip320", "r3l3m3e2", {})]:
        kernel = _kernel(spec, model, settings)

        def encode(kernel: Kernel = kernel) -> Line:
            with deep_recursion(kernel):
                system = encode_kernel(kernel)
            return {"bits": len(system.state), "ground_actions": len(system.ground), "gates": len(system.gates)}

        yield _measured("encode", {"spec": spec, "model": model, "settings": settings}, encode)


def _elements(number: int) -> dict[str, str]:
    return {name: str(number) for name in ("Process", "Broker", "Session")}


def _answer(report: Report, name: str) -> Line:
    result = next(each for each in report.properties if each.name == name)
    return {
        "verdict": result.outcome.value,
        "length": len(result.trace) if result.trace else None,
        "why": result.reason,
    }


def _ladder() -> Iterator[Line]:
    for spec, model, settings, name in LADDER:
        kernel = _kernel(f"replication/{spec}", model, dict(settings))
        options = SearchOptions(properties=frozenset({name}), timeout=LIMIT, check_deadlock=False)

        def search(kernel: Kernel = kernel, options: SearchOptions = options, name: str = name) -> Line:
            return _answer(bmc.check(kernel, options), name)

        yield _measured("bmc", {"spec": spec, "model": model, "settings": dict(settings), "property": name}, search)


def _controllers() -> Iterator[Line]:
    for number in (3, 5, 7):
        kernel = _kernel("controller", None, _elements(number))
        what: Line = {"spec": "controller", "elements": number, "property": ONE}
        yield _measured("ic3", what, lambda kernel=kernel: _ic3(kernel, ONE))  # type: ignore[misc]
    yield _proof("prove", _kernel("controller", None, {}), {"spec": "controller", "elements": 2}, (ONE,))


def _ic3(kernel: Kernel, name: str) -> Line:
    """Encoding and IC3 alone, without certificate and second opinion."""
    with deep_recursion(kernel):
        system = encode_kernel(kernel)
        states, _, _ = initial_states(Model(kernel))
        answer = Ic3(system, [system.row(state) for state in states], system.question(name).wanted).run()
    return {"proved": isinstance(answer, Safe), "clauses": len(answer.cubes) if isinstance(answer, Safe) else None}


def _replication() -> Iterator[Line]:
    kernel = _kernel("replication/kip320", "r3l2m2e2", {})
    what: Line = {"spec": "kip320", "model": "r3l2m2e2"}
    for name in REPLICATED[:2]:
        yield _measured("ic3", {**what, "property": name}, lambda name=name: _ic3(kernel, name))  # type: ignore[misc]
    yield _proof("prove", kernel, what, None)


def _proof(benchmark: str, kernel: Kernel, what: Line, names: tuple[str, ...] | None) -> Line:
    chosen = None if names is None else frozenset(names)

    def work() -> Line:
        report = prove(kernel, SearchOptions(properties=chosen, timeout=2 * LIMIT, check_deadlock=False)).report
        proved = [p.name for p in report.properties if p.outcome in {Outcome.HOLDS, Outcome.UP_TO_BOUND}]
        return {"proved": proved, "open": {p.name: p.reason for p in report.properties if p.outcome is Outcome.UNKNOWN}}

    return _measured(benchmark, {**what, "properties": list(names) if names else "all"}, work)


UNBOUNDED = (
    ("controller", ("Process", "Broker", "Session"), (ONE, "obeyed_is_past", "epoch_never_decreases")),
    ("leadership_abstract", ("Broker", "Partition"), ("leader_in_isr", "one_leader_per_epoch")),
)


def _any() -> Iterator[Line]:
    for spec, sets, names in UNBOUNDED:
        loaded = load_spec(SPECS / f"{spec}.assay")
        for name in names:

            def work(loaded: Loaded = loaded, sets: Sequence[str] = sets, name: str = name) -> Line:
                proofs = prove_any(loaded, sets, SearchOptions(properties=frozenset({name})))
                certificates = [line for _, each in proofs.certificates for line in each.lines]
                return _answer(proofs.report, name) | {"certificate": certificates}

            yield _measured("any", {"spec": spec, "property": name}, work)
