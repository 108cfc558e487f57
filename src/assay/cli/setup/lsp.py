"""``assay lsp``: the language server for editors."""

from __future__ import annotations

import click

from assay.checker.report import ExitCode
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError


@click.command()
def lsp() -> int:
    """Answer an editor on standard input and output, by the Language Server Protocol.

    It needs the extra `editor`: pip install '.[editor]' in a clone.
    """
    try:
        from assay.editor.server import server  # noqa: PLC0415 - only this command needs it
    except ModuleNotFoundError as error:
        advice = Note("install it with `pip install '.[editor]'` in a clone")
        raise SpecError([Diagnostic("E901", NOWHERE, f"`assay lsp` needs {error.name}", (advice,))]) from None
    server.start_io()
    return ExitCode.OK
