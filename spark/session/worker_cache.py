"""What a Spark worker process has loaded and keeps from one task to the next."""

from __future__ import annotations

import gc
import os
from functools import cache


@cache
def freeze_loaded(after: str) -> None:  # noqa: ARG001 - it is the key of the cache
    """Exclude what is loaded by now from garbage collection; once for each ``after``, in worker processes only.

    Spark's worker runs the garbage collector after each task. Measured: 20 ms a task among specs and line patterns
    (docs/design/cost-of-search-on-spark.md).
    """
    # Spark sets it for its workers. In the driver, cycles of the user's objects would never be freed.
    if "SPARK_REUSE_WORKER" in os.environ:
        gc.collect()
        gc.freeze()
