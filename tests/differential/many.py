"""How often compiled code, TLC, or the meaning of the text was compared with the reference evaluator, and agreed.

``python -m tests.differential.many native|tlc|text|text-native|text-bmc FIRST LAST``: kernels, or specs written down with all constructs.

The seeds from the first up to the last make random kernels: all that both say of them is compared. One line of JSON for every thousand,
with those that do not agree. For TLC the first kernels of each thousand are taken that it evaluates as assay does, and joined, as in the tests.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text

from . import test_bmc
from .joined import survey
from .language.compared import compare
from .language.specs import Spec
from .random_kernel import random_kernel
from .test_language import spec_of
from .test_native import agree
from .test_tlc_random import cases

BATCH = 1000
JOINED = 100
"""How many kernels one run of TLC searches."""


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


def counts_by_tlc(seeds: range) -> dict[str, object]:
    """How many of the kernels were compared and agreed, and how TLC differs where it does, or why it said nothing."""
    found = cases(JOINED, seeds.start, 2 + seeds.start // BATCH % 3)
    with TemporaryDirectory() as folder:
        seen, answer = survey([case.kernel for case in found], Path(folder))
    if not answer.is_complete:
        return {"first": seeds.start, "asked": len(found), "agreed": 0, "failed": [answer.error[:1000]]}
    failed = [text for case, each in zip(found, seen, strict=True) if (text := case.differs(each)) is not None]
    return {"first": seeds.start, "asked": len(found), "agreed": len(found) - len(failed), "failed": failed}


def of_texts(ask: Callable[[Spec, int, Path], object]) -> Callable[[range], dict[str, object]]:
    """The same about random specs that are written down, without those that the language refuses."""

    def counted(seeds: range) -> dict[str, object]:
        agreed, refused, failed = 0, 0, []
        with TemporaryDirectory() as folder:
            for seed in seeds:
                try:
                    agreed += bool(ask(spec_of(seed), seed, Path(folder)))
                except SpecError:
                    refused += 1
                except Exception as error:  # noqa: BLE001 - the other seeds are compared anyway
                    failed.append({"seed": seed, "error": f"{type(error).__name__}: {error}"[:300]})
        return {"first": seeds.start, "asked": len(seeds), "agreed": agreed, "refused": refused, "failed": failed}

    return counted


def by_native(spec: Spec, seed: int, folder: Path) -> bool:
    kernel = load_text(spec.text).kernel
    return agree(kernel, folder, keep_going=seed % 2 == 0, threads=1 + seed % 3) is not None


COMPARED: dict[str, Callable[[range], dict[str, object]]] = {
    "native": counts,
    "tlc": counts_by_tlc,
    "text": of_texts(lambda spec, _, __: compare(spec, load_text(spec.text).kernel)),
    "text-native": of_texts(by_native),
    "text-bmc": of_texts(lambda spec, _, __: test_bmc.agree(load_text(spec.text).kernel, 3)),
}

if __name__ == "__main__":
    compared = COMPARED[sys.argv[1]]
    begin, end = (int(each) for each in sys.argv[2:])
    for first in range(begin, end, BATCH):
        sys.stdout.write(json.dumps(compared(range(first, min(end, first + BATCH)))) + "\n")
        sys.stdout.flush()
