"""Random values of any type of state."""

from __future__ import annotations

from random import Random

from assay.checker.interpreter.values.domains import cardinality
from assay.checker.layout.value_numbering import universe
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue


def random_state(random: Random, variables: tuple[k.Variable, ...]) -> tuple[Value, ...]:
    """A state, reachable or not."""
    return tuple(random_value(random, variable.type) for variable in variables)


def random_value(random: Random, of: t.Type) -> Value:
    """A value of a type that state can have, within its capacity."""
    match of:
        case t.BoolType():
            return random.random() < 0.5
        case t.RangeType(low, high):
            return random.randint(low, high)
        case t.AtomType(sort):
            at = random.randrange(len(sort.elements))
            return Atom(sort.name, at, sort.elements[at])
        case t.EnumType(_, variants):
            chosen = random.choice(variants)
            return VariantValue(chosen.name, tuple(random_value(random, f.type) for f in chosen.fields))
        case t.RecordType(_, fields):
            return RecordValue(tuple(random_value(random, f.type) for f in fields))
        case t.OptionType(item):
            return Some(random_value(random, item)) if random.random() < 0.6 else None
        case t.SetType(item, capacity):
            most = min(cardinality(item), 4 if capacity is None else capacity)
            return frozenset(random_value(random, item) for _ in range(random.randint(0, most)))
        case t.MapType(key, value, capacity, partial):
            if not partial:
                return FrozenMap((each, random_value(random, value)) for each in universe(key).values)
            most = min(cardinality(key), 3 if capacity is None else capacity)
            return FrozenMap(
                (random_value(random, key), random_value(random, value)) for _ in range(random.randint(0, most))
            )
        case t.SeqType(item, capacity):
            return tuple(random_value(random, item) for _ in range(random.randint(0, min(capacity or 0, 4))))
        case t.BagType(item, capacity):
            counted: dict[Value, int] = {}
            for _ in range(random.randint(0, capacity or 0)):
                each = random_value(random, item)
                counted[each] = counted.get(each, 0) + 1
            return FrozenMap(counted)
        case _:
            raise AssertionError(of)
