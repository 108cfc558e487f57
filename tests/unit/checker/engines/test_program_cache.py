"""Programs in the user's cache: what is kept equals what is translated, and nothing stale is used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assay.checker.engines import engine_selection
from assay.checker.engines.engine_selection import translated, translated_behaviours
from assay.checker.engines.program_cache import TRANSLATORS
from assay.checker.interpreter.compiled_model import Model
from assay.checker.liveness.fairness_events import split
from assay.checker.liveness.plan import plan
from assay.checker.native.program import Program
from assay.checker.options import SearchOptions
from assay.checker.partial_order.dependence import dependence_of
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec

SPEC = """module counters
param Node: set = {a, b, c} symmetric
state:
    count: map[Node, 0 .. 2] = [n -> 0]
    turn: 0 .. 31 in 0 .. 31
    other: 0 .. 31 in 0 .. 31
action step(n: Node):
    when free: count[n] < 2
    bound few: turn < 1 or count[n] < 1
    count[n] := count[n] + 1
invariant low: forall n in Node: count[n] <= 2
transition up: forall n in Node: count[n] >= old(count[n])
property ends: eventually (exists n in Node: count[n] == 2)
"""
EVERY = SearchOptions()
SAFE = SearchOptions(properties=frozenset({"low"}))
DEADLOCK = SearchOptions(properties=frozenset({"low", "deadlock"}))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "counters.assay").write_text(SPEC)
    return tmp_path / "counters.assay"


def programs(kernel: Kernel, options: SearchOptions) -> list[Program]:
    """The programs of a kernel: of its steps, and of its temporal properties."""
    model = Model(kernel)
    found, wanted = [translated(kernel, options, dependence_of(model, options))], plan(model, options)
    if wanted is not None:
        parts = split(kernel, wanted.parts)
        found.append(translated_behaviours(kernel, parts, wanted.conditions, options))
    return found


@pytest.fixture
def no_translation(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Until the end of a test whatever is translated raises."""

    def refuse(*_: object, **__: object) -> Program:
        raise AssertionError("translated")

    with monkeypatch.context() as patch:
        for name in ("program", "behaviours"):
            patch.setattr(engine_selection, name, refuse)
        yield


@pytest.mark.parametrize("options", [EVERY, SAFE, replace(SAFE, symmetry=True), replace(SAFE, reduce=True)])
def test_the_second_run_translates_nothing_and_has_the_same_programs(
    path: Path, options: SearchOptions, request: pytest.FixtureRequest
) -> None:
    first = programs(load_spec(path).kernel, options)
    request.getfixturevalue("no_translation")
    assert programs(load_spec(path).kernel, options) == first
    assert len(first) == (2 if options is EVERY else 1)
    assert all(each.text for each in first)
    assert first[0].starts is not None


@pytest.mark.parametrize("other", [EVERY, DEADLOCK, replace(SAFE, symmetry=True), replace(SAFE, reduce=True)])
def test_what_other_options_have_translated_is_not_used(
    path: Path, other: SearchOptions, request: pytest.FixtureRequest
) -> None:
    kernel = load_spec(path).kernel
    programs(kernel, SAFE)
    request.getfixturevalue("no_translation")
    assert programs(kernel, SAFE)
    with pytest.raises(AssertionError, match="translated"):
        programs(kernel, other)


def test_what_was_translated_without_deadlocks_is_not_used_to_find_them(
    path: Path, request: pytest.FixtureRequest
) -> None:
    kernel = load_spec(path).kernel
    programs(kernel, replace(EVERY, check_deadlock=False))
    request.getfixturevalue("no_translation")
    with pytest.raises(AssertionError, match="translated"):
        programs(kernel, EVERY)


def test_another_text_and_a_changed_kernel_are_translated(path: Path, request: pytest.FixtureRequest) -> None:
    kernel = load_spec(path).kernel
    programs(kernel, SAFE)
    path.write_text(SPEC.replace("count[n] < 2\n", "count[n] < 1\n"))
    request.getfixturevalue("no_translation")
    for other in (load_spec(path).kernel, replace(kernel, next=())):
        with pytest.raises(AssertionError, match="translated"):
            programs(other, SAFE)


def test_a_program_is_kept_in_the_folder_that_is_asked_for(
    path: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kernel, own = load_spec(path).kernel, tmp_path / "own"
    first = translated(kernel, SAFE, None, own)
    assert list(own.iterdir())
    request.getfixturevalue("no_translation")
    assert translated(kernel, SAFE, None, own) == first


def test_the_name_of_a_program_depends_on_all_packages_that_translate() -> None:
    code = (
        "import sys, assay.checker.native.program\n"
        "print(*(name for name in sys.modules if name.startswith('assay.checker.')))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    rooms = {name.split(".")[2] for name in said.split() if name.count(".") > 2}
    assert rooms <= set(TRANSLATORS)
    assert "lowering" in rooms
