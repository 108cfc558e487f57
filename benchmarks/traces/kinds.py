"""All kinds of coherent mutants, so many of each, and whether an answer names the rule that one breaks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from assay.traces.incremental.incremental_recheck import RecheckAnswer

from .coherent import (
    Coherent,
    dead_in_isr,
    epoch_kept,
    histories,
    needless_unclean,
    not_first,
    outside_isr,
    reassignment_cut,
    stale_obeyed,
    superseded,
)
from .further import (
    assigned_twice,
    live_removed,
    needless_election,
    no_replica,
    same_isr,
    superseded_isr,
    unclean_not_first,
    unsent_epoch,
    without_leader,
)

KINDS = (
    outside_isr,
    not_first,
    dead_in_isr,
    superseded,
    epoch_kept,
    stale_obeyed,
    reassignment_cut,
    needless_unclean,
    assigned_twice,
    needless_election,
    same_isr,
    without_leader,
    no_replica,
    live_removed,
    superseded_isr,
    unclean_not_first,
    unsent_epoch,
)
"""The ways to make a false history: those of elections and of what follows from them, then those of other steps."""


def coherent_mutants(runs: Sequence[str], count: int, seed: int) -> list[Coherent]:
    """So many false histories, of each kind as many as there are up to its share; the same for the same seed."""
    random = Random(seed)
    every = [history for run in runs for history in histories(run)]
    found: list[Coherent] = []
    for at, kind in enumerate(KINDS):
        possible = [mutant for history in every for mutant in kind(history) if mutant.change]
        # What one kind lacks, those after it give.
        share = -(-(count - len(found)) // (len(KINDS) - at))
        found += random.sample(possible, min(share, len(possible)))
    return found


def blames_the_rule(mutant: Coherent, judgement: RecheckAnswer) -> bool:
    """Whether the first finding names a rule that the history breaks. It stands with the blamed line, or between lines
    that contradict each other."""
    first = judgement.violations[0] if judgement.violations else None
    parts = () if first is None else first.blame[0].parts
    between = () if first is None or first.contradiction is None else first.contradiction.rules
    return (
        any(label == part.label or label in part.text for part in parts for label in mutant.labels)
        or any(re.search(rf"\b{re.escape(label)}\b", rule) for rule in between for label in mutant.labels)
        or any(label in broken.name for broken in judgement.properties for label in mutant.labels)
    )
