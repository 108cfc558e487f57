"""The analysis of one document: its diagnostics, and the last state of it that could be loaded."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from assay.grammar.diagnostics.diagnostic import Diagnostic, Severity
from assay.grammar.elaborate.modules.library import shown
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.module_instances import Units
from assay.grammar.elaborate.recheck import recheck
from assay.grammar.formatting.format import format_module
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded, UnusableSpecError, analyse_text
from assay.grammar.parsing.parse import Parsed, parse


@dataclass(slots=True)
class Document:
    """A spec in an editor. ``loaded`` and ``units`` are of the last text without errors, None before there was one."""

    path: Path
    text: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    loaded: Loaded | None = None
    units: tuple[Unit, ...] = ()
    _parsed: Parsed | None = field(default=None, repr=False)
    _built: Units | None = field(default=None, repr=False)

    @property
    def file(self) -> str:
        """The name of the document in spans."""
        return shown(self.path)

    def parse(self, text: str) -> tuple[Diagnostic, ...]:
        """Take over a new text, and return what is known milliseconds after a key: the mistakes of its syntax, and those
        in the bodies of edited actions and properties.
        """
        self.text = text
        self._parsed = parse(text, self.file)
        self.diagnostics = self._parsed.diagnostics
        if self._built is not None and not self.diagnostics:
            self.diagnostics = recheck(self._built, self._parsed.module) or ()
        return self.diagnostics

    def analyse(self) -> tuple[Diagnostic, ...]:
        """All diagnostics of the text. Where it has no errors, names are looked up in it from now on."""
        try:
            loaded, built = analyse_text(self.path, self.text)
        except UnusableSpecError as error:
            self.diagnostics = error.diagnostics
        else:
            self.diagnostics = loaded.diagnostics
            self.loaded, self.units, self._built = loaded, built.canonical(), built
        return self.diagnostics

    def formatted(self) -> str | None:
        """The canonical text; None while the syntax has errors, since what is not understood would be lost."""
        parsed = self._parsed or parse(self.text, self.file)
        if any(each.severity is Severity.ERROR for each in parsed.diagnostics):
            return None
        return format_module(parsed.module)
