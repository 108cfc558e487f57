"""``assay demo``: the three things that assay does, on bundled examples, each with the command that a user would
type.
"""

from __future__ import annotations

import click

from assay.api.spec import load
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Outcome, Report, worst
from assay.cli.specs.check import search
from assay.cli.terminal.output import say
from assay.grammar.lazy_dataclass import dataclass
from assay.report.lines import Line, Tone
from assay.report.logs.validation_object import exit_code
from assay.report.logs.validation_text import validation_lines
from assay.report.specs.text import report_lines
from assay.traces.log_reader import read_logs
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.samples import sample
from assay.traces.scoped_validate import validate_in_scope

SPEC = "kafka/controller"
SAFEGUARD = "FenceByEpoch"
PROMISE = "never_obeys_an_older_controller"
SAMPLE = "elections"


@dataclass(frozen=True, slots=True)
class DemoStep:
    """A step of the demo: what it shows, its command, its answer, and whether that is the expected one."""

    title: str
    says: tuple[str, ...]
    command: str
    answer: list[Line]
    as_promised: bool


@click.command()
def demo() -> int:
    """Check the bundled Kafka model, break it, and validate the logs of a real cluster: under a minute."""
    promises = []
    for number, part in enumerate((_check, _break, _validate), start=1):
        shown = part()
        say(
            [
                Line(""),
                Line(f"{number}. {shown.title}", Tone.HEADING),
                *map(Line, shown.says),
                Line(f"   $ {shown.command}"),
                Line(""),
            ]
        )
        say(line.indented(3) for line in shown.answer)
        # The answers are known beforehand. Another one is a mistake of assay, whatever the user did.
        promises.append(ExitCode.OK if shown.as_promised else ExitCode.INTERNAL)
    say(
        [
            Line(""),
            Line(
                "What next: `assay --help`, docs/language.md to write a spec, docs/cli.md for every option and answer.",
                Tone.HEADING,
            ),
        ]
    )
    return worst(promises)


def _check() -> DemoStep:
    report = _search({})
    return DemoStep(
        "Does Kafka's controller election keep its promises?",
        (
            "   The model: brokers race for the ZooKeeper node /controller, sessions expire, a deposed controller goes on acting.",
            "   Every reachable state is visited, and every property is checked in each.",
        ),
        f"assay check {SPEC}",
        report_lines(report),
        report.outcome in {Outcome.HOLDS, Outcome.UP_TO_BOUND},
    )


def _break() -> DemoStep:
    report = _search({SAFEGUARD: "false"}, PROMISE)
    return DemoStep(
        "What if brokers did not refuse requests of an older controller?",
        (
            "   The same model with one safeguard switched off. The answer is the shortest run that goes wrong: the old controller",
            "   is cut off, a new one is elected and obeyed, and then a late request of the old one is obeyed again.",
        ),
        f"assay check {SPEC} --set {SAFEGUARD}=false --property {PROMISE}",
        report_lines(report),
        report.outcome is Outcome.VIOLATED,
    )


def _validate() -> DemoStep:
    place = sample(SAMPLE)
    validation = validate_in_scope(load(SPEC).loaded, read_logs([place]), DEFAULT_OPTIONS)
    return DemoStep(
        "Did a real cluster keep to that model?",
        (
            "   The logs of three Kafka 2.8 brokers and their ZooKeeper while controllers were killed and stopped. Each line that",
            "   speaks of the protocol must be a step of the model, or agree with its state, in some order that the times allow.",
        ),
        f"assay validate {place} --spec {SPEC}",
        validation_lines(validation),
        exit_code(validation) is ExitCode.OK,
    )


def _search(settings: dict[str, str], *properties: str) -> Report:
    spec = load(SPEC, settings=settings)
    report = search(spec, SearchOptions(properties=frozenset(properties) or None)).report
    if report.interrupted:
        raise KeyboardInterrupt
    return report
