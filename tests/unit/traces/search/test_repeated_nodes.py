"""What a search visits once: a node to which several orders of the lines lead, and a line replaced by one that allows
less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.unit.traces.conftest import ELECTION

from assay.grammar.load import Loaded
from assay.traces.event import Event
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.search.dfs import Limits
from assay.traces.shared_search import check
from assay.traces.validate import validate

ANYBODY = "    on Leading(node"
COUNTER = """\
module counter

size param Most: int = 20

state:
    x: 0 .. Most = 0

action count_one:
    x := x + 1

trace log:
    from toy
    on Counted: count_one
    on Total(number: 0 .. Most): observe x == number
"""


def test_a_node_to_which_several_orders_lead_is_searched_once(
    load: Callable[[str], Loaded], line: Callable[..., Event]
) -> None:
    """Six lines of each of two processes may come in 924 orders, which lead to 49 nodes."""
    counted = [line(node, at, 100, "Counted") for node in ("n1", "n2") for at in range(1, 7)]
    total = line("n3", 1, 500_000, "Total", number=13)
    found = validate(load(COUNTER), [*counted, total], options=Options(nodes=100_000))
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert found.visited < 500


def test_a_line_exchanged_for_one_that_can_be_more_calls_is_counted_among_those_to_come(
    election: Callable[..., Loaded], line: Callable[..., Event]
) -> None:
    """Else the search leaves out orders in which the new line comes first."""
    text = ELECTION.replace(ANYBODY, f"    on Chosen: elect(_)\n{ANYBODY}", 1)
    log = [
        line("n1", 1, 100, "Joined"),
        line("n2", 1, 105, "Joined"),
        line("n1", 2, 110, "Elected", number=1),
        line("n2", 2, 115, "Chosen"),
    ]
    search = check(election(text=text), log).search
    by_kind = {item.observation.event.kind: item for item in search.frontier.order.items}
    elected, chosen = by_kind["Elected"], by_kind["Chosen"]
    relation = search.dependence
    assert relation.possible_calls(elected) < relation.possible_calls(chosen)  # type: ignore[operator]
    assert relation._does_no_more(replace(chosen, observation=elected.observation))
    assert not relation._does_no_more(replace(elected, observation=chosen.observation))


FLAGS = """\
module flags

state:
    open: bool = false
    done: bool = false
    ready: bool = false

action prepare:
    open := true
action get_ready:
    when open and done
    ready := true
action begin:
    done := true
action end:
    when ready
    done := false

trace log:
    from toy
    on Begun: begin
    on Open: observe open
    on Ended: end
    hidden prepare, get_ready; at most 2 between two pinned events
    order: file; skew 1000 ms
"""


def test_a_node_is_searched_again_if_fewer_hidden_steps_lead_to_it(
    load: Callable[[str], Loaded], line: Callable[..., Event]
) -> None:
    """The way by the order of time takes a hidden step after `Begun`, and one that is left for `Ended` is too many."""
    log = [line("n1", 1, 100, "Begun"), line("n2", 1, 110, "Open"), line("n1", 2, 5_000, "Ended")]
    search = check(load(FLAGS), log).search
    limits = Limits(1, 1_000, reduced=False)
    start = search.begin(tuple(0 for _ in search.frontier.end))
    assert search.run(start, limits).path is not None
