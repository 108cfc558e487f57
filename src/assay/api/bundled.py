"""The specs that come with assay, found by name in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, Span, SpecError
from assay.grammar.diagnostics.suggest import did_you_mean

SPECS = Path(__file__).resolve().parent.parent / "spec"


def bundled_specs() -> list[str]:
    """Names such as ``kafka/controller``, sorted."""
    return sorted(path.relative_to(SPECS).with_suffix("").as_posix() for path in SPECS.rglob("*.assay"))


def locate_spec(argument: str) -> Path:
    """The file of a SPEC argument: a path, or the name of a bundled spec, with or without ``spec/`` and ``.assay``.

    A path that exists is returned even if it is no spec: the reader of files says what is wrong with it.
    """
    path = Path(argument)
    if path.exists():
        return path
    name = argument.removeprefix("spec/").removesuffix(".assay").replace(".", "/")
    if name in bundled_specs():
        return SPECS / f"{name}.assay"
    if path.suffix == ".assay":
        raise SpecError([Diagnostic("E601", Span(argument, 0, 0, 0, 0), "no such file", _advice(path, name))])
    what = f"`{argument}` is neither a file nor the name of a bundled spec"
    raise SpecError([Diagnostic("E903", NOWHERE, what, _advice(path, name))])


def _advice(path: Path, name: str) -> tuple[Note, ...]:
    """What was probably meant: a file in the same folder or a bundled spec; else a list of all bundled specs."""
    beside = [str(each) for each in path.parent.glob("*.assay")]
    meant = did_you_mean(str(path), beside) or did_you_mean(name, bundled_specs())
    return (Note(f"did you mean `{meant}`?" if meant else f"bundled specs: {', '.join(bundled_specs())}"),)
