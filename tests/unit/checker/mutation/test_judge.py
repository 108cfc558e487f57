"""The fate of mutants: killed by the properties that notice, equivalent, explained beside the line, survived, or given up."""

from __future__ import annotations

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.mutation.judge import Fate, MutantJudgement, Mutation, judge
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode
from assay.grammar.load import load_text

COUNTER = """\
module counter
state:
    n: 0 .. 9 = 0
    seen: bool = false
action grow:
    when small: n < 3 and n < 5
    n := n + 1
    # survives keep: nothing depends on it
    seen := true
action reset:
    when full: n == 3
    n := 0
    seen := false
invariant most: n <= 3
terminal: n == 3
"""


def judged(text: str, options: SearchOptions | None = None) -> Mutation:
    loaded = load_text(text)
    original = check(loaded.kernel, SearchOptions(), loaded.sources)
    limits = options or SearchOptions()
    return judge(loaded.kernel, loaded.sources, original, frozenset(("spec.assay",)), limits, lambda done, total: None)


def fates(mutation: Mutation) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {f"{each.mutant.kind} {each.mutant.text}": (each.fate.value, each.killers) for each in mutation.judged}


def test_each_mutant_has_its_fate() -> None:
    mutation = judged(COUNTER)
    assert fates(mutation) == {
        "drop without `when small: n < 3 and n < 5`": ("killed", ("most",)),
        "weaken without `n < 3` in `when small: n < 3 and n < 5`": ("killed", ("most",)),
        "weaken without `n < 5` in `when small: n < 3 and n < 5`": ("equivalent", ()),
        "swap `<=` for `<` in `n < 3`": ("killed", ("most",)),
        "swap `<=` for `<` in `n < 5`": ("equivalent", ()),
        "keep without `n := n + 1`": ("survived", ()),
        "keep without `seen := true`": ("explained", ()),
        "drop without `when full: n == 3`": ("survived", ()),
        "swap `!=` for `==` in `n == 3`": ("survived", ()),
        "keep without `n := 0`": ("survived", ()),
        "keep without `seen := false`": ("survived", ()),
    }
    assert mutation.score == 3 / 9
    assert mutation.exit_code is ExitCode.VIOLATED


def test_a_line_separator_in_a_comment_moves_no_explanation() -> None:
    mutation = judged(COUNTER.replace("module", "# one\u2028two\u2028three\nmodule", 1))
    assert fates(mutation)["keep without `seen := true`"] == ("explained", ())


def test_a_new_property_kills_what_survived() -> None:
    stronger = judged(COUNTER + "reachable three: n == 3 and seen\ntransition resets: n < old(n) implies old(n) == 3\n")
    killed = {text: killers for text, (fate, killers) in fates(stronger).items() if fate == "killed"}
    assert killed["keep without `n := n + 1`"] == ("three",)
    assert killed["drop without `when full: n == 3`"] == ("resets",)


def test_what_holds_up_to_a_bound_kills_too() -> None:
    text = COUNTER.replace("when full: n == 3", "bound often: n < 3\n    when full: n == 3")
    assert fates(judged(text))["drop without `when small: n < 3 and n < 5`"] == ("killed", ("most",))


def test_an_explanation_of_a_mutant_that_is_killed_is_wrong() -> None:
    mutation = judged(COUNTER + "reachable three: n == 3 and seen\n")
    (stale,) = [each for each in mutation.judged if each.stale]
    assert (stale.mutant.text, stale.remark) == ("without `seen := true`", "nothing depends on it")
    assert mutation.exit_code is ExitCode.VIOLATED


def test_a_mutant_that_reaches_a_limit_is_undecided() -> None:
    text = (
        COUNTER.replace("0 .. 9", "0 .. 9000")
        .replace("n == 3\n    n := 0", "n == 3\n    n := 3")
        .replace("most: n <= 3", "most: n <= 9000")
    )
    mutation = judged(text, SearchOptions(max_states=50))
    undecided = mutation.of(Fate.UNDECIDED)
    assert "without `when small: n < 3 and n < 5`" in [each.mutant.text for each in undecided]
    assert all("50" in (each.remark or "") for each in undecided)


def test_an_interrupted_run_says_so() -> None:
    mutation = judged(COUNTER, SearchOptions(interrupted=lambda: True))
    assert (mutation.judged, mutation.interrupted) == ((), True)
    assert mutation.exit_code is ExitCode.INTERRUPTED


def test_without_actions_there_is_nothing_to_judge() -> None:
    mutation = judged(
        "module still\nstate:\n    n: 0 .. 1 = 0\naction stay:\n    when never: false\ninvariant zero: n == 0\nterminal: true\n"
    )
    assert mutation.judged == ()
    assert (mutation.score, mutation.exit_code) == (None, ExitCode.VACUOUS)


def test_a_killed_mutant_is_not_stale_without_a_remark() -> None:
    mutation = judged(COUNTER)
    assert [each for each in mutation.of(Fate.KILLED) if each.stale] == []
    assert all(isinstance(each, MutantJudgement) for each in mutation.judged)


NEVER = """\
module never
state:
    n: 0 .. 3 = 0
action turn:
    n := (n + 1) % 4
action rest:
    when never: n > 3
    n := 0
reachable three: n == 3
"""


def test_a_large_model_is_compared_by_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is larger only guards that are dropped, and lines of actions that never happen, are found equivalent."""
    monkeypatch.setattr("assay.checker.mutation.judge.COMPARABLE", 0)
    assert fates(judged(NEVER)) == {
        "keep without `n := (n + 1) % 4`": ("killed", ("three",)),
        "drop without `when never: n > 3`": ("survived", ()),
        "swap `>=` for `>` in `n > 3`": ("survived", ()),
        "keep without `n := 0`": ("equivalent", ()),
    }
    mutation = judged(COUNTER)
    assert [each.mutant.text for each in mutation.of(Fate.EQUIVALENT)] == [
        "without `n < 5` in `when small: n < 3 and n < 5`"
    ]
