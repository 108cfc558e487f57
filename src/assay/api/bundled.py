"""The specs that come with assay, found by name in a checkout and in an installed wheel."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, Span, SpecError
from assay.grammar.diagnostics.suggest import did_you_mean

LONGEST = 60
MOST_ALIKE = 6
SPECS = Path(__file__).resolve().parent.parent / "spec"


def bundled_specs() -> list[str]:
    """Names such as ``kafka/controller``, sorted."""
    return sorted(path.relative_to(SPECS).with_suffix("").as_posix() for path in SPECS.rglob("*.assay"))


def locate_spec(argument: str) -> Path:
    """The file of a SPEC argument: a path, or the name of a bundled spec, with or without ``spec/`` and ``.assay``.

    A path that exists is returned even if it is no spec: the reader of files says what is wrong with it.
    """
    path = Path(argument)
    try:
        if path.exists():
            return path
    except OSError as error:  # the name is too long, or a folder on the way may not be read
        place = Span(_shortened(argument), 0, 0, 0, 0)
        raise SpecError([Diagnostic("E604", place, f"the file cannot be read: {error.strerror}")]) from error
    # As modules are named, `kafka.controller`, is as good as the path.
    name = argument.removeprefix("spec/").removesuffix(".assay").replace(".", "/")
    if name in bundled_specs():
        return SPECS / f"{name}.assay"
    if path.suffix == ".assay":
        raise SpecError([Diagnostic("E601", Span(argument, 0, 0, 0, 0), "no such file", _advice(path, name))])
    what = f"`{argument}` is neither a file nor the name of a bundled spec"
    raise SpecError([Diagnostic("E903", NOWHERE, what, _advice(path, name))])


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}…"


def _advice(path: Path, name: str) -> tuple[Note, ...]:
    """What was probably meant: a file in the same folder or a bundled spec; else those of such a last name, or folders."""
    beside = [str(each) for each in path.parent.glob("*.assay")]
    bundled = bundled_specs()
    # A file of the user's goes before a bundled spec.
    meant = did_you_mean(str(path), beside) or did_you_mean(name, bundled)
    if meant:
        return (Note(f"did you mean `{meant}`?"),)
    last = name.rpartition("/")[2].casefold()
    alike = [each for each in bundled if last and (last in each or did_you_mean(last, [each.rpartition("/")[2]]))]
    if alike:
        return (Note(f"did you mean one of {', '.join(f'`{each}`' for each in alike[:MOST_ALIKE])}?"),)
    folders = Counter(each.rpartition("/")[0] for each in bundled)
    counted = ", ".join(f"{count} in {folder}/" for folder, count in sorted(folders.items()))
    return (Note(f"bundled specs have names such as `kafka/controller`: {counted}; spec/README.md lists them"),)
