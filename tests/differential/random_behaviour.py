"""Random small specs about behaviours: actions that move between a few places, fairness of every sort, and temporal properties."""

from __future__ import annotations

from random import Random

PLACES = 5
NODES = ("a", "b")


def random_spec(random: Random, *, plain: bool = False) -> str:
    """The text of a spec. A ``plain`` one has no bounds, nothing undefined, and only properties that TLC takes."""
    actions = [_action(random, at, plain=plain) for at in range(random.randint(2, 4))]
    names = [name for name, _ in actions]
    lines = [
        "module random_behaviour",
        "param Node: set = {a, b}",
        "state:",
        f"    s: 0 .. {PLACES - 1} = {random.randrange(PLACES)}",
        "    at: map[Node, bool] = [n -> false]"
        if random.random() < 0.5
        else "    at: map[Node, bool] = [n -> n == a]",
        *(line for _, body in actions for line in body),
    ]
    maker = Formulas(random, names, plain=plain)
    lines += [f"property p{at}: {maker.formula(random.randint(1, 3))}" for at in range(1 if plain else 3)]
    return "\n".join(lines)


def _places(random: Random) -> str:
    return "{" + ", ".join(map(str, sorted(random.sample(range(PLACES), random.randint(1, 3))))) + "}"


def _fairness(random: Random) -> str:
    return random.choice(["", "", " fair", " strong fair", " fair per x", " strong fair per x"])


def _action(random: Random, number: int, *, plain: bool) -> tuple[str, list[str]]:
    name = f"act{number}"
    lines = [f"action {name}(x: Node){_fairness(random)}:", f"    when s in {_places(random)}"]
    if random.random() < 0.4:
        lines.append(f"    when {'not ' if random.random() < 0.5 else ''}at[x]")
    if not plain and random.random() < 0.25:
        lines.append(f"    bound limit{number}: s != {random.randrange(PLACES)}")
    moves = random.random()
    if moves < 0.5:
        lines += [f"    pick to in {_places(random)}", "    s := to"]
    elif moves < 0.8:
        lines.append(f"    s := if at[x] then {random.randrange(PLACES)} else {random.randrange(PLACES)}")
    if moves >= 0.8 or random.random() < 0.4:
        lines.append(f"    at[x] := {random.choice(['true', 'false', 'not at[x]', 's in ' + _places(random)])}")
    return name, lines


class Formulas:
    """Makes temporal formulas over the places, the nodes and the actions."""

    def __init__(self, random: Random, actions: list[str], *, plain: bool) -> None:
        self.random = random
        self.actions = actions
        self.plain = plain

    def formula(self, depth: int) -> str:
        if self.random.random() < 0.25:
            node = self.random.choice(["x", "y"])
            kind = self.random.choice(["forall", "exists"])
            return f"({kind} {node} in Node: {self.temporal(depth, node)})"
        return self.temporal(depth, None)

    def temporal(self, depth: int, node: str | None) -> str:
        pick = self.random.random()
        if depth == 0:
            return self.atom(node)
        inner = [self.temporal(depth - 1, node) for _ in range(2)]
        if self.plain and pick < 0.1:
            return f"(always eventually occurs({self.instance(node)}))"
        if pick < 0.2:
            return f"(always {inner[0]})"
        if pick < 0.4:
            return f"(eventually {inner[0]})"
        if pick < 0.55:
            return f"({inner[0]} leads_to {inner[1]})"
        if pick < 0.65:
            return f"(always eventually {inner[0]})"
        if pick < 0.75:
            return f"(eventually always {inner[0]})"
        if pick < 0.85:
            return f"({inner[0]} {self.random.choice(['and', 'or', 'implies'])} {inner[1]})"
        if self.plain:
            return f"(not {inner[0]})"
        return f"({inner[0]} until {inner[1]})"

    def atom(self, node: str | None) -> str:
        pick = self.random.random()
        if pick < 0.5:
            return f"s in {_places(self.random)}"
        if pick < 0.6:
            return f"at[{node or self.random.choice(NODES)}]"
        if pick < 0.75 or (self.plain and pick < 0.85):
            return f"s not in {_places(self.random)}"
        if self.plain or pick < 0.9:
            return f"enabled({self.instance(node)})"
        if pick < 0.97:
            return f"occurs({self.instance(node)})"
        return self.random.choice(["4 // s >= 1", "s != 0 and 4 // s >= 2", "s == 0 or 4 // s >= 2"])

    def instance(self, node: str | None) -> str:
        action = self.random.choice(self.actions)
        return self.random.choice([action, f"{action}({node or self.random.choice(NODES)})", f"{action}(_)"])
