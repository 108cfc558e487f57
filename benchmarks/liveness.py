"""What deciding a temporal property costs beside the search of its states, on the replication model with fair followers and leaders."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.checker.engines.engine_selection import compile_kernel, with_behaviours
from assay.checker.explicit.bfs import BlockSearch
from assay.checker.explicit.expansion.compiled_interface import Behaviours
from assay.checker.explicit.liveness.state_graph import GraphBuilder, decisions_of
from assay.checker.explicit.store.large_arrays import Room
from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.grammar import kernel as k
from assay.grammar.kernel.types import BOOL
from assay.grammar.load import load_spec

KIP320 = Path(__file__).parent.parent / "spec" / "kafka" / "replication" / "kip320.assay"
FAIR = {"follower_fetch", "leader_advance_hw", "become_follower"}
WARMING, MEASURED = "r2l2m2e2", "r3l2m2e2"
TARGET = 5.0
STATE_BYTES, STEP_BYTES = 40, 12
"""What a decision may take of memory, for each state and each step."""


def lines(arguments: Sequence[str]) -> Iterator[dict[str, object]]:
    """Seconds of the search and of the decision, for a property that holds and one that is violated; both first done on a small model."""
    if arguments:
        raise ValueError("liveness takes no arguments")
    for violated in (False, True):
        _measured(WARMING, violated=violated)
        yield _measured(MEASURED, violated=violated)


def _kernel(model: str, *, violated: bool) -> k.Kernel:
    kernel = load_spec(KIP320, model=model).kernel
    idle = k.Not(BOOL, k.ActionAtom(BOOL, "enabled", "follower_fetch", None))
    wanted = k.Temporal(BOOL, "eventually", (k.Temporal(BOOL, "always", (k.Not(BOOL, idle) if violated else idle,)),))
    fairness = k.Fairness(strong=False, per=())
    actions = tuple(replace(each, fairness=fairness if each.name in FAIR else None) for each in kernel.actions)
    claim = k.Property("rests", "temporal", (k.Conjunct("rests", wanted),), None)
    return replace(kernel, actions=actions, properties=(claim,), scenarios=())


def _measured(model: str, *, violated: bool) -> dict[str, object]:
    kernel, options = _kernel(model, violated=violated), SearchOptions(check_deadlock=False, threads=1)
    with TemporaryDirectory() as folder:
        code = with_behaviours(kernel, compile_kernel(kernel, options, Path(folder)), options, Path(folder))
        assert code.behaviours is not None
        with closing(BlockSearch(Model(kernel), options, code)) as search:
            search.run()
            assert search.statistics().effort is not None
            began = time.process_time()
            decided = decisions_of(search, code.behaviours, {})
            spent = time.process_time() - began
            effort = search.statistics().effort
            seconds = effort.cpu if effort is not None else 0.0
            memory, steps = _memory(search, code.behaviours)
    return {
        "benchmark": "temporal property over search", "model": model, "value": round(spent / seconds, 2), "target": TARGET,
        "decision": type(decided["rests"]).__name__, "states": search.statistics().distinct,
        "search_cpu_seconds": round(seconds, 3), "cpu_seconds": round(spent, 3), "steps": steps, "megabytes": round(memory / 1e6, 1),
        "memory_over_target": round(memory / (STATE_BYTES * search.statistics().distinct + STEP_BYTES * steps), 2),
    }  # fmt: skip


def _memory(search: BlockSearch, behaviours: Behaviours) -> tuple[int, int]:
    """The most bytes that a decision takes, with the arrays of numpy, and the steps of the graph."""
    tracemalloc.start()
    decisions_of(search, behaviours, {})
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most, len(GraphBuilder(search, behaviours, Room(most)).graph().targets)
