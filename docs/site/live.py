"""A hook of mkdocs: the commands of ``live-pages.md`` are run, and a link to the page that each wrote stands below it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = "live-pages.md"
SPEC = re.compile(r"^```assay ([\w.]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"^```console\n\$ assay (.*? --html ([\w.]+))(?: +# exit (\d))?\n.*?^```$", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that the commands write."""
    text = (CHECKOUT / "docs" / PAGE).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for name, spec in SPEC.findall(text):
            (Path(folder) / name).write_text(spec, encoding="utf-8")
        (Path(folder) / "traces").symlink_to(CHECKOUT / "traces")
        for command, name, code in BLOCK.findall(text):
            _run(command, folder, int(code or 0))
            content = (Path(folder) / name).read_text(encoding="utf-8")
            files.append(File.generated(config, f"live/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the links below the commands."""
    return BLOCK.sub(r"\g<0>\n\n[Open \2](live/\2)\n", markdown) if page.file.src_uri == PAGE else markdown


def _run(command: str, folder: str, expected: int) -> None:
    """Run assay; what it is to write must not be of another answer than the page says."""
    program = [sys.executable, "-m", "assay", *command.split()]
    path = os.pathsep.join([str(CHECKOUT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(program, cwd=folder, env=os.environ | {"PYTHONPATH": path}, capture_output=True, check=False)
    if done.returncode != expected:
        raise RuntimeError(f"`assay {command}` ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
