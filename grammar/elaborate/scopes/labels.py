"""Labels of guard lines and assignments: given, or the place ``file:line``; unique within one kernel action."""

from __future__ import annotations

from dataclasses import field, replace

from assay.grammar import syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note, Span
from assay.grammar.lazy_dataclass import dataclass


def base_name(file: str) -> str:
    """The last part of a file's path."""
    return file.replace("\\", "/").rpartition("/")[2]


def place_label(span: Span) -> str:
    """The label of a line without one: ``lamp.assay:12``."""
    return f"{base_name(span.file)}:{span.line}"


@dataclass(frozen=True, slots=True)
class ActionLabels:
    """The labels of one action. In a joint action each part assigns its own; one that an earlier part has is qualified
    by ``part``."""

    diagnostics: Diagnostics
    part: str = ""
    taken: dict[str, tuple[str, Span]] = field(default_factory=dict)

    def of_part(self, part: str) -> ActionLabels:
        """The same labels, for a part of a joint action."""
        # All parts share one dictionary of labels that are taken.
        return replace(self, part=part)

    def given(self, name: syntax.Name) -> str:
        """A label as written. Reports one that this part has already."""
        part, span = self.taken.get(name.text, (self.part, None))
        # Two parts of a joint action may each have a `live`. The second is then called after its part.
        if span is not None and part == self.part:
            note = Note("first given here", span)
            self.diagnostics.error(
                "E403", name.span, f"there is already a line labelled `{name.text}` in this action", note
            )
            return name.text
        return self._take([name.text, f"{self.part}.{name.text}"], name.span)

    def placed(self, span: Span) -> str:
        """The label of a line without one; two on one line are distinguished by the column."""
        label = place_label(span)
        return self._take([label, f"{label}:{span.column}", f"{self.part}.{label}:{span.column}"], span)

    def _take(self, candidates: list[str], span: Span) -> str:
        # `lamp.assay:12`, else `lamp.assay:12:5`, else with the part of a joint action before it, else with a number
        # behind it.
        numbered = [f"{candidates[-1]}'{number}" for number in range(2, len(self.taken) + 3)]
        label = next(label for label in [*candidates, *numbered] if label not in self.taken)
        self.taken[label] = (self.part, span)
        return label
