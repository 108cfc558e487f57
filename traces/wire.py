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


class _Writer(pickle.Pickler):
    def __init__(self, out: io.BytesIO, common: Sequence[object]) -> None:
        super().__init__(out, pickle.HIGHEST_PROTOCOL)
        self._common = {id(each): number for number, each in enumerate(common)}
        self.dispatch_table = {**copyreg.dispatch_table, MappingProxyType: _of_proxy}

    def persistent_id(self, value: object) -> str | int | None:
        """The name of a shape, the number of what is common; none of everything else, which is written as it is."""
        return value.name if isinstance(value, Shape) else self._common.get(id(value))


class _Reader(pickle.Unpickler):
    def __init__(self, data: bytes, catalogue: Catalogue | None, common: Sequence[object]) -> None:
        super().__init__(io.BytesIO(data))
        self._common = common
        self._shapes = {} if catalogue is None else {shape.name: shape for shape in catalogue.shapes}

    def persistent_load(self, name: str | int) -> object:
        """The shape of a name, or what is common by its number."""
        return self._shapes[name] if isinstance(name, str) else self._common[name]


def to_bytes(value: object, common: Sequence[object] = ()) -> bytes:
    """A value as bytes. ``common`` are objects that the process which takes it has too, in the same order."""
    out = io.BytesIO()
    _Writer(out, common).dump(value)
    return out.getvalue()


def from_bytes(data: bytes, catalogue: Catalogue | None = None, common: Sequence[object] = ()) -> Any:
    """The value that the bytes are of. What holds findings needs the catalogue of their shapes."""
    return _Reader(data, catalogue, common).load()
