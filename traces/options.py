"""Options of a validation: the limits of its searches, and what is assumed about the logs."""

from __future__ import annotations

from math import inf

from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a validation.

    * ``nodes``: the most nodes that one search may visit.
    * ``mismatches``: the most mismatches that are reported. With 0 is only asked whether there is an execution.
    * ``mutants``: how many mutated logs are tried, with random ``seed``.
    * ``skew``: the clock skew in milliseconds; it takes precedence over that of the clause.
    * ``strict``: behaviour that the clause reports as known is not allowed. Otherwise it is allowed if it is that of
      one of ``versions``, or if no version is known.
    * ``partial``: lines are missing. A version number without a line is then an update that a missing line may have
      reported, and no hidden step is inferred for it. A search may visit only a part of the nodes (``OF_PARTIAL``).
    * ``lossy``: of nodes that have logs lines were not read. Elsewhere a line that was lost excuses a contradiction only
      if another line misses it too.
    * ``holes``: nodes with logs in which a stretch of lines is missing. They may have done anything unseen.
    * ``tied``: lines of one time stand in no order in their files.
    * ``begun``: only the beginnings of logs are missing. A slice is then first validated as if logs were whole.
    * ``late``: when the last of the files begins, in milliseconds. A line before that may lack an explanation because
      another file began later.
    * ``supposes``: lines of others than brokers may be missing too, and the hidden steps of the clause stand for them.
    * ``jobs``: how many processes validate slices; 0 for one per core.
    * ``whole``: all slices are also searched together.
    * ``solver``: a SAT solver continues where a limit ends a search.
    * ``first``: the validation stops at the first mismatch, and looks for no repair of it.
    """

    nodes: int = 200_000
    mismatches: int = 50
    mutants: int = 0
    seed: int = 0
    skew: int | None = None
    strict: bool = False
    versions: tuple[str, ...] = ()
    partial: bool = False
    lossy: bool = False
    holes: frozenset[str] = frozenset()
    tied: bool = False
    begun: bool = False
    late: float = -inf
    supposes: bool = False
    jobs: int = 1
    whole: bool = False
    solver: bool = True
    first: bool = False


DEFAULT_OPTIONS = Options()
