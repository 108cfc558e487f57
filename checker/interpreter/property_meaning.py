"""What the reference evaluator says of a property in one state or on one step: which conjunct is false, if any is."""

from __future__ import annotations

from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame, Meaning
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass

OF_STEPS = frozenset({"invariant", "transition"})
"""The kinds of properties that a log can break. A lemma is no rule of the product: it
holds wherever the model's steps lead."""


@dataclass(frozen=True, slots=True)
class PropertyMeaning:
    """A property with the meanings of its conjuncts. It remembers nothing: which place counts is a matter of the
    search."""

    node: k.Property
    conjuncts: tuple[tuple[k.Conjunct, Meaning], ...]

    def first_false(self, frame: Frame) -> k.Conjunct | None:
        """The first conjunct that is false; None if the property holds in the frame. Raises ``Undefined`` if one before
        it has no value."""
        # In the order of the text: a conjunct may protect those after it from having no value.
        for conjunct, holds in self.conjuncts:
            if not holds(frame):
                return conjunct
        return None


def property_meaning(node: k.Property, scope: EvaluationScope) -> PropertyMeaning:
    """A property made ready to be evaluated in a scope."""
    return PropertyMeaning(node, tuple((each, scope.meaning(each.condition)) for each in node.conjuncts))
