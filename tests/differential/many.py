"""How often compiled code was compared with the reference evaluator, and agreed: ``python -m tests.differential.many FIRST LAST``.

The seeds from the first up to the last make random kernels: all that both engines say of them is compared. One line of JSON for every thousand,
with the seeds that do not agree.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from .random_kernel import random_kernel
from .test_native import agree

BATCH = 1000


def counts(seeds: range) -> dict[str, object]:
    """How many of the kernels were compared and agreed, how many are not compiled, and which did not agree."""
    agreed, declined, failed = 0, 0, []
    with TemporaryDirectory() as folder:
        for seed in seeds:
            random = Random(seed)
            try:
                same = agree(
                    random_kernel(random, 2 + seed % 3), Path(folder), keep_going=seed % 2 == 0, threads=1 + seed % 3
                )
            except Exception as error:  # noqa: BLE001 - the other seeds are compared anyway
                failed.append({"seed": seed, "error": f"{type(error).__name__}: {error}"[:300]})
            else:
                agreed, declined = agreed + (same is not None), declined + (same is None)
    return {"first": seeds.start, "asked": len(seeds), "agreed": agreed, "not_compiled": declined, "failed": failed}


if __name__ == "__main__":
    begin, end = (int(each) for each in sys.argv[1:])
    for first in range(begin, end, BATCH):
        sys.stdout.write(json.dumps(counts(range(first, min(end, first + BATCH)))) + "\n")
        sys.stdout.flush()
