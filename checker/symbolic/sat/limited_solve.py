"""One call of a SAT solver in this process that ends at its budget, or at Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Sequence

import pysolvers
from pysat.solvers import Solver


def solve_limited(solver: Solver, assumptions: Sequence[int]) -> bool | None:
    """Whether the clauses have a model under the assumptions; None if the budget ended, or after Ctrl-C.

    During the call python-sat handles SIGINT itself; then the signal is raised again for the handler of this process.
    """
    try:
        answer: bool | None = solver.solve_limited(assumptions=list(assumptions))
    except pysolvers.error:
        signal.raise_signal(signal.SIGINT)
        return None
    return answer
