"""What a validation is asked to do: limits of its searches, and what is assumed of the logs."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class Options:
    """``nodes`` is the most nodes that one search may visit; ``mismatches`` the most that are reported; ``mutants`` how many are tried.

    ``skew`` (milliseconds) goes before the clause's own. Where ``strict``, what the clause reports as known behaviour is not allowed for;
    otherwise what it reports of one of ``versions``, or all of it if none is known. Where the logs are ``partial``, a number that no line states
    is that of a write which the missing lines may tell of, and no hidden step is supposed in its place; and a search may visit a part of the nodes only,
    ``OF_PARTIAL``. Where they lack their beginnings alone, ``begun``, a slice is taken for one of whole logs first. The last of their files begins at ``late``
    (milliseconds): before that a line may have no explanation because of what the others would have told.
    Where the clause ``supposes``, what others than brokers wrote may be missing too: its hidden steps stand for that.
    ``jobs`` is by how many processes slices are answered; 0 as many as there are cores. With ``whole`` all slices are also searched together. Where a
    cap ends a search a ``solver`` goes on.
    """

    nodes: int = 200_000
    mismatches: int = 50
    mutants: int = 0
    seed: int = 0
    skew: int | None = None
    strict: bool = False
    versions: tuple[str, ...] = ()
    partial: bool = False
    begun: bool = False
    late: float = -inf
    supposes: bool = False
    jobs: int = 1
    whole: bool = False
    solver: bool = True


DEFAULT_OPTIONS = Options()
