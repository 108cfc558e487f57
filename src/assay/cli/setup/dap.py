"""``assay dap``: the debug adapter for editors."""

from __future__ import annotations

import sys

import click

from assay.checker.report import ExitCode


@click.command()
def dap() -> int:
    """Answer an editor's debugger on standard input and output, by the Debug Adapter Protocol.

    It walks a counterexample, the execution that explains a log, or a spec of which each step is chosen.
    """
    from assay.editor.debug_adapter import serve  # noqa: PLC0415 - as in `lsp`

    serve(sys.stdin.buffer, sys.stdout.buffer)
    return ExitCode.OK
