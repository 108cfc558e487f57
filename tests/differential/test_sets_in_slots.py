"""Sets of messages that carry a log or votes: the native engine agrees with the reference one, with loops over slots."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.stages import rounds

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.layout.shape import MaskShape, SlotsShape
from assay.checker.layout.shape_of_type import shape_of
from assay.checker.lowering.expressions import binder_elements
from assay.checker.lowering.expressions.loops import UnrollBudget
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.options import SearchOptions
from assay.grammar.kernel import types as t
from assay.grammar.load import load_text

from . import random_kernel
from .random_types import DEEP, LOGGED, LONG, SENT, TYPES, VOTES
from .test_native import agree

SLOTTED = (
    t.SetType(SENT, 3),
    t.SetType(LONG, 3),
    t.SetType(DEEP, 3),
    t.SetType(t.MapType(t.RangeType(0, 99), t.BOOL, 2, partial=True), 3),
)
PROMISE = t.RecordType(
    "Promise",
    (
        t.FieldType("by", t.OptionType(t.BOOL)),
        t.FieldType("votes", t.MapType(t.RangeType(1, 2), t.OptionType(t.RangeType(0, 1)))),
    ),
)
MASKED = (
    t.SetType(LOGGED),
    t.SetType(LOGGED, 3),
    t.SetType(t.SeqType(t.BOOL, 3)),
    t.SetType(VOTES),
    t.SetType(PROMISE),
    t.SetType(t.MapType(t.BOOL, t.SetType(t.RangeType(1, 2)))),
)

MESSAGES = """module logs
param Node: set = {a, b, c}
record Msg: src: Node, dst: Node, log: seq[1 .. 2, max LENGTH]
state:
    log: map[Node, seq[1 .. 2, max LENGTH]] = [n -> []]
    msgs: set[Msg, max 40] = {}
action extend(n: Node, v: 1 .. 2):
    bound short: count(log[n]) < 3
    log[n] := log[n] + [v]
action send(n: Node, d: Node):
    when n != d
    msgs := msgs + {Msg(n, d, log[n])}
action receive(n: Node):
    pick m in msgs
    when m.dst == n
    log[n] := m.log
action lose(n: Node):
    msgs := {m in msgs if m.dst != n or m.log == []}
action forget:
    pick m in msgs
    msgs := msgs - {m}
invariant short: forall m in msgs: count(m.log) <= 3
invariant first: forall m in msgs: m.log[0] in 1 .. 2
"""


@pytest.fixture(autouse=True)
def _loops_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = (UnrollBudget(1, 1, 1, 0),) * 3
    monkeypatch.setattr("assay.checker.native.unroll_budget.LEVELS", levels)
    monkeypatch.setattr("assay.checker.lowering.expressions.loops.LEVELS", levels)
    monkeypatch.setattr(binder_elements, "LEVELS", levels)
    monkeypatch.setattr("assay.checker.lowering.symbols.compact_slots.MOVED", 1)


@rounds(6, 300)
def test_random_kernels_with_such_sets(tmp_path: Path, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    types = (*TYPES, *SLOTTED * 5, *MASKED * 5)
    monkeypatch.setattr(random_kernel, "TYPES", types)
    monkeypatch.setattr(random_kernel, "SETS", tuple(x for x in types if isinstance(x, t.SetType)))
    native = []
    for seed in range(rounds):
        monkeypatch.setattr("assay.checker.native.compile.LARGE", 0 if seed % 3 else 1 << 30)
        native.append(agree(random_kernel.random_kernel(Random(seed)), tmp_path, keep_going=bool(seed % 2)))
    assert sum(report is not None for report in native) > rounds // 2


@pytest.mark.everyday(1)
@pytest.mark.parametrize(("length", "kind"), [(2, MaskShape), (5, SlotsShape)])
def test_messages_that_carry_a_log(tmp_path: Path, length: int, kind: type) -> None:
    loaded = load_text(MESSAGES.replace("LENGTH", str(length)))
    assert isinstance(shape_of(loaded.kernel.variables[1].type), kind)
    compile_kernel(loaded.kernel, SearchOptions(), tmp_path)  # it is supported
    assert agree(loaded.kernel, tmp_path, keep_going=True) is not None
    assert agree(loaded.kernel, tmp_path, keep_going=False) is not None


def test_a_set_without_capacity_that_is_too_large_is_named(tmp_path: Path) -> None:
    kernel = load_text(MESSAGES.replace("LENGTH", "5").replace(", max 40", "")).kernel
    with pytest.raises(UnsupportedError, match=r"`msgs: set\[Msg\]`: .* a set of 567 possible") as refused:
        compile_kernel(kernel, SearchOptions(), tmp_path)
    assert refused.value.span.line == 6
    assert any("`max n`" in each for each in refused.value.remedies)
