"""Drives real code through the steps of a model, and compares what it does (docs/testing-code.md).

::

    from assay.testing import Refused, state_machine

    class Lease:
        refuses = frozenset({"acquire", "release"})

        def __init__(self):
            self.service = LeaseService()

        def acquire(self, c):
            if not self.service.acquire(c):
                raise Refused

        def observe(self):
            return {"holder": self.service.holder}

    TestLease = state_machine("lease.assay", Lease).TestCase

Needs Hypothesis (``pip install '.[testing]'`` in a clone).
"""

from assay.testing.generated_run import follow
from assay.testing.machine import run, state_machine
from assay.testing.model_run import DepartureError, ModelCall, ModelCoverage, ModelRun, Refused
from assay.testing.subprocess_driver import SubprocessDriver

__all__ = [
    "DepartureError",
    "ModelCall",
    "ModelCoverage",
    "ModelRun",
    "Refused",
    "SubprocessDriver",
    "follow",
    "run",
    "state_machine",
]
