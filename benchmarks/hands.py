"""What a hand waits for: a step, the explorer, the editor; and the bytes of a counterexample's page.

`python -m benchmarks hands [NAME…]` measures rows whose names begin so, by default all. Times are seconds of the
processor, each the median and the longest of the repetitions, so that what else runs on the machine counts little.
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, urlsplit

from lsprotocol import types as lsp
from pygls.workspace import Workspace

from assay.api.spec import load
from assay.checker.report import Step
from assay.checker.saved_traces.replay import replay
from assay.checker.saved_traces.saved_trace import trace_from_json, trace_to_json
from assay.checker.stepper.stepper import Stepper
from assay.editor import server as editor
from assay.editor.analysis import Document
from assay.explorer.server import TOKEN_HEADER
from assay.explorer.session import ExplorerSession
from assay.report.specs.picture.counterexample import replay_page

Line = dict[str, object]

LARGEST = "kafka/kraft/cluster"
SPECS = (LARGEST, "kafka/controller", "kafka/cluster", "systems/etcd_raft")
KRAFT = Path(__file__).resolve().parents[1] / "spec" / "kafka" / "kraft"


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """One line for each target of the issue."""
    rows: dict[str, Callable[[], Iterator[Line]]] = {
        "step": _step,
        "first_page": _first_page,
        "click": _click,
        "long_run": _long_run,
        "key": _key,
        "completion": _completion,
        "rename": _rename,
        "page": _page,
    }
    for name, row in rows.items():
        if not arguments or any(name.startswith(each) for each in arguments):
            yield from ({"benchmark": "hands", "row": name, **line} for line in row())


def _timed(action: Callable[[], object], times: int, target: float | None) -> Line:
    taken = []
    for _ in range(times):
        begun = time.process_time()
        action()
        taken.append(time.process_time() - begun)
    return {"median_s": round(median(taken), 4), "longest_s": round(max(taken), 4), "target_s": target}


def _walked(stepper: Stepper, steps: int, seed: int = 1) -> Iterator[Stepper]:
    """The stepper in each state of a random walk."""
    chance = random.Random(seed)
    stepper.begin()
    for _ in range(steps):
        yield stepper
        found = list(islice(stepper.possible(), 200))
        if not found:
            return
        stepper.take(chance.choice(found))


def _step() -> Iterator[Line]:
    """The possible steps of a state, and what is refused with its reasons, up to a page of each."""
    for spec in SPECS:
        stepper = load(spec).stepper()
        traces = iter([each.trace.steps for each in _walked(stepper, 12)])
        gc.freeze()  # as an explorer does

        def ask(stepper: Stepper = stepper, traces: Iterator[tuple[Step, ...]] = traces) -> None:
            stepper.stand_on(next(traces))
            list(islice(stepper.possible(), 60))
            list(islice(stepper.refused(), 60))

        yield {"spec": spec, **_timed(ask, 10, 0.05)}


def _first_page() -> Iterator[Line]:
    """From the command to the page and its first answer, when nothing is kept yet and again: all processes of the
    command.
    """
    for spec in SPECS:
        with TemporaryDirectory() as cache:
            for kept in (False, True):
                yield {"spec": spec, "kept": kept, **_explored(spec, cache), "target_s": 1.5}


def _explored(spec: str, cache: str) -> Line:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    program = [sys.executable, "-m", "assay", "explore", spec, "--no-browser"]
    begun = time.monotonic()
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env=os.environ | {"ASSAY_CACHE": cache})
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    urllib.request.urlopen(url).read()
    token = parse_qs(urlsplit(url).query)["token"][0]
    question = urllib.request.Request(url.partition("?")[0] + "api/start", b"{}", {TOKEN_HEADER: token})
    json.load(urllib.request.urlopen(question))
    wall = time.monotonic() - begun
    process.send_signal(signal.SIGINT)
    process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu_s": round(used, 2), "wall_s": round(wall, 2)}


def _click() -> Iterator[Line]:
    """All that the page asks after a click on a step."""
    for spec in SPECS:
        session, chance = ExplorerSession(load(spec).stepper()), random.Random(1)
        at = [session.answer("begin", {"number": 0})["node"]]
        session.answer("steps", {"node": at[0]})
        gc.freeze()  # as the command does

        def click(session: ExplorerSession = session, at: list[int] = at, chance: random.Random = chance) -> None:
            steps = session.answer("steps", {"node": at[-1]})["steps"]
            if steps:
                number = chance.choice(steps)["number"]
                at.append(session.answer("take", {"node": at[-1], "number": number})["node"])
            for question in ("view", "steps", "refused"):
                session.answer(question, {"node": at[-1]})

        yield {"spec": spec, **_timed(click, 12, 0.1)}


def _long_run() -> Iterator[Line]:
    """A saved run of 100,000 steps in the explorer: to open it, and a page of it."""
    stepper = load("objects/register").stepper()
    stepper.begin()
    chance = random.Random(1)
    for _ in range(100_000):
        stepper.take(chance.choice(list(islice(stepper.possible(), 20))))
    saved = trace_to_json(stepper.trace, stepper.kernel, stepper.spec, "", stepper.loaded.overrides)
    session = ExplorerSession(stepper)
    yield {"what": "open 100,000 steps", **_timed(lambda: session.answer("open", {"trace": saved}), 1, None)}
    yield {
        "what": "a page of them",
        **_timed(lambda: session.answer("path", {"node": 50_000, "count": 500}), 5, 0.1),
    }


def _opened(spec: str = LARGEST) -> tuple[Document, str]:
    """The spec in an editor."""
    path = KRAFT.parents[1] / f"{spec}.assay"
    document = Document(path)
    document.parse(path.read_text(encoding="utf-8"))
    document.analyse()
    return document, path.as_uri()


def _key() -> Iterator[Line]:
    """Diagnostics after a key, as the server finds them, in each kind of place; and after the pause that follows."""
    document, _ = _opened()
    editor.settle()
    text = document.text
    body = text.index("    when ", text.index("\naction "))
    declared, rule = text.index("\naction ") + 1, text.index("    on ", text.index("\ntrace "))
    edits: dict[str, Callable[[int], str]] = {
        "a body": lambda n: f"{text[:body]}    when {n} >= 0\n{text[body:]}",
        "a new function": lambda n: f"{text[:declared]}def fresh_{n}(b: Broker) = b != b\n\n{text[declared:]}",
        "a state variable": lambda n: text.replace("\nstate:\n", f"\nstate:\n    fresh_{n}: bool = false\n", 1),
        "a variable that others use": lambda n: text.replace("map[Partition, bool]", f"map[Partition, 0 .. {n}]", 1),
        "a function that others use": lambda n: text.replace("def untold(): bool", f"def untold(): seq[bool, max {n}]"),
        "a rule for logs": lambda n: f"{text[:rule]}    on Nothing{n}: true\n{text[rule:]}",
        "a name that is half written": lambda n: text[:body] + text[body:].replace("when ", f"when x{n} ", 1),
    }
    for where, edit in edits.items():
        texts = iter([edit(n) for n in range(1, 21)])
        yield {"what": f"after a key in {where}", **_timed(partial(_parse_next, document, texts), 20, 0.15)}
    document.text = text
    yield {"what": "after the pause", **_timed(document.analyse, 3, None)}


def _parse_next(document: Document, texts: Iterator[str]) -> None:
    document.parse(next(texts))


def _completion() -> Iterator[Line]:
    document, uri = _opened()
    editor.documents[uri] = document
    line = document.text[: document.text.index("\naction ")].count("\n") + 2
    params = lsp.CompletionParams(lsp.TextDocumentIdentifier(uri), lsp.Position(line, 8))
    yield {"names": len(editor.completion(params)), **_timed(lambda: editor.completion(params), 10, 0.05)}


def _rename() -> Iterator[Line]:
    """A name that other specs declare or use too."""
    document, uri = _opened()
    editor.documents[uri] = document
    # There is one after `initialize` alone, which no editor sends here.
    editor.server.protocol._workspace = Workspace(None)
    name = "Broker"
    before = document.text[: document.text.index(name)]
    place = lsp.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)
    params = lsp.RenameParams(lsp.TextDocumentIdentifier(uri), place, "Machine")
    found = editor.rename(params)
    edits = [edit for each in ((found.changes if found else None) or {}).values() for edit in each]
    yield {"edits": len(edits), **_timed(lambda: editor.rename(params), 5, 1.0)}


def _page() -> Iterator[Line]:
    """A run of 100 steps of five actors, as `assay replay --html` draws it."""
    for spec in ("kafka/controller", "kafka/kraft/partition", "classics/two_phase"):
        sizes = {"ResourceManager": 5} if spec == "classics/two_phase" else {"Broker": 5}
        loaded = load(spec, settings=sizes)
        stepper = loaded.stepper()
        list(_walked(stepper, 101))
        saved = trace_from_json(trace_to_json(stepper.trace, stepper.kernel, spec, "", stepper.loaded.overrides))
        answer = replay(stepper.kernel, saved)
        text = replay_page(stepper.kernel, stepper.loaded.sources, saved, answer)
        yield {"spec": spec, "steps": len(stepper.trace) - 1, "bytes": len(text.encode()), "target_bytes": 500_000}
