"""Kafka's and ZooKeeper's jars, resolved by Maven from Maven Central, or from the repository in ``MAVEN_REPOSITORY_URL``."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

KAFKA = "3.9.1"
PATIENCE = 600
"""Seconds that downloads may take."""

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>assay.tests</groupId><artifactId>cluster</artifactId><version>1</version>
{repositories}
<dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{version}</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{version}</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-reload4j</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
"""
_REPOSITORY = "<repositories><repository><id>central</id><url>{url}</url></repository></repositories>"


class NoJarsError(Exception):
    """Why there are no jars."""


def resolve(folder: Path) -> Path:
    """The folder with the jars; raises NoJarsError where Maven or Java is missing or nothing can be downloaded."""
    for program in ("mvn", "java"):
        if shutil.which(program) is None:
            raise NoJarsError(f"there is no `{program}`")
    url = os.environ.get("MAVEN_REPOSITORY_URL")
    repositories = "" if url is None else _REPOSITORY.format(url=url)
    (folder / "pom.xml").write_text(_POM.format(version=KAFKA, repositories=repositories))
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={folder / 'jars'}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode != 0:
        raise NoJarsError(f"Maven found no jars: {(done.stdout + done.stderr).strip()[-300:]}")
    return folder / "jars"
