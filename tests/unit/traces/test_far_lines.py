"""Lines that contradict each other are found however many others lie between them, in a log that begins anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from assay.grammar.load import load_text
from assay.traces.log_reader import read_logs
from assay.traces.observe.decomposition import split
from assay.traces.observe.model_size import trace_plan
from assay.traces.options import Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.validate import validate
from assay.traces.windows.slice_window import lasting
from assay.traces.windows.window_model import LogPart

SPEC = """\
module tickets

param Process: set = {a, b}
param Ticket: set = {t1, t2}
param Shop: set = {s1}

state:
    owner: map[Ticket, Process?] = [t -> none]
    works: map[Process, bool] = [p -> false]
    up: map[Process, bool] = [p -> false]
    heard: map[Process, 0 .. 9] = [p -> 0]
    opened: map[Shop, bool] = [s -> false]
    stock: 0 .. 9 = 7

action draw(p: Process, t: Ticket):
    when free: owner[t] == none
    owner[t] := p

action work(p: Process):
    works[p] := not works[p]

action start(p: Process):
    when down: not up[p]
    up[p] := true

action crash(p: Process):
    when running: up[p]
    up[p] := false
    heard[p] := 0

action hear(p: Process, n: 0 .. 9):
    when running: up[p]
    when later: n >= heard[p]
    heard[p] := n

action open_shop(s: Shop):
    opened[s] := true

action sell:
    when in_stock: stock > 0
    stock := stock - 1

transition kept: forall t in Ticket: old(owner[t]) != none implies owner[t] == old(owner[t])
transition rises: forall p in Process: up[p] and old(up[p]) implies heard[p] >= old(heard[p])
transition stays_open: forall s in Shop: old(opened[s]) implies opened[s]

trace log:
    from toy
    begins anywhere
    slice Shop by shop
    on Drawn(node: Process, ticket: Ticket): draw(node, ticket)
    on Worked(node: Process): work(node)
    on Works(node: Process, now: bool): observe works[node] == now
    on Started(node: Process): start(node)
    on Heard(node: Process, number: 0 .. 9): hear(node, number)
    on Opened(slice: Shop): open_shop(slice)
    on Sold(): sell()
    on Counted(left: 0 .. 9): observe stock == left
    ends crash
    hidden crash; at most 2 between two pinned events
    order: file; commit before line within 1 ms; skew 1 ms
"""

MANY = 60
"""More lines than are asked about around a failed one."""

Said = tuple[str, str, dict[str, Any]]
WORK: list[Said] = [("Worked", "a", {})] * MANY


def answer(folder: Path, said: Iterable[Said], options: Options | None = None) -> Validation:
    lines = [{"event": kind, "node": node, "time": 10 * at, **fields} for at, (kind, node, fields) in enumerate(said)]
    (folder / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    return validate(load_text(SPEC), read_logs([str(folder)]).events, options=options or Options())


def drawn(second: str) -> list[Said]:
    return [("Drawn", "a", {"ticket": "t1"}), *WORK, ("Drawn", "b", {"ticket": second})]


def contradiction(found: Validation) -> tuple[list[int], tuple[str, ...]]:
    """The numbers of the lines that contradict each other, and the rules between them."""
    assert found.verdict is TraceVerdict.INCONSISTENT
    (first, *_) = [each.contradiction for each in found.violations if each.contradiction is not None]
    return [each.record.place.line for each in first.events], first.rules


def test_a_value_that_two_were_given_is_found_far_apart(tmp_path: Path) -> None:
    lines, rules = contradiction(answer(tmp_path, drawn("t1")))
    assert lines == [1, MANY + 2]
    assert "transition kept" in rules


def test_two_values_contradict_nothing(tmp_path: Path) -> None:
    assert answer(tmp_path, drawn("t2")).verdict is TraceVerdict.CONSISTENT


def test_a_search_that_a_limit_ends_early_hides_no_pair_of_lines_that_comes_later(tmp_path: Path) -> None:
    few = Options(nodes=2, solver=False)
    assert contradiction(answer(tmp_path, [*WORK, *drawn("t1")], few))[0] == [MANY + 1, 2 * MANY + 2]
    assert answer(tmp_path, [*WORK, *drawn("t2")], few).verdict is not TraceVerdict.INCONSISTENT


def test_lines_far_from_the_failed_one_are_blamed_themselves(tmp_path: Path) -> None:
    """Where a line has no explanation for want of what came before, and two others contradict each other."""
    first, *others = drawn("t1")
    said = [first, *WORK, ("Works", "b", {"now": True}), *others]
    found = answer(tmp_path, said, Options(mismatches=1))
    assert contradiction(found)[0] == [1, 2 * MANY + 3]
    assert [each.place.line for each in found.violations[0].blame] == [2 * MANY + 3, 1]


def test_a_process_run_is_one_stretch(tmp_path: Path) -> None:
    """What holds of a process as long as it runs holds between all lines of a run."""
    said: list[Said] = [("Heard", "b", {"number": 5}), *WORK, ("Heard", "b", {"number": 3})]
    lines, rules = contradiction(answer(tmp_path, said))
    assert lines == [1, MANY + 2]
    assert "transition rises" in rules


def test_a_refutation_counts_that_is_found_from_a_later_beginning(tmp_path: Path) -> None:
    first: list[Said] = [("Works", "a", {"now": True}), ("Works", "b", {"now": True})]  # the model begins otherwise
    again: list[Said] = [("Worked", "b", {}), ("Works", "b", {"now": False})] * 2
    found = answer(tmp_path, [*first, *WORK, *again], Options(mismatches=1))
    assert contradiction(found)[0] == [MANY + 4, MANY + 5, MANY + 6]


def test_what_lines_leave_open_of_a_beginning_is_as_at_birth(tmp_path: Path) -> None:
    """Else it is a choice of the solver, which a line far away contradicts."""
    said: list[Said] = [("Works", "a", {"now": True}), *WORK, ("Sold", "b", {}), ("Counted", "b", {"left": 6})]
    found = answer(tmp_path, said)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert found.rests_on == ("before the log began: works of a true",)


def test_what_lasts_of_slices_is_not_that_of_what_all_share() -> None:
    loaded = load_text(SPEC)
    plan = trace_plan(loaded.kernel, "log")
    assert plan.slicing is not None
    divided = split(loaded.kernel, plan.slicing)
    shared = LogPart(loaded, divided.plan_of_shared(plan), Options())
    of_slices = LogPart(loaded, divided.plan_of_slices(plan), Options(), of_slice=True)
    assert lasting(shared) == {"kept", "rises"}
    assert lasting(of_slices) == {"stays_open"}
    unread = LogPart(loaded, divided.plan_of_shared(plan), Options(lossy=True))
    assert lasting(unread) == {"kept"}  # then two runs may be taken for one
