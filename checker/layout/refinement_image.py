"""Images of states and steps for a refinement check: the abstract state as a row, and the arguments of an instance in
one word.

An image is the packed abstract state, followed by those concrete variables (in words of their own) that arguments of
abstract actions read. So two steps of one action with the same arguments and images are the same step to the
refinement.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.checker.interpreter.expressions.traverse import variables_of
from assay.checker.layout.row import RowLayout, row_layout
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass

Flags = npt.NDArray[np.uint8]
UNDEFINED, OUTSIDE, BEYOND = TROUBLES = (1, 2, 4)
"""Why a state has no image: its flag is one of them, or zero."""


@dataclass(frozen=True, slots=True)
class ImageLayout:
    """The layout of an image: of the abstract state, and of the concrete variables that are ``read``."""

    abstract: RowLayout
    read: tuple[k.Variable, ...]
    beside: RowLayout

    @property
    def words(self) -> int:
        """The number of words of an image."""
        return self.abstract.words + (self.beside.words if self.read else 0)


def image_layout(kernel: k.Kernel, refinement: k.Refinement) -> ImageLayout:
    """The layout of a refinement's images. Raises ``SpecError`` if a variable does not fit a row."""
    calls = (call for mapping in refinement.actions for call in mapping.calls)
    names = frozenset().union(*(variables_of(each) for call in calls for each in call.arguments if each is not None))
    read = tuple(variable for variable in kernel.variables if variable.name in names)
    return ImageLayout(row_layout(refinement.abstract.variables), read, row_layout(read))


def argument_layout(action: k.Action) -> RowLayout:
    """The layout of an action's arguments. Raises ``SpecError`` if one does not fit a row."""
    return row_layout(tuple(k.Variable(p.binder.name, p.binder.type, False, span=p.span) for p in action.parameters))
