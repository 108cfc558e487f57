"""Functions that call themselves, and functions that are passed to others: what is refused, and where."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.checker.reference.bfs import Search
from assay.grammar.kernel import Kernel

ErrorsOf = Callable[..., list[str]]
KernelOf = Callable[..., Kernel]
SearchOf = Callable[[Kernel], Search]

SPEC = """module top
param Node: set = {a, b}
type Small = 0 .. 5
state:
    x: Small = 0
    up: set[Node] = {}
def every(s: set[Node], p: def(Node): bool): bool = forall n in s: p(n)
def num(n: Node): int = 3
def same(n: Node, m: Node): bool = n == m
def is_up(n: Node) = n in up
"""


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("def f(n: int): int = if n == 0 then 1 else f(n - 1)", "E107 `f` calls itself, and its parameters do not"),
        ("def f(n: 0 .. 64): int = if n == 0 then 1 else f(n - 1)", "E107 `f` calls itself, and its parameters do not"),
        ("def f(n: Small): int = f(n)", "E107 `f` calls itself with the same arguments again"),
        ("def f(n: Small, m: int): int = f(m = m, n = n)", "E107 `f` calls itself with the same arguments again"),
        ("def f(n: Small) = if n == 0 then 0 else f(n - 1)", "E107 `f` calls itself, so the type of its result"),
        ("def f(s: set[0 .. 99]): int = if s == {} then 0 else f(s - {0})", "E107 `f` calls itself, and its"),
        ("def f(s: seq[Node, max 9], t: seq[Node, max 9]): int = f(t, drop(s, 1))", "E107 `f` calls itself, and its"),
        ("def f(n: Small): int = f(m = n)", "E205 f has no `m`"),
        (
            "invariant i: every({a}, num)",
            "E218 `p` is a function of (Node) to bool; this one takes (Node) and gives int",
        ),
        ("invariant i: every({a}, same)", "E218 `p` is a function of (Node) to bool; this one takes (Node, Node)"),
        (
            "invariant i: every({a}, same(_, _))",
            "E218 `p` is a function of (Node) to bool; this one takes (Node, Node)",
        ),
        ("invariant i: every({a}, same(_))", "E205 same(n, m) lacks `m`"),
        ("invariant i: every({a}, x)", "E218 `p` is a function, this is a state variable"),
        ("invariant i: every({a}, true)", "E218 `p` is a function"),
        ("invariant i: every({a}, every)", "E218 `p` is a function of (Node) to bool"),
        ("def g(n: Node, p: def(Node): bool): bool = p(n, n)", "E205 p takes 1 argument"),
        ("def g(n: Node, p: def(Node): bool): int = p(n)", "E201 expected int, found bool"),
        ("def g(p: def(Node): int): bool = every({a}, p)", "E218 `p` is a function of (Node) to bool"),
    ],
)
def test_what_is_no_function_here_or_does_not_end_is_refused(errors_of: ErrorsOf, line: str, error: str) -> None:
    found = errors_of(SPEC + "action step:\n    x := x\n" + line + "\n")
    assert found
    assert found[0].startswith(error)


@pytest.mark.parametrize(
    "line",
    [
        "def f(n: Small, by: int): int = if n == 0 then by else f(n - 1, by)",
        "def f(s: set[Node], n: Small): int = if n == 0 then 0 else f(if n == 2 then s else s - {a}, n - 1)",
        "def f(s: set[Node]): int = let t = {m in s if m != a}: if t == s then 0 else f(t)",
        "def f(s: seq[int, max 9], so_far: Small): int = if s == [] then so_far else f(drop(s, 1), so_far)",
        "def f(s: set[Node], c: bool): int = if s == {} then 0 else (if c then (let v = s - {a}: let w = v: f(w, c))"
        " else (let w = s - {a}: let v = w: f(v, c)))",
        "def f(s: seq[int, max 1]): int = if s == [] then 0 else s[0] + f(drop(s, 1))",
        "def f(n: Small): bool = every({a}, is_up) and (n == 0 or f(n - 1))",
        "def g(p: def(Node): bool): bool = every({a}, p)\ninvariant i: g(is_up) and g(same(_, a)) and g(same(m = _, n = b))",
        "invariant i: every(up, same(a, _)) or every({a}, is_up)",
    ],
)
def test_what_ends_is_fine(errors_of: ErrorsOf, line: str) -> None:
    assert errors_of(SPEC + "action step:\n    x := x\n" + line + "\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "def f(n: Small, total: int): int = if n == 0 then total else f(n - 1, total + n)",
        "def f(n: Small, total: int): int = if n == 5 then total else f(total = total * 2, n = n + 1)",
        "def f(s: seq[Node, max 9], t: seq[Node, max 9]): int = if s == [] then count(t) else f(drop(s, 1), [s[0]] + t)",
    ],
)
def test_a_parameter_that_steps_on_bounds_a_recursion_whatever_the_others_do(errors_of: ErrorsOf, line: str) -> None:
    assert errors_of(SPEC + "action step:\n    x := x\n" + line + "\n") == []


LOG = """record Box: items: seq[0 .. 3, max 2]
state:
    log: seq[0 .. 3, max 2] = [1, 2]
    n: 0 .. 99 = 0
def total(s: seq[0 .. 3, max 2]): int = fold t = 0 for x in s: t + x
"""


def test_a_fold_over_an_argument_that_outgrew_the_capacity_takes_all_elements(
    kernel_of: KernelOf, search: SearchOf
) -> None:
    found = search(kernel_of(LOG + "action go:\n    n := total(log + log)\ninvariant i: n in {0, 6}\n"))
    assert len(found.store) == 2
    assert set(found.watch.found) == set()


def test_a_fold_over_a_part_of_a_value_that_outgrew_the_capacity_is_undefined(
    kernel_of: KernelOf, search: SearchOf
) -> None:
    text = LOG + "action go:\n    let b = Box({})\n    n := fold t = 0 for x in b.items: t + x\n"
    assert set(search(kernel_of(text.format("log + log"))).watch.found) == {"defined"}
    assert set(search(kernel_of(text.format("log"))).watch.found) == set()


@pytest.mark.parametrize("over", ["0 .. {}", "{{k in 1 .. {} if k > x or true}}", "s"])
def test_a_fold_goes_through_64_elements_and_no_more(kernel_of: KernelOf, errors_of: ErrorsOf, over: str) -> None:
    def text(most: int) -> str:
        named = over.format(most - 1 if over.startswith("0") else most)
        state = f"state:\n    x: 0 .. 9 = 0\n    s: seq[0 .. 1, max {most}] = []\naction stay:\n    x := x\n"
        return f"{state}invariant i: (fold n = 0 for y in {named}: n + 1) <= 64\n"

    assert kernel_of(text(64)).properties
    (error,) = errors_of(text(65))
    assert "at most 64" in error


def test_a_circle_of_functions_is_refused_once_for_each_of_them(errors_of: ErrorsOf) -> None:
    text = (
        "type Store = map[0 .. 9, bool]\nstate:\n    s: Store = [x -> true]\naction t:\n    s := s\ninvariant i: f(s, 3) == 0\n"
        "def f(m: Store, n: 0 .. 9): int = if m[n] then f(m, n - 1) + g(m, n) else f(m, n - 2)\n"
        "def g(m: Store, n: 0 .. 9): int = f(m, n - 1)\n"
    )
    circles = [message.partition("(")[2].partition(")")[0] for message in errors_of(text) if "->" in message]
    assert circles == ["f -> g -> f", "g -> f -> g"]
