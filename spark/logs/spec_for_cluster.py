"""Which spec the logs of a cluster are validated against: the one that the user named, or the bundled one that fits
the lines.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field

from assay.grammar.diagnostics.diagnostic import Diagnostic, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded, bundled_specs, load_spec
from assay.traces.spec_selection import SpecChoice, select_spec, selectable_specs


@dataclass(frozen=True, slots=True)
class SpecSelection:
    """A spec that the user named; without one, every bundled spec that lines may select, or why it cannot be loaded.

    It holds the specs themselves and is sent to tasks: an executor may not have this package's files unpacked.
    """

    loaded: Loaded | None = None
    bundled: Mapping[str, Loaded | tuple[Diagnostic, ...]] = field(default_factory=dict)

    def choice(self, kinds: Mapping[str, int], signs: Collection[str] = ()) -> SpecChoice:
        """The choice for logs with so many events of each kind, and these signs of a mode."""
        return select_spec(kinds, None if self.loaded is None else self.loaded.kernel, signs)

    def spec(self, choice: SpecChoice) -> Loaded:
        """The spec of a choice; raises SpecError if it cannot be loaded."""
        found = self.loaded or self.bundled[choice.spec]
        if isinstance(found, tuple):
            raise SpecError(found)
        return found


def select_by_lines(model: str | None = None, settings: Mapping[str, str] | None = None) -> SpecSelection:
    """The selection where the user names no spec: all bundled ones, with parameters bound by ``model`` and
    ``settings``.
    """
    return SpecSelection(bundled={name: _bundled(name, model, settings or {}) for name in selectable_specs()})


def _bundled(name: str, model: str | None, settings: Mapping[str, str]) -> Loaded | tuple[Diagnostic, ...]:
    (folder,) = bundled_specs()
    try:
        return load_spec(folder / f"{name}.assay", model=model, overrides=settings)
    # Kept and not raised: it concerns only a cluster whose lines call for this spec.
    except SpecError as error:
        return tuple(error.diagnostics)
