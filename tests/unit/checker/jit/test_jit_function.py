"""Functions over arrays: machine code gives what Python gives, for every form of the language and for the kernels of the search."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import weakref
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.checker.explicit.store import hash_kernels
from assay.checker.jit.expressions import UntranslatableError
from assay.checker.jit.jit_function import FEW, ArrayFunction, LinearFunction
from assay.checker.jit.machine_call import prefetch

FACTOR = np.uint64(0x9E3779B97F4A7C15)
WORDS = st.lists(st.integers(0, (1 << 64) - 1), max_size=40)
SMALL = st.lists(st.integers(-9, 9), min_size=1, max_size=12)


@ArrayFunction
def row_sum(row: Any) -> Any:
    total = 0
    for i in range(len(row)):
        total += row[i]
    return total


@ArrayFunction
def sum_ahead(table: Any) -> Any:
    """A sum over rows that are asked for ahead of their use, the last ones from outside the array."""
    total = 0
    for i in range(len(table)):
        prefetch(table, i + 4)
        total += row_sum(table[i])
    return total


@ArrayFunction
def forms(small: Any, table: Any, n: int) -> Any:
    """Every form of statement and expression."""
    total: Any = 0
    lost = 0
    room = np.empty(4, np.int32)
    room[:] = -1
    for i in range(n):
        if small[i] == 3 or (small[i] != 1 and not (n > 7 and small[i] < 0)):
            continue
        room[i & 3] += small[i]
        total += np.int64(small[i] * 5) if i >= 2 else -i
    for i in range(n - 1, -1, -1):
        if i * i <= n:
            break
        lost += 1
    while total > 100:
        total -= 7
    first, second = total, lost
    for each in (first, second):
        total = total * 3 - each
    for row in range(table.shape[0]):
        total += row_sum(table[row]) * (row + 1) + (table[row, 0] << 2)
    for i in range(4):
        total += room[i] ^ (i | 1)
    return total + (n + 5) // 2 + min(n, len(small))


@ArrayFunction
def ends(pair: Any, low: int, high: int) -> Any:
    """Tuples of arrays and numbers, stretches, and several results."""
    (words, more), by = pair
    part = words[low:high]
    total = 0
    for i in range(len(part)):
        total += (part[i] + ~more[i]) % by
    return total, low - high


@ArrayFunction
def mixed_words(words: Any, n: int) -> Any:
    mixed = FACTOR
    for i in range(n):
        mixed = (mixed ^ words[i]) * FACTOR
        mixed ^= mixed >> np.uint64(29)
    return mixed


@ArrayFunction
def loops_over_tuples(n: int) -> Any:
    """Loops over tuples, which are unrolled, within another loop."""
    total, last = 0, 7
    for i in range(n):
        for each in (1, 2, 3):
            if each == 2:
                continue
            total += each
        for each in (i, 5, last):
            last += 1
            if each == 3:
                break
            total = total * 3 + each
        total += 100
    return total


@ArrayFunction
def square(n: int) -> int:
    return n**2


@ArrayFunction
def whole_row(rows: Any) -> Any:
    return rows[0]


@ArrayFunction
def twice_named(one: Any, other: Any) -> Any:
    size, first = one
    size, last = other
    return size + first + last


@settings(deadline=None)  # the first call builds
@given(SMALL, st.sampled_from([np.int8, np.int32, np.int64]))
def test_every_form_means_what_it_means_in_python(numbers: list[int], dtype: Any) -> None:
    small, table = np.array(numbers, dtype), np.abs(np.array([numbers, numbers[::-1]], np.int64))
    answer = forms(small, table, len(numbers))
    assert answer == int(forms.python(small.astype(np.int64), table, len(numbers)))


def test_memory_is_asked_for_without_effect() -> None:
    table = np.arange(12, dtype=np.uint64).reshape(6, 2)
    assert sum_ahead(table) == sum_ahead.python(table) == 66


@settings(deadline=None)  # the first call builds
@given(st.integers(0, 5), st.integers(5, 9))
def test_tuples_and_stretches_are_passed_as_one(low: int, high: int) -> None:
    words, more = np.arange(100, 110, dtype=np.int64), np.arange(10, dtype=np.int64)
    pair = ((words, more), 7)
    assert ends(pair, low, high) == ends.python(pair, low, high)


@pytest.mark.parametrize("n", [0, 1, 3, 6])
def test_loops_over_tuples_end_and_go_on_by_themselves(n: int) -> None:
    assert loops_over_tuples(n) == loops_over_tuples.python(n)


@settings(deadline=None)  # the first call builds
@given(WORDS)
def test_arithmetic_is_modulo_two_to_the_64(numbers: list[int]) -> None:
    words = np.array(numbers, np.uint64)
    with np.errstate(over="ignore"):
        assert mixed_words(words, len(words)) % (1 << 64) == int(mixed_words.python(words, len(words)))


def test_elements_are_widened_by_their_types_and_cut_when_written() -> None:
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32):
        values = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 1], dtype)
        assert row_sum(values) == int(values.astype(np.int64).sum())
    out = np.zeros((3, 1), np.uint64)
    hash_kernels.second_prints(np.arange(6, dtype=np.uint64).reshape(3, 2), 3, out)
    assert len(set(out[:, 0].tolist())) == 3


def test_code_lives_while_it_may_be_called() -> None:
    """Two threads that call a function for the first time build it twice. The later entry takes the place of the other,
    whose code may be running.
    """
    function = ArrayFunction(row_sum.python)
    again = function.bound(np.arange(4))
    (code,) = (weakref.ref(each.code) for each in function._entries.values())
    function._entries.clear()
    gc.collect()
    assert code() is not None
    assert again() == 6
    del again
    gc.collect()
    assert code() is None


def test_an_array_with_gaps_is_refused() -> None:
    with pytest.raises(ValueError, match="without gaps"):
        row_sum(np.zeros(10, np.uint64)[::2])


@pytest.mark.parametrize("values", [np.array([1.5, 2.5]), np.array([1, 2], ">i8")])
def test_an_array_without_integers_of_this_machine_is_refused(values: Any) -> None:
    with pytest.raises(ValueError, match="no integers as this machine keeps them"):
        row_sum(values)


@pytest.mark.parametrize("function", [square, whole_row])
def test_what_is_outside_the_language_is_refused_with_its_place(function: ArrayFunction[Any]) -> None:
    with pytest.raises(UntranslatableError, match=r"line \d+: `.+` is outside the language"):
        function(np.zeros((2, 2), np.uint64) if function is whole_row else 3)


def test_parts_of_two_arguments_do_not_share_a_name() -> None:
    with pytest.raises(UntranslatableError, match=r"line \d+: `size, last = other` is outside the language"):
        twice_named((1, 2), (3, 4))


@settings(deadline=None)  # the first call builds
@given(st.lists(st.tuples(st.integers(1, 1 << 62), st.integers(0, 3)), max_size=200))
def test_partitions_are_those_that_python_makes(candidates: list[tuple[int, int]]) -> None:
    n = len(candidates)
    prints = np.array([mark for mark, _ in candidates], np.uint64)
    rows = np.array([[row] for _, row in candidates], np.uint64).reshape(n, 1)
    answers = []
    tails, second = np.zeros(n, np.uint64), np.zeros((n, 1), np.uint64)
    hash_kernels.second_prints(rows, n, second)
    for run, more in ((hash_kernels.partition, tails), (hash_kernels.partition.python, tails[:0])):
        offsets, recent = np.zeros(hash_kernels.OWNERS + 1, np.int64), np.zeros(hash_kernels.RECENT, np.int32)
        order, marks, fresh = np.zeros(n, np.uint32), np.zeros(n, np.uint64), np.zeros(n, np.uint8)
        run(prints, rows, n, offsets, order, marks, more, fresh, recent)
        answers.append((offsets.tolist(), order[: offsets[-1]].tolist(), marks[: offsets[-1]].tolist(), fresh.tolist()))
    assert answers[0] == answers[1]
    assert tails[: len(answers[0][1])].tolist() == second[answers[0][1], 0].tolist()


@settings(deadline=None)  # the first call builds
@given(st.sampled_from([15, 16, 17, 64, 127]))
def test_checksums_are_those_that_python_makes(size: int) -> None:
    words = np.arange(size, dtype=np.uint64) * FACTOR
    with np.errstate(over="ignore"):
        assert hash_kernels.checksum(words) % (1 << 64) == int(hash_kernels.checksum.python(words))


@LinearFunction
def word_more(words: Any, n: int) -> Any:
    return words[n] + n


@LinearFunction
def mixed_and_count(words: Any, n: int) -> Any:
    mixed = FACTOR
    for i in range(n):
        mixed = (mixed ^ np.uint64(word_more(words, i))) * FACTOR
    return mixed, n


@settings(deadline=None)  # the first call builds
@given(st.integers(1, 40))
def test_few_elements_are_interpreted_with_the_results_of_machine_code(size: int) -> None:
    words = np.arange(size, dtype=np.uint64) * FACTOR
    found = []
    for before in (0, FEW + 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LinearFunction, "_interpreted", before)
            found.append(mixed_and_count(words, size))
            assert (LinearFunction._interpreted == size) is (before == 0)
    assert found[0] == found[1]


def test_what_a_thread_calls_is_no_part_of_what_another_interprets(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, done = Event(), Event()

    def waiting(words: Any) -> Any:
        begun.set()
        assert done.wait(60)
        return words[0]

    monkeypatch.setattr(LinearFunction, "_interpreted", 0)
    words = np.array([FACTOR], np.uint64)
    thread = Thread(target=LinearFunction(waiting), args=(words,))
    thread.start()
    assert begun.wait(60)
    meanwhile = word_more(words, 0)
    done.set()
    thread.join()
    assert meanwhile == int(FACTOR) - (1 << 64)


OUTSIDE = """\
import sys
import numpy as np
from assay.checker.jit.jit_function import ArrayFunction

@ArrayFunction
def picked(table, row, column, first, last):
    total = 0
    for i in range(len(table[row][first:last])):
        total += table[row][first:last][i]
    return total + table[row, column]

print(picked(np.arange(12).reshape(3, 4), *map(int, sys.argv[1:])))
"""


@pytest.mark.parametrize(
    ("given", "inside"),
    [
        ("2 3 0 4", True),
        ("0 0 4 4", True),
        ("3 0 0 0", False),
        ("0 4 0 0", False),
        ("-1 0 0 0", False),
        ("0 0 0 5", False),
        ("0 0 3 2", False),
    ],
)
def test_an_index_outside_its_array_ends_the_process_where_indexes_are_checked(
    given: str, inside: bool, tmp_path: Path
) -> None:
    (tmp_path / "outside.py").write_text(OUTSIDE)
    environment = {**os.environ, "ASSAY_CHECK_INDEXES": "1"}
    command = [sys.executable, str(tmp_path / "outside.py"), *given.split()]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is inside, done.stderr
    assert done.returncode == 0 or -done.returncode in {signal.SIGILL, signal.SIGTRAP}
