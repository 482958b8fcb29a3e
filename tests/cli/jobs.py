"""The jobs that tests have: those of the guides, and those that were given to Volcano's own plugins."""

from __future__ import annotations

import contextlib
import functools
import re
from pathlib import Path

import yaml

from pulumi_volcano_jobs import ClusterFacts, JobError, Rendered, render

TESTS = Path(__file__).parents[1]
DOCUMENTS = sorted((TESTS / "documents" / "jobs").glob("*.yaml"))
CASES = sorted((TESTS / "golden" / "cases").glob("*.yaml"))
CLUSTER = ClusterFacts.from_objects([yaml.safe_load((TESTS / "golden" / "cluster.yaml").read_text("utf-8"))])


@functools.cache
def accepted(*, strict: bool) -> dict[Path, Rendered]:
    """Render all jobs that are accepted as the commands do that show no keys, by their files."""
    made = {}
    for file in (*DOCUMENTS, *CASES):
        document = yaml.safe_load(file.read_text("utf-8"))
        document["metadata"].setdefault("name", "unnamed")
        with contextlib.suppress(JobError):
            made[file] = render(document, strict=strict, cluster=CLUSTER, redact=True)
    return made


def private_keys(file: Path) -> list[str]:
    """Give the private keys that stand in a file's arguments, line by line, as far as they say anything."""
    text = file.read_text("utf-8")
    found = re.findall(r"--?ssh-private-key(?:=|\", *\")((?:[^\"\\]|\\.)*)", text)
    return [line for key in found for line in re.split(r"\\n", key) if line]
