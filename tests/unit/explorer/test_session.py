"""What the explorer's page is answered: every question names a moment, and steps come in pages with their reasons."""

from __future__ import annotations

from typing import Any

import pytest

from assay.checker.stepper.stepper import Stepper
from assay.explorer.complete_graph import complete_graph
from assay.explorer.session import PATH_PAGE, ExplorerError, ExplorerSession
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text
from assay.stepper import open_spec

QUEUE = """\
module queue
param Worker: set = {w1, w2}
record Job: number: 0 .. 3
state:
    sent: 0 .. 3 = 0
    waiting: seq[Job, max 3] = []
    doing: map[Worker, Job?] = [w -> none]
action send:
    when few: sent < 3
    sent := sent + 1
    waiting := waiting + [Job(sent)]
action work(w: Worker):
    when some_waiting: count(waiting) > 0
    when idle: doing[w] == none
    doing[w] := first(waiting)
    waiting := drop(waiting, 1)
action finish(w: Worker):
    pick after in 0 .. 1
    when busy: doing[w] is some(job)
    doing[w] := if after == 0 then none else job
invariant once: doing[w1] == none or doing[w1] != doing[w2]
transition forward: sent >= old(sent)
"""


def session(text: str = QUEUE) -> ExplorerSession:
    return ExplorerSession(Stepper(load_text(text)))


def steps(of: ExplorerSession, node: int, **more: Any) -> dict[str, int]:
    return {each["text"]: each["number"] for each in of.answer("steps", {"node": node, **more})["steps"]}


def walk(of: ExplorerSession, *texts: str) -> dict[str, Any]:
    moment = of.answer("begin", {"number": 0})
    for text in texts:
        number = steps(of, moment["node"])[text]
        moment = of.answer("take", {"node": moment["node"], "number": number})
    return moment


def test_a_message_is_an_arrow_from_the_step_that_sent_it_to_the_one_that_takes_it() -> None:
    of = session()
    sent, taken = walk(of, "send"), walk(of, "send", "work(w2)")
    assert (sent["lane"], taken["lane"], taken["group"]) == ("shared", "w2", "Worker")
    assert sent["sent"] == taken["received"] == [["waiting", "Job(0)"]]


def test_a_guard_that_finds_a_message_receives_it() -> None:
    of = ExplorerSession(open_spec("classics/two_phase"))
    moment = walk(of, "prepare(r1)", "receive_ready(r1)")
    assert moment["lane"] == "shared"
    assert moment["received"] == [["messages", "Ready(r1)"]]


def test_the_state_marks_what_the_last_step_changed() -> None:
    of = session()
    cells = of.answer("view", {"node": walk(of, "send", "work(w1)")["node"]})["cells"]
    assert [["sent"], "1"] in cells
    assert [["waiting"], "[]", "[Job(0)]"] in cells
    assert [["doing", "[w1]"], "Job(0)", "none"] in cells


def test_every_refused_instance_has_its_guards_with_values() -> None:
    of = session()
    start = walk(of)["node"]
    refused = {each["text"]: each["guards"] for each in of.answer("refused", {"node": start})["refused"]}
    assert set(refused) == {"work(w1)", "work(w2)", "finish(w1)", "finish(w2)"}
    (guard,) = refused["work(w1)"]
    assert (guard["label"], guard["text"]) == ("some_waiting", "count(waiting) > 0")
    assert guard["why"]["parts"][0]["values"] == [["count(waiting)", "0"], ["waiting", "[]"]]
    only = of.answer("refused", {"node": start, "search": "work(w2)"})["refused"]
    assert [each["text"] for each in only] == ["work(w2)"]


def test_properties_are_true_false_or_without_value_and_say_why() -> None:
    of = session(QUEUE.replace("transition forward: sent >= old(sent)", "transition forward: sent < 1"))
    shown = of.answer("view", {"node": walk(of, "send")["node"]})["properties"]
    assert [(each["name"], each["holds"]) for each in shown] == [("once", True), ("forward", False)]
    assert shown[1]["why"]["parts"][0]["text"] == "sent < 1"


def test_too_many_steps_come_in_pages_with_a_count_and_are_searched() -> None:
    of = session("module m\nstate:\n    x: 0 .. 99 = 0\naction jump(to: 0 .. 99):\n    x := to\n")
    start = walk(of)["node"]
    first = of.answer("steps", {"node": start})
    assert (len(first["steps"]), first["count"], first["more"]) == (60, 100, True)
    rest = of.answer("steps", {"node": start, "offset": 60})
    assert (len(rest["steps"]), rest["more"]) == (40, False)
    assert steps(of, start, search="jump(42)") == {"jump(42)": 0}
    moment = of.answer("take", {"node": start, "search": "jump(42)", "number": 0})
    assert moment["changes"] == ["x: 0 -> 42"]
    assert len(steps(of, start, search="7")) == 19
    assert of.answer("steps", {"node": start, "search": "nothing"})["steps"] == []


def test_a_walk_is_a_scenario_of_the_spec_that_holds() -> None:
    of = session()
    node = walk(of, "send", "work(w1)", "finish(w1) with after = 0", "send")["node"]
    text = of.answer("scenario", {"node": node, "name": "walked"})["text"]
    assert "    finish(w1)\n    expect doing[w1] == none\n" in text
    loaded = load_text(QUEUE + text)
    assert [each.name for each in loaded.kernel.scenarios] == ["walked"]
    of.answer("scenario", {"node": node})
    with pytest.raises(ExplorerError, match="no name for a scenario"):
        of.answer("scenario", {"node": node, "name": "a b"})


def test_branches_and_tabs_do_not_disturb_each_other() -> None:
    of = session()
    one = walk(of, "send", "work(w1)")["node"]
    other = walk(of, "send", "work(w2)")["node"]
    assert of.answer("evaluate", {"node": one, "text": "doing[w1] == none"})["shown"] == "false"
    assert of.answer("evaluate", {"node": other, "text": "doing[w1] == none"})["shown"] == "true"
    assert of.answer("evaluate", {"node": other, "text": "count(old(waiting))"})["shown"] == "1"


def test_a_saved_run_is_opened_again() -> None:
    of = session()
    saved = of.answer("trace", {"node": walk(of, "send", "work(w2)")["node"]})
    opened = session().answer("open", {"trace": saved})
    assert [each["text"] for each in opened["path"]] == ["initial state", "send", "work(w2)"]


def test_a_long_run_is_drawn_as_far_as_it_is_looked_at() -> None:
    stepper = Stepper(load_text("module m\nstate:\n    x: 0 .. 1 = 0\naction flip:\n    x := 1 - x\n"))
    stepper.begin()
    for _ in range(1200):
        stepper.take(next(stepper.possible()))
    of = ExplorerSession(stepper)
    of.opened(stepper.trace)
    opened = of.answer("start", {})["opened"]
    assert (opened["first"], opened["count"], len(opened["path"])) == (0, 1201, PATH_PAGE)
    assert [opened["path"][at]["node"] for at in (0, -1)] == [1201 - PATH_PAGE, 1200]
    page = of.answer("path", {"node": 300, "count": 10_000})["path"]
    assert [(each["node"], each["parent"]) for each in page] == [(n, n - 1) for n in range(300, 300 + PATH_PAGE)]
    assert of.answer("path", {"node": 0})["path"] == [
        {"node": 0, "parent": -1, "text": "initial state", "lane": "", "changes": []}
    ]
    assert len(of.answer("path", {"node": 1190, "count": 100})["path"]) == 11
    assert len(of.answer("trace", {"node": 1200})["steps"]) == 1201


def test_picks_without_number_leave_a_list_open_that_the_next_question_goes_on_with() -> None:
    two = "    pick s in subsets(0 .. 9)\n    pick t in subsets(0 .. 9)\n    pick u in subsets(0 .. 9)\n    x := s\n"
    impossible = two.replace("    x :=", "    when no: count(s) > 90\n    x :=")
    of = session(f"module m\nstate:\n    x: set[0 .. 9] = {{}}\naction some_of:\n{two}action none_of:\n{impossible}")
    of.answer("begin", {"number": 0})
    found = of.answer("steps", {"node": 0, "search": "some_of"})
    assert (len(found["steps"]), found["counted"], found["more"]) == (60, False, True)
    assert of.answer("refused", {"node": 0, "search": "none_of"}) == {"refused": [], "more": True, "next": 0}


def test_initial_states_come_in_pages_with_a_count_and_are_searched() -> None:
    of = session("module m\nstate:\n    x: 0 .. 99 in 0 .. 99\naction stay:\n    x := x\n")
    first = of.answer("initial", {})
    assert (len(first["initial"]), first["count"], first["counted"], first["more"]) == (60, 100, True, True)
    rest = of.answer("initial", {"offset": 60})
    assert (len(rest["initial"]), rest["initial"][0]["number"], rest["more"]) == (40, 60, False)
    (found,) = of.answer("initial", {"search": "x = 42"})["initial"]
    assert of.answer("view", {"node": of.answer("begin", {"number": found["number"]})["node"]})["cells"] == [
        [["x"], "42"]
    ]
    assert of.answer("initial", {"search": "x = 100"})["count"] == 0


@pytest.mark.parametrize(
    ("question", "data"),
    [
        ("path", {"node": 7}),
        ("initial", {"offset": "60"}),
        ("nonsense", {}),
        ("view", {}),
        ("view", {"node": 99}),
        ("view", {"node": "0"}),
        ("steps", {"node": 0, "offset": -1}),
        ("take", {"node": 0, "number": 99}),
        ("take", {"node": 0}),
        ("begin", {"number": 7}),
        ("begin", {"number": 10**30}),
        ("evaluate", {"node": 0, "text": "wating"}),
        ("steps", {"node": 0, "search": "work(1, 2, 3)"}),
        ("open", {"trace": 3}),
        ("open", {"trace": {"assay": "1"}}),
    ],
)
def test_nonsense_is_answered_and_the_session_goes_on(question: str, data: dict[str, Any]) -> None:
    of = session()
    walk(of)
    with pytest.raises(ExplorerError):
        of.answer(question, data)
    assert of.answer("steps", {"node": 0})["count"] == 1


def test_a_small_model_is_answered_whole() -> None:
    graph = complete_graph(Stepper(load_text(QUEUE)))
    assert len(graph["states"]) > 20
    assert all(step["target"] < len(graph["states"]) for state in graph["states"] for step in state["steps"])
    start = graph["states"][graph["initial"][0]["state"]]
    assert [graph["roles"][step["role"]]["text"] for step in start["steps"]] == ["send"]
    assert len(start["refused"]) == 4


def test_a_large_model_is_refused_with_advice() -> None:
    with pytest.raises(SpecError) as refused:
        complete_graph(Stepper(load_text("module m\nstate:\n    x: 0 .. 9999 = 0\naction up:\n    x := x + 1\n")))
    assert "more than 2,000 states" in refused.value.diagnostics[0].message
