"""Builds the playground: `python docs/site/playground/build.py FOLDER`. It needs npm and its registry.

Pyodide (Python for the browser) comes from npm in the version named here, and is not kept in the repository.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import lark

PYODIDE = "pyodide@314.0.7"
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PAGE = ("index.html", "playground.js", "worker.js")
PACKAGES = ("grammar", "checker", "report", "spec")
SUFFIXES = {".py", ".lark", ".gz", ".toml", ".assay"}
HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[2]
EXAMPLES = CHECKOUT / "src" / "assay" / "agents" / "skill" / "examples"


def build(folder: Path) -> None:
    """Write the page and all that it loads into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PAGE:
        shutil.copy(HERE / name, folder)
    examples = {path.stem: path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.assay"))}
    # A reader looks first at something that goes wrong.
    examples = {"lost_update": examples["lost_update"], **examples}
    (folder / "examples.js").write_text(f"const EXAMPLES = {json.dumps(examples)};\n", encoding="utf-8")
    _runtime(folder)
    with ZipFile(folder / "assay.zip", "w", ZIP_DEFLATED) as archive:
        for path, name in _sources():
            archive.write(path, name)


def _runtime(folder: Path) -> None:
    """Fetch Pyodide; npm compares what comes with the registry's checksum."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["npm", "pack", "--silent", PYODIDE], cwd=scratch, check=True, stdout=subprocess.DEVNULL)
        (package,) = Path(scratch).glob("*.tgz")
        with tarfile.open(package) as archive:
            for name in RUNTIME:
                member = archive.extractfile(f"package/{name}")
                assert member is not None
                (folder / name).write_bytes(member.read())


def _sources() -> Iterator[tuple[Path, str]]:
    """The files that Python reads in the browser, with their names there."""
    yield HERE / "answer.py", "answer.py"
    package = CHECKOUT / "src" / "assay"
    yield package / "__init__.py", "assay/__init__.py"
    for name in PACKAGES:
        yield from _below((package / name).resolve(), f"assay/{name}")
    yield from _below(Path(lark.__file__).parent, "lark")


def _below(folder: Path, name: str) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in SUFFIXES and path.is_file():
            yield path, f"{name}/{path.relative_to(folder)}"


if __name__ == "__main__":
    build(Path(sys.argv[1]))
