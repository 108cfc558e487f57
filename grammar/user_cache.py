"""The folder of the user's cache, which keeps what is slow to make from one run to the next."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """The cache folder: ``ASSAY_CACHE``, or a folder in the user's cache directory. It need not exist yet."""
    chosen = os.environ.get("ASSAY_CACHE")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "assay"
