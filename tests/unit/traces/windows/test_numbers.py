"""Numbers of a window stand for those of the log: their order is kept, and small distances."""

from __future__ import annotations

import pytest

from assay.traces.windows.numbers import Scale


@pytest.mark.parametrize(("number", "place"), [(0, 0), (2, 2), (3, 3), (50, 3), (100, 4), (102, 6), (900, 7)])
def test_a_number_far_from_every_stated_one_is_as_far_as_there_is_room(number: int, place: int) -> None:
    assert Scale.of([100], room=3).place(number) == place


@pytest.mark.parametrize(("place", "number"), [(0, 0), (1, 1), (2, 98), (3, 99), (4, 100), (6, 102)])
def test_a_place_between_two_stated_numbers_is_as_far_from_the_nearer_one_and_of_two_from_the_later(
    place: int, number: int
) -> None:
    assert Scale.of([100], room=3).number(place) == number


def test_equal_distances_have_equal_places_and_orders_are_kept() -> None:
    scale = Scale.of([7, 9, 1_000], room=8)
    assert scale.place(9) - scale.place(7) == 2
    assert scale.place(7) < scale.place(9) < scale.place(1_000)


def test_numbers_up_to_the_largest_constant_of_the_spec_stand_for_themselves() -> None:
    scale = Scale.of([2, 17, 900], room=3, constants=[16])
    assert [scale.place(each) for each in (2, 9, 16, 17, 900)] == [2, 9, 16, 17, 21]
    assert [scale.number(each) for each in (9, 16, 17, 21)] == [9, 16, 17, 900]


def test_a_number_below_zero_is_as_far_from_it_as_the_one_above() -> None:
    scale = Scale.of([-1, 100], room=3)
    assert [scale.place(each) for each in (-100, -1, 0, 1, 100)] == [-5, -1, 0, 1, 5]
    assert [scale.number(each) for each in (-5, -1, 0, 5)] == [-100, -1, 0, 100]
