"""The language server: the protocol's requests, answered from documents. ``assay lsp`` runs it on standard input.

After each key the syntax is checked at once. So is what was edited, and what depends on it, as far as some hundredths
of a second allow. The whole spec is analysed when the writer pauses, by a thread, so that keys are answered meanwhile.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from assay import __version__
from assay.api.bundled import SPECS
from assay.editor.analysis import Document
from assay.editor.names import Declared, NameAt, declaration, name_at, own_name, references, suggestions
from assay.editor.offers import fixes, hints, lenses
from assay.grammar.diagnostics.diagnostic import Diagnostic, Severity, Span
from assay.grammar.parsing.parse import warm_up

PAUSE = 0.3
"""Seconds without a key before the whole spec is analysed."""
RUN = "assay.run"
"""The command of a lens; its arguments are a document and the name of a property or scenario."""
LONGEST_CHECK = 60
"""Seconds after which a check ends that a lens began."""
NEVER = 1_000_000_000
"""Collections of young objects before one of all."""

_COMPLETIONS = {
    "set parameter": lsp.CompletionItemKind.TypeParameter,
    "element": lsp.CompletionItemKind.EnumMember,
    "parameter": lsp.CompletionItemKind.Constant,
    "state variable": lsp.CompletionItemKind.Variable,
    "type": lsp.CompletionItemKind.Class,
    "variant": lsp.CompletionItemKind.EnumMember,
    "function": lsp.CompletionItemKind.Function,
    "action": lsp.CompletionItemKind.Event,
    "module": lsp.CompletionItemKind.Module,
    "array of modules": lsp.CompletionItemKind.Module,
}

server = LanguageServer("assay", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
documents: dict[str, Document] = {}
_waiting: dict[str, asyncio.Task[None]] = {}


@server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
def opened(params: lsp.DidOpenTextDocumentParams) -> None:
    """A document was opened: it is analysed at once. Then what a key would wait for is done."""
    document = _document(params.text_document.uri)
    document.parse(params.text_document.text)
    document.analyse()
    _publish(params.text_document.uri, document)
    settle()


def settle() -> None:
    """Do what the next keys would wait for: read the tables of the parser, and collect all garbage. What stays for the
    whole session is kept from the collector, which would visit it. From now on it visits all that is old only in the
    pauses between keys: one visit takes as long as a key may."""
    warm_up()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], NEVER)


@server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
    """A document was changed: its syntax and what the edit concerns are checked now, everything after a pause."""
    uri = params.text_document.uri
    document = _document(uri)
    document.parse(server.workspace.get_text_document(uri).source)
    _publish(uri, document)
    # Of several keys in a row, the last one alone has an analysis.
    waiting = _waiting.pop(uri, None)
    if waiting is not None:
        waiting.cancel()
    _waiting[uri] = asyncio.create_task(_analyse_later(uri, document))


async def _analyse_later(uri: str, document: Document) -> None:
    await asyncio.sleep(PAUSE)
    # Meanwhile the document may have been closed, or closed and opened again.
    if document.take(await asyncio.to_thread(document.analysis)) and documents.get(uri) is document:
        _publish(uri, document)
    # Here nobody waits: the writer has paused, and the diagnostics are shown.
    gc.collect()


@server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
def closed(params: lsp.DidCloseTextDocumentParams) -> None:
    """A document was closed: nothing is shown for it any more."""
    documents.pop(params.text_document.uri, None)
    waiting = _waiting.pop(params.text_document.uri, None)
    if waiting is not None:
        waiting.cancel()
    # Without it the editor goes on showing the last ones.
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))


@server.feature(lsp.TEXT_DOCUMENT_HOVER)
def hover(params: lsp.HoverParams) -> lsp.Hover | None:
    """The declaration of the name under the pointer, with its documentation."""
    document, name = _name(params)
    found = None if name is None else declaration(document, name)
    return None if found is None or name is None else lsp.Hover(_markdown(found), _range(name.span))


@server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
def definition(params: lsp.DefinitionParams) -> lsp.Location | None:
    """Where the name is declared."""
    document, name = _name(params)
    found = None if name is None else declaration(document, name)
    return None if found is None else _location(found.span)


@server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
def all_references(params: lsp.ReferenceParams) -> list[lsp.Location]:
    """Where else the name stands, in this document and the modules that it uses."""
    document, name = _name(params)
    return [] if name is None else [_location(span) for span in references(document, name)]


@server.feature(lsp.TEXT_DOCUMENT_RENAME)
def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    """The edits that rename the thing; none for what is declared in a bundled spec, unless that is the document."""
    document, name = _name(params)
    spans = [] if name is None else references(document, name)
    # A bundled spec belongs to the installed program: edits in it would be in the way of every other spec.
    if any(map(_is_bundled, {span.file for span in spans})) and not _is_bundled(document.file):
        return None
    edits: dict[str, list[lsp.TextEdit]] = {}
    for span in spans:
        edits.setdefault(_uri(span.file), []).append(lsp.TextEdit(_range(span), params.new_name))
    return lsp.WorkspaceEdit(changes=edits) if edits else None


@server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["."]))
def completion(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
    """The names that could be written here."""
    place = params.position
    return [
        lsp.CompletionItem(each.name, kind=_COMPLETIONS[each.kind], detail=f"{each.kind} {each.detail}".strip())
        for each in suggestions(_document(params.text_document.uri), place.line + 1, place.character + 1)
    ]


@server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    """One edit to the canonical form, where the syntax is right and the form another."""
    document = _document(params.text_document.uri)
    canonical = document.formatted()
    if canonical is None or canonical == document.text:
        return []
    # To the line behind the last one, so that the range holds a last line without an end too.
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(document.text.count("\n") + 1, 0))
    return [lsp.TextEdit(whole, canonical)]


@server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
def symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    """The declarations of the document that have names, for its outline."""
    document = _document(params.text_document.uri)
    declared = document.units[0].module.tree.declarations if document.units else ()
    named = [(each, name) for each in declared if (name := own_name(each)) is not None]
    return [
        lsp.DocumentSymbol(name.text, lsp.SymbolKind.Function, _range(each.span), _range(name.span))
        for each, name in named
    ]


@server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
def code_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """The fixes that messages about this range propose."""
    uri, wanted = params.text_document.uri, params.range
    document = _document(uri)
    near = [
        (each, _range(each.span))
        for each in document.diagnostics
        if each.span.line - 1 <= wanted.end.line and wanted.start.line <= each.span.end_line - 1
    ]
    return [
        lsp.CodeAction(
            f"Write `{fix.text.strip()}`",
            lsp.CodeActionKind.QuickFix,
            [_diagnostic(each, document)],
            edit=lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(place, fix.text)]}),
        )
        for each, place in near
        for fix in fixes(document, each)
    ]


@server.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions())
def code_lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    """What can be run: the whole spec, each property, each scenario."""
    uri = params.text_document.uri
    return [
        lsp.CodeLens(lsp.Range(place, place), lsp.Command(each.title, RUN, arguments=[uri, each.name]))
        for each in lenses(_document(uri))
        for place in [lsp.Position(each.line - 1, 0)]
    ]


@server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
def inlay_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    """How many instances of each action in the range the model has."""
    shown = range(params.range.start.line, params.range.end.line + 1)
    return [
        lsp.InlayHint(lsp.Position(each.line - 1, each.column - 1), each.text, padding_left=True)
        for each in hints(_document(params.text_document.uri))
        if each.line - 1 in shown
    ]


@server.command(RUN)
async def run_check(uri: str, name: str | None = None) -> None:
    """Check the file, or one of its properties or scenarios, in a process of its own. The first line of the answer is
    shown, and all of it is in the log that the editor keeps of the server."""
    document = _document(uri)
    if not document.is_saved():
        _show("Save the file first: what is checked is what is saved.", lsp.MessageType.Warning)
        return
    chosen = [] if name is None else ["--property", name]
    # A process of its own: a search takes all memory and cores that it gets, and an error in it must not end the
    # server.
    command = [sys.executable, "-m", "assay", "check", str(document.path), *chosen, "--timeout", str(LONGEST_CHECK)]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        told = (await process.communicate())[0].decode("utf-8", "replace")
    finally:
        if process.returncode is None:
            process.kill()
    kind = lsp.MessageType.Info if process.returncode == 0 else lsp.MessageType.Warning
    server.window_log_message(lsp.LogMessageParams(kind, told))
    _show(f"{told.partition(chr(10))[0]}: {name or document.path.name}, in the output of this server", kind)


def _show(text: str, kind: lsp.MessageType) -> None:
    server.window_show_message(lsp.ShowMessageParams(kind, text))


def _document(uri: str) -> Document:
    if uri not in documents:
        documents[uri] = Document(Path(to_fs_path(uri) or "untitled.assay"))
    return documents[uri]


def _name(params: Any) -> tuple[Document, NameAt | None]:
    document, place = _document(params.text_document.uri), params.position
    return document, name_at(document.text, document.file, place.line + 1, place.character + 1)


def _publish(uri: str, document: Document) -> None:
    """Show the diagnostics: those of other files at the top of this one, since they keep it from being checked."""
    shown = [_diagnostic(each, document) for each in document.diagnostics]
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown))


def _diagnostic(diagnostic: Diagnostic, document: Document) -> lsp.Diagnostic:
    here = diagnostic.span.file == document.file
    advice = [note.message for note in diagnostic.notes if note.span is None]
    places = [note for note in diagnostic.notes if note.span is not None]
    where = "" if here else f"{diagnostic.span}: "
    return lsp.Diagnostic(
        _range(diagnostic.span) if here else lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1)),
        "\n".join([where + diagnostic.message, *advice]),
        severity=lsp.DiagnosticSeverity.Error
        if diagnostic.severity is Severity.ERROR
        else lsp.DiagnosticSeverity.Warning,
        code=diagnostic.code,
        source="assay",
        related_information=[
            lsp.DiagnosticRelatedInformation(_location(note.span), note.message) for note in places if note.span
        ],
    )


def _markdown(found: Declared) -> lsp.MarkupContent:
    doc = f"\n\n{found.doc}" if found.doc else ""
    return lsp.MarkupContent(lsp.MarkupKind.Markdown, f"```assay\n{found.text}\n```\n{found.kind}{doc}")


def _location(span: Span) -> lsp.Location:
    return lsp.Location(_uri(span.file), _range(span))


def _uri(file: str) -> str:
    return from_fs_path(str(Path(file).absolute())) or file


def _is_bundled(file: str) -> bool:
    return Path(file).resolve().is_relative_to(SPECS.resolve())


def _range(span: Span) -> lsp.Range:
    begin = lsp.Position(max(span.line - 1, 0), max(span.column - 1, 0))
    return lsp.Range(begin, lsp.Position(max(span.end_line - 1, 0), max(span.end_column - 1, 0)))
