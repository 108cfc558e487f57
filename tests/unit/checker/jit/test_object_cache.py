"""Object code is built again when its file in the cache has gone."""

from __future__ import annotations

import ctypes
from pathlib import Path

from assay.checker.jit import object_cache as objects
from assay.checker.jit.build_object import TRIPLE

TEXT = f'target triple = "{TRIPLE}"\ndefine i64 @seven() {{\n  ret i64 7\n}}\n'


def test_code_whose_file_was_deleted_is_built_again(tmp_path: Path) -> None:
    key = objects.cache_key(TEXT)
    for _ in range(2):
        code = objects.kept(key, TEXT, 1, tmp_path)
        (file,) = tmp_path.iterdir()
        file.unlink()
        loaded = objects.LoadedObject(code)  # its code is there as long as it lives
        assert loaded.function("seven", ctypes.c_int64)() == 7
