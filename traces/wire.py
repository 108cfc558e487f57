"""What was read and what was answered, as bytes that another process of this package turns into the same values.

Line shapes travel by their names: both processes have loaded the same catalogue; and what both have in ``common``, by its place there. The bytes are a pickle, so that they may be taken from processes
of one's own job alone.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

from assay.traces.shapes.catalogue import Catalogue
from assay.traces.shapes.shape import Shape


def _proxy(content: dict[object, object]) -> MappingProxyType[object, object]:
    return MappingProxyType(content)


def _of_proxy(proxy: MappingProxyType[object, object]) -> tuple[Callable[..., Any], tuple[dict[object, object]]]:
    return _proxy, (dict(proxy),)


def _shape_of(name: str) -> Shape:
    """The shape of a name; only a reader knows, which puts its own in the place of this."""
    raise LookupError(name)


def _of_shape(shape: Shape) -> tuple[Callable[..., Any], tuple[str]]:
    return _shape_of, (shape.name,)


class _Writer(pickle.Pickler):
    def __init__(self, out: io.BytesIO) -> None:
        super().__init__(out, pickle.HIGHEST_PROTOCOL)
        self.dispatch_table = {**copyreg.dispatch_table, MappingProxyType: _of_proxy, Shape: _of_shape}


class _SharingWriter(_Writer):
    """A writer that asks of every object whether it is common, which takes as long as the writing."""

    def __init__(self, out: io.BytesIO, common: Sequence[object]) -> None:
        super().__init__(out)
        self._common = {id(each): number for number, each in enumerate(common)}

    def persistent_id(self, value: object) -> int | None:
        """The number of what is common; none of everything else, which is written as it is."""
        return self._common.get(id(value))


class _Reader(pickle.Unpickler):
    def __init__(self, data: bytes, catalogue: Catalogue | None, common: Sequence[object]) -> None:
        super().__init__(io.BytesIO(data))
        self._common = common
        self._shapes = {} if catalogue is None else {shape.name: shape for shape in catalogue.shapes}

    def find_class(self, module: str, name: str) -> Any:
        """What a name in the bytes stands for."""
        if (module, name) == (__name__, _shape_of.__name__):
            return self._shapes.__getitem__
        return super().find_class(module, name)

    def persistent_load(self, number: int) -> object:
        """What is common, by its number."""
        return self._common[number]


def to_bytes(value: object, common: Sequence[object] = ()) -> bytes:
    """A value as bytes. ``common`` are objects that the process which takes it has too, in the same order."""
    out = io.BytesIO()
    writer = _SharingWriter(out, common) if common else _Writer(out)
    writer.dump(value)
    return out.getvalue()


def from_bytes(data: bytes, catalogue: Catalogue | None = None, common: Sequence[object] = ()) -> Any:
    """The value that the bytes are of. What holds findings needs the catalogue of their shapes."""
    return _Reader(data, catalogue, common).load()
