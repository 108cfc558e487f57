"""Specs in the user's cache: what is kept equals what is made, and nothing stale or foreign is used."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from assay.grammar import data_cache, load
from assay.grammar.elaborate import elaborate_spec
from assay.grammar.user_cache import cached, keep

USED = """module used
param Node: set = 2
state:
    up: set[Node] = {}
"""
SPEC = """module top
use used
size param Top: int = 3
state:
    now: 0 .. Top = 0
action tick:
    bound top: now < Top
    now := now + 1
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))


def test_a_kept_value_is_read_with_the_texts_of_its_stand_ins() -> None:
    name = data_cache.entry("test", 1)
    stand_in = f"{data_cache.MARK}Node 0"
    assert data_cache.remember(name, (stand_in, "x"), {stand_in: "b1"}) == ("b1", "x")
    assert data_cache.remembered(name, {stand_in: "b2"}) == ("b2", "x")


def test_a_text_that_hides_a_stand_in_is_not_kept() -> None:
    name = data_cache.entry("test", 2)
    assert data_cache.remember(name, f"step({data_cache.MARK}Node 0)", {f"{data_cache.MARK}Node 0": "b1"}) is None
    assert data_cache.remembered(name) is None


def test_an_entry_that_would_call_a_function_is_not_read(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (tmp_path / "touched",)

    keep("test-3", pickle.dumps(Evil()))
    assert cached("test-3") is not None
    assert data_cache.remembered("test-3") is None
    assert not (tmp_path / "touched").exists()


def _spec(folder: Path) -> Path:
    (folder / "used.assay").write_text(USED)
    (folder / "top.assay").write_text(SPEC)
    return folder / "top.assay"


def test_the_second_run_reads_no_spec_and_has_the_same_kernel_and_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _spec(tmp_path)
    first = load.load_spec(path)
    monkeypatch.setattr(elaborate_spec, "elaborated", None)
    second = load.load_spec(path)
    assert repr(second.kernel) == repr(first.kernel)
    assert second.kernel == first.kernel
    assert second.sources == first.sources
    assert repr(second.tree.top.tree) == repr(first.tree.top.tree)


def test_each_model_and_setting_has_a_kernel_of_its_own(tmp_path: Path) -> None:
    path = _spec(tmp_path)
    path.write_text(f"{SPEC}model small:\n    Top = 1\nmodel large:\n    Top = 7\n")

    def top(model: str | None, **settings: str) -> object:
        return next(
            each.value
            for each in load.load_spec(path, model=model, overrides=settings).kernel.parameters
            if each.name == "Top"
        )

    for _ in range(2):
        assert [top("small"), top("large"), top(None)] == [1, 7, 3]
        assert [top("small", Top="2"), top("large", Top="5"), top(None, Top="4")] == [2, 5, 4]


@pytest.mark.parametrize("names", [("1", "0x7"), ("anna", "1"), ()])
def test_a_kept_kernel_of_a_log_equals_one_that_is_made(tmp_path: Path, names: tuple[str, ...]) -> None:
    loaded = load.load_spec(_spec(tmp_path))
    load.log_kernel(loaded, {"Node": ("5", "6")[: len(names)]}, {"Top": 7})
    for _ in range(2):
        kernel = load.log_kernel(loaded, {"Node": names}, {"Top": 7})
        assert repr(kernel) == repr(elaborate_spec.sized_kernel(loaded, {"Node": names}, {"Top": 7}))


def test_logs_with_as_many_elements_share_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load.load_spec(_spec(tmp_path))
    load.log_kernel(loaded, {"Node": ("5", "6")}, {"Top": 7})
    monkeypatch.setattr(elaborate_spec, "sized_kernel", None)
    parameters = load.log_kernel(loaded, {"Node": ("8", "9")}, {"Top": 7}).parameters
    assert "('8', '9')" in repr(parameters)


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    path = _spec(tmp_path)
    load.load_spec(path)
    (tmp_path / "used.assay").write_text(USED.replace("= 2", "= 3"))
    assert "n3" in repr(load.load_spec(path).kernel.parameters)


def test_a_nearer_file_of_the_same_name_is_found(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "used.assay").write_text(USED)
    (inner / "top.assay").write_text(SPEC)
    load.load_spec(inner / "top.assay")
    (inner / "used.assay").write_text(USED.replace("= 2", "= 3"))
    assert "n3" in repr(load.load_spec(inner / "top.assay").kernel.parameters)


def test_a_spec_with_a_warning_or_a_mistake_tells_it_each_time(tmp_path: Path) -> None:
    path = _spec(tmp_path)
    path.write_text(SPEC.replace("now < Top", "now < Tap"))
    for _ in range(2):
        with pytest.raises(load.UnusableSpecError, match="Tap"):
            load.load_spec(path)
