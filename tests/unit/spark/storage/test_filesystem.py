"""Files of a work directory are reached the same way on this machine and elsewhere."""

from __future__ import annotations

import io
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyarrow import fs

from assay.spark.storage import filesystem
from assay.spark.storage.filesystem import Storage, new_name


class Stream(io.BytesIO):
    """A remote file, which says how much was asked for at once."""

    asked: list[int]

    def read(self, size: int | None = -1, /) -> bytes:
        self.asked.append(-1 if size is None else size)
        return super().read(size)


def elsewhere(system: Any, path: Path) -> Storage:
    """A work directory in a file system that is not this machine's."""
    found = Storage("s3://logs/run")
    found.__dict__["_remote"] = system, str(path)
    return found


def test_a_remote_file_is_copied_block_by_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystem, "BLOCK", 1000)
    stream = Stream(bytes(range(256)) * 20)
    stream.asked = []
    remote = elsewhere(SimpleNamespace(open_input_stream=lambda _: stream), tmp_path)
    copy = remote.here("0123456789ab/level-0001")
    assert copy.read_bytes() == bytes(range(256)) * 20
    assert len(stream.asked) > 5
    assert set(stream.asked) == {1000}
    assert remote.here("0123456789ab/level-0001") == copy


def test_half_a_copy_does_not_count(tmp_path: Path) -> None:
    class Cut(Stream):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell():
                raise OSError(5, "the connection is gone")
            return super().read(10)

    stream = Cut(bytes(100))
    stream.asked = []
    remote = elsewhere(SimpleNamespace(open_input_stream=lambda _: stream), tmp_path)
    with pytest.raises(OSError, match="the connection is gone"):
        remote.here("level")
    assert list(remote._copies.iterdir()) == []


@pytest.mark.parametrize("far", [False, True])
def test_the_files_of_attempts_are_told_from_others(tmp_path: Path, far: bool) -> None:
    names = [new_name(), f"{new_name()}-{new_name()}"]
    for place in (*names, "beside"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "level-0001").write_bytes(b"")
        os.utime(tmp_path / place / "level-0001", (1000, 1000))
    (tmp_path / "manifest-000001.json").write_bytes(b"")
    os.utime(tmp_path / "manifest-000001.json", (2000, 2000))
    found = elsewhere(fs.LocalFileSystem(), tmp_path) if far else Storage(str(tmp_path))
    assert found.attempts() == {f"{name}/level-0001": 1000.0 for name in names}
    assert found.written("manifest-000001.json") == 2000.0
    with pytest.raises(OSError, match="manifest-000002"):
        found.written("manifest-000002.json")
    found.remove(f"{names[0]}/level-0001")
    assert list(found.attempts()) == [f"{names[1]}/level-0001"]


def test_of_a_file_that_cannot_be_written_nothing_stays(tmp_path: Path) -> None:
    (tmp_path / "manifest").mkdir()
    with pytest.raises(OSError, match="manifest"):
        Storage(str(tmp_path)).write("manifest", b"content")
    assert [each.name for each in tmp_path.iterdir()] == ["manifest"]


@pytest.mark.parametrize("uri", ["//[work", "s3://[bucket/work"])
def test_what_is_no_uri_cannot_be_reached(uri: str) -> None:
    with pytest.raises(OSError, match="Invalid"):
        Storage(uri).begin()
