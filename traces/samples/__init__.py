"""Recorded runs of real clusters that come with the product: only what the nodes themselves logged, as compressed archives.

``elections``: Kafka 2.8.2 on ZooKeeper, three brokers; the controller killed, another leader killed, the next
controller stopped in order; five elections, epochs 1 to 5. ``duplicate-broker``: the same kind of cluster, with
controller, follower and leader paused. A controller was cut off from ZooKeeper, and a second process started with the
id of broker 1.
"""

from __future__ import annotations

import tarfile
from importlib.resources import files
from pathlib import Path

NAMES = ("elections", "duplicate-broker")


def sample(name: str) -> Path:
    """The archive of a sample; KeyError for a name that is not in ``NAMES``. Reading it needs no unpacking."""
    if name not in NAMES:
        raise KeyError(name)
    return Path(str(files("assay.traces.samples") / f"{name}.tar.xz"))


def unpack_sample(name: str, folder: Path) -> Path:
    """Unpack a sample below a folder and return its directory, which has one directory a node."""
    with tarfile.open(sample(name)) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None:
                target = folder / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.read())
    return folder / name
