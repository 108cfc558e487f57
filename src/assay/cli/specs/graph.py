"""``assay graph``: the graph of reachable states, exported, collapsed, and analysed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

import click

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.report import ExitCode, worst
from assay.checker.stategraph.build import StateGraph, explore
from assay.checker.stategraph.statistics import components, dominators, reach
from assay.checker.stategraph.view import Picture, collapsed, whole
from assay.cli.settings import load, model_options, parse_settings
from assay.cli.terminal.files import write_result
from assay.cli.terminal.interrupt import stoppable
from assay.cli.terminal.output import complain_about, say, say_json
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded
from assay.report.diagnostics import diagnostic_object
from assay.report.specs.graph import GraphAnswers, graph_lines, graph_object
from assay.report.specs.graph_files import MOST_DRAWN, Format, picture_file

WRONG_QUESTION, TOO_LARGE = "E861", "E860"
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
# What speaks of one state. Other properties speak of steps or of whole runs.
STATE_KINDS = ("reachable", "invariant", "lemma")


@click.command()
@click.argument("spec")
@model_options
@click.option("--view", metavar="EXPR", help="Collapse states with the same value of an expression over the state.")
@click.option(
    "--out",
    "files",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Write the graph, by the ending .graphml, .dot, .json or .svg; repeatable.",
)
@click.option("--from", "sources", metavar="EXPR", help="With --to: from the states in which it holds.  [default: all]")
@click.option("--to", "targets", metavar="EXPR", help="Which states lead to one in which it holds, and how.")
@click.option("--dominators", "goal", metavar="EXPR", help="Which states every run to such a state goes through.")
@click.option(
    "--max-states",
    type=click.IntRange(min=1),
    default=50_000,
    show_default=True,
    metavar="N",
    help="Stop at N distinct states.",
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
def graph(
    spec: str,
    model: str | None,
    settings: tuple[str, ...],
    view: str | None,
    files: tuple[Path, ...],
    sources: str | None,
    targets: str | None,
    goal: str | None,
    max_states: int,
    as_json: bool,
) -> int:
    """Draw the graph of the reachable states of SPEC, and say what shape it has.

    An EXPR is an expression over the state, or the name of a property that speaks of states.

    \b
    Exit code: 0 the whole graph    1 what was asked about is not reached, or something is undefined    2 bad input
               3 some states are missing    4 there are none    5 up to bounds
    """
    if sources is not None and targets is None:
        raise click.UsageError("--from needs --to: what is to be reached from there")
    # Before the states are looked at, which may take minutes.
    _refuse_endings(files)
    questions = Questions(view, {"from": sources, "to": targets, "dominators": goal})
    loaded = questions.load(spec, model, parse_settings(settings))
    with stoppable() as asked_to_stop, deep_recursion(loaded.kernel):
        found = explore(loaded.kernel, max_states, asked_to_stop)
        answered, problems = _answered(found, questions, loaded.kernel, files)
    remarks = [*loaded.diagnostics, *problems]
    complain_about(remarks, loaded.sources)
    if as_json:
        shown = {"diagnostics": [diagnostic_object(each) for each in remarks]} if remarks else {}
        say_json(graph_object(answered) | shown)
    else:
        say(graph_lines(answered))
    return worst([answered.exit_code, *([ExitCode.BAD_INPUT] if problems else [])])


@dataclass(frozen=True, slots=True)
class Questions:
    """The expressions that were given, as text: the view, and the conditions by option."""

    view: str | None
    conditions: Mapping[str, str | None]

    def load(self, spec: str, model: str | None, settings: Mapping[str, str]) -> Loaded:
        """The spec with these expressions as added declarations. The name of a property is used as it is."""
        for text in (self.view, *self.conditions.values()):
            # The text becomes a line of the spec. With two lines, the second could declare anything.
            if text is not None and ("\n" in text or not text.strip()):
                raise SpecError([Diagnostic(WRONG_QUESTION, NOWHERE, "an expression stands on one line")])
        shown = [] if self.view is None else [f"show: {self.view}"]
        asked = {option: text for option, text in self.conditions.items() if text is not None}
        loaded = load(
            spec, model, settings, [*shown, *(_declared(o, t) for o, t in asked.items() if not NAME.fullmatch(t))]
        )
        lines = [each.span.line for each in loaded.kernel.shows[-2:]]
        if self.view is not None and len(lines) > len(set(lines)):
            what = "`--view` takes one expression: several are a tuple in brackets, such as `(a, b)`"
            raise SpecError([Diagnostic(WRONG_QUESTION, NOWHERE, what)])
        known = {prop.name for prop in loaded.kernel.properties if prop.kind in STATE_KINDS}
        # A single name may be a property, which is known when the spec was read, or an expression, such as a boolean
        # variable. For that the spec is read once more.
        missing = [(option, text) for option, text in asked.items() if NAME.fullmatch(text) and text not in known]
        if not missing:
            return loaded
        added = [_declared(option, text) for option, text in asked.items() if text not in known]
        return load(spec, model, settings, [*shown, *added])

    def condition(self, option: str, kernel: k.Kernel) -> tuple[k.Conjunct, ...] | None:
        """The condition of an option, if it was given."""
        text = self.conditions[option]
        if text is None:
            return None
        by_name = {prop.name: prop for prop in kernel.properties}
        # The declaration that was added goes first: it exists only where no property has that name.
        prop = by_name.get(_name(option)) or by_name[text]
        return prop.conjuncts


def _name(option: str) -> str:
    return f"asked_of_the_graph_{option}"


def _declared(option: str, text: str) -> str:
    return f"reachable {_name(option)}: {text}"


def _refuse_endings(files: Sequence[Path]) -> None:
    for path in files:
        if path.suffix.removeprefix(".") not in get_args(Format):
            known = ", ".join(f".{each}" for each in get_args(Format))
            raise click.UsageError(f"what to write into {path} is told by its ending: {known}")


def _answered(
    found: StateGraph, questions: Questions, kernel: k.Kernel, files: Sequence[Path]
) -> tuple[GraphAnswers, list[Diagnostic]]:
    view = None
    if questions.view is not None:
        try:
            # The last one: those of the spec itself stand before it.
            view = collapsed(found, kernel.shows[-1].value)
        except Undefined as undefined:
            what = f"the view has no value in a reachable state: {undefined.message}"
            raise SpecError([Diagnostic(WRONG_QUESTION, NOWHERE, what)]) from None
    targets, goal = (_states(found, questions.condition(option, kernel)) for option in ("to", "dominators"))
    sources = _states(found, questions.condition("from", kernel))
    problems, written = _write(view or whole(found), files)
    asked = GraphAnswers(
        found,
        components(found),
        view,
        None if targets is None else reach(found, sources, targets),
        None if goal is None else dominators(found, goal),
        None if goal is None else len(goal),
        tuple(written),
    )
    return asked, problems


def _states(found: StateGraph, condition: tuple[k.Conjunct, ...] | None) -> list[int] | None:
    """The states in which a condition holds. Raises ``SpecError`` if it has no value in one of them."""
    if condition is None:
        return None
    meanings = [Model(found.kernel).meaning(each.condition) for each in condition]
    try:
        return [at for at, state in enumerate(found.states) if all(holds(Frame(state)) for holds in meanings)]
    except Undefined as undefined:
        what = f"a condition has no value in a reachable state: {undefined.message}"
        raise SpecError([Diagnostic(WRONG_QUESTION, undefined.span, what)]) from None


def _write(picture: Picture, files: Sequence[Path]) -> tuple[list[Diagnostic], list[str]]:
    problems: list[Diagnostic] = []
    written: list[str] = []
    for path in files:
        form: Format = path.suffix.removeprefix(".")  # type: ignore[assignment]
        if form == "svg" and len(picture.nodes) > MOST_DRAWN:
            what = f"{path} is not drawn: {len(picture.nodes):,} nodes are more than {MOST_DRAWN}"
            problems.append(Diagnostic(TOO_LARGE, NOWHERE, what))
            continue
        trouble = write_result(path, picture_file(picture, form))
        problems += trouble
        written += [] if trouble else [str(path)]
    return problems, written
