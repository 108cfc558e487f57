"""The files of a distributed search: level files, key files and manifests in a work directory.

In: bytes and level files that tasks have written. Out: the same under one name for the driver and all executors, and
which of them count. They lie on a shared folder or a store such as HDFS or S3.

A room of its own, because what makes a search restartable is decided here: a file counts once a manifest names it.
docs/level-files.md describes every byte.
"""
