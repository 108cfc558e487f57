"""The language server, asked as an editor asks it."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from assay.api.bundled import SPECS
from assay.editor.server import NEVER, opened, rename, settle

DARK = "invariant dark: not on\n"
SPEC = "module light\nstate:\n    on: bool = false\n\naction press:\n    on := not on\n" + DARK
MENDED = SPEC.replace("not on\ninv", "on\ninv")


async def session(folder: Path) -> dict[str, Any]:
    """The answers to a short session of an editor."""
    client, published = LanguageClient("test", "1"), asyncio.Queue[lsp.PublishDiagnosticsParams]()
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda found: published.put_nowait(found))  # noqa: PLW0108 - pygls sets attributes of it
    shown = asyncio.Queue[lsp.ShowMessageParams]()
    client.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda found: shown.put_nowait(found))  # noqa: PLW0108 - likewise
    client.feature(lsp.WINDOW_LOG_MESSAGE)(lambda _: None)
    await client.start_io(sys.executable, "-m", "assay", "lsp")
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=folder.as_uri()))
    client.initialized(lsp.InitializedParams())
    uri = (folder / "light.assay").as_uri()
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "assay", 1, SPEC)))
    answers: dict[str, Any] = {"opened": (await published.get()).diagnostics}
    document = lsp.TextDocumentIdentifier(uri)
    at = lsp.Position(5, 14)
    answers["hover"] = await client.text_document_hover_async(lsp.HoverParams(document, at))
    answers["definition"] = await client.text_document_definition_async(lsp.DefinitionParams(document, at))
    answers["rename"] = await client.text_document_rename_async(lsp.RenameParams(document, at, "lit"))
    answers["completion"] = await client.text_document_completion_async(lsp.CompletionParams(document, at))
    answers["symbols"] = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    change = lsp.TextDocumentContentChangeWholeDocument(SPEC.replace("not on\ninv", "not True\ninv"))
    client.text_document_did_change(
        lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(2, uri), [change])
    )
    answers["typed"] = (await published.get()).diagnostics
    answers["paused"] = (await published.get()).diagnostics
    everywhere = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    answers["fixes"] = await client.text_document_code_action_async(
        lsp.CodeActionParams(document, everywhere, lsp.CodeActionContext([]))
    )
    answers["hints"] = await client.text_document_inlay_hint_async(lsp.InlayHintParams(document, everywhere))
    answers["lenses"] = await client.text_document_code_lens_async(lsp.CodeLensParams(document))
    answers["run"] = []
    run = answers["lenses"][-1].command
    for text in (MENDED, SPEC):
        await client.workspace_execute_command_async(lsp.ExecuteCommandParams(run.command, run.arguments))
        answers["run"].append((await shown.get()).message)
        (folder / "light.assay").write_text(text)
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(3, uri), [change])
        )
    await client.workspace_execute_command_async(lsp.ExecuteCommandParams(run.command, run.arguments))
    answers["run"].append((await shown.get()).message)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]
    return answers


@pytest.mark.slow
def test_an_editor_is_answered(tmp_path: Path) -> None:
    answers = asyncio.run(asyncio.wait_for(session(tmp_path), 120))
    assert list(answers["opened"]) == []
    assert "on: bool = false" in answers["hover"].contents.value
    assert answers["definition"].range.start == lsp.Position(2, 4)
    (edits,) = answers["rename"].changes.values()
    assert [edit.range.start.line for edit in edits] == [2, 5, 5, 6]
    assert "press" in [item.label for item in answers["completion"]]
    assert [symbol.name for symbol in answers["symbols"]] == ["press", "dark"]
    assert [found.code for found in answers["typed"]] == ["E101"]
    assert [found.code for found in answers["paused"]] == ["E101"]
    assert [fix.title for fix in answers["fixes"]] == ["Write `true`"]
    assert not answers["hints"]
    assert [each.command.title for each in answers["lenses"]] == ["check this spec", "check dark"]
    assert answers["run"] == [
        "Save the file first: what is checked is what is saved.",
        "holds: dark, in the output of this server",
        "VIOLATED: dark: dark, in the output of this server",
    ]


@pytest.mark.slow
def test_what_a_bundled_spec_declares_is_not_renamed_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.editor.server._publish", lambda *_: None)
    monkeypatch.setattr("assay.editor.server.settle", lambda: None)
    own = tmp_path / "mine.assay"
    own.write_text("module mine\nuse kafka.membership\nreachable r: exists s in Session: membership.owner[s] != none\n")
    for path, count in ((own, None), (SPECS / "kafka" / "membership.assay", 1)):
        uri, text = path.as_uri(), path.read_text()
        opened(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "assay", 1, text)))
        line = next(number for number, each in enumerate(text.split("\n")) if "owner[" in each)
        place = lsp.Position(line, text.split("\n")[line].index("owner[") + 1)
        found = rename(lsp.RenameParams(lsp.TextDocumentIdentifier(uri), place, "who"))
        assert (None if found is None else len(found.changes or {})) == count


def test_no_key_waits_for_a_visit_of_the_collector_to_all_objects() -> None:
    before = gc.get_threshold()
    try:
        settle()
        assert gc.get_freeze_count() > 10_000
        assert gc.get_threshold() == (*before[:2], NEVER)
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@pytest.mark.slow
def test_it_ends_in_silence_when_the_editor_says_so() -> None:
    asked: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **each}) for each in asked]
    done = subprocess.run(
        [sys.executable, "-m", "assay", "lsp"],
        input="".join(f"Content-Length: {len(body)}\r\n\r\n{body}" for body in bodies),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
