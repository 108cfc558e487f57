"""Jobs on Spark: the one package that may import pyspark.

``assay.spark.explore`` checks a spec with the tasks of a session, ``assay.spark.validate`` validates logs, and
``assay.spark.ship`` sends this package to executors.

The three names are imported when they are first used. A task on an executor, and the command line, need neither pandas
nor most of this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.spark.exploration import explore as explore
    from assay.spark.logs.notebook_api import validate as validate
    from assay.spark.session.ship_package import ship as ship

_PLACES = {
    "explore": "assay.spark.exploration",
    "validate": "assay.spark.logs.notebook_api",
    "ship": "assay.spark.session.ship_package",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
