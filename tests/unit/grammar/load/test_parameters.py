"""Parameters take their values from instances, logs, ``--set``, models and defaults, in this order; what does not fit is reported."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.grammar.kernel import BoundParameter, Kernel
from assay.grammar.kernel.types import INT, Sort
from assay.grammar.load import UnusableSpecError, load_text, log_kernel
from assay.grammar.values import Atom, Some, VariantValue

KernelOf = Callable[..., Kernel]
ErrorsOf = Callable[..., list[str]]
CodesOf = Callable[..., list[str]]

SPEC = """
module top
param Broker: set = {b1, b2, b3} symmetric
param Fence: bool = true
param Leaders: 1 .. 4 = 2
size param Top: int = 3
state:
    alive: set[Broker] = Broker
    now: 0 .. Top = 0
model small: Broker = {x, y}; Top = 1
model other:
    Broker = 4
    Fence = false
"""


def bound(kernel: Kernel) -> dict[str, object]:
    """The values of parameters; of a set parameter its elements."""
    return {p.name: p.value.elements if isinstance(p.value, Sort) else p.value for p in kernel.parameters}


def test_defaults_hold_without_a_model(kernel_of: KernelOf) -> None:
    kernel = kernel_of(SPEC)
    assert bound(kernel) == {"Broker": ("b1", "b2", "b3"), "Fence": True, "Leaders": 2, "Top": 3}
    assert kernel.model is None
    assert kernel.parameters[3] == BoundParameter("Top", 3, True, INT)


def test_a_model_binds_over_defaults(kernel_of: KernelOf) -> None:
    kernel = kernel_of(SPEC, model="small")
    assert bound(kernel) == {"Broker": ("x", "y"), "Fence": True, "Leaders": 2, "Top": 1}
    assert kernel.model == "small"


def test_the_model_called_default_is_taken_where_none_is_named_but_not_for_logs(kernel_of: KernelOf) -> None:
    text = SPEC + "\nmodel default: Broker = {z}\n"
    kernel = kernel_of(text)
    assert (bound(kernel)["Broker"], kernel.model) == (("z",), "default")
    assert bound(kernel_of(text, model="small"))["Broker"] == ("x", "y")
    assert bound(log_kernel(load_text(text), {}, {}))["Broker"] == ("b1", "b2", "b3")


def test_a_number_names_the_elements_of_a_set(kernel_of: KernelOf) -> None:
    assert bound(kernel_of(SPEC, model="other"))["Broker"] == ("b1", "b2", "b3", "b4")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("Broker", "{p, q}", ("p", "q")),
        ("Broker", " { p } ", ("p",)),
        ("Broker", "2", ("b1", "b2")),
        ("Fence", "false", False),
        ("Leaders", "4", 4),
        ("Top", "7", 7),
    ],
)
def test_set_binds_over_the_model(kernel_of: KernelOf, name: str, text: str, value: object) -> None:
    assert bound(kernel_of(SPEC, model="other", overrides={name: text}))[name] == value


@pytest.mark.parametrize(
    ("overrides", "error"),
    [
        ({"Brokr": "3"}, "E306 there is no parameter `Brokr`"),
        ({"Fence": "maybe!"}, "E310 `maybe!` is not a value"),
        ({"Broker": "9" * 5_000}, "E018 a number of 5,000 digits; at most 1,000 are allowed"),
        ({"Broker": "{a,}"}, "E310 `{a,}` is not a value"),
        ({"Broker": "{a, a}"}, "E312 `a` is listed twice among the elements of `Broker`"),
        ({"Broker": "0"}, "E311 `Broker` cannot have 0 elements"),
        ({"Broker": "5000"}, "E311 `Broker` cannot have 5000 elements"),
        ({"Broker": "true"}, "E311 `Broker` is a set parameter, and this is not a set of names"),
        ({"Leaders": "5"}, "E315 `Leaders` is 1 .. 4, and 5 lies outside"),
    ],
)
def test_a_wrong_set_is_reported(errors_of: ErrorsOf, overrides: dict[str, str], error: str) -> None:
    assert errors_of(SPEC, overrides=overrides) == [error]


@pytest.mark.parametrize("overrides", [{"Fence": "3"}, {"Leaders": "true"}, {"Fence": "{a}"}, {"Top": "b1"}])
def test_a_value_of_another_type_is_an_error_of_types_or_names(codes_of: CodesOf, overrides: dict[str, str]) -> None:
    assert codes_of(SPEC, overrides=overrides)[0][:2] in ("E1", "E2")


def test_an_error_in_set_is_shown_in_its_own_text() -> None:
    with pytest.raises(UnusableSpecError) as raised:
        load_text(SPEC, overrides={"Fence": "true", "Leaders": "9"})
    (error,) = raised.value.diagnostics
    assert (error.span.file, error.span.line, error.span.column) == ("<--set>", 2, 9)
    assert raised.value.sources["<--set>"].split("\n")[1] == "Leaders=9"


def test_an_unknown_model_is_reported_with_a_suggestion() -> None:
    with pytest.raises(UnusableSpecError) as raised:
        load_text(SPEC, model="smal")
    assert [d.code for d in raised.value.diagnostics] == ["E308"]
    assert raised.value.diagnostics[0].notes[0].message == "did you mean `small`?"


def test_models_that_are_not_chosen_are_checked_too(codes_of: CodesOf) -> None:
    assert codes_of(SPEC + "model bad: Brokr = 3; Fence = true; Fence = false; Broker = true\n") == [
        "E306",
        "E309",
        "E311",
    ]


def test_two_models_of_one_name_are_reported(codes_of: CodesOf) -> None:
    assert codes_of(SPEC + "model small: Top = 2\n") == ["E301"]


def test_an_unbound_parameter_is_reported(errors_of: ErrorsOf) -> None:
    text = "module top\nparam Broker: set\nparam N: 0 .. 3\nmodel m: Broker = 2; N = 1\n"
    assert errors_of(text) == ["E313 the parameter `Broker` is not bound", "E313 the parameter `N` is not bound"]
    assert errors_of(text, model="m") == []


def test_a_parameter_may_depend_on_others_in_any_order(kernel_of: KernelOf) -> None:
    text = "module top\nparam N: int = M + 1\nparam M: int = count(Broker)\nparam Broker: set = 3\nparam First: Broker = b2\n"
    assert bound(kernel_of(text)) == {"N": 4, "M": 3, "Broker": ("b1", "b2", "b3"), "First": Atom("Broker", 1, "b2")}


def test_a_parameter_of_an_element_can_be_set(kernel_of: KernelOf) -> None:
    text = "module top\nparam Broker: set = {a1, a2}\nparam First: Broker = a1\n"
    assert bound(kernel_of(text, overrides={"First": "a2"}))["First"] == Atom("Broker", 1, "a2")


def test_no_parameter_holds_an_element_of_a_symmetric_set(codes_of: CodesOf) -> None:
    assert codes_of("module top\nparam Broker: set = 3 symmetric\nparam First: Broker = b1\n") == ["E319"]


def test_a_parameter_that_depends_on_itself_is_reported(codes_of: CodesOf) -> None:
    assert "E305" in codes_of("module top\nparam N: int = M\nparam M: int = N\n")


def test_a_parameter_reads_no_state(codes_of: CodesOf) -> None:
    assert codes_of("module top\nparam N: int = x\nstate:\n    x: 0 .. 3 = 0\n") == ["E108"]


@pytest.mark.parametrize(("model", "codes"), [(None, []), ("few", ["E320"])])
def test_assumptions_are_checked_with_the_values_bound(codes_of: CodesOf, model: str | None, codes: list[str]) -> None:
    text = "module top\nparam Broker: set = 3\nsize param Top: int = 2\nassume count(Broker) > Top\nmodel few: Broker = 2\n"
    assert codes_of(text, model=model) == codes


def test_an_assumption_about_state_is_reported(codes_of: CodesOf) -> None:
    assert codes_of("module top\nstate:\n    x: bool = true\nassume x\n") == ["E108"]


USED = "module used\nparam Broker: set = 2\nparam Fast: bool = true\nstate:\n    up: set[Broker] = Broker\n"


def test_parameters_of_used_modules_are_bound_by_their_plain_name(kernel_of: KernelOf) -> None:
    text = "module top\nuse used\nmodel m: Broker = 4; used.Fast = false\n"
    kernel = kernel_of(text, modules={"used": USED}, model="m")
    assert bound(kernel) == {"Broker": ("b1", "b2", "b3", "b4"), "Fast": False}
    assert bound(kernel_of(text, modules={"used": USED}, overrides={"used.Broker": "1"}))["Broker"] == ("b1",)


def test_a_plain_name_that_two_modules_have_is_ambiguous(errors_of: ErrorsOf) -> None:
    other = USED.replace("module used", "module other")
    text = "module top\nuse used\nuse other\nmodel m: Broker = 4\n"
    assert errors_of(text, modules={"used": USED, "other": other}) == [
        "E307 `Broker` may mean `used.Broker` and `other.Broker`"
    ]


def test_equal_names_of_sets_in_two_modules_are_two_sorts(kernel_of: KernelOf) -> None:
    other = USED.replace("module used", "module other")
    kernel = kernel_of("module top\nuse used\nuse other\n", modules={"used": USED, "other": other})
    assert [sort.name for sort in kernel.sorts] == ["used.Broker", "other.Broker"]


def test_the_top_modules_own_parameter_is_meant_by_its_name(kernel_of: KernelOf) -> None:
    text = "module top\nuse used\nparam Broker: set = 3\n"
    kernel = kernel_of(text, modules={"used": USED}, overrides={"Broker": "1"})
    assert bound(kernel) == {"Broker": ("b1",), "used.Broker": ("b1", "b2"), "Fast": True}


def test_what_set_calls_an_element_is_no_name_of_the_spec(codes_of: CodesOf) -> None:
    text = "module top\nparam Broker: set = {b1, b2}\nstate:\n    a: set[Broker] = {}\ninvariant i: forall b in Broker: b in a or b not in a\n"
    assert codes_of(text, overrides={"Broker": "{a, b}"}) == []
    assert codes_of(text + "invariant j: c in a\n", overrides={"Broker": "{c}"}) == ["E101"]


def test_an_element_that_the_spec_names_may_not_be_a_name_of_something_else(codes_of: CodesOf) -> None:
    assert codes_of("module top\nparam Broker: set = {a, b}\nstate:\n    a: bool = true\n") == ["E301"]


def test_an_element_of_two_sets_is_ambiguous_only_where_it_is_named(errors_of: ErrorsOf) -> None:
    text = "module top\nparam Server: set = 2\nparam Session: set = 2\nstate:\n    x: set[Server] = {}\n"
    assert errors_of(text) == []
    assert errors_of(text + "invariant i: s1 in x\n") == ["E102 `s1` is offered by several modules"]


def test_a_log_decides_sets_and_sizes_with_any_names() -> None:
    loaded = load_text(SPEC + "scenario s:\n    expect b1 in alive\n", overrides={"Fence": "false"})
    kernel = log_kernel(loaded, {"Broker": ("0x1000", "7", "now")}, {"Top": 900})
    assert bound(kernel) == {"Broker": ("0x1000", "7", "now"), "Fence": False, "Leaders": 2, "Top": 900}
    assert kernel.scenarios == ()
    assert loaded.kernel.scenarios != ()


def test_a_log_kernel_of_used_modules_takes_plain_names() -> None:
    loaded = load_text("module top\nuse used\n", modules={"used": USED})
    assert bound(log_kernel(loaded, {"Broker": ("9",)}, {}))["Broker"] == ("9",)


def test_a_log_of_an_unknown_set_is_an_error() -> None:
    with pytest.raises(UnusableSpecError):
        log_kernel(load_text(SPEC), {"Brocker": ("1",)}, {})


VALUES = "param T: set = {t1, t2}\nrecord Vote: by: T, at: 0 .. 3\nenum Role: Idle, Active(at: 0 .. 3)\n"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("param P: (0 .. 3)? = none", None),
        ("param P: (0 .. 3)? = 2", Some(2)),
        ("param P: set[0 .. 3] = {1, 3}", frozenset({1, 3})),
        ("param P: Role = Active(2)", VariantValue("Active", (2,))),
    ],
)
def test_a_parameter_may_have_a_value_with_parts(kernel_of: KernelOf, line: str, value: object) -> None:
    assert bound(kernel_of(VALUES + line + "\n"))["P"] == value


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("param P: set[0 .. 3] = {5}", "E315 `P` is set[0 .. 3], and this value lies outside"),
        ("param P: (0 .. 3)? = 5", "E315 `P` is 0 .. 3?, and this value lies outside"),
        ("param P: Vote = Vote(t1, 5)", "E315 `P` is Vote, and this value lies outside"),
        ("param P: (bool, 0 .. 3) = (true, 4)", "E315 `P` is (bool, 0 .. 3), and this value lies outside"),
        ("param P: 0 .. 3 = 1 // 0", "E314 the value of `P` is not a constant"),
    ],
)
def test_each_part_of_a_value_lies_in_its_range(errors_of: ErrorsOf, line: str, message: str) -> None:
    assert errors_of(VALUES + line + "\n") == [message]
