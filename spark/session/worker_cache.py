"""What a worker process of Spark has loaded, and keeps from one task to the next."""

from __future__ import annotations

import gc
import os
from functools import cache


@cache
def settle(after: str) -> None:  # noqa: ARG001 - it is what the cache knows the calls by
    """Let what is loaded by now be no matter of garbage collection any more: Spark's worker looks for garbage after each task, among everything.

    ``after`` says what was loaded; it is done once for each, in workers alone.
    """
    if "SPARK_REUSE_WORKER" in os.environ:
        gc.collect()
        gc.freeze()
