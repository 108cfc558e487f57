"""Jobs on Spark: the one package that may import pyspark.

``assay.spark.explore`` checks a spec with the tasks of a session; it is imported when somebody asks for it, as tasks themselves need little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.spark.exploration import explore as explore


def __getattr__(name: str) -> Any:
    if name != "explore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from assay.spark.exploration import explore  # noqa: PLC0415 - as the docstring says

    return explore
