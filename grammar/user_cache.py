"""The folder of the user's cache, in which what is slow to make is kept from one run to the next."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """Where things are kept: ``ASSAY_CACHE``, or a folder of the user's cache. It need not be there yet."""
    chosen = os.environ.get("ASSAY_CACHE")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "assay"
