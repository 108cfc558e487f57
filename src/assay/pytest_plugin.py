"""A plugin for pytest: the fixture ``conformance`` records what a test does, and asserts that a spec explains it.

::

    def test_lease(conformance):
        with conformance("lease.assay") as log:
            run_clients(LeaseService(on_event=log.record))

Nothing is imported here before the fixture is used, because every run of pytest in the environment loads this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay.record import Recorder

Conformance = Callable[..., AbstractContextManager["Recorder"]]
"""``conformance(spec, *, clause=None, settings=None, node=None, options=None)``."""


@pytest.fixture
def conformance(request: pytest.FixtureRequest, tmp_path: Path) -> Conformance:
    """Records events inside a ``with`` block, and validates them against a spec at its end.

    The spec is a file (beside the test, or where pytest runs) or a bundled spec. ``clause`` is its trace clause,
    ``settings`` are its parameters, ``options`` those of ``assay.validate``. The block's value is an
    ``assay.record.Recorder``; events of other processes, and of other nodes (``log.of_node("n2")``), are validated too.
    The test fails if the events are not consistent with the spec: with the line, the rule that it breaks, and the
    smallest repair. It fails as well if nothing was recorded that the spec speaks of, and if the answer is
    inconclusive.
    """
    count = 0

    @contextmanager
    def recorded(
        spec: str | Path,
        *,
        clause: str | None = None,
        settings: Mapping[str, Any] | None = None,
        node: str | None = None,
        options: Any = None,
    ) -> Iterator[Recorder]:
        nonlocal count
        import assay  # noqa: PLC0415 - only where the fixture is used
        from assay.record import Recorder  # noqa: PLC0415 - likewise

        model = assay.load(_found(spec, request), settings=settings)
        count += 1
        folder = tmp_path / f"conformance-{count}"
        folder.mkdir()
        with Recorder(folder / "events.jsonl", node=node) as log:
            yield log
        limits = options or assay.ValidationOptions()
        answer = assay.validate(
            [path for path in log.files if path.stat().st_size], model, clause=clause, options=limits
        )
        if not answer.ok:
            pytest.fail(f"the events of the test do not conform to {spec}\n\n{answer}", pytrace=False)

    return recorded


def _found(spec: str | Path, request: pytest.FixtureRequest) -> str:
    """The file of a spec: as it is named, or beside the test; else the name, which may be that of a bundled spec."""
    beside = request.path.parent / spec
    return str(beside) if beside.exists() and not Path(spec).exists() else str(spec)
