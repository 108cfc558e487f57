"""`assay graph` exports, collapses, and answers about the graph of states; what it leaves out it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import pytest


def test_the_summary_says_what_shape_the_graph_has(assay: Any) -> None:
    ran = assay("graph", "counter.assay")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        "4 states, 1 initial, depth 4\n  4 edges of 4 steps\n  1 strongly connected component, 1 of more"
    )
    assert "  1 terminal component, 0 states without a way on\n    4 states: count = 0\n" in ran.out


def test_what_a_bound_cut_is_told(assay: Any) -> None:
    ran = assay("graph", "counter.assay", "--set", "Most=2")
    assert ran.code == 5
    assert "  most: cut 1 instance\n" in ran.out


@pytest.mark.parametrize(("form", "read"), [("graphml", "graphml"), ("json", "json"), ("dot", "dot"), ("svg", "svg")])
def test_files_hold_every_state_and_edge(assay: Any, tmp_path: Path, form: str, read: str) -> None:
    path = tmp_path / f"counter.{form}"
    assert f"{path}: written" in assay("graph", "counter.assay", "--out", str(path)).out
    text = path.read_text()
    match read:
        case "graphml":
            graph = nx.read_graphml(path)
            assert (len(graph), graph.number_of_edges()) == (4, 4)
            assert graph.nodes["3"]["title"] == "count = 3"
            assert graph.edges["3", "0"]["actions"] == "reset"
        case "json":
            graph = nx.node_link_graph(json.loads(text), edges="edges")
            assert (len(graph), graph.number_of_edges()) == (4, 4)
        case "dot":
            assert text.count("label=") == 8
            assert '  n3 -> n0 [label="reset"];' in text
        case _:
            tags = [each.tag.rpartition("}")[2] for each in ElementTree.fromstring(text).iter()]
            assert (tags.count("rect"), tags.count("text")) == (4, 4)


def test_a_view_collapses_states(assay: Any, tmp_path: Path) -> None:
    path = tmp_path / "view.json"
    answer = assay("graph", "counter.assay", "--view", "count % 2 == 0", "--out", str(path), "--json").json
    assert answer["view"] == {"values": 2, "edges": 2}
    nodes = json.loads(path.read_text())["nodes"]
    assert [(node["label"], node["states"], node["level"], node["initial"]) for node in nodes] == [
        ("true", 2, 1, True),
        ("false", 2, 2, False),
    ]


def test_a_property_of_several_lines_is_asked_as_a_whole(assay: Any, tmp_path: Path) -> None:
    spec = (tmp_path / "counter.assay").read_text()
    (tmp_path / "lines.assay").write_text(f"{spec}\nreachable low:\n    count > 0\n    count < 2\n")
    assert assay("graph", "lines.assay", "--to", "low", "--json").json["reach"]["targets"] == 1


def test_reachability_between_conditions_is_counted_with_a_shortest_way(assay: Any) -> None:
    answer = assay("graph", "counter.assay", "--from", "count == 2", "--to", "count == 0", "--json").json
    assert answer["reach"] == {"sources": 1, "targets": 1, "reaching": 1, "path": ["grow", "reset"]}


def test_what_every_run_goes_through_is_told(assay: Any) -> None:
    answer = assay("graph", "counter.assay", "--dominators", "two", "--json").json
    assert [each["state"] for each in answer["dominators"]] == [{"count": 0}, {"count": 1}, {"count": 2}]


def test_what_is_never_reached_has_an_exit_code_and_is_undecided_where_a_bound_was_hit(assay: Any) -> None:
    assert assay("graph", "counter.assay", "--to", "count == 7", "--set", "Most=2").code == 3
    assert assay("graph", "counter.assay", "--to", "count == 7", "--set", "Most=9", "--set", "Step=1").code == 1
    assert assay("graph", "counter.assay", "--dominators", "count == 7", "--set", "Most=9").code == 1


def test_a_limit_is_said(assay: Any) -> None:
    ran = assay("graph", "counter.assay", "--max-states", "2")
    assert ran.code == 3
    assert "Not the whole graph: the limit of 2 states was reached in level 3" in ran.out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--view", "countt"), "E101"),
        (("--to", "count == "), "E0"),
        (("--to", "count"), "E2"),
        (("--view", "1 // count"), "E861"),
        (("--view", "count, count + 1"), "E861"),
        (("--from", "count == 1"), "E901"),
        (("--out", "graph.pdf"), "E901"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(assay: Any, arguments: tuple[str, ...], code: str) -> None:
    ran = assay("graph", "counter.assay", *arguments)
    assert ran.code == 2
    assert code in ran.err
    assert "Traceback" not in ran.err


def test_too_large_a_drawing_is_refused_and_the_summary_still_told(
    assay: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("assay.cli.specs.graph.MOST_DRAWN", 3)
    ran = assay("graph", "counter.assay", "--out", str(tmp_path / "large.svg"))
    assert ran.code == 2
    assert "E860" in ran.err
    assert ran.out.startswith("4 states")
    assert not (tmp_path / "large.svg").exists()
