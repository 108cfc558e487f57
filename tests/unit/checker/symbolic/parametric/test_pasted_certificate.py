"""A certificate that is printed can be pasted into its spec, and proves the property there."""

from __future__ import annotations

from assay.checker.report import Outcome
from assay.checker.symbolic.certificate.proof import Proofs
from assay.checker.symbolic.parametric.prove import prove_any
from assay.grammar.load import load_text
from assay.report.specs.proof import certificate_lines

LOCKS = """module locks
param Client: set = {c1, c2, c3} symmetric
state:
    owns: set[Client] = {}
    free: bool = true
action lock(c: Client):
    when free
    owns := owns + {c}
    free := false
action unlock(c: Client):
    when c in owns
    owns := owns - {c}
    free := true
invariant one: forall a, b in Client: a in owns and b in owns implies a == b
"""
KEPT = """lemma kept:
    forall client_1, client_2 in Client: client_1 in owns and client_2 in owns implies client_1 == client_2
    forall client_1 in Client: client_1 in owns implies not free
"""


def proved(text: str) -> Proofs:
    proofs = prove_any(load_text(text), ("Client",))
    assert {each.outcome for each in proofs.report.properties} == {Outcome.HOLDS}
    return proofs


def test_a_certificate_has_names_that_can_be_written_and_proves_again() -> None:
    certificate = dict(proved(LOCKS + KEPT).certificates)["one"]
    lemma = "\n".join(str(line) for line in (each.text for each in list(certificate_lines("one", certificate))[1:]))
    assert "'" not in lemma
    again = dict(proved(f"{LOCKS}{lemma}\n").certificates)["one"]
    assert again.lines == certificate.lines
