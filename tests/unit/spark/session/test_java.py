"""A Java is found, or made of the packaged runtime."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.spark.session import java
from assay.spark.session.java import VECTOR, java_home, linked_home, packaged_home, runs


def _runtime(home: Path, script: str) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "lib").mkdir()
    (home / "bin" / "keytool").write_text("")
    launcher = home / "bin" / "java"
    launcher.write_text(f"#!/bin/sh\n{script}\n")
    launcher.chmod(0o755)
    return home


def test_the_packaged_java_runs_without_the_module_that_it_lacks(tmp_path: Path) -> None:
    packaged = packaged_home()
    assert packaged is not None
    assert runs(linked_home(packaged, tmp_path) / "bin" / "java")


def test_the_launcher_drops_that_one_argument_and_no_other(tmp_path: Path) -> None:
    home = linked_home(_runtime(tmp_path / "java", 'printf "%s|" "$@"'), tmp_path / "cache")
    shown = subprocess.run(
        [home / "bin" / "java", "-cp", "a b", VECTOR, "Main", "x'y"], capture_output=True, text=True, check=True
    )
    assert shown.stdout == "-cp|a b|Main|x'y|"
    assert (home / "lib").is_symlink()
    assert (home / "bin" / "keytool").is_symlink()


def test_many_processes_may_make_the_links_at_once(tmp_path: Path) -> None:
    runtime = _runtime(tmp_path / "java", "true")
    with ThreadPoolExecutor(8) as pool:
        homes = set(pool.map(lambda _: linked_home(runtime, tmp_path / "cache"), range(32)))
    assert len(homes) == 1
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [homes.pop().name]


def test_an_installed_java_is_asked_whether_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing, fitting = _runtime(tmp_path / "old", "exit 1"), _runtime(tmp_path / "new", "true")
    monkeypatch.setenv("JAVA_HOME", str(refusing))
    monkeypatch.setenv("PATH", str(fitting / "bin"))
    assert java_home() == fitting


def test_without_any_java_the_diagnostic_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "packaged_home", lambda: None)
    with pytest.raises(SpecError) as problem:
        java_home()
    assert problem.value.diagnostics[0].code == "E831"
