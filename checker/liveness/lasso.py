"""A lasso: an infinite run as a path of finite length and the place to which it returns."""

from __future__ import annotations

from collections.abc import Sequence

from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Lasso:
    """The numbers of states on an infinite run: the state after the last one is that at place ``loop``, and everything
    from there repeats.

    If ``loop`` is the last place itself, the run stops there.
    """

    states: tuple[int, ...]
    loop: int

    def moving(self) -> Lasso:
        """The run without steps that stay in a state where something else happens later."""
        way, around = _moves(self.states[: self.loop + 1]), _moves(self.states[self.loop :])
        return Lasso((*way, *around[1:]), len(way) - 1)

    def idle(self) -> list[int]:
        """The places at which the run is in the state in which it was before."""
        return [at for at in range(1, len(self.states)) if self.states[at] == self.states[at - 1]]

    def without(self, at: int) -> Lasso:
        """The run without one of these places."""
        # An idle place equals the one before it. So the loop may begin one place earlier if its first place goes.
        return Lasso((*self.states[:at], *self.states[at + 1 :]), self.loop - (at <= self.loop))


def _moves(states: Sequence[int]) -> list[int]:
    return [state for at, state in enumerate(states) if at == 0 or state != states[at - 1]]
