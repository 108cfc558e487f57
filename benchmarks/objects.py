"""How fast are histories of calls decided, beside Porcupine (github.com/anishathalye/porcupine) in the same run?

`python -m benchmarks objects [FOLDER] [--histories 20] [--calls 200] [--processes 5] [--seed 1]`

FOLDER holds logs of Jepsen (`*.log`, of a register), such as those of etcd in Porcupine's own tests. Or it holds
Porcupine's histories of a key-value store (`*.txt`). Without it histories are generated; every second one has one wrong
result. Reading is not counted for either, and both stop at the first contradiction. Porcupine needs Go, and its module
from the proxy.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import process_time

from assay.grammar.load import bundled_specs, load_spec
from assay.traces.calls.decide import decide
from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.observe.model_size import source_of
from assay.traces.options import DEFAULT_OPTIONS
from benchmarks.synthetic import Line

MODULE = "github.com/anishathalye/porcupine@v1.3.1"
PROGRAM = Path(__file__).with_name("porcupine.go")
REGISTER = bundled_specs()[0] / "objects" / "register.assay"
TEXTS = Path(__file__).with_name("appends.assay")

_CALL = re.compile(r'{:process (\d+), :type :(\w+), :f :(\w+), :key "([^"]*)", :value (?:nil|"([^"]*)")}')
_PIECE = re.compile(r"x \d+ \d+ y")
"""What Porcupine's clients append: a text of the store consists of such pieces."""


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """One line: the seconds of both, how often their verdicts differ, and the ratio."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks objects", exit_on_error=False)
    parser.add_argument("folder", nargs="?")
    for name, usual in (("histories", 20), ("calls", 200), ("processes", 5), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    try:
        options = parser.parse_args(list(arguments))
    except argparse.ArgumentError as error:
        raise ValueError(str(error)) from error
    with TemporaryDirectory() as scratch:
        folder = Path(options.folder or scratch)
        if options.folder is None:
            choose = Random(options.seed)
            for at in range(options.histories):
                text = history(choose, options.calls, options.processes, lies=at % 2)
                (folder / f"history_{at:03}.log").write_text("\n".join(text) + "\n", encoding="utf-8")
        yield from groups(folder, Path(scratch))


def groups(folder: Path, scratch: Path) -> Iterator[Line]:
    """A line for the histories of a register in a folder, and one for those of a key-value store."""
    logs, texts = sorted(folder.rglob("*.log")), sorted(folder.rglob("*.txt"))
    if logs:
        yield {"object": "register", **measure(logs, scratch / "register")}
    if texts:
        written = []
        for each in texts:
            written.append(scratch / f"{each.stem}.jsonl")
            written[-1].write_text("".join(f"{line}\n" for line in pieces(each.read_text("utf-8"))), encoding="utf-8")
        yield {"object": "texts", **measure(written, scratch / "texts", TEXTS, "history")}


def pieces(text: str) -> Iterator[str]:
    """The lines of a history of Porcupine's store, with the pieces of each text."""
    for line in text.splitlines():
        found = _CALL.fullmatch(line)
        assert found is not None, line
        process, phase, f, key, said = found.groups()
        own = _PIECE.findall(said or "")
        assert "".join(own) == (said or ""), line
        value = own[0] if f != "get" else None if phase == "invoke" else own
        yield json.dumps({"process": int(process), "type": phase, "f": f, "key": f"k{key}", "value": value})


def history(choose: Random, calls: int, processes: int, lies: int) -> list[str]:
    """The lines of a history of a register with calls that overlap; ``lies`` reads return another value."""
    found: list[str] = []
    running: dict[int, tuple[str, str, str | None]] = {}
    value: int | None = None
    begun = 0
    ids, fresh = list(range(processes)), processes
    while begun < calls or running:
        process = choose.choice(ids)
        if process not in running:
            if begun == calls:
                ids.remove(process)
                continue
            f = choose.choice(("read", "write", "cas"))
            old, new = choose.randrange(5), choose.randrange(5)
            given = {"read": "nil", "write": str(new), "cas": f"[{old} {new}]"}[f]
            found.append(f"INFO  jepsen.util - {process}\t:invoke\t:{f}\t{given}")
            running[process], begun = (f, given, None), begun + 1
            continue
        f, given, said = running[process]
        # A call has its effect between its two lines, when its process is drawn a second time. So calls overlap truly.
        if said is None:
            value, said = _effect(f, given, value)
            running[process] = f, given, said
            continue
        del running[process]
        if choose.random() < 0.03:
            # As in Jepsen, a process whose call timed out is not used again: the call may still have its effect at any
            # time.
            ids[ids.index(process)], fresh = fresh, fresh + 1
            said = f"info\t:{f}\t:timed-out"
        found.append(f"INFO  jepsen.util - {process}\t:{said}")
    for _ in range(lies):
        at = choose.choice([number for number, line in enumerate(found) if ":ok\t:read\t" in line])
        head, _, said = found[at].rpartition("\t")
        found[at] = f"{head}\t{1 if said == 'nil' else (int(said) + 1) % 5}"
    return found


def _effect(f: str, given: str, value: int | None) -> tuple[int | None, str]:
    if f == "read":
        return value, f"ok\t:read\t{'nil' if value is None else value}"
    if f == "write":
        return int(given), f"ok\t:write\t{given}"
    old, new = map(int, given.strip("[]").split())
    return (new, f"ok\t:cas\t{given}") if value == old else (value, f"fail\t:cas\t{given}")


def measure(files: Sequence[Path], scratch: Path, spec: Path = REGISTER, clause: str = "jepsen") -> Line:
    """Decide each history with both."""
    scratch.mkdir(exist_ok=True)
    loaded, options = load_spec(spec), replace(DEFAULT_OPTIONS, mismatches=1)
    source, seconds, ours = source_of(loaded, clause), 0.0, list[bool]()
    for file in files:
        events = read_logs([file], ReadOptions(source=source)).events
        begun = process_time()
        answer = decide(loaded, events, clause, options)
        seconds += process_time() - begun
        ours.append(answer.explained)
    theirs, beside, reason = porcupine(files, scratch)
    return {
        "benchmark": "objects",
        "histories": len(files),
        "consistent": sum(ours),
        "cpu_seconds": round(seconds, 3),
        "cpu_seconds_of_porcupine": beside,
        "ratio": None if not beside else round(seconds / beside, 2),
        "verdicts_differ": None if beside is None else sum(a != b for a, b in zip(ours, theirs, strict=True)),
        "without_porcupine": reason,
        "peak_mb_of_the_process": getrusage(RUSAGE_SELF).ru_maxrss // 1024,
    }


def porcupine(files: Sequence[Path], scratch: Path) -> tuple[list[bool], float | None, str | None]:
    """Porcupine's verdicts, its processor seconds, and why there are none."""
    go = shutil.which("go")
    if go is None:
        return [], None, "Go is not installed"
    shutil.copy(PROGRAM, scratch / "main.go")
    for command in (["mod", "init", "beside"], ["get", MODULE], ["build", "-o", "beside", "."]):
        done = subprocess.run([go, *command], cwd=scratch, capture_output=True, text=True, check=False)
        if done.returncode:
            return [], None, f"go {' '.join(command)}: {done.stderr.strip()[-200:]}"
    said = subprocess.run([scratch / "beside", *files], capture_output=True, text=True, check=True).stdout
    pairs = [line.split() for line in said.splitlines()]
    return [verdict == "true" for verdict, _ in pairs], round(sum(int(each) for _, each in pairs) / 1e9, 3), None
