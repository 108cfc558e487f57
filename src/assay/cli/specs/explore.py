"""``assay explore``: a page on which a model is walked by hand."""

from __future__ import annotations

import gc
import sys
import webbrowser
from pathlib import Path

import click

from assay.checker.report import ExitCode
from assay.checker.saved_traces.trace_file import read_trace
from assay.checker.stepper.split_call import NoSuchStepError
from assay.checker.stepper.stepper import Stepper
from assay.cli.settings import load, model_options, parse_settings
from assay.cli.terminal.files import write_result
from assay.cli.terminal.output import complain_about, say
from assay.cli.terminal.progress import activity
from assay.explorer.complete_graph import MOST_STATES, complete_graph
from assay.explorer.page import explorer_page
from assay.explorer.server import ExplorerServer
from assay.explorer.session import ExplorerSession
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError
from assay.report.lines import Line, Tone


@click.command()
@click.argument("spec", required=False)
@model_options
@click.option(
    "--trace", type=click.Path(path_type=Path), metavar="FILE", help="Open a saved run, such as a counterexample."
)
@click.option(
    "--log", "logs", multiple=True, metavar="PATH",
    help="Open the execution that explains these logs; repeatable. Without SPEC the lines decide which spec.",
)  # fmt: skip
@click.option("--slice", "slice_", metavar="NAME", help="With --log: the execution of this slice, such as orders-0.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port on loopback.  [default: any]")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--tui", is_flag=True, help="Walk in this terminal, without a page.")
@click.option(
    "--html", type=click.Path(path_type=Path), metavar="FILE",
    help=f"Write one page that needs no server, of a model of up to {MOST_STATES:,} states.",
)  # fmt: skip
def explore(
    spec: str | None,
    model: str | None,
    settings: tuple[str, ...],
    trace: Path | None,
    logs: tuple[str, ...],
    slice_: str | None,
    port: int,
    no_browser: bool,
    tui: bool,
    html: Path | None,
) -> int:
    """Walk the model of SPEC by hand, in a page that only this machine can open.

    With --trace or --log the SPEC may be left out. It is then the one in which the run was found, or the one that the
    lines fit. Ctrl-C ends the page.
    """
    if logs and (trace is not None or html is not None):
        raise click.UsageError("--log goes with neither --trace nor --html")
    if slice_ is not None and not logs:
        raise click.UsageError("--slice needs --log")
    session = _of_logs(spec, model, settings, logs, slice_) if logs else _session(spec, model, settings, trace)
    complain_about(session.stepper.loaded.diagnostics, session.stepper.loaded.sources)
    if html is not None:
        return _write(session, html)
    if tui:
        return _in_terminal(session)
    return _serve(session, port, no_browser=no_browser)


def _session(spec: str | None, model: str | None, settings: tuple[str, ...], trace: Path | None) -> ExplorerSession:
    saved = None if trace is None else read_trace(trace)
    if spec is None and saved is None:
        raise click.UsageError("Missing argument 'SPEC'")
    named = spec or (saved.spec if saved is not None else "")
    chosen = parse_settings(settings)
    if saved is not None:
        model, chosen = model or saved.model, {**saved.settings, **chosen}
    gc.disable()  # all of a spec stays: to look for garbage meanwhile takes a tenth of the time
    try:
        session = ExplorerSession(Stepper(load(named, model, chosen), named))
    finally:
        gc.enable()
    if saved is not None:
        stopped = session.stepper.follow_saved(saved)
        session.opened(
            session.stepper.trace, "" if stopped is None else f"the run can be followed up to here: {stopped}"
        )
    return session


def _of_logs(
    spec: str | None, model: str | None, settings: tuple[str, ...], logs: tuple[str, ...], slice_: str | None
) -> ExplorerSession:
    # Half of what a page would wait for, which a walk without logs does not need.
    from assay.explorer.log_run import open_logs  # noqa: PLC0415

    with activity("reading logs") as show:
        try:
            stepper, trace, note = open_logs(spec, model, parse_settings(settings), logs, slice_, show)
        except NoSuchStepError as error:
            raise SpecError([Diagnostic("E901", NOWHERE, str(error))]) from error
    session = ExplorerSession(stepper)
    session.opened(trace, note)
    return session


def _write(session: ExplorerSession, html: Path) -> int:
    problems = write_result(html, explorer_page(graph=complete_graph(session.stepper)))
    complain_about(problems)
    if problems:
        return ExitCode.BAD_INPUT
    say([Line(f"{html}: written", Tone.GOOD)])
    return ExitCode.OK


def _in_terminal(session: ExplorerSession) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("--tui needs a terminal; `assay repl` reads a walk from a file")
    try:
        from assay.explorer.terminal import ExplorerApp  # noqa: PLC0415 - the library is an extra
    except ModuleNotFoundError as error:
        raise click.UsageError("--tui needs textual: pip install '.[terminal]' in a clone") from error
    ExplorerApp(session).run()
    return ExitCode.OK


def _serve(session: ExplorerSession, port: int, *, no_browser: bool) -> int:
    try:
        server = ExplorerServer(session, port)
    except OSError as error:
        raise SpecError([Diagnostic("E901", NOWHERE, f"port {port} cannot be used: {error.strerror}")]) from error
    gc.freeze()  # the spec stays: no click waits for a visit of the garbage collector to all of it
    say([Line(server.url), Line("only this machine can open it; Ctrl-C ends it", Tone.FAINT)])
    if not no_browser:
        webbrowser.open(server.url)
    with server:
        try:
            server.serve_forever()
        # How a page is ended: it is no failure.
        except KeyboardInterrupt:
            return ExitCode.OK
    return ExitCode.OK
