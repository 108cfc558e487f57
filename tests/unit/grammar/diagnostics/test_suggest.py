"""Suggestions for misspelt names."""

from __future__ import annotations

import pytest

from assay.grammar.diagnostics.suggest import did_you_mean

KNOWN = ("invariant", "transition", "controller_epoch", "broker", "b1", "b2", "Leader")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("invarient", "invariant"),
        ("inavriant", "invariant"),
        ("controler_epoch", "controller_epoch"),
        ("leader", "Leader"),
        ("BROKER", "broker"),
        ("B1", "b1"),
    ],
)
def test_a_close_name_is_suggested(written: str, meant: str) -> None:
    assert did_you_mean(written, KNOWN) == meant


@pytest.mark.parametrize("written", ["b3", "zookeeper", "", "x", "invariant"])
def test_nothing_is_suggested_where_nothing_is_close(written: str) -> None:
    assert did_you_mean(written, KNOWN) is None


def test_the_answer_does_not_depend_on_the_order_of_the_candidates() -> None:
    assert did_you_mean("abcx", ["abcz", "abcy"]) == did_you_mean("abcx", ["abcy", "abcz"]) == "abcy"


def test_long_names_are_suggested_for_other_capitals_alone() -> None:
    assert did_you_mean("x" * 101, ["x" * 102]) is None
    assert did_you_mean("x" * 5000, ["x" * 4999, "X" * 5000]) == "X" * 5000
