"""How much memory is available, and how much of it this process uses."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

SHARE = 0.75
"""The share of the memory free at the start that a search may take, unless the user sets a budget."""
PAGE = os.sysconf("SC_PAGE_SIZE")
CONTROL_GROUP = Path("/sys/fs/cgroup")


def default_budget() -> int:
    """The memory budget of a search without ``--memory``, in bytes."""
    return int(SHARE * available())


def available() -> int:
    """Free memory in bytes: what the system reports, less where a control group or an address-space limit
    allows less."""
    free = _from_meminfo() or os.sysconf("SC_PHYS_PAGES") * PAGE // 2
    # Version 2 of control groups. In a container the root of this folder is usually the group of the container itself.
    limit, used = _number(CONTROL_GROUP / "memory.max"), _number(CONTROL_GROUP / "memory.current")
    if limit is not None and used is not None:
        free = min(free, max(0, limit - used))
    addresses, _ = resource.getrlimit(resource.RLIMIT_AS)
    return free if addresses == resource.RLIM_INFINITY else min(free, addresses // 2)


def _from_meminfo() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except OSError:
        return None  # not Linux
    found = (line.split() for line in lines if line.startswith("MemAvailable:"))
    return next((int(words[1]) << 10 for words in found), None)


def _number(file: Path) -> int | None:
    try:
        text = file.read_text("ascii").strip()
    except OSError:
        return None  # no control group limits this process
    return int(text) if text.isdecimal() else None


def taken() -> int:
    """The anonymous memory of this process, in bytes; where the system does not report it, the peak of all
    its memory."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()
    except OSError:
        # macOS reports bytes here, Linux units of 1,024 bytes.
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10
    # Resident pages but for those of files: mapped level files can be given back at any time.
    return (int(pages[1]) - int(pages[2])) * PAGE
