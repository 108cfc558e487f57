"""Timestamps: every moment of a day is read, and nothing that is no moment."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from assay.traces.input.lines.timestamps import DATED, Clock


def test_every_second_of_a_day_is_read() -> None:
    clock, begin = Clock(), datetime(2024, 2, 29, tzinfo=UTC)
    for number in range(0, 24 * 3600, 59):
        moment = begin + timedelta(seconds=number, milliseconds=number % 1000)
        stamp = moment.strftime("%Y-%m-%d %H:%M:%S,") + f"{number % 1000:03}"
        assert clock.read(stamp.encode()) == round(moment.timestamp() * 1000), stamp


@pytest.mark.parametrize("time", ["00:59:00", "23:00:00", "00:00:59", "23:59:59"])
@pytest.mark.parametrize("form", ["2024-05-01 {}", "2024/05/01 {}", "01 May 2024 {}", "2024-05-01 {}Z"])
def test_last_hours_minutes_and_seconds_are_times(time: str, form: str) -> None:
    wanted = datetime.fromisoformat(f"2024-05-01T{time}+00:00").timestamp() * 1000
    assert Clock().read(form.format(time).encode()) == wanted


@pytest.mark.parametrize(
    "stamp", ["2024-05-01 24:00:00", "2024-05-01 00:60:00", "2024-05-01 00:00:61", "2023-02-29 00:00:00",
              "2024-13-01 00:00:00", "2024-00-01 00:00:00", "0000-01-01 00:00:00"]
)  # fmt: skip
def test_what_is_no_moment_has_no_time(stamp: str) -> None:
    assert Clock().read(stamp.encode()) is None


@pytest.mark.parametrize(
    ("stamp", "hour"),
    [
        ("21.11.2026 13:45:22,705", 13),
        ("11/21/2026 1:45:22.705 PM", 13),
        ("11/21/2026, 12:45:22.705 AM", 0),
        ("2026-11-21 13:45:22,705 CET", 12),
        ("2026-11-21 13:45:22,705 EST", 18),
    ],
)
def test_times_of_other_places_are_read(stamp: str, hour: int) -> None:
    assert Clock().read(stamp.encode()) == 1_795_225_522_705 + (hour - 1) * 3_600_000
    assert re.fullmatch(DATED, stamp.encode())


@pytest.mark.parametrize("stamp", ["32.11.2026 13:45:22,705", "11/21/2026 13:45:22.705 PM"])
def test_a_time_of_another_place_that_names_no_moment_is_none(stamp: str) -> None:
    assert Clock().read(stamp.encode()) is None
