"""Random small specs about behaviours: actions that move between a few places, fairness of every sort, also of groups, and temporal properties."""

from __future__ import annotations

from random import Random

PLACES = 5
NODES = ("a", "b")
FAIRNESS = ("", "", " fair", " fair per x", " strong fair", " strong fair per x")


def random_spec(random: Random, *, plain: bool = False, nested: bool = False) -> str:
    """The text of a spec. A ``plain`` one has no bounds, nothing undefined, and only properties that TLC takes, unless they are ``nested``."""
    # Each strong fairness doubles what TLC makes of a formula.
    kinds = FAIRNESS[:4] if plain else FAIRNESS
    fair = [random.choice(kinds) for _ in range(random.randint(2, 4))]
    if plain:
        fair[0] = random.choice(FAIRNESS)
    actions = [_action(random, at, each, plain=plain) for at, each in enumerate(fair)]
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
    maker = Formulas(random, names, plain=plain and not nested, defined=plain)
    lines += [
        f"property p{at}: {maker.formula(random.randint(1, 2 if plain else 3))}" for at in range(1 if plain else 3)
    ]
    if random.random() < 0.4:
        sort = random.choice(("fair", "fair per x", *(() if plain else ("strong fair", "strong fair per x"))))
        lines.append(f"{sort}: {', '.join(random.sample(names, random.randint(1, len(names))))}")
    return "\n".join(lines)


def _places(random: Random) -> str:
    return "{" + ", ".join(map(str, sorted(random.sample(range(PLACES), random.randint(1, 3))))) + "}"


def _action(random: Random, number: int, fair: str, *, plain: bool) -> tuple[str, list[str]]:
    name = f"act{number}"
    lines = [f"action {name}(x: Node){fair}:", f"    when s in {_places(random)}"]
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

    def __init__(self, random: Random, actions: list[str], *, plain: bool, defined: bool) -> None:
        self.random = random
        self.actions = actions
        self.plain = plain
        self.defined = defined

    def formula(self, depth: int) -> str:
        if self.random.random() < 0.25:
            node = self.random.choice(["x", "y"])
            kind = self.random.choice(["forall", "exists"])
            return f"({kind} {node} in Node: {self.temporal(depth, node)})"
        if self.plain and self.random.random() < 0.2:
            form = self.random.choice(["always eventually occurs", "not always eventually occurs"])
            return f"{form}({self.instance(None)})"
        return self.temporal(depth, None)

    def temporal(self, depth: int, node: str | None) -> str:
        pick = self.random.random()
        if depth == 0:
            return self.atom(node)
        inner = [self.temporal(depth - 1, node) for _ in range(2)]
        if self.plain:
            return self.plainly(pick, inner, node)
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
        return f"({inner[0]} until {inner[1]})"

    def plainly(self, pick: float, inner: list[str], node: str | None) -> str:
        """A formula in which operators are nested as TLC takes them.

        Of ``[](~[]A \\/ <>B)`` TLC 2.15 says that it is violated, and that its negation is, of a system with a single behaviour.
        """
        here, then = self.atom(node), self.atom(node)
        forms = [
            f"(always {here})",
            f"(eventually {here})",
            f"({here} leads_to {then})",
            f"({here} leads_to always {then})",
            f"(always eventually {here})",
            f"(eventually always {here})",
            f"(eventually ({here} and always {then}))",
            f"({inner[0]} and {inner[1]})",
            f"({inner[0]} or {inner[1]})",
            f"({inner[0]} implies {inner[1]})",
            f"(not {inner[0]})",
        ]
        return forms[int(pick * len(forms))]

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
        if pick < 0.97 or self.defined:
            return f"occurs({self.instance(node)})"
        return self.random.choice(["4 // s >= 1", "s != 0 and 4 // s >= 2", "s == 0 or 4 // s >= 2"])

    def instance(self, node: str | None) -> str:
        action = self.random.choice(self.actions)
        return self.random.choice([action, f"{action}({node or self.random.choice(NODES)})", f"{action}(_)"])
