"""Jobs on Spark: the one package that may import pyspark. For notebooks there is ``validate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.spark.logs.api import validate as validate


def __getattr__(name: str) -> object:
    """``validate``, imported when somebody asks for it: the command line starts without it."""
    if name == "validate":
        from assay.spark.logs.api import validate  # noqa: PLC0415 - see above

        return validate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
