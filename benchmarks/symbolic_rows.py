"""What the benchmark of the symbolic engines measures: the rows of the table of targets, in groups."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.kafka import kraft, test_specs

from assay.checker.engines.engine_selection import check, prove
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.checker.symbolic.bounded import bmc
from assay.checker.symbolic.encode.initial import initial_states
from assay.checker.symbolic.encode.transition_system import encode_kernel
from assay.checker.symbolic.encode.verdict import Safe
from assay.checker.symbolic.induction.kinduction import NotInductive
from assay.checker.symbolic.parametric.prove import prove_any
from assay.checker.symbolic.prove import ENGINES, Method
from assay.checker.symbolic.sat.incremental import OutOfBudgetError
from assay.grammar.kernel import Kernel
from assay.grammar.load import Loaded, load_spec

SPECS = Path(__file__).parent.parent / "spec"
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
NEVER_RECOVER: tuple[tuple[str, dict[str, str], str], ...] = (
    ("isr_in_zookeeper", {"FenceControllerWrites": "false"}, "views_converge"),
    ("broker_epoch", {"CompareEpochs": "false"}, "told_in_the_end"),
    ("broker_epoch", {"AcceptLater": "false"}, "told_in_the_end"),
    ("claim", {"ActWhenNamed": "false"}, "controller_returns"),
    ("stop_replica", {"StopAtSameEpoch": "false"}, "stray_replica_goes"),
)
"""KAFKA-2729, 1120, 9839, 13407 and 13972: runs that never recover."""
LIMIT = 300.0
ONE = "one_controller_per_epoch"
REPLICATED = ("partition.leader_in_isr", "partition.one_leader_per_epoch", "strong_isr")

Line = dict[str, object]


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: ``work`` is measured; ``also`` adds to what it found what is not."""

    benchmark: str
    what: Line
    work: Callable[[], Line]
    also: Callable[[Line], Line] | None = None

    @property
    def key(self) -> str:
        """What tells it from other rows."""
        return json.dumps([self.benchmark, self.what])


def _file(spec: str) -> Path:
    """The file of a bundled spec; those of Kafka are called without `kafka/`."""
    bundled = SPECS / "kafka" / f"{spec}.assay"
    return bundled if bundled.exists() else SPECS / f"{spec}.assay"


def _kernel(spec: str, model: str | None, settings: dict[str, str]) -> Kernel:
    return load_spec(_file(spec), model=model, overrides=settings).kernel


def _encodings() -> Iterator[Row]:
    sizes = [("controller", None, _elements(n)) for n in (3, 4, 5)]
    for spec, model, settings in [*sizes, ("replication/kip320", "r3l3m3e2", {})]:
        kernel = _kernel(spec, model, settings)

        def encode(kernel: Kernel = kernel) -> Line:
            with deep_recursion(kernel):
                system = encode_kernel(kernel)
            return {"bits": len(system.state), "ground_actions": len(system.ground), "gates": len(system.gates)}

        yield Row("encode", {"spec": spec, "model": model, "settings": settings}, encode)


def _elements(number: int) -> dict[str, str]:
    return {name: str(number) for name in ("Process", "Broker", "Session")}


def _answer(report: Report, name: str) -> Line:
    result = next(each for each in report.properties if each.name == name)
    return {
        "verdict": result.outcome.value,
        "length": len(result.trace) if result.trace else None,
        "why": result.reason,
    }


def _ladder() -> Iterator[Row]:
    for spec, model, settings, name in LADDER:
        yield _bug("bmc", f"replication/{spec}", model, settings, name)


def _lassos() -> Iterator[Row]:
    for spec, settings, name in NEVER_RECOVER:
        yield _bug("lassos", spec, None, settings, name)


def _safeguards() -> Iterator[Row]:
    """What the tests pin of the other specs: each safeguard that is switched off, and what is lost without it."""
    for old in test_specs.SAFEGUARDS:
        for name in old.violated:
            yield _bug("safeguards", old.spec.removeprefix("kafka/"), None, {old.parameter: "false"}, name)
    for new in kraft.SAFEGUARDS:
        spec = new.spec.removeprefix("kafka/")
        yield _bug("safeguards", spec, new.model, {new.parameter: "false"}, new.violated)


def _bug(benchmark: str, spec: str, model: str | None, settings: dict[str, str], name: str) -> Row:
    """A bug, by bounded search, and by the search of all states, which is not measured here."""
    kernel = _kernel(spec, model, dict(settings))
    options = SearchOptions(properties=frozenset({name}), timeout=LIMIT, check_deadlock=False)

    def search() -> Line:
        return _answer(bmc.check(kernel, options), name)

    def by_another(found: Line) -> Line:
        other = _answer(check(kernel, options, engine="native").report, name)
        return {"found_by": {"bmc": found["length"], "native": other["length"]}}

    what: Line = {"spec": spec, "model": model, "settings": dict(settings), "property": name}
    return Row(benchmark, what, search, by_another)


def _controllers() -> Iterator[Row]:
    for number in (3, 5, 7):
        kernel = _kernel("controller", None, _elements(number))
        what: Line = {"spec": "controller", "elements": number, "property": ONE}
        yield Row("ic3", what, partial(_invariant, kernel, ONE))
    others: tuple[tuple[Method, int], ...] = (("k-induction", 2), ("spacer", 2), ("spacer", 3))
    for by, number in others:
        kernel = _kernel("controller", None, _elements(number))
        what = {"spec": "controller", "elements": number, "property": ONE}
        yield Row(by, what, partial(_invariant, kernel, ONE, by))
    yield _proof("prove", _kernel("controller", None, {}), {"spec": "controller", "elements": 2}, (ONE,))


def _invariant(kernel: Kernel, name: str, by: Method = "ic3") -> Line:
    """Encoding and the search for an invariant alone, without certificate and second opinion."""
    begun = time.process_time()
    with deep_recursion(kernel):
        system = encode_kernel(kernel)
        states, _, _ = initial_states(Model(kernel))
        rows, wanted = [system.row(state) for state in states], system.question(name).wanted
        try:
            answer = ENGINES[by](system, rows, wanted, (), lambda: time.process_time() - begun > LIMIT).run()
        except OutOfBudgetError as error:
            return {"proved": False, "clauses": None, "why": str(error)}
    if isinstance(answer, Safe):
        return {"proved": True, "clauses": len(answer.cubes)}
    return {"proved": False, "clauses": None, "why": answer.why if isinstance(answer, NotInductive) else "refuted"}


def _replication() -> Iterator[Row]:
    kernel = _kernel("replication/kip320", "r3l2m2e2", {})
    what: Line = {"spec": "kip320", "model": "r3l2m2e2"}
    for name in REPLICATED[:2]:
        yield Row("ic3", {**what, "property": name}, partial(_invariant, kernel, name))
    for model in ("r3l2m2e1", "r3l2m2e2"):
        yield _proof("prove", _kernel("replication/kip320", model, {}), {"spec": "kip320", "model": model}, None)


def _proof(benchmark: str, kernel: Kernel, what: Line, names: tuple[str, ...] | None) -> Row:
    chosen = None if names is None else frozenset(names)

    def work() -> Line:
        report = prove(kernel, SearchOptions(properties=chosen, timeout=2 * LIMIT, check_deadlock=False)).report
        proved = [p.name for p in report.properties if p.outcome in {Outcome.HOLDS, Outcome.UP_TO_BOUND}]
        return {"proved": proved, "open": {p.name: p.reason for p in report.properties if p.outcome is Outcome.UNKNOWN}}

    return Row(benchmark, {**what, "properties": list(names) if names else "all"}, work)


UNBOUNDED = (
    ("controller", ("Process", "Broker", "Session"), (ONE, "obeyed_is_past", "epoch_never_decreases")),
    ("leadership_abstract", ("Broker", "Partition"), ("leader_in_isr", "one_leader_per_epoch")),
    ("classics/two_phase", ("ResourceManager",), ("consistent",)),
    ("classics/german", ("Client",), ("coherent",)),
    ("../tests/corpus/protocols/lock_server", ("Client",), ("mutex",)),
)


def _any() -> Iterator[Row]:
    for spec, sets, names in UNBOUNDED:
        loaded = load_spec(_file(spec))
        for name in names:

            def work(loaded: Loaded = loaded, sets: Sequence[str] = sets, name: str = name) -> Line:
                proofs = prove_any(loaded, sets, SearchOptions(properties=frozenset({name})))
                certificates = [line for _, each in proofs.certificates for line in each.lines]
                return _answer(proofs.report, name) | {"certificate": certificates}

            yield Row("any", {"spec": spec, "property": name}, work)


GROUPS: dict[str, Callable[[], Iterator[Row]]] = {
    "encode": _encodings,
    "ic3": _controllers,
    "any": _any,
    "replication": _replication,
    "bmc": _ladder,
    "lassos": _lassos,
    "safeguards": _safeguards,
}
