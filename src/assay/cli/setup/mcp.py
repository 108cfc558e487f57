"""``assay mcp``: the server for coding agents."""

from __future__ import annotations

from pathlib import Path

import click

from assay.checker.report import ExitCode
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError


@click.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=".",
    show_default=True,
    help="Files are read and written in this folder alone; bundled specs are read too.",
)
def mcp(folder: Path) -> int:
    """Answer a coding agent on standard input and output, by the Model Context Protocol.

    It needs the extra `agents`: pip install '.[agents]' in a clone.
    """
    try:
        import anyio  # noqa: PLC0415 - only this command needs it

        from assay.agents.server import AgentServer  # noqa: PLC0415 - likewise
    # It may be a library that the extra's own one needs: the message names the one that is missing.
    except ModuleNotFoundError as error:
        advice = Note("install it with `pip install '.[agents]'` in a clone")
        raise SpecError([Diagnostic("E901", NOWHERE, f"`assay mcp` needs {error.name}", (advice,))]) from None
    anyio.run(AgentServer(folder).server.run_stdio_async)
    return ExitCode.OK
