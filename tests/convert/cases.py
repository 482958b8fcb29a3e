"""Converted jobs: all accepted golden cases, and the examples of the guides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import pulumi_volcano_jobs
from pulumi_volcano_jobs import ClusterFacts, Job, JobError, Rendered, render
from pulumi_volcano_jobs.convert import Program, render_normalized, to_python
from pulumi_volcano_jobs.files import job_file
from tests.golden.cases import CLUSTER, CREATED

TESTS = Path(__file__).parents[1]


def _documents() -> dict[str, job_file.Document]:
    found = {}
    for path in (*CREATED, *sorted((TESTS / "documents" / "jobs").glob("*.yaml"))):
        (document,) = job_file.read(path.read_text("utf-8"), path.name)
        found[f"guide-{path.stem}" if path.parent.name == "jobs" else path.stem] = document
    return found


def _understood(documents: Mapping[str, job_file.Document], *, strict: bool) -> dict[str, Job]:
    found = {}
    for name, document in documents.items():
        try:
            _, found[name] = render_normalized(document, strict=strict, cluster=CLUSTER)
        except JobError:
            continue
    return found


DOCUMENTS = _documents()
"""All jobs that Volcano creates."""
ACCEPTED = _understood(DOCUMENTS, strict=True)
"""Jobs without a mistake, in their converted form."""
MENDED = _understood({name: DOCUMENTS[name] for name in DOCUMENTS if name not in ACCEPTED}, strict=False)
"""Jobs that are valid without the mistakes that Volcano ignores."""


def expected(name: str) -> str:
    """Return the rendered manifests of the file."""
    return written(render(DOCUMENTS[name].data, strict=False, cluster=CLUSTER))


def written(made: Rendered) -> str:
    """Return the manifests as bytes of a file, and the native Job."""
    return job_file.dump([*made.objects, *made.pods, made.job.with_(plugins=None).to_manifest()])


def evaluated(program: Program, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """Run a Python program without Pulumi, and return name and arguments of each job."""
    made: list[tuple[str, dict[str, Any]]] = []
    secrets = {secret.key: secret.value for secret in program.secrets}

    class Config:
        require_secret = staticmethod(secrets.__getitem__)

    with monkeypatch.context() as patch:
        patch.setitem(vars(pulumi_volcano_jobs), "VolcanoJob", lambda name, **args: made.append((name, args)))
        patch.setattr("pulumi.Config", Config)
        exec(compile(program.text, "__main__.py", "exec"), {})  # noqa: S102  # it is ours
    return made


def rendered(name: str, args: Mapping[str, Any], cluster: ClusterFacts = CLUSTER) -> str:
    """Render the jobs of a program."""
    return written(render(Job.model_validate({"name": name, **args}), cluster=cluster))


def program_files(folder: Path, jobs: Mapping[str, Sequence[Job]]) -> None:
    """Write the Python program of each entry into a folder."""
    for name, several in jobs.items():
        (folder / f"{name.replace('-', '_')}.py").write_text(to_python(several).text, "utf-8")
