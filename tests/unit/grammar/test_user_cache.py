"""Nothing of a cache is used that another user can have written, and nothing is written where nobody asked for it. The
cache keeps its limit."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from assay.grammar import user_cache as module
from assay.grammar.user_cache import cached, keep, user_cache


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ASSAY_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("value", ["", "relative", "./here"])
def test_a_cache_home_that_is_empty_or_relative_counts_as_unset(
    home: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", value)
    assert user_cache() == home / ".cache" / "assay"


def test_a_user_without_a_home_has_no_cache(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    monkeypatch.chdir(home)
    assert user_cache() is None
    keep("a", b"content")
    assert cached("a") is None
    assert not list(home.iterdir())


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    keep("a", b"content", tmp_path / "cache")
    assert cached("a", tmp_path / "cache") == b"content"
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_can_write_is_not_used(tmp_path: Path, mode: int) -> None:
    keep("a", b"content", tmp_path)
    (tmp_path / "a").chmod(mode)
    assert cached("a", tmp_path) is None


def test_a_file_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep("a", b"content", tmp_path)
    owner = (tmp_path / "a").stat().st_uid
    real = os.fstat

    def of_another(descriptor: int) -> os.stat_result:
        fields = list(real(descriptor))
        fields[4] = owner + 1
        return os.stat_result(fields)

    monkeypatch.setattr("assay.grammar.user_cache.os.fstat", of_another)
    assert cached("a", tmp_path) is None


def test_a_file_under_another_name_or_with_other_bytes_is_not_used(tmp_path: Path) -> None:
    keep("a", b"content", tmp_path)
    (tmp_path / "b").write_bytes((tmp_path / "a").read_bytes())
    assert cached("b", tmp_path) is None
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes() + b"!")
    assert cached("a", tmp_path) is None


def _name(number: int) -> str:
    digest = sha256(str(number).encode()).hexdigest()
    return f"{digest}.o" if number % 2 else f"kernel-{digest}"


def _age(path: Path, seconds: int) -> None:
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def test_what_was_used_least_recently_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 8 * 4096)
    for number in range(8):
        keep(_name(number), b"content", tmp_path)
        _age(tmp_path / _name(number), 90_000 - 10_000 * number)
    assert cached(_name(0), tmp_path) == b"content"
    keep(_name(8), b"content", tmp_path)
    keep(_name(9), b"x" * 4096, tmp_path)
    assert [number for number in range(10) if cached(_name(number), tmp_path)] == [0, 4, 5, 6, 7, 8, 9]


def test_only_entries_of_the_cache_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 4096)
    foreign = ["notes.txt", "main.o", "kernel-5.4", f"{_name(0)}.bak"]
    left_over = tmp_path / ".assay-unfinished-of_a_killed_process"
    for path in (*(tmp_path / name for name in foreign), left_over):
        path.write_bytes(bytes(8192))
        _age(path, 90_000)
    (tmp_path / _name(2)).symlink_to(tmp_path / "notes.txt")
    keep(_name(4), b"content", tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*foreign, _name(2), _name(4)}


BUSY = """
import sys
from hashlib import sha256
from pathlib import Path
from assay.grammar import user_cache

user_cache.LIMIT, place, missing = 16 * 4096, Path(sys.argv[1]), 0
for number in range(400):
    name = f"{sha256(b'%d' % (number % 40)).hexdigest()}.o"
    found = user_cache.cached(name, place)
    assert found in (None, name.encode() * 50), found
    if found is None:
        missing += 1
        user_cache.keep(name, name.encode() * 50, place)
assert missing > 40, "nothing was deleted"
"""


def test_processes_that_delete_at_once_cost_each_other_only_time(tmp_path: Path) -> None:
    """Each finds whole content or none, and the limit is exceeded by no more than a part of it for each process."""
    running = [
        subprocess.Popen([sys.executable, "-c", BUSY, str(tmp_path)], stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [(process.communicate()[1], process.returncode) for process in running] == [("", 0)] * 3
    assert all(path.suffix == ".o" for path in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) <= 16 + 3
