"""``assay check --watch``: checks again when a file of the spec is saved, and says what is different.

What was decided is kept as long as it still holds for the same reason. If the model is the same, only properties that
changed are checked again. Models that were compiled before are in the cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from assay.api.answers import CheckAnswer
from assay.api.spec import Spec
from assay.checker.report import ExitCode, Outcome, PropertyResult, worst
from assay.cli.terminal.output import complain_about, say
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import Kernel
from assay.grammar.lazy_dataclass import dataclass
from assay.report.lines import Line, Tone
from assay.report.specs.text import TONES, property_lines

POLL = 0.2
"""Seconds between looks at the files."""
# Any search of the same model finds these again. What is unknown may be found by the next one.
DECIDED = (Outcome.HOLDS, Outcome.UP_TO_BOUND, Outcome.VIOLATED)

Contents = Mapping[str, str | None]


@dataclass(slots=True)
class WatchedCheck:
    """What is known of a spec from one save to the next.

    ``load`` reads the spec, ``search`` checks it: all properties, or those that are named. ``only``
    are the properties that the user asked for, if not all.
    """

    load: Callable[[], Spec]
    search: Callable[[Spec, frozenset[str] | None], CheckAnswer]
    only: frozenset[str] | None = None
    files: tuple[str, ...] = ()
    exit_code: int = ExitCode.BAD_INPUT
    _kernel: Kernel | None = None
    _known: dict[str, PropertyResult] = field(default_factory=dict)

    def check(self) -> list[Line]:
        """Check what is not decided, and say what is different from before; the whole answer at first."""
        spec = self.load()
        self.files = tuple(spec.loaded.sources)
        complain_about(spec.warnings, spec.loaded.sources)
        open_names = self._undecided(spec.kernel)
        present = set(_parts(spec.kernel)) | {"deadlock", "defined"}
        before = self._known
        decided = {} if open_names is None else {name: each for name, each in before.items() if name not in open_names}
        kept = {name: each for name, each in decided.items() if name in present}
        if open_names is not None and not open_names:
            self._kernel, self._known = spec.kernel, kept
            self.exit_code = worst(_codes(kept.values()))
            if kept.keys() == before.keys():
                return [Line("nothing that the answer depends on has changed", Tone.FAINT)]
            return list(self._differences(before, open_names))
        answer = self.search(spec, open_names)
        found = {each.name: each for each in answer.report.properties}
        self._kernel, self._known = spec.kernel, {**found, **kept}
        self.exit_code = worst([answer.exit_code, *_codes(kept.values())])
        return list(answer.lines()) if not before else list(self._differences(before, open_names))

    def _undecided(self, kernel: Kernel) -> frozenset[str] | None:
        """The properties that have to be checked again; None for all, where the model itself is another."""
        if self._kernel is None or _model(self._kernel) != _model(kernel):
            return None
        before, now = _parts(self._kernel), _parts(kernel)
        same = {name for name, part in now.items() if before.get(name) == part}
        decided = {name for name, each in self._known.items() if each.outcome in DECIDED}
        # These are open where a search ended at a violation. Then one search of all is due, not one of each.
        if not {"defined", "deadlock"} & self._known.keys() <= decided:
            return None
        asked = frozenset(now) if self.only is None else self.only & now.keys()
        return asked - (same & decided)

    def _differences(self, before: Mapping[str, PropertyResult], checked: frozenset[str] | None) -> Iterator[Line]:
        now = self._known
        assert self._kernel is not None
        for name, each in now.items():
            old = before.get(name)
            if old is None:
                yield Line(f"  {name}: {each.outcome.value} (new)", TONES[each.outcome])
            elif old.outcome is not each.outcome:
                yield Line(f"  {name}: {old.outcome.value} -> {each.outcome.value}", TONES[each.outcome])
        yield from (Line(f"  {name}: no longer there", Tone.FAINT) for name in before if name not in now)
        kept = len(now) if checked is None else sum(name not in checked for name in now)
        same = sum(name in before and before[name].outcome is each.outcome for name, each in now.items())
        remark = "" if checked is None else f", {kept} of them not checked again"
        yield Line(f"  {same} as before{remark}", Tone.FAINT)
        for name, each in now.items():
            if name not in before or before[name] != each:
                yield from property_lines(self._kernel, each)


def _model(kernel: Kernel) -> Kernel:
    """What steps and states depend on."""
    return replace(kernel, properties=(), scenarios=(), shows=(), traces=())


def _parts(kernel: Kernel) -> dict[str, object]:
    return {**{each.name: each for each in kernel.properties}, **{each.name: each for each in kernel.scenarios}}


def _codes(results: Iterable[PropertyResult]) -> list[ExitCode]:
    codes = {Outcome.VIOLATED: ExitCode.VIOLATED, Outcome.UP_TO_BOUND: ExitCode.UP_TO_BOUND}
    return [codes.get(each.outcome, ExitCode.OK) for each in results]


def watch(check: WatchedCheck, spec_file: str) -> int:
    """Check whenever a file changes, until Ctrl-C; the exit code is that of the last answer."""
    try:
        while True:
            checked = _contents(check.files or (spec_file,))
            try:
                say(check.check())
            except SpecError as error:
                sources = getattr(error, "sources", None)
                # A mistake may be in a module that was not used before, or that no check has named yet.
                check.files = tuple(dict.fromkeys((*check.files, *(sources or ()))))
                complain_about(error.diagnostics, sources)
                check.exit_code = ExitCode.BAD_INPUT
            say([Line("watching; Ctrl-C ends it", Tone.FAINT)])
            _await_change(checked, check.files)
    except KeyboardInterrupt:
        return check.exit_code


def _await_change(checked: Contents, files: Sequence[str]) -> None:
    """Wait until a file is another than when it was checked, and all have stayed so for a moment: a save takes time.

    Files that only the check has named are taken as they are now.
    """
    # What was read before the check goes first: a save during the check is a change.
    known: Contents = {**_contents(files), **checked}
    last = known
    while True:
        time.sleep(POLL)
        now = _contents(tuple(known))
        if now == last and now != known:
            return
        last = now


def _contents(files: Sequence[str]) -> Contents:
    return {each: _text(Path(each)) for each in files}


def _text(path: Path) -> str | None:
    """The text of a file; None while it cannot be read, as in the middle of a save."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
