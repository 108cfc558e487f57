"""Two writes overlap if the place of one lies at or inside the place of the other, whatever their order."""

from __future__ import annotations

from random import Random

import pytest

from assay.checker.interpreter.actions.update import PendingWrite, Updater
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.kernel.types import BOOL, MapType, RangeType
from assay.grammar.values import FrozenMap

KEYS = RangeType(0, 99)
TABLE = MapType(KEYS, MapType(KEYS, BOOL, None, True), None, True)
VARIABLES = [k.Variable(name, TABLE, False) for name in ("m", "n")]
ASSIGN = k.Assign("", "m", (), k.Const(BOOL, True), BOOL)


class CountedKey(int):
    """A key that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedKey.compared += 1
        return int(self) == other

    __hash__ = int.__hash__


@pytest.mark.parametrize("seed", range(50))
def test_overlaps_are_those_of_pairs(seed: int) -> None:
    random = Random(seed)
    places = [(random.randrange(2), *(random.randrange(3) for _ in range(random.randrange(3)))) for _ in range(3)]
    pairs = [(one, other) for at, one in enumerate(places) for other in places[:at]]
    overlap = any(one[: len(other)] == other or other[: len(one)] == one for one, other in pairs)
    assert _is_refused(places) is overlap


def _is_refused(places: list[tuple[int, ...]]) -> bool:
    inner = FrozenMap(dict.fromkeys(range(3), False))
    whole = FrozenMap(dict.fromkeys(range(3), inner))
    new = [whole, inner, False]
    writes = [PendingWrite(at, tuple(path), new[len(path)], ASSIGN) for at, *path in places]
    try:
        Updater(VARIABLES).after((whole, whole), writes)
    except Undefined:
        return True
    return False


def test_many_writes_are_not_compared_in_pairs() -> None:
    inner = FrozenMap(dict.fromkeys(range(100), False))
    keys = [CountedKey(at) for at in range(100)]
    writes = [PendingWrite(0, (key,), inner, ASSIGN) for key in keys]
    Updater(VARIABLES).after((FrozenMap(), FrozenMap()), writes)
    assert CountedKey.compared < 30 * len(writes)
