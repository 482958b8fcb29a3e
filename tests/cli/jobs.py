"""Job files of the tests: those of Volcano's guides and the golden cases."""

from __future__ import annotations

import contextlib
import functools
import re
from pathlib import Path

from pulumi_volcano_jobs import JobError, Rendered, render
from tests.golden.cases import CLUSTER, WRITTEN, read

TESTS = Path(__file__).parents[1]
DOCUMENTS = sorted((TESTS / "documents" / "jobs").glob("*.yaml"))


@functools.cache
def accepted(*, strict: bool) -> dict[Path, Rendered]:
    """Return the rendered jobs of each accepted file, without keys."""
    made = {}
    for file in (*DOCUMENTS, *WRITTEN):
        document = read(file)
        document["metadata"].setdefault("name", "unnamed")
        with contextlib.suppress(JobError):
            made[file] = render(document, strict=strict, cluster=CLUSTER, redact=True)
    return made


def private_keys(file: Path) -> list[str]:
    """Return the lines of private keys in the arguments of a file, without empty lines and markers."""
    text = file.read_text("utf-8")
    found = re.findall(r"--?ssh-private-key(?:=|\", *\")((?:[^\"\\]|\\.)*)", text)
    return [line for key in found for line in re.split(r"\\n", key) if line]
