"""``assay repl``: walks a model by hand, and evaluates expressions on the way."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import click

from assay.checker.report import ExitCode, Explanation
from assay.checker.saved_traces.trace_file import read_trace
from assay.checker.stepper.split_call import NoSuchStepError
from assay.checker.stepper.stepper import Stepper
from assay.checker.stepper.steps import PossibleStep, RefusedStep
from assay.cli.settings import load, model_options, parse_settings
from assay.cli.terminal.output import complain_about, say
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import UnusableSpecError
from assay.report.lines import Line, Tone
from assay.report.specs.changes import initial_lines, step_name

MOST_LISTED = 40
"""How many steps one answer lists; an action's name lists those of the action alone."""

HELP = """\
  EXPRESSION           its value here; old(x) is the value of x before the step
  3                    take the step of that number in the last list
  elect(b1, _)         take the step of that action; `_` stands for any argument
  :steps [ACTION]      the steps that are possible here
  :why [STEP]          why a step, or every step of an action, is not possible
  :initial [N]         the initial states, or begin anew in one of them
  :state  :path        the state, and the steps up to here
  :properties          what holds here
  :undo  :redo         go back a step, and forth again
  :save FILE  :load FILE   keep the steps up to here, or follow kept ones
  :reload              read the spec again and follow the same steps
  :quit"""


@click.command()
@click.argument("spec", required=False)
@model_options
@click.option(
    "--trace",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Begin with a saved run, such as a counterexample, in its model.",
)
def repl(spec: str | None, model: str | None, settings: tuple[str, ...], trace: Path | None) -> int:
    """Walk the model of SPEC step by step, and evaluate expressions in its states.

    Lines are read from standard input, so that a walk can be a file too. `:help` lists what can be written.
    """
    chosen, saved = parse_settings(settings), None if trace is None else read_trace(trace)
    if saved is not None:
        # A mistake may be looked for in an edited copy: what the command names goes before what the run was saved with.
        spec, model, chosen = spec or saved.spec, model or saved.model, {**saved.settings, **chosen}
    if spec is None:
        raise click.UsageError("Missing argument 'SPEC'")
    session = Session(spec, model, chosen)
    say(session.opening() if trace is None else session.answer(f":load {trace}"))
    for line in _lines(session):
        if line.strip() in (":quit", ":q"):
            break
        if answer := session.answer(line):
            say(answer)
    return ExitCode.OK


def _lines(session: Session) -> Iterator[str]:
    """The lines that the user writes: with history and completion on a terminal, else as they come."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield from sys.stdin
        return
    # Imported here: it takes a tenth of a second, and only a terminal needs it.
    from prompt_toolkit import PromptSession  # noqa: PLC0415
    from prompt_toolkit.completion import WordCompleter  # noqa: PLC0415

    prompt: PromptSession[str] = PromptSession(
        completer=WordCompleter(session.words, sentence=False, pattern=None), complete_while_typing=False
    )
    while True:
        try:
            yield prompt.prompt("assay> ")
        # As in a shell: Ctrl-C drops the line, and Ctrl-D ends the session.
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


class Session:
    """A walk with the lists that its numbers refer to."""

    def __init__(self, spec: str, model: str | None, settings: Mapping[str, str]) -> None:
        self._spec, self._model, self._settings = spec, model, settings
        self.stepper = self._open()
        self._listed: list[PossibleStep] = []
        self._commands: dict[str, Callable[[str], Iterable[Line]]] = {
            "help": lambda _: [Line(line) for line in HELP.splitlines()],
            "steps": self._steps,
            "why": self._why,
            "initial": self._initial,
            "state": lambda _: self._state(),
            "path": lambda _: self._path(),
            "properties": lambda _: self._properties(),
            "undo": lambda _: self._moved("this is the initial state", moved=self.stepper.undo()),
            "redo": lambda _: self._moved("nothing was undone", moved=self.stepper.redo()),
            "save": self._save,
            "load": self._load,
            "reload": lambda _: self._reload(),
        }

    def _open(self) -> Stepper:
        return Stepper(load(self._spec, self._model, self._settings), self._spec)

    @property
    def words(self) -> list[str]:
        """What completion offers: commands, actions, and variables."""
        kernel = self.stepper.kernel
        return [*(f":{name}" for name in self._commands), *kernel.next, *(each.name for each in kernel.variables)]

    def opening(self) -> list[Line]:
        """What is said before the first line is read."""
        complain_about(self.stepper.loaded.diagnostics, self.stepper.loaded.sources)
        self.stepper.begin()
        return [*self._state(), *self._steps(""), Line(":help lists what can be written", Tone.FAINT)]

    def answer(self, line: str) -> list[Line]:
        """The answer to a line; a mistake in it is an answer too."""
        text = line.strip()
        try:
            return list(self._answer(text)) if text and not text.startswith("#") else []
        except NoSuchStepError as error:
            return [Line(str(error), Tone.WARN)]
        except UnusableSpecError as error:
            # Asked last, since a variable may be called as a command is.
            if meant := self._command_without_colon(text):
                return [Line(f"commands begin with a colon: `{meant}`", Tone.WARN)]
            complain_about(error.diagnostics, error.sources)
        except SpecError as error:
            complain_about(error.diagnostics)
        except OSError as error:
            return [Line(f"{error.filename}: {error.strerror}", Tone.WARN)]
        return []

    def _answer(self, text: str) -> Iterable[Line]:
        if text.startswith(":"):
            name, _, rest = text[1:].partition(" ")
            command = self._commands.get(name)
            return command(rest.strip()) if command else [Line(f"no command `:{name}`; `:help` lists them", Tone.WARN)]
        # A number that is not in the list is an expression, with itself as its value.
        number = _number(text)
        if number is not None and number < len(self._listed):
            return self._take(self._listed[number])
        if self._is_step(text):
            return self._take(self.stepper.find_call(text))
        value = self.stepper.evaluate(text)
        return [Line(value.shown, Tone.PLAIN if value.undefined is None else Tone.WARN)]

    def _command_without_colon(self, text: str) -> str | None:
        """``:why elect(b1)`` for ``why elect(b1)``; None for what is no command."""
        word, _, rest = text.partition(" ")
        if word in ("quit", "q", "exit"):
            return ":quit"
        return f":{word} {rest}".rstrip() if word in self._commands else None

    def _is_step(self, text: str) -> bool:
        return text.partition("(")[0].strip() in self.stepper.kernel.next

    def _take(self, step: PossibleStep) -> list[Line]:
        self.stepper.take(step)
        changes = [Line(f"  {place}: {old} -> {new}") for place, old, new in step.changes]
        broken = [line for line in self._properties() if line.tone is not Tone.GOOD]
        return [Line(step.text, Tone.HEADING), *(changes or [Line("  nothing changes", Tone.FAINT)]), *broken,
                *self._steps("")]  # fmt: skip

    def _steps(self, action: str) -> list[Line]:
        found = list(islice(self.stepper.possible(action or None), MOST_LISTED + 1))
        self._listed = found[:MOST_LISTED]
        lines = [Line(f"{number:>3}  {each.text}") for number, each in enumerate(self._listed)]
        if len(found) > MOST_LISTED:
            lines.append(Line("     … more: name an action after `:steps`", Tone.FAINT))
        return lines or [Line("no step is possible here; `:why ACTION` says what refuses it", Tone.WARN)]

    def _why(self, text: str) -> list[Line]:
        action, wanted = self.stepper.read_call(text) if text else (None, None)
        refused = list(islice(self.stepper.refused(action, wanted), MOST_LISTED))
        return [line for each in refused for line in _refusal(each)] or [Line("it is possible", Tone.GOOD)]

    def _initial(self, text: str) -> list[Line]:
        if text:
            number = _number(text)
            if number is None:
                raise NoSuchStepError("`:initial` takes the number of an initial state")
            self.stepper.begin(number)
            return [*self._state(), *self._steps("")]
        found = list(islice(self.stepper.initial_states(), MOST_LISTED))
        return [
            Line(f"{number:>3}  {', '.join(line.text for line in _state(self.stepper, each.state))}")
            for number, each in enumerate(found)
        ]

    def _state(self) -> list[Line]:
        return _state(self.stepper, self.stepper.state)

    def _path(self) -> list[Line]:
        steps = self.stepper.trace.steps
        return [Line(f"{place:>3}  {step_name(self.stepper.kernel, step)}") for place, step in enumerate(steps)]

    def _properties(self) -> list[Line]:
        lines: list[Line] = []
        for each in self.stepper.properties():
            word, tone = _HOLDS[each.holds]
            lines.append(Line(f"  {each.name} {word}", tone))
            lines += _parts(each.explanation)
        return lines

    def _moved(self, otherwise: str, *, moved: bool) -> list[Line]:
        return [*self._state(), *self._steps("")] if moved else [Line(otherwise, Tone.WARN)]

    def _save(self, text: str) -> list[Line]:
        if not text:
            raise NoSuchStepError("`:save` takes the name of a file")
        self.stepper.save(Path(text))
        return [Line(f"kept in {text}", Tone.GOOD)]

    def _load(self, text: str) -> list[Line]:
        if not text:
            raise NoSuchStepError("`:load` takes the name of a file")
        stopped = self.stepper.load(Path(text))
        return [*self._ended(stopped), *self._path(), *self._steps("")]

    def _reload(self) -> list[Line]:
        # If the spec cannot be read now, the assignment is not reached, and the walk goes on in the old one.
        path, self.stepper = self.stepper.trace, self._open()
        stopped = self.stepper.follow(path)
        return [*self._ended(stopped), *self._path(), *self._steps("")]

    def _ended(self, stopped: str | None) -> list[Line]:
        return [] if stopped is None else [Line(f"the steps can be followed up to here: {stopped}", Tone.WARN)]


_HOLDS = {True: ("holds", Tone.GOOD), False: ("is false", Tone.BAD), None: ("has no value", Tone.WARN)}


def _number(text: str) -> int | None:
    """The number of a listed step or state; None for other text, and for more digits than a list can have."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _state(stepper: Stepper, state: tuple[object, ...]) -> list[Line]:
    return [Line(line) for line in initial_lines(stepper.kernel, state)]


def _refusal(step: RefusedStep) -> Iterator[Line]:
    yield Line(step.text, Tone.HEADING)
    for guard in step.guards:
        yield Line(f"  {guard.label}: {guard.text}   {guard.span.file}:{guard.span.line}")
        yield from _parts(guard.explanation)


def _parts(explanation: Explanation | None) -> Iterator[Line]:
    for part in explanation.parts if explanation is not None else ():
        values = ", ".join(f"{text} = {value}" for text, value in part.values)
        yield Line(
            f"    {part.text} is {'true' if part.holds else 'false'}{f': {values}' if values else ''}", Tone.FAINT
        )
