"""Modules are found, shared, and named; what cannot be found or goes in a circle is reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.grammar.kernel import Kernel
from assay.grammar.load import UnusableSpecError, load_spec, load_text, model_names, outline

KernelOf = Callable[..., Kernel]
ErrorsOf = Callable[..., list[str]]

CLOCK = """
module clock
param Top: int = 2
state:
    now: 0 .. Top = 0
action tick:
    when now < Top
    now := now + 1
invariant in_time: now <= Top
reachable noon: now == Top
"""


def test_a_variant_of_another_modules_enum_is_told_from_one_of_the_same_name() -> None:
    clock = CLOCK + "enum Light: Red, Green\n"
    text = "module top\nuse clock\nenum Lamp: Off, Red\nstate:\n    l: map[bool, clock.Light] = [b -> LAMP]\nnext: clock.tick\n"
    assert load_text(text.replace("LAMP", "clock.Red"), modules={"clock": clock}).kernel is not None
    found = []
    for value in ("if b then Red else Red", "if b then clock.Red else Red"):
        with pytest.raises(UnusableSpecError) as raised:
            load_text(text.replace("LAMP", value), modules={"clock": clock})
        found += [(each.message, [note.message for note in each.notes]) for each in raised.value.diagnostics]
    advice = ["Lamp and Light both have Red; that of another module is `module.Red`"]
    assert found == [
        ("expected map[bool, Light], found map[bool, Lamp]", advice),
        ("the branches have different types: Light and Lamp", advice),
    ]


def test_a_used_module_brings_its_variables_actions_and_invariants_under_its_name(kernel_of: KernelOf) -> None:
    kernel = kernel_of("module top\nuse clock\nnext: clock.tick\n", modules={"clock": CLOCK})
    assert [v.name for v in kernel.variables] == ["clock.now"]
    assert [a.name for a in kernel.actions] == ["clock.tick"]
    assert kernel.next == ("clock.tick",)
    assert [(p.name, p.kind) for p in kernel.properties] == [("clock.in_time", "invariant")]


def test_the_default_steps_are_the_actions_of_the_top_module_alone(kernel_of: KernelOf) -> None:
    text = "module top\nuse clock\nstate:\n    x: bool = false\naction flip:\n    x := not x\n"
    kernel = kernel_of(text, modules={"clock": CLOCK})
    assert kernel.next == ("flip",)
    assert {a.name for a in kernel.actions} == {"flip", "clock.tick"}


def test_two_users_of_a_module_share_one_instance(kernel_of: KernelOf) -> None:
    left = "module left\nuse clock\ninvariant l: now <= 2\n"
    right = "module right\nuse clock\ninvariant r: clock.now <= 2\n"
    text = "module top\nuse left\nuse right\nuse clock\nnext: clock.tick\n"
    kernel = kernel_of(text, modules={"clock": CLOCK, "left": left, "right": right})
    assert [v.name for v in kernel.variables] == ["clock.now"]
    assert {p.name for p in kernel.properties} == {"left.l", "right.r", "clock.in_time"}


def test_an_alias_names_the_module_in_the_spec(kernel_of: KernelOf) -> None:
    kernel = kernel_of("module top\nuse clock as c\nnext: c.tick\ninvariant i: c.now <= 2\n", modules={"clock": CLOCK})
    assert kernel.next == ("clock.tick",)


def test_an_own_name_wins_over_a_used_one(kernel_of: KernelOf) -> None:
    text = "module top\nuse clock\nstate:\n    now: bool = true\ninvariant own: now\n"
    assert kernel_of(text, modules={"clock": CLOCK}).variables[0].name == "now"


def test_a_name_of_two_used_modules_is_ambiguous(errors_of: ErrorsOf) -> None:
    other = "module other\nstate:\n    now: 0 .. 1 = 0\n"
    text = "module top\nuse clock\nuse other\ninvariant i: now == 0\n"
    assert errors_of(text, modules={"clock": CLOCK, "other": other}) == ["E102 `now` is offered by several modules"]


def test_an_unknown_module_is_reported_with_a_suggestion(errors_of: ErrorsOf) -> None:
    assert errors_of("module top\nuse clokc\n", modules={"clock": CLOCK}) == ["E302 there is no module `clokc`"]
    with pytest.raises(UnusableSpecError) as raised:
        load_text("module top\nuse clokc\n", modules={"clock": CLOCK})
    assert [note.message for note in raised.value.diagnostics[0].notes] == ["did you mean `clock`?"]


def test_modules_in_a_circle_are_reported_with_the_circle(errors_of: ErrorsOf) -> None:
    a, b = "module a\nuse b\n", "module b\nuse a\n"
    assert errors_of("module top\nuse a\n", modules={"a": a, "b": b}) == [
        "E303 modules may not use each other in a circle: a -> b -> a"
    ]


def test_a_spec_that_uses_itself_is_reported(tmp_path: Path) -> None:
    spec = tmp_path / "me.assay"
    spec.write_text("module me\nuse me\n")
    with pytest.raises(UnusableSpecError) as raised:
        load_spec(spec)
    assert [d.code for d in raised.value.diagnostics] == ["E303"]
    assert raised.value.diagnostics[0].span.line == 2


def test_a_module_is_found_in_a_directory_above_its_user(tmp_path: Path) -> None:
    deep = tmp_path / "specs" / "mine"
    deep.mkdir(parents=True)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "clock.assay").write_text(CLOCK.replace("module clock", "module tools.clock"))
    (deep / "top.assay").write_text("use tools.clock\nnext: clock.tick\n")
    loaded = load_spec(deep / "top.assay", search=())
    assert loaded.kernel.name == "top"
    assert len(loaded.sources) == 2


def test_a_spec_may_use_the_modules_that_come_with_assay(tmp_path: Path) -> None:
    spec = tmp_path / "mine.assay"
    spec.write_text("use kafka.membership as m\nnext: m.start\n")
    loaded = load_spec(spec, overrides={"m.Broker": "1"})
    assert loaded.kernel.next == ("membership.start",)
    assert len(next(sort for sort in loaded.kernel.sorts if sort.name == "Broker").elements) == 1


def test_a_link_to_itself_is_reported(tmp_path: Path) -> None:
    spec = tmp_path / "loop.assay"
    spec.symlink_to(spec)
    with pytest.raises(UnusableSpecError) as raised:
        load_spec(spec)
    assert [d.code[:2] for d in raised.value.diagnostics] == ["E6"]


def test_the_file_of_a_module_bears_its_name(tmp_path: Path) -> None:
    (tmp_path / "clock.assay").write_text(CLOCK.replace("module clock", "module watch"))
    (tmp_path / "top.assay").write_text("use clock\n")
    with pytest.raises(UnusableSpecError) as raised:
        load_spec(tmp_path / "top.assay")
    assert [d.code for d in raised.value.diagnostics] == ["E304"]


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UnusableSpecError) as raised:
        load_spec(tmp_path / "none.assay")
    assert [d.code for d in raised.value.diagnostics] == ["E601"]


def test_mistakes_in_a_used_module_are_reported_at_their_place_in_it() -> None:
    with pytest.raises(UnusableSpecError) as raised:
        load_text("module top\nuse bad\n", modules={"bad": "module bad\nstate:\n    x: bool = 3\n"})
    assert [str(d.span) for d in raised.value.diagnostics] == ["bad.assay:3:15"]


def test_reachables_and_scenarios_of_used_modules_are_left_to_them(kernel_of: KernelOf) -> None:
    text = "module top\nuse clock\n"
    used = CLOCK + "scenario one:\n    tick\n"
    kernel = kernel_of(text, modules={"clock": used})
    assert kernel.scenarios == ()
    assert [p.kind for p in kernel.properties] == ["invariant"]


def test_the_outline_lists_models_and_parameters(tmp_path: Path) -> None:
    spec = tmp_path / "s.assay"
    spec.write_text("param A: set\nparam B: bool = true\nsize param N: int = 2\nmodel m: A = 2\nmodel n: A = 3\n")
    assert model_names(spec) == ("m", "n")
    assert [(p.name, p.kind) for p in outline(spec).parameters] == [
        ("A", "set"),
        ("B", "value"),
        ("N", "size"),
    ]


def test_each_module_is_looked_into_once_however_many_use_it(kernel_of: KernelOf) -> None:
    both = {at: f"use a{at}\nuse b{at}\n" for at in range(40)} | {40: ""}
    modules = {f"{name}{at}": f"module {name}{at}\n{both[at + 1]}" for at in range(40) for name in "ab"}
    assert kernel_of("module top\n" + both[0] + "state:\n    x: bool = true\n", modules=modules).name == "top"
