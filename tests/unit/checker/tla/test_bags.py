"""A bag of the elements of a sequence is a sum of sums, of which TLC evaluates each part once."""

from __future__ import annotations

from assay.checker.tla.module import export
from assay.grammar.load import load_text

SPEC = """
module bags
state:
    s: seq[0 .. 2, max 3] = []
action add(n: 0 .. 2):
    bound room: count(s) < 3
    s := s + [n]
invariant few: count(bag{n for n in s}) <= 3
"""


def test_the_parts_of_a_sum_of_bags_are_elements_of_a_set() -> None:
    text = export(load_text(SPEC).kernel).files["bags.tla"]
    head, _, body = text.partition("BagSum(a, b) ==")[2].partition("\n\n")
    assert "p \\in {<<a, b>>}" in head
    assert body.count("BagSum(") >= 3
