"""What `assay check` is given besides the model: memory, checkpoints, fingerprints; and what it says of them."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest

from assay.checker.options import Progress
from assay.cli.terminal.parse_size import size_in_bytes
from assay.cli.terminal.progress import progress_text


def test_a_stopped_search_names_the_command_that_goes_on(assay: Any) -> None:
    ran = assay("check", "counter.assay", "--depth", "2", "--checkpoint", "kept")
    assert ran.code == 3
    assert "`--resume kept` goes on from here" in ran.out
    assert assay("check", "counter.assay", "--depth", "2", "--resume", "kept", "--json").json["checkpoint"] == "kept"
    answer = assay("check", "counter.assay", "--resume", "kept", "--json").json
    assert (answer["verdict"], answer["states"]["distinct"]) == ("holds", 4)
    assert "checkpoint" not in answer


def test_an_unusable_checkpoint_is_bad_input(assay: Any) -> None:
    ran = assay("check", "counter.assay", "--resume", "nowhere")
    assert (ran.code, ran.out) == (2, "")
    assert "E822" in ran.err
    assay("check", "counter.assay", "--depth", "2", "--checkpoint", "kept")
    assert "another search" in assay("check", "counter.assay", "--set", "Step=2", "--resume", "kept").err


def test_a_checkpoint_is_begun_or_resumed(assay: Any) -> None:
    ran = assay("check", "counter.assay", "--resume", "a", "--checkpoint", "b")
    assert (ran.code, "E901" in ran.err) == (2, True)


@pytest.mark.parametrize("option", [("--checkpoint", "kept"), ("--memory", "4G"), ("--fingerprints", "128")])
def test_the_reference_engine_refuses_what_it_does_not_do(assay: Any, option: tuple[str, str]) -> None:
    ran = assay("check", "counter.assay", "--engine", "reference", *option)
    assert (ran.code, "E823" in ran.err) == (2, True)


def test_too_small_a_budget_says_what_is_the_least(assay: Any) -> None:
    ran = assay("check", "counter.assay", "--memory", "1M", "--json")
    assert ran.code == 2
    assert ran.json["diagnostics"][0]["code"] == "E821"
    assert "MB at least" in ran.json["diagnostics"][0]["message"]


@pytest.mark.parametrize("bits", ["64", "96", "128"])
def test_the_probability_of_a_missed_state_is_told(assay: Any, bits: str) -> None:
    ran = assay("check", "counter.assay", "--fingerprints", bits)
    assert "probability of a state missed below" in ran.out
    assert "probability" not in assay("check", "counter.assay", "--fingerprints", "exact").out


def test_json_says_what_the_search_took(assay: Any) -> None:
    effort = assay("check", "counter.assay", "--json").json["effort"]
    assert effort["memory"] > effort["table"] > 0
    assert effort["duplicates"] == pytest.approx(1 - 4 / 5)
    assert effort["disk"] == 0


def test_progress_is_one_line_with_what_is_known() -> None:
    full = Progress(7, 1_500_000, 3_000_000, 20_000, 2.0, memory=230_000_000, disk=41_000_000, load=0.62)
    assert progress_text(full) == (
        "level 7: 1,500,000 distinct states, 3,000,000 generated (50% seen before), 20,000 to expand, 750,000 states/s, "
        "230 MB, 41 MB in files, table 62% full, 2 s"
    )
    assert "MB" not in progress_text(Progress(1, 1, 1, 1, 0.0))


@pytest.mark.parametrize(
    ("text", "size"),
    [("800M", 800_000_000), ("4G", 4_000_000_000), ("1.5 GiB", 3 << 29), ("2kb", 2000), ("123", 123), ("1T", 10**12)],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert size_in_bytes(click.Context(click.Command("x")), click.Option(["--x"]), text) == size


@pytest.mark.parametrize("text", ["", "G", "4X", "-1G", "1e9", "I", "9" * 400, "0", "0.2"])
def test_what_is_no_size_is_refused(assay: Any, text: str) -> None:
    ran = assay("check", "counter.assay", "--memory", text, "--json")
    assert ran.code == 2
    assert json.loads(ran.out)["diagnostics"][0]["code"] == "E901"


@pytest.mark.parametrize("text", ["nan", "inf", "0", "-1", "soon"])
@pytest.mark.parametrize("command", ["check", "simulate", "prove"])
def test_what_is_no_time_is_refused(assay: Any, command: str, text: str) -> None:
    ran = assay(command, "counter.assay", "--timeout", text, "--json")
    assert ran.code == 2
    assert json.loads(ran.out)["diagnostics"][0]["code"] == "E901"
