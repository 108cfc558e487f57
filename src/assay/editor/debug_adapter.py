"""The debug adapter: an editor's debugger walks a run of a model, forth and back. ``assay dap`` runs it.

The protocol: https://microsoft.github.io/debug-adapter-protocol/specification. A moment of the run is a stack frame, the
last step on top; its variables are the state. Breakpoints stand on actions, and on properties, where they stop as soon
as one is false.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from assay.api.spec import read_spec
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.report import Step
from assay.checker.saved_traces.trace_file import read_trace
from assay.checker.stepper.split_call import NoSuchStepError
from assay.checker.stepper.stepper import Stepper
from assay.checker.stepper.steps import PossibleStep
from assay.grammar.diagnostics.diagnostic import Span, SpecError
from assay.report.diagnostics import diagnostics_text
from assay.report.specs.changes import step_name
from assay.report.specs.picture.cells import CellPath, state_cells

Body = dict[str, Any]
LARGEST = 16 * 1024 * 1024
"""Bytes of a message."""
MOST_TARGETS = 200
"""So many steps are offered to choose from."""
CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsEvaluateForHovers": True,
    "supportsFunctionBreakpoints": True,
    "supportsStepBack": True,
    "supportsStepInTargetsRequest": True,
}
THREAD = {"id": 1, "name": "run"}


class DebugError(Exception):
    """A request that cannot be answered; the editor shows the message."""


class DebugSession:
    """One run that is walked. ``answer`` takes a request and returns its body; ``events`` are notifications to send."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Body]] = []
        self.ended = False
        self._stepper: Stepper | None = None
        self._run: list[Step] = []
        self._at = 0
        self._names: dict[str, set[str]] = {}
        self._variables: list[tuple[dict[CellPath, str], CellPath]] = []
        self._targets: list[PossibleStep] = []
        self._requests: dict[str, Callable[[Body], Body]] = {
            "initialize": lambda _: CAPABILITIES,
            "launch": self._launch,
            "attach": self._launch,
            "setBreakpoints": self._set_breakpoints,
            "setFunctionBreakpoints": self._set_function_breakpoints,
            "setExceptionBreakpoints": lambda _: {},
            "configurationDone": lambda _: self._stop("entry"),
            "threads": lambda _: {"threads": [THREAD]},
            "stackTrace": self._stack_trace,
            "scopes": self._scopes,
            "variables": self._variables_of,
            "evaluate": self._evaluate,
            "next": lambda _: self._go(1, until_break=False),
            "stepOut": lambda _: self._go(1, until_break=True),
            "stepIn": self._step_in,
            "stepInTargets": self._step_in_targets,
            "stepBack": lambda _: self._go(-1, until_break=False),
            "continue": lambda _: self._go(1, until_break=True),
            "reverseContinue": lambda _: self._go(-1, until_break=True),
            "pause": lambda _: self._stop("pause"),
            "disconnect": lambda _: self._end(),
            "terminate": lambda _: self._end(),
        }

    def answer(self, command: str, arguments: Body) -> Body:
        """The body of the answer. Raises ``DebugError``."""
        if command not in self._requests:
            raise DebugError(f"`{command}` is not supported")
        try:
            return self._requests[command](arguments)
        except NoSuchStepError as error:
            raise DebugError(str(error)) from error
        except SpecError as error:
            raise DebugError(diagnostics_text(error.diagnostics, getattr(error, "sources", None))) from error
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DebugError(f"the request `{command}` is not as the protocol has it: {error!r}") from error

    # ------------------------------------------------------------------------------------------------- the run

    @property
    def _walk(self) -> Stepper:
        if self._stepper is None:
            raise DebugError("nothing is launched")
        return self._stepper

    def _launch(self, data: Body) -> Body:
        """``program`` is a spec, ``trace`` a saved run, ``logs`` files that a run explains, of ``slice``."""
        spec, model = data.get("program") or None, data.get("model")
        settings = {str(name): str(value) for name, value in (data.get("set") or {}).items()}
        note = None
        logs = data.get("logs")
        if logs:
            from assay.explorer.log_run import open_logs  # noqa: PLC0415 - a second

            # A text would be read as a list of its characters, of which `/` is the whole file system.
            named = [logs] if isinstance(logs, str) else logs
            self._stepper, trace, note = open_logs(spec, model, settings, named, data.get("slice"))
            self._run = list(trace.steps)
        elif data.get("trace"):
            saved = read_trace(Path(data["trace"]))
            of, chosen = spec or saved.spec, {**saved.settings, **settings}
            self._stepper = Stepper(read_spec(of, model or saved.model, chosen), of)
            note = self._stepper.follow_saved(saved)
            self._run = list(self._stepper.trace.steps)
        elif spec is not None:
            self._stepper = Stepper(read_spec(spec, model, settings), spec)
            self._run = [self._stepper.begin(int(data.get("initial", 0))).step]
        else:
            raise DebugError("the launch names no `program`, no `trace` and no `logs`")
        self._at = 0
        if note is not None:
            self.events.append(("output", {"category": "console", "output": note + "\n"}))
        # Only now, with a model there: the editor sends its breakpoints as soon as it hears of this.
        self.events.append(("initialized", {}))
        return {}

    def _end(self) -> Body:
        self.ended = True
        return {}

    def _stop(self, reason: str, text: str = "") -> Body:
        self._walk.stand_on(self._run[: self._at + 1])
        self._variables.clear()
        # Steps that were offered in another state are no steps of this one.
        self._targets.clear()
        self.events.append(("stopped", {"reason": reason, "threadId": 1, "allThreadsStopped": True, "text": text}))
        return {"allThreadsContinued": True}

    def _go(self, by: int, *, until_break: bool) -> Body:
        """One step forth or back, or to the next moment at which a breakpoint stops."""
        with deep_recursion(self._walk.kernel):
            while 0 <= self._at + by < len(self._run):
                self._at += by
                found = self._break_here()
                if found or not until_break:
                    return self._stop("function breakpoint" if found else "step", found)
        return self._stop("step", "the run ends here" if by > 0 else "the run begins here")

    def _break_here(self) -> str:
        """The breakpoint that stops here: the action of the step, or a property that became false."""
        watched = set().union(*self._names.values())
        step = self._run[self._at]
        if step.action in watched:
            return str(step.action)
        # Only where it becomes false: otherwise every later step would stop as well.
        false = self._false(self._at, watched)
        return min(false - (self._false(self._at - 1, watched) if self._at else set()), default="")

    def _false(self, at: int, watched: set[str]) -> set[str]:
        # Properties take long to evaluate, and a run may have thousands of steps.
        if not any(each.name in watched for each in self._walk.kernel.properties):
            return set()
        self._walk.stand_on(self._run[: at + 1])
        return {each.name for each in self._walk.properties() if each.holds is False and each.name in watched}

    def _step_in_targets(self, _: Body) -> Body:
        self._walk.stand_on(self._run[: self._at + 1])
        self._targets = list(islice(self._walk.possible(), MOST_TARGETS))
        return {"targets": [{"id": number, "label": each.text} for number, each in enumerate(self._targets)]}

    def _step_in(self, data: Body) -> Body:
        """Take the step that was chosen, which begins another run; without one, the run's own next step."""
        if data.get("targetId") is None and self._at + 1 < len(self._run):
            return self._go(1, until_break=False)
        if data.get("targetId") is None:
            self._step_in_targets({})
            if len(self._targets) != 1:
                raise DebugError(f"{len(self._targets)} steps are possible: choose one by `Step Into Target`")
        # A run that was loaded ends here: what came after it need not be possible behind another step.
        self._run[self._at + 1 :] = [self._targets[_index(data.get("targetId") or 0)].step]
        return self._go(1, until_break=False)

    # -------------------------------------------------------------------------------------------- breakpoints

    def _places(self) -> Iterator[tuple[str, Span]]:
        kernel = self._walk.kernel
        yield from ((name, kernel.action(name).span) for name in kernel.next)
        yield from ((each.name, each.span) for each in kernel.properties)

    def _set_breakpoints(self, data: Body) -> Body:
        path = Path(data["source"]["path"]).resolve()
        places = [(name, span) for name, span in self._places() if Path(span.file).resolve() == path]
        answers, names = [], set()
        for each in data.get("breakpoints") or []:
            line = int(each["line"])
            found = next(((name, span) for name, span in places if span.line <= line <= span.end_line), None)
            if found is None:
                answers.append({"verified": False, "message": "no action or property stands here"})
            else:
                names.add(found[0])
                answers.append({"verified": True, "line": found[1].line})
        # A request has all breakpoints of its file: those that are not in it are gone.
        self._names[str(path)] = names
        return {"breakpoints": answers}

    def _set_function_breakpoints(self, data: Body) -> Body:
        known, wanted = {name for name, _ in self._places()}, [str(each["name"]) for each in data["breakpoints"]]
        self._names[""] = known.intersection(wanted)
        return {"breakpoints": [{"verified": name in known} for name in wanted]}

    # ----------------------------------------------------------------------------------------------- the state

    def _stack_trace(self, data: Body) -> Body:
        begin = int(data.get("startFrame") or 0)
        # In the protocol, no number of levels and 0 both ask for all.
        levels = int(data.get("levels") or 0) or self._at + 1
        places = range(self._at, -1, -1)[begin : begin + levels]
        return {"stackFrames": [self._frame(place) for place in places], "totalFrames": self._at + 1}

    def _frame(self, place: int) -> Body:
        kernel, step = self._walk.kernel, self._run[place]
        span = kernel.init.span if step.action is None else kernel.action(step.action).span
        source = {"source": {"name": Path(span.file).name, "path": str(Path(span.file).resolve())}} if span.file else {}
        return {"id": place, "name": step_name(kernel, step), "line": span.line, "column": span.column, **source}

    def _scopes(self, data: Body) -> Body:
        place = _index(data["frameId"])
        kernel = self._walk.kernel
        now = state_cells(kernel, self._run[place].state)
        before = state_cells(kernel, self._run[max(place - 1, 0)].state)
        changed = {path: f"{old} -> {now[path]}" for path, old in before.items() if path in now and now[path] != old}
        changed |= {path: f"new {value}".strip() for path, value in now.items() if path not in before}
        changed |= {path: f"gone {value}".strip() for path, value in before.items() if path not in now}
        # Other requests count on the stepper standing on the top frame, so it goes back there below.
        self._walk.stand_on(self._run[: place + 1])
        words = {True: "holds", False: "is false", None: "has no value"}
        with deep_recursion(kernel):
            properties: dict[CellPath, str] = {(p.name,): words[p.holds] for p in self._walk.properties()}
        self._walk.stand_on(self._run[: self._at + 1])
        parts = {"changed by the step": changed, "state": now, "properties": properties}
        return {
            "scopes": [
                {"name": name, "variablesReference": self._refer(cells, ()), "expensive": False}
                for name, cells in parts.items()
            ]
        }

    def _refer(self, cells: dict[CellPath, str], path: CellPath) -> int:
        self._variables.append((cells, path))
        # Counted from 1: in the protocol, 0 says that a variable has no parts.
        return len(self._variables)

    def _variables_of(self, data: Body) -> Body:
        """The parts below a place of the state, each with its value or with parts of its own."""
        cells, path = self._variables[_index(int(data["variablesReference"]) - 1)]
        depth = len(path)
        parts = dict.fromkeys(each[: depth + 1] for each in cells if each[:depth] == path and len(each) > depth)
        found = []
        for part in parts:
            deeper = any(len(each) > depth + 1 and each[: depth + 1] == part for each in cells)
            reference = self._refer(cells, part) if deeper else 0
            found.append({"name": part[-1], "value": cells.get(part, ""), "variablesReference": reference})
        return {"variables": found}

    def _evaluate(self, data: Body) -> Body:
        place = data.get("frameId")
        with deep_recursion(self._walk.kernel):
            value = self._walk.evaluate(str(data["expression"]), self._at if place is None else _index(place))
        return {"result": value.shown, "variablesReference": 0}


def _index(number: Any) -> int:
    """A number of something, counted from 0."""
    if int(number) < 0:
        raise ValueError(number)
    return int(number)


def serve(read: BinaryIO, write: BinaryIO) -> None:
    """Answer requests until the editor disconnects, or its end of the stream is closed."""
    session, number = DebugSession(), 0

    def send(kind: str, content: Body) -> None:
        nonlocal number
        number += 1
        text = json.dumps({"seq": number, "type": kind, **content}).encode()
        write.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        write.flush()

    while not session.ended and (request := _message(read)) is not None:
        command, arguments = str(request.get("command")), request.get("arguments")
        head = {"request_seq": request.get("seq"), "command": command}
        try:
            body = session.answer(command, arguments if isinstance(arguments, dict) else {})
        except DebugError as error:
            send("response", {**head, "success": False, "message": str(error)})
        else:
            send("response", {**head, "success": True, "body": body})
        # After the response: an editor must not hear of a stop before it knows that its request was heeded.
        for event, content in session.events:
            send("event", {"event": event, "body": content})
        session.events.clear()


def _message(read: BinaryIO) -> Body | None:
    """The next request; None at the end of the stream, and for what is no message."""
    length = 0
    # At most 1,000 bytes at a time: what is no header may have no line end.
    while line := read.readline(1000).strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
    if not 0 < length <= LARGEST:
        return None
    try:
        found = json.loads(read.read(length))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
