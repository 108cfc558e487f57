"""Which exports and layouts of a log have the answer of the native files: a line for each, with verdict and used events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.kafka.exports import EXPORTS, export_folder
from tests.kafka.rewriting import LAYOUTS, NAMELESS, PREFIXES, collect_folder, rewrite_folder

from assay.cli.settings import load
from assay.traces.log_reader import read_logs
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.samples import unpack_sample
from assay.traces.scoped_validate import validate_in_scope

Line = dict[str, object]


def lines(names: Sequence[str]) -> Iterator[Line]:
    """The native files first, then each layout, or those named."""
    with TemporaryDirectory() as folder:
        source = unpack_sample("elections", Path(folder) / "native")
        native = _answer("native", source)
        yield native
        for number, name in enumerate(names or (*EXPORTS, *PREFIXES, *LAYOUTS)):
            target = Path(folder) / str(number)
            if name in EXPORTS:
                export_folder(source, target, EXPORTS[name])
            elif name in NAMELESS:
                for node in sorted(source.iterdir()):
                    collect_folder(node, target / node.name, PREFIXES[name], LAYOUTS["stock"])
            elif name in PREFIXES:
                collect_folder(source, target, PREFIXES[name], LAYOUTS["stock"])
            elif name in LAYOUTS:
                rewrite_folder(source, target, LAYOUTS[name])
            else:
                raise ValueError(f"no layout {name}; layouts: {', '.join((*EXPORTS, *PREFIXES, *LAYOUTS))}")
            found = _answer(name, target)
            yield {**found, "as_native": all(found[key] == native[key] for key in ("verdict", "used"))}


def _answer(name: str, folder: Path) -> Line:
    found = validate_in_scope(load("kafka/controller", None, {}), read_logs([folder]), DEFAULT_OPTIONS)
    return {"benchmark": "layouts", "layout": name, "verdict": found.verdict.value, "used": found.counts.used}
