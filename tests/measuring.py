"""A log validated and measured, of events that a test makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.grammar.load import Loaded
from assay.traces.attribution.attribution import RunStream
from assay.traces.event import Event, Field
from assay.traces.impact.outages import Meter, basis, with_impact
from assay.traces.result import Validation
from assay.traces.validate import conclude, validate_shared, validate_slices


def measured(
    loaded: Loaded, events: Sequence[Event], settings: Mapping[str, Field], since: int | None = None
) -> Validation:
    """The answer with its measures and notes; where no execution was found there are none."""
    shared, slices = validate_shared(loaded, events)
    answers = validate_slices(shared, slices)
    streams = [RunStream(event.run, event.sequence, [event]) for event in events]
    asked = basis(shared.kernel, shared.clause, shared.execution, streams, settings)
    if asked is None:
        return conclude(shared, answers, 0.0)
    meter = Meter(asked)
    answers = [meter.measured(each, slices[each.result.name]) for each in answers]
    return with_impact(conclude(shared, answers, 0.0), meter, answers, since)
