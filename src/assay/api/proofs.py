"""``prove``, and its answer as a value. Apart from the other answers, because solvers take long to import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from assay.api.answers import SpecAnswer
from assay.api.input_error import raises_input_error
from assay.api.spec import SpecLike, load
from assay.checker.engines import engine_selection
from assay.checker.options import SearchOptions
from assay.checker.symbolic.certificate.proof import Proofs
from assay.checker.symbolic.induction.ask_inductive import ask_inductive
from assay.checker.symbolic.parametric.prove import prove_any
from assay.checker.symbolic.prove import Method
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.report.lines import Line
from assay.report.specs.proof import proof_lines, proof_object


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofAnswer(SpecAnswer):
    """What was proved: ``proofs`` has the certificates, and the steps that show what is not inductive."""

    proofs: Proofs = field(repr=False)

    def lines(self) -> list[Line]:
        """The answer as lines of text, each with its tone."""
        return proof_lines(self.proofs)

    def to_object(self) -> dict[str, Any]:
        """The answer as ``--json`` prints it (docs/cli.md)."""
        return proof_object(self.proofs)


@raises_input_error
def prove(
    spec: SpecLike,
    *,
    by: Method = "ic3",
    sets: Sequence[str] = (),
    inductive: Sequence[str] = (),
    options: SearchOptions | None = None,
) -> ProofAnswer:
    """Prove properties for runs of any length; for any number of elements of the symmetric ``sets``, if some are named.

    With ``inductive`` it is only asked whether these invariants and lemmas are together inductive as they stand.
    Raises ``InputError`` as ``check`` does, and if these ways of asking are mixed.
    """
    # The command line says the same in its own words: here the arguments have other names.
    if (inductive and sets) or (by != "ic3" and (inductive or sets)):
        raise SpecError(
            [Diagnostic("E901", NOWHERE, "`inductive`, `sets` and another `by` than ic3 exclude each other")]
        )
    asked, limits = load(spec), options or SearchOptions()
    if inductive:
        found = ask_inductive(asked.kernel, tuple(inductive), limits, asked.loaded.sources)
    elif sets:
        found = prove_any(asked.loaded, tuple(sets), limits)
    else:
        found = engine_selection.prove(asked.kernel, limits, asked.loaded.sources, by=by)
    return ProofAnswer(spec=asked, report=found.report, proofs=found)
