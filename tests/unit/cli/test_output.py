"""Exit codes and JSON hold whatever becomes of the output: a full disk, a closed pipe, another locale."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.terminal.streams import UnfailingFile

SPEC = "module small\n\nstate:\n    x: bool = false\n\naction go:\n    x := true\n\ninvariant fine: x or not x\n"
VIOLATED = SPEC.replace("x or not x", "not x")
LOST = "error: standard output cannot be written: "


def ran(folder: Path, line: str, **environment: str) -> tuple[int, bytes, str]:
    """Run a shell command in which ``assay`` is the program. Returns its exit code and what it wrote."""
    (folder / "small.assay").write_text(SPEC)
    (folder / "violated.assay").write_text(VIOLATED)
    program = f'set -o pipefail; assay() {{ {sys.executable} -P -m assay "$@"; }}; {line}'
    known = {**os.environ, **environment}
    done = subprocess.run(["bash", "-c", program], cwd=folder, env=known, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("check violated.assay --engine reference --json >/dev/full", "No space left on device"),
        ("check small.assay --engine reference >&-", "it is closed"),
        ("explain E001 | true", "Broken pipe"),
    ],
)
def test_an_answer_that_cannot_be_written_is_exit_74_with_one_line(tmp_path: Path, command: str, why: str) -> None:
    code, _, said = ran(tmp_path, f"assay {command}")
    assert (code, said) == (74, f"{LOST}{why}\n")


@pytest.mark.slow
def test_help_into_a_closed_pipe_is_exit_74_too(tmp_path: Path) -> None:
    assert ran(tmp_path, "assay --help | true")[0] == 74


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_bad_input_is_exit_2_where_nobody_reads_why(tmp_path: Path, where: str) -> None:
    assert ran(tmp_path, f"assay check nonesuch {where}")[0] == 2


@pytest.mark.slow
def test_warnings_that_cannot_be_written_are_exit_74(tmp_path: Path) -> None:
    code, output, _ = ran(tmp_path, "assay check small.assay --trace-out t.json 2>/dev/full")
    assert (code, output.decode().splitlines()[-1][:5]) == (74, "error")


@pytest.mark.parametrize("command", ["repl small.assay", "dap", "validate - --follow"])
def test_a_closed_standard_input_is_an_empty_one(tmp_path: Path, command: str) -> None:
    code, _, said = ran(tmp_path, f"assay {command} <&-")
    assert "internal error" not in said
    assert code == (4 if command.startswith("validate") else 0)


@pytest.mark.slow
def test_a_violation_keeps_its_exit_code_where_standard_error_was_closed_on_purpose(tmp_path: Path) -> None:
    assert ran(tmp_path, "assay check violated.assay 2>&-")[0] == 1


@pytest.mark.slow
@pytest.mark.everyday(1)
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_json_is_utf8_whatever_the_locale(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "broker-ä😀-1").mkdir()
    (tmp_path / "broker-ä😀-1" / "server.log").write_text(
        "[2020-08-02 21:40:11,518] INFO [Controller id=1] 1 successfully elected as the controller. Epoch incremented "
        "to 9 and epoch zk version is now 9 (kafka.controller.KafkaController)\n"
    )
    _, output, _ = ran(tmp_path, "assay validate broker-* --json", PYTHONIOENCODING=encoding)
    assert json.loads(output.decode("utf-8"))["input"]["nodes"][0]["name"] == "broker-ä😀-1"


def test_a_name_that_is_not_utf8_makes_valid_json(tmp_path: Path) -> None:
    code, output, _ = ran(tmp_path, "assay check \"$(printf 'none\\xff')\" --json")
    assert code == 2
    assert "\ufffd" in json.loads(output.decode("utf-8"))["diagnostics"][0]["message"]


def test_nothing_is_imported_from_the_working_directory(tmp_path: Path) -> None:
    for name in ("select", "signal", "json", "z3", "pysat"):
        (tmp_path / f"{name}.py").write_text("open('mark', 'w').close()\n")
    assert ran(tmp_path, "assay check small.assay --engine bmc")[0] in {0, 3, 5}
    assert not (tmp_path / "mark").exists()


def test_a_pipe_that_does_not_block_is_waited_for() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    command = [sys.executable, "-c", "import sys; print(len(sys.stdin.buffer.read()))"]
    with subprocess.Popen(command, stdin=reading, stdout=subprocess.PIPE) as reader:
        os.close(reading)
        file = UnfailingFile(writing)
        assert file.write(b"x" * 1_000_000) == 1_000_000
        os.close(writing)
        assert reader.communicate()[0] == b"1000000\n"
    assert file.lost is None
