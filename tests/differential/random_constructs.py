"""Random specs, as text, with what the kernel writes out: ``new``, ``enabled``, functions. Invariants say what each has to be, in another way."""

from __future__ import annotations

from random import Random

HEAD = """module random_constructs
param Node: set = {a, b, c}
record Pair: left: 0 .. 3, right: 0 .. 3
state:
    x: 0 .. 3 = 0
    y: 0 .. 3 = 1
    m: map[Node, 0 .. 3] = [n -> 0]
    pairs: map[Node, Pair] = [n -> Pair(0, 1)]
    some: map[Node, 0 .. 3, max 2] = {}
    s: set[Node] = {}
    q: seq[0 .. 3, max 3] = [1, 0]
    last: 0 .. 3 = 0
    r: 0 .. 9 = 0
"""

NUMBERS = (
    *("x", "y", "m[a]", "m[n]", "pairs[b].left", "pairs[n].right", "count(s)", "count(q)", "count(some)"),
    *("(if n in s then x else y)", "(if n in some then some[n] else 0)", "(if q == [] then 3 else q[0])"),
    *("sum(m[w] for w in Node)", "count(w for w in s if m[w] == x)", "max(pairs[w].left for w in Node)"),
)
CONDITIONS = ("n in s", "x > y", "m[n] == 0", "q != []", "n in some", "n == a", "pairs[n].left < 2", "x in q")


def random_spec(random: Random) -> str:
    """The text of a spec with up to three actions, each with a next value and an invariant about it."""
    lines = [HEAD]
    for number in range(1, random.randint(2, 3) + 1):
        expression = f"({random.choice(NUMBERS)} + {random.choice(NUMBERS)} + x) % 10"
        lines += [f"action act{number}(n: Node):", f"    when {random.choice(CONDITIONS)} or last != {number}"]
        lines += _more_guards(random, number)
        lines += [f"    {line}" for line in _updates(random)]
        if random.random() < 0.3:
            lines += ["    if enabled(act1(n)):", "        could := could + 1"] if number > 1 else []
        lines += [f"    last := {number}", f"    r := new({expression})", "    of := n"]
        lines.append(f"reachable can{number}: enabled(act{number}{('', '(a)', '(_)')[number - 1]})")
        lines.append(f"invariant next{number}: last == {number} implies (let n = of: r == {expression})")
    lines += _functions(random)
    lines[0] += "    of: Node = a\n    ghost could: 0 .. 99 = 0\n"
    return "\n".join(lines) + "\n"


def _functions(random: Random) -> list[str]:
    """Functions that call themselves or take others, and what they have to be in other words."""
    a, b, c = (random.randint(0, 3) for _ in range(3))
    step = random.choice([f"{a} * old_one + k * {b}", f"max({{old_one, k + {b}}})", f"{c} - old_one"])
    test, n = (
        random.choice(["m[w] == k", "w in s and k > 1", "pairs[w].left < k", "m[w] <= x + k"]),
        random.randint(0, 3),
    )
    return [
        f"def down(k: 0 .. 3): int = if k == 0 then {c} else (let old_one = down(k - 1): {step})",
        f"def along(t: seq[0 .. 3, max 3]): int = if t == [] then {c} else t[0] * {a} - {b} + along(drop(t, 1))",
        "def grown(t: set[Node]): set[Node] =",
        "    let u = t + {w in Node if exists v in t: m[v] == m[w]}: if u == t then t else grown(u)",
        "def even(k: 0 .. 3): bool = if k == 0 then true else odd(k - 1)",
        "def odd(k: 0 .. 3): bool = if k == 0 then false else even(k - 1)",
        "def some_of(t: set[Node], p: def(Node): bool): bool = exists w in t: p(w)",
        "def applied(f: def(int): int, k: int): int = f(f(k))",
        f"def more(k: int, by: int): int = k * {a} + by",
        f"def test(w: Node, k: int): bool = {test}",
        "invariant functions:",
        f"    down(x) == (fold old_one = {c} for k in 1 .. 3: if k <= x then {step} else old_one)",
        f"    along(q) == (fold total = {c} for k in q: total + k * {a} - {b})",
        "    grown(s) == {w in Node if exists v in s: m[v] == m[w]}",
        "    even(y) == (y % 2 == 0) and odd(y) == (y % 2 == 1)",
        f"    some_of(s, test(_, {n})) == (let k = {n}: exists w in s: {test})",
        f"    applied(more(_, y), x) == (x * {a} + y) * {a} + y",
    ]


def _more_guards(random: Random, number: int) -> list[str]:
    ways: list[list[str]] = [
        [],
        [f"bound limit{number}: x + y < 5"],
        ["let k0 = m[n] + x", "when k0 < 4"],
        ["pick z in s + {a}", "when m[z] <= y"],
    ]
    return [f"    {line}" for line in random.choice(ways)]


def _updates(random: Random) -> list[str]:
    """Assignments to x and some other variables."""
    ways = [_of_map, _of_pairs, _of_some, _of_set, _of_sequence]
    return [line for way in (_of_x, *random.sample(ways, random.randint(1, 3))) for line in way(random)]


def _number(random: Random) -> str:
    return f"({random.choice(NUMBERS)} + {random.randint(0, 2)}) % 4"


def _either(random: Random, yes: list[str], no: list[str]) -> list[str]:
    """One or the other, by a condition."""
    inside = [f"    {line}" for line in yes]
    other = ["else:", *(f"    {line}" for line in no)] if no else []
    return [f"if {random.choice(CONDITIONS)}:", *inside, *other]


def _of_x(random: Random) -> list[str]:
    if random.random() < 0.5:
        return [f"x := {_number(random)}"]
    return _either(random, [f"x := {_number(random)}"], [f"let k = {_number(random)}", "x := (k + 1) % 4"])


def _of_map(random: Random) -> list[str]:
    one = _either(random, [f"m[n] := {_number(random)}"], random.choice([[], [f"m[a] := {_number(random)}"]]))
    own = [
        f"for o in {random.choice(['Node', 's', 'Node - {n}'])}:",
        "    if m[o] < 2:",
        f"        m[o] := {_number(random)}",
    ]
    others = ["for o in s:", "    let k = x + m[o]", "    m[if o == a then b else if o == b then c else a] := k % 4"]
    return random.choice([one, own, others, [f"m := [o -> (m[o] + {_number(random)}) % 4]"]])


def _of_pairs(random: Random) -> list[str]:
    fields = [f"pairs[n].left := {_number(random)}", f"pairs[n].right := {_number(random)}"]
    loop = ["for o in Node:", f"    pairs[o].{random.choice(['left', 'right'])} := (m[o] + {random.randint(0, 3)}) % 4"]
    return random.choice([fields, fields[:1], loop, [f"pairs[b] := Pair({_number(random)}, 1)"]])


def _of_some(random: Random) -> list[str]:
    loop = ["for o in {a, n}:", f"    some[o] := (m[o] + {random.randint(0, 3)}) % 4"]
    return random.choice([[f"some[n] := {_number(random)}"], loop, ["some := without(some, n)"]])


def _of_set(random: Random) -> list[str]:
    return random.choice([["s := s + {n}"], ["s := {o in Node if m[o] > 0}"], _either(random, ["s := s - {n}"], [])])


def _of_sequence(random: Random) -> list[str]:
    return random.choice(
        [[f"q := take(q, 1) + [{_number(random)}]"], ["q := drop(q, 1)"], _either(random, ["q[0] := x"], ["q := [y]"])]
    )
