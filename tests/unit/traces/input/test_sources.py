"""Files, directories, compressed files and archives: everything readable is read, everything else is said."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.traces.event import Notice
from assay.traces.input.sources import ExpansionLimit, check_paths, walk

TEXT = b"[2026-11-21 01:45:22,705] INFO a line (a.B)\n"


def contents(*paths: Path, limit: ExpansionLimit | None = None) -> tuple[dict[str, bytes], list[Notice]]:
    """The bytes of every file by its name relative to the first path's parent, and the notices."""
    notices: list[Notice] = []
    found: dict[str, bytes] = {}
    for source in walk(paths, limit or ExpansionLimit(), notices):
        parts: list[bytes] = []
        while part := source.content.stream.read(1000):
            parts.append(part)
        found[source.origin.file.removeprefix(f"{paths[0].parent}/")] = b"".join(parts)
    return found, notices


def tar_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def test_a_missing_path_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        check_paths([tmp_path, tmp_path / "nowhere", tmp_path / "neither"])
    assert [d.code for d in caught.value.diagnostics] == ["E601", "E601"]
    assert "nowhere" in caught.value.diagnostics[0].message


def test_a_directory_without_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "logs" / "broker-1").mkdir(parents=True)
    found, notices = contents(tmp_path / "logs")
    assert (found, [(notice.kind, notice.place.file) for notice in notices if notice.place]) == (
        {},
        [("no file", str(tmp_path / "logs"))],
    )


def test_a_directory_is_walked_by_name(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    for name in ("b/server.log", "a/x/server.log", "a/server.log"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())
    found, notices = contents(root)
    assert list(found) == ["logs/a/server.log", "logs/a/x/server.log", "logs/b/server.log"]
    assert not notices


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress, zstandard.compress])
def test_compressed_files_are_read_whatever_their_name(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    path = tmp_path / "server.log"
    path.write_bytes(pack(TEXT * 1000) + pack(TEXT))
    assert contents(path) == ({"server.log": TEXT * 1001}, [])


@pytest.mark.everyday(2)
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress, zstandard.compress])
def test_a_truncated_compressed_file_is_read_as_far_as_it_goes(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    data = b"".join(b"%d %d\n" % (i, i * i % 9973) for i in range(150_000))
    packed = pack(data)
    path = tmp_path / "server.log.gz"
    path.write_bytes(packed[: len(packed) * 2 // 3])
    found, notices = contents(path)
    assert 1000 < len(found["server.log.gz"]) < len(data)
    assert data.startswith(found["server.log.gz"])
    assert [notice.kind for notice in notices] == ["damaged file"]


def test_all_that_comes_before_a_wrong_checksum_is_read(tmp_path: Path) -> None:
    data = b"".join(b"%d %d\n" % (i, i * i % 9973) for i in range(150_000))
    packed = bytearray(gzip.compress(data))
    packed[-8] ^= 1
    path = tmp_path / "server.log.gz"
    path.write_bytes(packed)
    found, (notice,) = contents(path)
    assert found == {"server.log.gz": data}
    assert notice.kind == "damaged file"
    assert f"{len(data):,} bytes" in notice.text


@pytest.mark.parametrize("at", [0.1, 0.5, 0.9])
def test_what_comes_before_damaged_bytes_is_read_and_nothing_else(tmp_path: Path, at: float) -> None:
    data = b"".join(b"%d %d\n" % (i, i * i % 9973) for i in range(50_000))
    packed = bytearray(gzip.compress(data))
    damaged = int(len(packed) * at)
    packed[damaged : damaged + 300] = bytes(300)
    path = tmp_path / "server.log.gz"
    path.write_bytes(packed)
    found, notices = contents(path)
    sound = next((i for i, (a, b) in enumerate(zip(found["server.log.gz"], data, strict=False)) if a != b), None)
    assert sound is None or sound > len(data) * at / 2
    assert len(found["server.log.gz"]) > len(data) * at / 2
    assert [notice.kind for notice in notices] == ["damaged file"]


def test_garbage_behind_a_compressed_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(TEXT) + b"garbage")
    found, notices = contents(path)
    assert found == {"server.log.gz": TEXT}
    assert [notice.kind for notice in notices] == ["damaged file"]


def test_zeros_behind_a_compressed_file_are_padding(tmp_path: Path) -> None:
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(TEXT) + b"\0" * 5000)
    assert contents(path) == ({"server.log.gz": TEXT}, [])


def test_archives_are_read_with_what_is_packed_inside_them(tmp_path: Path) -> None:
    inner = gzip.compress(tar_of({"n2/server.log": TEXT * 2}))
    path = tmp_path / "all.tar.xz"
    path.write_bytes(lzma.compress(tar_of({"n1/server.log.gz": gzip.compress(TEXT), "n2.tgz": inner})))
    found, notices = contents(path)
    assert found == {"all.tar.xz!n1/server.log.gz": TEXT, "all.tar.xz!n2.tgz!n2/server.log": TEXT * 2}
    assert not notices


def test_a_file_in_an_archive_has_the_folder_it_has_there(tmp_path: Path) -> None:
    path = tmp_path / "odd!name.tar"
    path.write_bytes(tar_of({"top.log": TEXT, "n1/server.log": TEXT}))
    folders = [source.origin.folder for source in walk([path], ExpansionLimit(), [])]
    assert folders == [str(path), f"{path}/n1"]


def test_links_in_an_archive_are_reported_and_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("server.log")
        link.type, link.linkname = tarfile.SYMTYPE, "../../secret"
        archive.addfile(link)
    found, notices = contents(path)
    assert not found
    assert [(notice.kind, str(notice.place)) for notice in notices] == [("not a file", f"{path}!server.log:1")]


def test_a_truncated_archive_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(tar_of({"one.log": TEXT, "two.log": TEXT * 100})[:2200])
    found, notices = contents(path)
    assert found == {"a.tar!one.log": TEXT, "a.tar!two.log": (TEXT * 100)[: 2200 - 1536]}
    assert [notice.kind for notice in notices] == ["damaged file"]


def test_a_file_that_claims_to_be_endless_ends_with_the_archive(tmp_path: Path) -> None:
    data = bytearray(tar_of({"one.log": TEXT}))
    member = tarfile.TarInfo("endless.log")
    member.size = 1 << 60
    path = tmp_path / "a.tar"
    path.write_bytes(bytes(data[:1024]) + member.tobuf(tarfile.GNU_FORMAT) + TEXT)
    found, notices = contents(path)
    assert found == {"a.tar!one.log": TEXT, "a.tar!endless.log": TEXT}
    assert [notice.kind for notice in notices] == ["damaged file"]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.compress])
def test_an_archive_bomb_ends_in_one_notice(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    path = tmp_path / "bomb.tar.gz"
    path.write_bytes(pack(tar_of({"a.log": TEXT, "b.log": b"\0" * 20_000_000, "c.log": TEXT})))
    found, notices = contents(path, limit=ExpansionLimit(ratio=2, floor=1 << 20))
    assert found["bomb.tar.gz!a.log"] == TEXT
    assert sum(map(len, found.values())) <= 1 << 20
    assert [notice.kind for notice in notices] == ["expansion limit"]


def test_archives_in_archives_end_somewhere(tmp_path: Path) -> None:
    data = TEXT
    for _ in range(20):
        data = gzip.compress(data)
    path = tmp_path / "deep.gz"
    path.write_bytes(data)
    found, notices = contents(path)
    assert not found
    assert [notice.kind for notice in notices] == ["nested archive"]


def zip_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def test_zip_archives_are_read_in_archives_too(tmp_path: Path) -> None:
    inner = zip_of({"n1/server.log": TEXT, "n2/server.log.gz": gzip.compress(TEXT * 2)})
    path = tmp_path / "all.tar.zst"
    path.write_bytes(zstandard.compress(tar_of({"logs.zip": inner, "server.log": TEXT})))
    found, notices = contents(path)
    assert found == {
        "all.tar.zst!logs.zip!n1/server.log": TEXT,
        "all.tar.zst!logs.zip!n2/server.log.gz": TEXT * 2,
        "all.tar.zst!server.log": TEXT,
    }
    assert not notices


def test_a_damaged_zip_archive_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    lines = b"".join(b"%d %d\n" % (i, i * i % 9973) for i in range(20_000))
    data = bytearray(zip_of({"a.log": TEXT, "b.log": lines}))
    data[len(data) // 2] ^= 0xFF
    path = tmp_path / "a.zip"
    path.write_bytes(bytes(data))
    found, notices = contents(path)
    assert found["a.zip!a.log"] == TEXT
    assert [notice.kind for notice in notices] == ["damaged file"]
    path.write_bytes(bytes(data[:-100]))
    assert [notice.kind for notice in contents(path)[1]] == ["damaged file"]


def test_a_zip_bomb_ends_in_one_notice(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    path.write_bytes(zip_of({"a.log": TEXT, "b.log": b"\0" * 20_000_000, "c.log": TEXT}))
    found, notices = contents(path, limit=ExpansionLimit(ratio=2, floor=1 << 20))
    assert found["bomb.zip!a.log"] == TEXT
    assert sum(map(len, found.values())) <= 1 << 20
    assert [notice.kind for notice in notices] == ["expansion limit"]


def test_unsupported_compression_is_named(tmp_path: Path) -> None:
    path = tmp_path / "server.log.lz4"
    path.write_bytes(b"\x04\x22\x4d\x18" + b"x" * 100)
    found, notices = contents(path)
    assert not found
    assert notices[0].text.startswith("lz4")


def test_a_loop_of_links_ends_and_is_reported(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    (root / "n1").mkdir(parents=True)
    (root / "n1" / "server.log").write_bytes(TEXT)
    (root / "n1" / "up").symlink_to(root, target_is_directory=True)
    found, notices = contents(root)
    assert list(found) == ["logs/n1/server.log"]
    assert [notice.kind for notice in notices] == ["link loop"]


def test_a_file_under_two_names_is_read_once(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    root.mkdir()
    (root / "a.log").write_bytes(TEXT)
    (root / "b.log").hardlink_to(root / "a.log")
    (root / "c.log").symlink_to(root / "a.log")
    found, notices = contents(root, root / "a.log")
    assert list(found) == ["logs/a.log"]
    assert [notice.kind for notice in notices] == ["duplicated input"] * 3


def test_what_cannot_be_opened_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    root.mkdir()
    (root / "a.log").symlink_to(root / "gone.log")
    os.mkfifo(root / "b.log")
    (root / "c.log").write_bytes(TEXT)
    found, notices = contents(root)
    assert list(found) == ["logs/c.log"]
    assert [(notice.kind, str(notice.place).rpartition("/")[2]) for notice in notices] == [
        ("unreadable", "a.log:1"),
        ("not a file", "b.log:1"),
    ]


def test_what_may_be_listed_and_not_be_looked_at_is_said_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_bytes(name.encode())
    look = Path.stat

    def refused(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if path.name == "a.log":
            raise PermissionError(13, "Permission denied")
        return look(path, follow_symlinks=follow_symlinks)

    # As in a folder with the right to read and without that to enter; tests may run as root, to whom all is permitted.
    monkeypatch.setattr(Path, "stat", refused)
    found, notices = contents(tmp_path)
    assert [*found.values()] == [b"b.log"]
    assert [(each.kind, each.text) for each in notices] == [
        ("unreadable", "the file cannot be read: Permission denied")
    ]
