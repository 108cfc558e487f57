"""Nothing of a cache is used that another user can have written, and nothing is written where nobody asked for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
