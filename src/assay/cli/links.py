"""Checks that the package's folders are there. Uses only the standard library: without these folders nothing else
can be imported.
"""

from __future__ import annotations

from pathlib import Path

FOLDERS = ("checker", "grammar", "spark", "spec", "traces")

ADVICE = (
    "src/assay/ holds relative symbolic links to the folders at the top of the checkout. A checkout without symbolic links "
    "(Windows, some archives) breaks them: set `git config core.symlinks true` and check out again, or use WSL."
)


def broken_links(package: Path | None = None) -> list[str]:
    """The names of the package's folders that are missing or broken links."""
    root = package or Path(__file__).resolve().parent.parent
    return [name for name in FOLDERS if not (root / name).is_dir()]
