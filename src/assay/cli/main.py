"""The program ``assay``: its commands, and how each exception becomes a message and an exit code."""

from __future__ import annotations

import gc
import os
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module

import click

from assay import __version__
from assay.checker.report import ExitCode
from assay.cli.terminal.limits import INTERRUPTED
from assay.cli.terminal.output import complain, complain_about, say_json
from assay.cli.terminal.supervisor import answering, note
from assay.grammar.current_work import listen
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.load import UnusableSpecError
from assay.report.diagnostics import error_object
from assay.report.lines import Line, Tone
from assay.traces.stop import StopRequest

COMMANDS = {
    "check": "specs",
    "prove": "specs",
    "simulate": "specs",
    "validate": "logs",
    "coverage": "logs",
    "replay": "specs",
    "eval": "specs",
    "repl": "specs",
    "explore": "specs",
    "graph": "specs",
    "mutate": "specs",
    "generate": "specs",
    "export": "specs",
    "fmt": "specs",
    "demo": "setup",
    "doctor": "setup",
    "patterns": "setup",
    "explain": "setup",
    "lsp": "setup",
    "dap": "setup",
    "mcp": "setup",
}
"""Each command with the folder of its module, in the order of the help text."""

SUMMARIES = {
    "check": "Check all properties of SPEC: a file, or the name of a bundled spec such as `kafka/controller`.",
    "prove": "Prove the properties of SPEC for runs of any length.",
    "simulate": "Walk through SPEC at random, for models whose states are too many to be searched.",
    "validate": "Validate the logs at PATH… against a spec.",
    "coverage": "Which actions and guards of a model logs have exercised, and which they never did.",
    "replay": "Follow the counterexample in TRACE again, in SPEC or else in the spec it was found in.",
    "eval": "Print the values of expressions over SPEC: in an initial state, or in the states of a saved trace.",
    "repl": "Walk the model of SPEC step by step, and evaluate expressions in its states.",
    "explore": "Walk the model of SPEC by hand, in a page that only this machine can open.",
    "graph": "Draw the graph of the reachable states of SPEC, and say what shape it has.",
    "mutate": "Make one mistake after the other in SPEC, check each, and say which properties notice.",
    "generate": "Write tests of real code that a model is made into.",
    "export": "Write SPEC, with its parameters bound, as a TLA+ module and the configurations that TLC reads.",
    "fmt": "Rewrite each SPEC in its canonical form.",
    "demo": "Check the bundled Kafka model, break it, and validate the logs of a real cluster: under a minute.",
    "doctor": "Say what assay runs on and what is missing; exit code 3 if something needed is.",
    "patterns": "Look at files of patterns, which describe the lines of text logs.",
    "explain": "Explain a diagnostic CODE such as E003.",
    "lsp": "Answer an editor on standard input and output, by the Language Server Protocol.",
    "dap": "Answer an editor's debugger on standard input and output, by the Debug Adapter Protocol.",
    "mcp": "Answer a coding agent on standard input and output, by the Model Context Protocol.",
}
"""What each command does, as its own help says it: the list of all loads none of them."""


class Commands(click.Group):
    """The commands, each in a module of its name. A module is imported when its command runs: ``assay explain``
    needs no compiler.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """The commands in the order of the help text."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.add_command(getattr(import_module(f"assay.cli.{COMMANDS[cmd_name]}.{cmd_name}"), cmd_name))
            gc.freeze()
            gc.unfreeze()  # both together move all objects into the oldest generation, unexamined
            gc.enable()
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Write the list of the commands."""
        # As in click's own method, which would import every command to ask for its help.
        room = formatter.width - 6 - max(map(len, SUMMARIES))
        short = {name: click.Command(name, help=text).get_short_help_str(room) for name, text in SUMMARIES.items()}
        with formatter.section("Commands"):
            formatter.write_dl(list(short.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names. An unknown name is an error that suggests a similar one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            meant = did_you_mean(args[0], COMMANDS)
            advice = f"Did you mean '{meant}'?" if meant else f"The commands are: {', '.join(COMMANDS)}"
            raise click.UsageError(f"No such command '{args[0]}'. ({advice})")
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="assay")
def cli() -> None:
    """Check a formal model of Kafka's control plane, and check the logs of a real cluster against it.

    Start with `assay demo`.
    """


def invoke(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. No error ends in a traceback, except with ``ASSAY_DEBUG=1``."""
    # Looked up in the words themselves: arguments that click cannot read are answered as JSON too.
    as_json = "--json" in arguments
    listen(note, answering)
    if not arguments:
        complain(Line(line) for line in _help().splitlines())
        return ExitCode.BAD_INPUT
    try:
        # By itself click would print its errors without a code, never as JSON, and exit.
        return int(cli.main(args=list(arguments), prog_name="assay", standalone_mode=False) or 0)
    # Before `SpecError`, of which it is a kind: it has the texts that the diagnostics quote.
    except UnusableSpecError as error:
        return report_errors(error.diagnostics, as_json, error.sources)
    except SpecError as error:
        return report_errors(error.diagnostics, as_json)
    except click.ClickException as error:
        return report_errors([_usage(error)], as_json)
    # Of Ctrl-C within a command click makes an `Abort`.
    except (KeyboardInterrupt, click.Abort):
        return _interrupted(as_json)
    except StopRequest as stop:  # before there was anything to show
        return _stopped(stop, as_json)
    except Exception as error:  # noqa: BLE001 - the last resort: a message, not a traceback
        return _internal(error, as_json, redact="--redact" in arguments)


def _help() -> str:
    with cli.make_context("assay", [], resilient_parsing=True) as context:
        return cli.get_help(context)


def report_errors(diagnostics: Sequence[Diagnostic], as_json: bool, sources: Mapping[str, str] | None = None) -> int:
    """Show why an input cannot be used; exit code 2."""
    complain_about(diagnostics, sources)
    if as_json:
        say_json(error_object(diagnostics))
    return ExitCode.BAD_INPUT


def _usage(error: click.ClickException) -> Diagnostic:
    return Diagnostic("E901", NOWHERE, error.format_message().rstrip("."))


def _interrupted(as_json: bool) -> int:
    complain([Line("interrupted", Tone.WARN)])
    if as_json:
        say_json({"assay": "1", "verdict": "interrupted"})
    return ExitCode.INTERRUPTED


def _stopped(stop: StopRequest, as_json: bool) -> int:
    if str(stop) == INTERRUPTED:
        return _interrupted(as_json)
    reason = f"{stop}, and nothing was checked"
    complain([Line(f"inconclusive: {reason}", Tone.WARN)])
    if as_json:
        say_json({"assay": "1", "verdict": "inconclusive", "reason": reason})
    return ExitCode.INCONCLUSIVE


def _internal(error: Exception, as_json: bool, *, redact: bool) -> int:
    if os.environ.get("ASSAY_DEBUG"):
        complain(Line(text) for text in "".join(traceback.format_exception(error)).splitlines())
    kind = type(error).__name__
    summary = kind if redact else f"{kind}: {error}"  # the text of an exception may hold names
    complain(
        [
            Line(f"internal error: {summary}", Tone.BAD),
            Line(
                "This is a mistake in assay, not in your input. Please report it in the project's issue tracker, with the"
            ),
            Line(
                "command, its input, the output of `assay doctor --json`, and what ASSAY_DEBUG=1 adds to this message."
            ),
        ]
    )
    if as_json:
        say_json({"assay": "1", "verdict": "internal error", "message": summary})
    return ExitCode.INTERNAL
