"""Whatever a user gives: a diagnostic with a code and a place, exit code 2, and never a traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

HEAD = "module bad\n\nparam Broker: set = {b1, b2}\nparam Count: int = 2\ntype Epoch = 0 .. 3\n\nstate:\n    x: Epoch = 0\n"
BODY = "\naction grow:\n    when x < 3\n    x := x + 1\n"

SPECS = {
    "a syntax error at the last line without newline": (HEAD + BODY + "\ninvariant small: x <=", 14),
    "a tab in the indentation": (HEAD + "\naction grow:\n    when x < 3\n\tx := x + 1\n", 12),
    "a file that ends inside a string": (HEAD + BODY + '\naction a:\n    "never ends', 15),
    "a spec that uses itself": ("module bad\n\nuse bad\n\nstate:\n    x: bool = false\n", 3),
    "a module that is nowhere": ("module bad\n\nuse nowhere.at.all\n\nstate:\n    x: bool = false\n", 3),
    "a param left unbound": (HEAD.replace(" = {b1, b2}", "") + BODY, 3),
    "a value out of range in the initial state": (HEAD.replace("x: Epoch = 0", "x: Epoch = y"), 8),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_with_a_mistake_is_told_its_line(assay: Any, tmp_path: Path, name: str) -> None:
    text, line = SPECS[name]
    (tmp_path / "bad.assay").write_text(text)
    ran = assay("check", "bad.assay", "--json")
    assert ran.code == 2
    assert ran.json["verdict"] == "error"
    places = [d["place"] for d in ran.json["diagnostics"] if "place" in d]
    assert ("bad.assay", line) in [(place["file"], place["line"]) for place in places]
    assert all(d["code"].startswith("E") for d in ran.json["diagnostics"])


def test_five_mistakes_are_all_reported_in_one_run(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.assay").write_text(
        HEAD
        + "\naction a:\n    x = 1\n"  # the wrong sign
        + "\naction b:\n    when y == 2\n    x := 1\n"  # no such name
        + "\naction c:\n    x := true\n"  # the wrong type
        + "\ninvariant d: x and true\n"  # no condition
        + "\ninvariant e x == 1\n"  # no colon
    )
    ran = assay("check", "bad.assay")
    assert ran.code == 2
    assert [line for line in (11, 14, 18, 20, 22) if f"bad.assay:{line}:" not in ran.err] == []
    assert ran.err.rstrip().endswith("errors")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("missing.assay",), "E601"),
        (("folder",), "E602"),
        (("binary.assay",), "E603"),
        (("no/such/spec",), "E903"),
        (("counter.assay", "--model", "dubble"), "E308"),
        (("counter.assay", "--property", "at_most_thre"), "E804"),
        (("counter.assay", "--set", "Stepp=1"), "E"),
        (("counter.assay", "--set", "Step=many"), "E"),
        (("counter.assay", "--set", "Step={a, b}"), "E"),
        (("counter.assay", "--set", "Step"), "E901"),
        (("counter.assay", "--set", "Step=1", "--set", "Step=2"), "E901"),
        (("counter.assay", "--depth", "0"), "E901"),
        (("counter.assay", "--timeout", "-1"), "E901"),
        (("counter.assay", "--engine", "quantum"), "E901"),
        (("counter.assay", "--unknown"), "E901"),
        ((), "E901"),
    ],
)
def test_bad_arguments_have_a_code_and_exit_2(
    assay: Any, tmp_path: Path, arguments: tuple[str, ...], code: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary.assay").write_bytes(b"\x7fELF\x00\x01\xff" * 100)
    ran = assay("check", *arguments, "--json")
    assert ran.code == 2
    found, *_ = ran.json["diagnostics"]
    assert found["code"].startswith(code)
    assert found["code"] in ran.err


@pytest.mark.slow
def test_a_line_of_a_hundred_megabytes_is_no_spec(assay: Any, tmp_path: Path) -> None:
    with (tmp_path / "long.assay").open("wb") as file:
        file.truncate(0)
        file.write(b"module long # ")
        for _ in range(100):
            file.write(b"x" * 1_000_000)
    ran = assay("check", "long.assay", "--json")
    assert ran.code == 2
    assert [d["code"] for d in ran.json["diagnostics"]] == ["E605"]


def test_a_domain_too_large_to_list_is_told_at_its_place(assay: Any, tmp_path: Path) -> None:
    text = HEAD + "\naction grow(s in subsets(0 .. 200)):\n    x := 0\n"
    (tmp_path / "large.assay").write_text(text)
    ran = assay("check", "large.assay", "--json")
    assert ran.code == 2
    assert ran.json["diagnostics"][0]["place"]["line"] == 10


@pytest.mark.slow
@pytest.mark.everyday(1)
@pytest.mark.parametrize("op", ["and", "or"])
def test_thousands_of_conditions_in_a_row_are_checked(assay: Any, tmp_path: Path, op: str) -> None:
    one = "x <= 3" if op == "and" else "x == 3"
    conditions = f"\n    {op} ".join([one] * 2_000)
    (tmp_path / "long.assay").write_text(HEAD + BODY + f"\nreachable end:\n    {conditions}\nterminal: x == 3\n")
    for engine in ("reference", "native"):
        assert assay("check", "long.assay", "--engine", engine).code == 0
    assert assay("export", "long.assay", "--out", "tla").code == 0
    assert assay("fmt", "long.assay").code == 0
    assert assay("fmt", "--check", "long.assay").code == 0


DEEP = {
    "an `if` of a thousand branches": (
        HEAD + "\naction a:\n    if x == 0:\n        x := 1\n" + "    elif x == 1:\n        x := 2\n" * 1_000,
        "E017",
    ),
    "blocks in blocks": (
        HEAD
        + "\naction a:\n"
        + "".join("    " * depth + "if x == 0:\n" for depth in range(1, 300))
        + "    " * 300
        + "x := 1\n",
        "E017",
    ),
    "functions that double": (
        HEAD
        + BODY
        + "".join(f"def f{at}(n: int): int = f{at + 1}(n) + f{at + 1}(n)\n" for at in range(14))
        + "def f14(n: int): int = n\ninvariant p: f0(1) > 0\n",
        "E115",
    ),
}


@pytest.mark.everyday(2)
@pytest.mark.parametrize("name", DEEP)
def test_what_grows_beyond_measure_is_refused_at_its_place(assay: Any, tmp_path: Path, name: str) -> None:
    text, code = DEEP[name]
    (tmp_path / "deep.assay").write_text(text)
    ran = assay("check", "deep.assay", "--json")
    assert ran.code == 2
    assert {d["code"] for d in ran.json["diagnostics"]} == {code}
    assert all(d["place"]["line"] > 9 for d in ran.json["diagnostics"])


@pytest.mark.parametrize("text", ["", "# nothing\n", '"""Words."""\nmodule m\n'])
def test_a_spec_that_declares_nothing_is_vacuous(assay: Any, tmp_path: Path, text: str) -> None:
    (tmp_path / "empty.assay").write_text(text)
    ran = assay("check", "empty.assay", "--json")
    assert (ran.code, ran.json["verdict"]) == (4, "vacuous")


def test_a_misspelt_name_is_answered_with_the_right_one(assay: Any) -> None:
    assert "did you mean `double`" in assay("check", "counter.assay", "--model", "dubble").err


def test_a_model_that_is_not_there_leaves_no_parameter_to_complain_about(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "open.assay").write_text("module open\nparam N: set\nmodel small: N = 2\n")

    def codes(*arguments: str) -> list[str]:
        ran = assay("check", "open.assay", *arguments, "--json")
        return [each["code"] for each in ran.json["diagnostics"]]

    assert codes("--model", "smal") == ["E308"]
    assert codes() == ["E313"]


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("chekc", "counter.assay"), "'check'"),
        (("check", "kafka/contoller"), "`kafka/controller`"),
        (("check", "countr.assay"), "`counter.assay`"),
    ],
)
def test_a_misspelt_command_or_file_is_answered_with_the_right_one(
    assay: Any, arguments: tuple[str, ...], meant: str
) -> None:
    ran = assay(*arguments)
    assert ran.code == 2
    assert f"id you mean {meant}?" in ran.err
    assert ":0:0" not in ran.err


@pytest.mark.parametrize("command", ["validate", "fmt", "replay"])
def test_other_commands_refuse_a_missing_file_alike(assay: Any, command: str) -> None:
    ran = assay(command, "missing", "--json")
    assert ran.code == 2
    assert ran.json["diagnostics"][0]["code"] == "E601"
