"""What every form of expression is worth; each row is a type, an expression, and its value as printed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

VALUES = [
    ("bool", "true and not false", "true"),
    ("bool", "false or false", "false"),
    ("bool", "false implies 1 // 0 == 1", "true"),
    ("bool", "true implies false", "false"),
    ("bool", "true or 1 // 0 == 1", "true"),
    ("bool", "false and 1 // 0 == 1", "false"),
    ("bool", "a != b and a == a", "true"),
    ("bool", "a < b and c >= c and not (b <= a) and b > a", "true"),
    ("bool", "2 < 3 and 3 <= 3 and 4 > 3 and 3 >= 3", "true"),
    ("bool", "forall x in Node: x in {a, b}", "false"),
    ("bool", "exists x in Node: x not in {a, b}", "true"),
    ("bool", "forall x, y in Node: x == y or x != y", "true"),
    ("bool", "forall x in 1 .. 0: false", "true"),
    ("bool", "{a} <= {a, b} and not ({a, b} <= {a})", "true"),
    ("bool", "bag{a} <= bag{a, a} and not (bag{a, a} <= bag{a, b})", "true"),
    ("bool", "2 in 1 .. 3 and 4 not in 1 .. 3", "true"),
    ("bool", "{a} in subsets({a, b}) and {c} not in subsets({a, b})", "true"),
    ("bool", "Busy(2) is Busy(n) and n == 2", "true"),
    ("bool", "Busy(2) is not Idle", "true"),
    ("0 .. 100", "if 1 < 2 then 7 else 1 // 0", "7"),
    ("0 .. 100", "let x = 3: x * x", "9"),
    ("-100 .. 100", "-7 // 2", "-4"),
    ("-100 .. 100", "-7 % 2", "1"),
    ("-100 .. 100", "2 + 3 * 4 - 1", "13"),
    ("0 .. 100", "count({a, b, a})", "2"),
    ("0 .. 100", "count(bag{a, b, a})", "3"),
    ("0 .. 100", "count([a, b, a])", "3"),
    ("0 .. 100", "times(bag{a, b, a}, a) + times(bag{a}, c)", "2"),
    ("0 .. 100", "min({4, 2, 9}) + max([1, 3]) + sum(bag{5, 5})", "15"),
    ("0 .. 100", "sum({n in 1 .. 3 if n > 3})", "0"),
    ("Node?", "none", "none"),
    ("Node?", "b", "b"),
    ("Node", "if {a} == {b} then a else c", "c"),
    ("set[Node]", "{c, a} + {b}", "{a, b, c}"),
    ("set[Node]", "Node - {b}", "{a, c}"),
    ("set[Node]", "{a, b} & {b, c}", "{b}"),
    ("set[Node]", "{x in Node if x != b}", "{a, c}"),
    ("set[0 .. 100]", "{x * y for x in 1 .. 3, y in 1 .. 3 if x < y}", "{2, 3, 6}"),
    ("set[0 .. 100]", "{x + y for x in 1 .. 2, y in x .. 2}", "{2, 3, 4}"),
    ("set[set[Node]]", "subsets({a, b})", "{{}, {a}, {b}, {a, b}}"),
    ("bag[Node, max 9]", "bag{a, b} + bag{a}", "bag{a, a, b}"),
    ("bag[Node, max 9]", "bag{a, a, b} - bag{a, c}", "bag{a, b}"),
    ("bag[Node, max 9]", "bag{a, a, b} & bag{a, a, a, c}", "bag{a, a}"),
    ("seq[Node, max 9]", "[a, b] + [c]", "[a, b, c]"),
    ("seq[Node, max 9]", "take([a, b, c], 2) + drop([a, b, c], 5)", "[a, b]"),
    ("seq[Node, max 9]", "[x in [a, b, a] if x == a]", "[a, a]"),
    ("seq[0 .. 100, max 9]", "[x * x for x in [1, 2, 3] if x != 2]", "[1, 9]"),
    ("seq[0 .. 100, max 9]", "[1, 2, 3] with {1 -> 7}", "[1, 7, 3]"),
    ("Node", "[a, b, c][1]", "b"),
    ("set[Node]", "{first([a, b]), last([b, c])}", "{a, c}"),
    ("set[Node]", "elements([a, b, a]) + elements(bag{c, c})", "{a, b, c}"),
    ("map[Node, 0 .. 9]", "[x -> if x == a then 1 else 0]", "{a -> 1, b -> 0, c -> 0}"),
    ("map[Node, 0 .. 9]", "[x in Node -> 2]", "{a -> 2, b -> 2, c -> 2}"),
    ("map[Node, 0 .. 9, max 3]", "{a -> 1, b -> 2}", "{a -> 1, b -> 2}"),
    ("map[Node, 0 .. 9, max 3]", "{a -> 1} with {c -> 4}", "{a -> 1, c -> 4}"),
    ("map[Node, 0 .. 9, max 3]", "without({a -> 1, b -> 2}, a)", "{b -> 2}"),
    ("Pair", "Pair(left = 2, right = true)", "Pair(left = 2, right = true)"),
    ("Pair", "Pair(left = 2, right = true) with {left = 3}", "Pair(left = 3, right = true)"),
    ("0 .. 3", "Pair(left = 2, right = true).left", "2"),
    ("Mode", "Busy(2)", "Busy(2)"),
    ("Mode", "Lost(a, since = 1)", "Lost(by = a, since = 1)"),
    ("0 .. 3", "if Lost(a, 3) is Lost(_, n) then n else 0", "3"),
]


@pytest.mark.parametrize(("type_", "expression", "shown"), VALUES, ids=[row[1] for row in VALUES])
def test_an_expression_has_its_value(value: Callable[[str, str], str], type_: str, expression: str, shown: str) -> None:
    assert value(type_, expression) == shown
