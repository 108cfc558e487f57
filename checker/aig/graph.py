"""And-inverter graphs: conditions as two-input ``and`` gates with inverters, each gate made once (structural hashing).

A literal is an integer: twice the number of a node, plus one if it is negated. Node 0 is the constant, so 0 is false
and 1 is true.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from assay.checker.lowering.llvm.unsupported import UnsupportedError

FALSE = 0
TRUE = 1
MOST_GATES = 6_000_000
"""A larger graph is refused: it would not fit the memory of a small machine."""


class Gates:
    """The graph. ``left`` and ``right`` hold the literals of each gate; both are -1 for an input."""

    def __init__(self) -> None:
        self.left: list[int] = [-1]
        self.right: list[int] = [-1]
        self._known: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.left)

    def input(self) -> int:
        """A new input; its literal."""
        self.left.append(-1)
        self.right.append(-1)
        return 2 * (len(self.left) - 1)

    def inputs(self, count: int) -> list[int]:
        """Several new inputs."""
        return [self.input() for _ in range(count)]

    def is_input(self, node: int) -> bool:
        """Whether the node is an input (or the constant)."""
        return self.left[node] < 0

    def both(self, a: int, b: int) -> int:
        """The conjunction. Raises ``UnsupportedError`` when the graph has become too large."""
        # One order of operands, so that `a and b` and `b and a` are one gate.
        if a > b:
            a, b = b, a
        if a <= TRUE:
            return b if a else FALSE
        if a == b:
            return a
        if a ^ b == 1:
            return FALSE
        key = (a, b)
        node = self._known.get(key)
        if node is None:
            node = len(self.left)
            if node > MOST_GATES:
                raise UnsupportedError(f"a model of more than {MOST_GATES:,} gates")
            self.left.append(a)
            self.right.append(b)
            self._known[key] = node
        return 2 * node

    def either(self, a: int, b: int) -> int:
        """The disjunction."""
        return self.both(a ^ 1, b ^ 1) ^ 1

    def differ(self, a: int, b: int) -> int:
        """Exclusive or."""
        if a <= TRUE:
            return b ^ a
        if b <= TRUE:
            return a ^ b
        if a >> 1 == b >> 1:
            return (a ^ b) & 1
        # Inverters go outside: the four ways to negate operands of an exclusive or share their gates.
        sign = (a ^ b) & 1
        a, b = a & ~1, b & ~1
        return self.both(self.both(a, b) ^ 1, self.both(a ^ 1, b ^ 1) ^ 1) ^ sign

    def choose(self, test: int, yes: int, no: int) -> int:
        """``yes`` or ``no``."""
        # Folded here, as in `both`: constants come forward through many frames, and gates of them would stay.
        if yes == no:
            return yes
        if test <= TRUE:
            return yes if test else no
        return self.both(self.both(test, yes) ^ 1, self.both(test ^ 1, no) ^ 1) ^ 1

    def all_of(self, literals: Iterable[int]) -> int:
        """The conjunction of several, as a balanced tree."""
        return self._tree(list(literals))

    def any_of(self, literals: Iterable[int]) -> int:
        """The disjunction of several."""
        return self._tree([literal ^ 1 for literal in literals]) ^ 1

    def _tree(self, level: list[int]) -> int:
        # As a balanced tree: a chain of a thousand gates would be a thousand levels deep for whoever walks it.
        while len(level) > 1:
            pairs = [self.both(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
            level = [*pairs, level[-1]] if len(level) % 2 else pairs
        return level[0] if level else TRUE

    def parts(self, literal: int) -> list[int]:
        """The literals whose conjunction this literal is; itself, if it is no conjunction."""
        found: dict[int, None] = {}
        stack = [literal]
        while stack:
            each = stack.pop()
            # A negated conjunction is a disjunction, which has no parts in this sense.
            if each & 1 or self.left[each >> 1] < 0:
                found[each] = None
            else:
                stack += [self.right[each >> 1], self.left[each >> 1]]
        return list(found)

    def cone(self, roots: Iterable[int]) -> list[int]:
        """The nodes that the literals depend on, inputs included, in the order in which they were made."""
        seen = {0}
        stack = [literal >> 1 for literal in roots]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                if self.left[node] >= 0:
                    stack.append(self.left[node] >> 1)
                    stack.append(self.right[node] >> 1)
        seen.discard(0)
        # A gate has a greater number than its operands, so this order has operands first.
        return sorted(seen)

    def cone_below(self, roots: Iterable[int], known: Container[int]) -> list[int]:
        """The gates that the literals depend on down to the ``known`` nodes, in the order in which they were made."""
        seen: set[int] = set()
        stack = [literal >> 1 for literal in roots]
        while stack:
            node = stack.pop()
            if node not in seen and node not in known:
                if self.left[node] < 0:
                    raise KeyError(f"input {node} is not known")
                seen.add(node)
                stack.append(self.left[node] >> 1)
                stack.append(self.right[node] >> 1)
        return sorted(seen)

    def evaluate(self, roots: Sequence[int], given: dict[int, int]) -> list[int]:
        """The values of literals for values of the inputs. A value is an integer of parallel bits; -1 means true in all
        of them."""
        value = {0: 0, **given}
        for node in self.cone(roots):
            if node not in value:
                a, b = self.left[node], self.right[node]
                x, y = value[a >> 1], value[b >> 1]
                value[node] = (~x if a & 1 else x) & (~y if b & 1 else y)
        return [~value[literal >> 1] if literal & 1 else value[literal >> 1] for literal in roots]
