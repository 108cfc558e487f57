"""Gates as clauses for a SAT solver: one variable and three clauses for every needed gate; wide conjunctions are one
gate.

Literals here are DIMACS integers. Reference: Tseitin, "On the complexity of derivation in propositional calculus",
1968.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.checker.aig.graph import Gates

Clause = list[int]


class Clauses:
    """Numbers variables for the nodes of one graph, and collects the clauses that define them.

    ``take`` may be called again as the graph grows; it returns only new clauses. Variable 1 is the constant true.
    """

    def __init__(self, gates: Gates) -> None:
        self.gates = gates
        self.variables: dict[int, int] = {0: -1}
        self.count = 1
        self._new: list[Clause] = [[1]]

    def literal(self, literal: int) -> int:
        """The DIMACS literal of a literal of the graph; its gates are defined from here on."""
        node = literal >> 1
        if node not in self.variables:
            self._define(node)
        variable = self.variables[node]
        return -variable if literal & 1 else variable

    def fresh(self) -> int:
        """A variable that belongs to no gate."""
        self.count += 1
        return self.count

    def take(self) -> list[Clause]:
        """The clauses since the last call."""
        new, self._new = self._new, []
        return new

    def _define(self, root: int) -> None:
        left, right = self.gates.left, self.gates.right
        nodes = self._undefined(root)
        uses = Counter(literal >> 1 for node in nodes if left[node] >= 0 for literal in (left[node], right[node]))
        inverted = {
            literal >> 1 for node in nodes if left[node] >= 0 for literal in (left[node], right[node]) if literal & 1
        }
        # A conjunction that one other alone uses, and not negated, is a part of that one: it needs no variable.
        inner = {
            node for node in nodes if uses[node] == 1 and node not in inverted and left[node] >= 0 and node != root
        }
        for node in nodes:
            if node not in inner:
                self.count += 1
                self.variables[node] = self.count
                if left[node] >= 0:
                    self._conjunction(self.count, self._leaves(node, inner))

    def _undefined(self, root: int) -> list[int]:
        seen, stack = set(), [root]
        while stack:
            node = stack.pop()
            if node not in seen and node not in self.variables:
                seen.add(node)
                if self.gates.left[node] >= 0:
                    stack.append(self.gates.left[node] >> 1)
                    stack.append(self.gates.right[node] >> 1)
        return sorted(seen)

    def _leaves(self, node: int, inner: set[int]) -> Sequence[int]:
        """The operands of nested conjunctions that nothing else uses."""
        leaves: dict[int, None] = {}
        stack = [self.gates.right[node], self.gates.left[node]]
        while stack:
            literal = stack.pop()
            if literal & 1 == 0 and literal >> 1 in inner:
                stack += [self.gates.right[literal >> 1], self.gates.left[literal >> 1]]
            else:
                leaves[literal] = None
        return list(leaves)

    def _conjunction(self, variable: int, leaves: Sequence[int]) -> None:
        parts = [self.literal(leaf) for leaf in leaves]
        self._new += [[-variable, part] for part in parts]
        self._new.append([variable, *(-part for part in parts)])
