"""The analysis of one document: its diagnostics, and the last state of it that could be loaded."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from assay.grammar.diagnostics.diagnostic import Diagnostic, Severity
from assay.grammar.elaborate.modules.library import shown
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.module_instances import Units
from assay.grammar.elaborate.recheck import BUDGET, Known, recheck
from assay.grammar.formatting.format import format_module
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded, UnusableSpecError, analyse_text
from assay.grammar.parsing.parse import Parsed, parse
from assay.grammar.parsing.spec_text import normalized
from assay.grammar.syntax import Declaration


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that is known of a text; ``loaded`` and ``units`` are None where it has errors."""

    text: str
    diagnostics: tuple[Diagnostic, ...]
    loaded: Loaded | None = None
    units: Units | None = None


@dataclass(slots=True)
class Document:
    """A spec in an editor. ``loaded`` and ``units`` are of the last text without errors, None before there was one."""

    path: Path
    text: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    loaded: Loaded | None = None
    units: tuple[Unit, ...] = ()
    _parsed: Parsed | None = field(default=None, repr=False)
    _known: Known | None = field(default=None, repr=False)

    @property
    def file(self) -> str:
        """The name of the document in spans."""
        return shown(self.path)

    def parse(self, text: str, budget: float = BUDGET) -> tuple[Diagnostic, ...]:
        """Take over a new text, and return what is known milliseconds after a key. That is the mistakes of its syntax,
        and those in edited declarations and what depends on them, as far as ``budget`` seconds allow.
        """
        self.text = text
        parsed = self._parsed = parse(text, self.file, in_parts=True)
        found = () if self._known is None else recheck(self._known, parsed, normalized(text), budget)
        self.diagnostics = tuple(dict.fromkeys((*parsed.diagnostics, *found)))
        return self.diagnostics

    def analyse(self) -> tuple[Diagnostic, ...]:
        """All diagnostics of the text. Where it has no errors, names are looked up in it from now on."""
        self.take(self.analysis())
        return self.diagnostics

    def analysis(self) -> Analysis:
        """The analysis of the whole text, which takes a second or more. It changes nothing here, so that keys may be
        answered meanwhile."""
        text = self.text
        try:
            loaded, units = analyse_text(self.path, text)
        except UnusableSpecError as error:
            return Analysis(text, error.diagnostics)
        return Analysis(text, loaded.diagnostics, loaded, units)

    def take(self, found: Analysis) -> bool:
        """Take over an analysis; False if its text is not that of the document any more."""
        if found.loaded is not None and found.units is not None:
            self.loaded, self.units = found.loaded, found.units.canonical()
            self._known = Known(found.units, {each.name: each for each in found.loaded.kernel.actions})
        # Keys came meanwhile. Names are looked up in the newer units all the same, and its diagnostics are of another
        # text.
        if found.text != self.text:
            return False
        self.diagnostics = found.diagnostics
        return True

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """The declarations of the present text that can be read."""
        return () if self._parsed is None else self._parsed.module.declarations

    def is_saved(self) -> bool:
        """Whether the file has this text; how its lines end is left aside."""
        if not self.path.is_file():
            return False
        return normalized(self.path.read_bytes().decode("utf-8", "replace")) == normalized(self.text)

    def formatted(self) -> str | None:
        """The canonical text; None while the syntax has errors, since what is not understood would be lost."""
        parsed = self._parsed or parse(self.text, self.file)
        if any(each.severity is Severity.ERROR for each in parsed.diagnostics):
            return None
        return format_module(parsed.module)
