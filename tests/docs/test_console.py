"""Every command that the README and the pages of docs/ show is run, and answers with the exit code that they promise.

A block of ```console holds lines `$ assay …`, with `# exit N` at the end where the exit code is not 0. The output may
stand below; an output line that is `…` stands for any number of lines. A block of another language with a file's name
behind it, such as ```json log.jsonl, is that file, for the commands of its page. Between them, `mkdir`, `mv`,
`python3`, `pytest` and `sed` may prepare what assay reads.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.stages import slow

CHECKOUT = Path(__file__).resolve().parents[2]
TUTORIAL = CHECKOUT / "docs" / "tutorial"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"^```\w+ ([\w-]+\.\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ ((?:assay|mkdir|mv|python3|pytest|sed) .*?)(?:\s+# exit (\d+))?$")


IN_ONE_GO = frozenset(
    {"your-service.md", "wishes.md", "sessions.md", "gallery.md", *(page.name for page in TUTORIAL.glob("*.md"))}
)
"""Pages whose blocks follow one another in one directory."""


@dataclass(frozen=True)
class Session:
    """The commands of one block, or of a page, run one after the other in one directory."""

    name: str
    text: str
    files: tuple[tuple[str, str], ...] = ()


def sessions() -> list[Session]:
    found = []
    for page in (CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md")), *sorted(TUTORIAL.glob("*.md"))):
        text = page.read_text(encoding="utf-8")
        files = tuple(FILE.findall(text))
        if page.name in IN_ONE_GO:
            found.append(Session(page.name, "".join(match[1] for match in BLOCK.finditer(text)), files))
            continue
        for match in BLOCK.finditer(text):
            if "\n$ assay" in f"\n{match[1]}":
                line = text.count("\n", 0, match.start()) + 1
                found.append(Session(f"{page.name}:{line}", match[1], files))
    return found


def program() -> list[str]:
    """The installed program, or the package that is being tested."""
    installed = Path(sys.executable).with_name("assay")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "assay"]


def run(command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    prefix = " ".join(program())
    line = re.sub(r"(^|\| )assay ", lambda match: f"{match[1]}{prefix} ", command)
    # The interpreter of these tests is first; the plugin is named, for a checkout may not be installed.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PATH": path}
    environment["PYTEST_ADDOPTS"] = "-p assay.pytest_plugin -p no:cacheprovider"
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def agrees(shown: list[str], actual: list[str]) -> bool:
    """Whether the output is what is shown; times differ from run to run."""
    if not shown:
        return not actual
    if shown[0] == "…":
        return any(agrees(shown[1:], actual[at:]) for at in range(len(actual) + 1))
    same = bool(actual) and timeless(shown[0]) == timeless(actual[0])
    return same and agrees(shown[1:], actual[1:])


def timeless(line: str) -> str:
    return re.sub(r"\d+\.\d+ ?s\b", "T s", line.rstrip())


EVERYDAY = [each if each.name.startswith("README") else slow(each) for each in sessions()]
"""The README's blocks every day; continuous integration runs all in a session of its own, `examples`, every time."""


@pytest.mark.parametrize("session", EVERYDAY, ids=lambda session: session.name)
def test_commands_do_what_the_page_says(session: Session, tmp_path: Path) -> None:
    for name in ("spec", "traces", "tests/corpus/recordings"):
        shutil.copytree(CHECKOUT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for name, text in session.files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = re.split(r"^(?=\$ )", session.text, flags=re.MULTILINE)
    for command in filter(None, commands):
        head, _, shown = command.partition("\n")
        match = COMMAND.match(head)
        assert match, f"not a command that these pages may show: {head}"
        done = run(match[1], tmp_path)
        assert done.returncode == int(match[2] or 0), done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        if shown.strip():
            output = (done.stdout + done.stderr).strip().splitlines()
            assert agrees(shown.strip().splitlines(), output), done.stdout + done.stderr
