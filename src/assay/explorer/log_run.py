"""The execution that explains a log, as a run of the model with the sets and sizes that the log gave it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from assay.api.spec import read_spec
from assay.checker.report import Step, Trace
from assay.checker.stepper.split_call import NoSuchStepError
from assay.checker.stepper.stepper import Stepper
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.kernel.types import Sort
from assay.grammar.load import Loaded
from assay.report.lines import plural
from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.observe.model_size import source_of
from assay.traces.result import Execution, Validation
from assay.traces.spec_selection import validate_with_selection


def open_logs(
    spec: str | None,
    model: str | None,
    settings: Mapping[str, str],
    logs: Sequence[str],
    slice_: str | None,
    show: Callable[[str], None] = lambda _: None,
) -> tuple[Stepper, Trace, str]:
    """A stepper, the execution that explains the logs or one slice of them, and the verdict in words. Without ``spec``
    the lines decide which one. Raises ``SpecError``, and ``NoSuchStepError`` if no execution can be shown.
    """
    named = None if spec is None else read_spec(spec, model, settings)
    reading = read_logs(list(logs), ReadOptions(source=source_of(named, None)))
    show("validating")
    load = partial(read_spec, model=model, settings=settings)
    loaded, validation = validate_with_selection(reading, named, load)
    trace = log_run(validation, slice_)
    note = f"{slice_ or 'the log'}: {validation.verdict.value}; {plural(len(trace) - 1, 'step')}"
    return log_stepper(loaded, validation, spec or validation.kernel.name), trace, note


def log_stepper(loaded: Loaded, validation: Validation, spec: str) -> Stepper:
    """A stepper over the model of a validated log."""
    kernel = validation.kernel
    sorts = {each.name: each.value.elements for each in kernel.parameters if isinstance(each.value, Sort)}
    sizes = {each.name: each.value for each in kernel.parameters if each.size and isinstance(each.value, int)}
    return Stepper(replace(loaded, kernel=kernel, sorts=sorts, sizes=sizes), spec)


def log_run(validation: Validation, slice_: str | None = None) -> Trace:
    """The execution of what is shared, or of a slice. Raises ``NoSuchStepError`` if there is none."""
    if slice_ is None:
        return _trace(validation.execution, f"the log is {validation.verdict.value}")
    names = {each.name: each for each in validation.slices}
    if slice_ not in names:
        guess = did_you_mean(slice_, names)
        raise NoSuchStepError(f"the log has no slice `{slice_}`{f'; did you mean `{guess}`?' if guess else ''}")
    found = names[slice_]
    return _trace(found.execution, f"the slice `{slice_}` is {found.verdict.value}")


def _trace(execution: Execution | None, otherwise: str) -> Trace:
    """Observations, which are steps without action, are left out: they change nothing."""
    if execution is None:
        raise NoSuchStepError(f"{otherwise}, and no execution of it was found that could be shown")
    first = Step(None, (), (), execution.initial)
    taken = (each for each in execution.steps if each.action is not None)
    return Trace((first, *(Step(each.action, each.arguments, (), each.state) for each in taken)))
