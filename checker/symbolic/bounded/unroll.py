"""The transition relation unrolled: frame k is the state after k steps, as literals of one graph that simplifies as it
grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.checker.aig.graph import TRUE, Gates
from assay.checker.symbolic.encode.initial import Bits
from assay.checker.symbolic.encode.transition_system import System


class UnrolledSystem:
    """Frames of a system. ``frames[k]`` are the bits of state k, ``choices[k]`` the inputs that choose the step from
    it."""

    def __init__(self, system: System, first: Sequence[int], gates: Gates) -> None:
        self.system = system
        self.gates = gates
        self.frames: list[list[int]] = [list(first)]
        self.choices: list[list[int]] = []
        self._images: list[dict[int, int]] = []

    def choice(self, frame: int) -> list[int]:
        """The inputs that choose the step from a frame."""
        while len(self.choices) <= frame:
            self.choices.append(self.gates.inputs(len(self.system.choice)))
        return self.choices[frame]

    def extend(self) -> None:
        """Add a frame."""
        self.frames.append(self.at(len(self.frames) - 1, self.system.after))

    def at(self, frame: int, literals: Sequence[int]) -> list[int]:
        """The literals of the system (over its state and choice) read at a frame."""
        while len(self._images) <= frame:
            self._images.append(self._inputs(len(self._images)))
        return _copied(self.system.gates, self.gates, literals, self._images[frame])

    def between(self, before: int, after: int, literals: Sequence[int], old: Sequence[int]) -> list[int]:
        """Literals over a state and over ``old`` (inputs that stand for an earlier state), read at two frames."""
        image = {mine >> 1: bit for mine, bit in zip(self.system.state, self.frames[after], strict=True)}
        image |= {mine >> 1: bit for mine, bit in zip(old, self.frames[before], strict=True)}
        return _copied(self.system.gates, self.gates, literals, image)

    def rows(self, values: Callable[[Sequence[int]], Sequence[bool]]) -> list[Bits]:
        """The bits of the state of every frame, from the values that a solver gave the inputs."""
        inputs = [bit for bits in (self.frames[0], *self.choices) for bit in bits if bit > TRUE]
        given = {each >> 1: -1 if value else 0 for each, value in zip(inputs, values(inputs), strict=True)}
        flat = [bit & 1 for bit in self.gates.evaluate([bit for frame in self.frames for bit in frame], given)]
        width = len(self.system.state)
        return [tuple(flat[at : at + width]) for at in range(0, len(flat), width)]

    def _inputs(self, frame: int) -> dict[int, int]:
        image = {mine >> 1: bit for mine, bit in zip(self.system.state, self.frames[frame], strict=True)}
        return image | {mine >> 1: theirs for mine, theirs in zip(self.system.choice, self.choice(frame), strict=True)}


def _copied(source: Gates, target: Gates, roots: Sequence[int], image: dict[int, int]) -> list[int]:
    """As ``Gates.copy_into``, remembering in ``image`` what was copied."""
    image.setdefault(0, 0)
    missing = [literal for literal in roots if literal >> 1 not in image]
    if missing:
        left, right, both = source.left, source.right, target.both
        # Gates are made anew in the graph of the unrolling, where constants and equal gates vanish.
        for node in source.cone_below(missing, image):
            a, b = left[node], right[node]
            image[node] = both(image[a >> 1] ^ (a & 1), image[b >> 1] ^ (b & 1))
    return [image[literal >> 1] ^ (literal & 1) for literal in roots]
