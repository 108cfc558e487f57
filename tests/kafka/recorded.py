"""The recorded clusters that the tests of this folder share, and what an accepted execution says of them."""

from __future__ import annotations

import tarfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from assay.checker.report import State
from assay.cli.settings import load
from assay.grammar.kernel import Kernel
from assay.grammar.values import Value, VariantValue
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.result import Validation
from assay.traces.samples import sample
from assay.traces.scoped_validate import validate_in_scope

RECORDINGS = Path(__file__).resolve().parents[1] / "corpus" / "recordings"
SAMPLES = {"A1": "elections", "A2": "duplicate-broker"}


def archive(run: str) -> Path:
    """The archive of a run: the logs of its nodes, one directory each, and nothing else."""
    return sample(SAMPLES[run]) if run in SAMPLES else RECORDINGS / f"{run}.tar.xz"


def unpack(run: str, folder: Path) -> Path:
    """Unpack a run below a folder; the directory that holds the nodes' directories."""
    with tarfile.open(archive(run)) as content:
        content.extractall(folder, filter="data")
    return folder / SAMPLES.get(run, run)


def validate_paths(paths: Iterable[Path], options: Options = DEFAULT_OPTIONS) -> tuple[LogReading, Validation]:
    """The logs as read, and the answer about them against the controller model."""
    reading = read_logs(list(paths))
    return reading, validate_in_scope(load("kafka/controller", None, {}), reading, options)


@cache
def validated_run(run: str) -> tuple[LogReading, Validation]:
    """The same for an archived run, once in a session: neither value is ever changed."""
    return validate_paths([archive(run)])


def elections(validation: Validation) -> list[tuple[int, str]]:
    """Each election of the accepted execution: the epoch and the winning process, in order."""
    assert validation.execution is not None
    return [
        (int(str(step.event.fields["epoch"])), str(step.event.fields["node"]))
        for step in validation.execution.steps
        if step.event is not None and step.event.kind == "ControllerElected"
    ]


def zombies(validation: Validation) -> set[tuple[str, int]]:
    """Processes, with their epoch, that still took themselves for the controller when they logged a line after the next election."""
    assert validation.execution is not None
    found = set()
    before = validation.execution.initial
    for step in validation.execution.steps:
        node = "" if step.event is None else str(step.event.fields["node"])
        epoch = _acting_epoch(validation.kernel, before, node)
        if epoch is not None and epoch < _controller_epoch(validation.kernel, before):
            found.add((node, epoch))
        before = step.state
    return found


def _variable(kernel: Kernel, state: State, name: str) -> Value:
    return state[[variable.name for variable in kernel.variables].index(name)]


def _controller_epoch(kernel: Kernel, state: State) -> int:
    epoch = _variable(kernel, state, "controller_epoch")
    assert isinstance(epoch, int)
    return epoch


def _acting_epoch(kernel: Kernel, state: State, node: str) -> int | None:
    roles = _variable(kernel, state, "role")
    assert isinstance(roles, dict)
    role = next((value for process, value in roles.items() if process.name == node), None)
    return int(role.payload[0]) if isinstance(role, VariantValue) and role.variant == "Active" else None
