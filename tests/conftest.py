"""Minimal jobs for tests, and functions that return their problems."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from pulumi_volcano_jobs import JobError, Problem, SshPlugin, render
from pulumi_volcano_jobs.plugins import ssh_keys
from tests import upstream

Wire = dict[str, Any]
PAIR, OTHER_PAIR = ssh_keys.generate(), ssh_keys.generate()
BYTES = PAIR.private.splitlines()[1]
"""A line of the private key of `PAIR`, to check that a text has no key."""


# Pulumi, its provider and the API server are Go programs. With fewer garbage collections they take a tenth less time.
os.environ.setdefault("GOGC", "400")
# Without a cache, mypy takes a minute for pulumi_kubernetes. Programs in temporary folders share one.
os.environ.setdefault("MYPY_CACHE_DIR", str(Path(__file__).parents[1] / ".mypy_cache"))

CLUSTER = {"cluster"}
"""The folder whose tests need a control plane."""
SLOW = {"engine", "examples", "languages", "typing", "test_pytorch.py", "test_ray.py"}
"""Folders whose files take more than half a minute, and files that take longer than others of their folder."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests with a control plane first, because an idle one takes CPU time, and then other slow files.

    With the slow files first, two workers end at the same time.
    """
    here = Path(__file__).parent
    items.sort(key=lambda item: [names.isdisjoint(item.path.relative_to(here).parts) for names in (CLUSTER, SLOW)])


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking at all modules again and again, which takes a tenth of the time."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let the interpreter free the modules at its end: some modules in C print a warning if it does not."""
    gc.unfreeze()


def pytest_report_header() -> str:
    """Name the resource definitions of test clusters."""
    return f"resource definitions: {'of Volcano' if upstream.HAS_DEFINITIONS else 'generated'}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the tests that need files from outside of the repository."""
    reports = terminalreporter.stats.get("skipped", ())
    if number := sum(upstream.MISSING in str(report.longrepr) for report in reports):
        terminalreporter.write_line(f"{number} skipped: each {upstream.MISSING}")


CLAIM: Wire = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
"""The spec of a small claim."""
QUEUE: Wire = {
    "name": "research",
    "labels": {"team": "ml"},
    "annotations": {"volcano.sh/hierarchy": "root/research", "volcano.sh/hierarchy-weights": "1/2.5"},
    "weight": 4,
    "priority": 10,
    "capability": {"cpu": 8, "memory": "64Gi", "nvidia.com/gpu": "4", "pods": 10, "hugepages-2Mi": "4Mi"},
    "deserved": {"cpu": "6", "memory": "32Gi"},
    "guarantee": {"resource": {"cpu": "500m"}},
    "reclaimable": False,
    "parent": "all",
    "dequeueStrategy": "fifo",
    "affinity": {
        "nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["gpu"]},
        "nodeGroupAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": ["spot"]},
    },
    "type": "elastic",
    "extendClusters": [{"name": "other", "weight": 1, "capacity": {"cpu": 4}}],
}
"""The arguments of a queue with all fields."""


def container(name: str = "main", **fields: Any) -> Wire:
    """Build a container with API field names."""
    return {"name": name, "image": "example.org/image:1", **fields}


def task(name: str = "worker", replicas: int = 1, **pod_spec: Any) -> Wire:
    """Build a task with API field names. The keywords are fields of its Pod spec."""
    spec = {"containers": [container()], "restartPolicy": "Never", **pod_spec}
    return {"name": name, "replicas": replicas, "template": {"spec": spec}}


def job(*tasks: Wire, name: str = "train", **spec: Any) -> Wire:
    """Build the document of a job. Without tasks it has one task with one Pod."""
    metadata = {"name": name}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"tasks": list(tasks) or [task()], **spec},
    }


def refused(document: Wire | Callable[[], Wire], **options: Any) -> JobError:
    """Render an invalid job and return its error. A function builds a document with invalid plugins."""
    with pytest.raises(JobError) as caught:
        render(document() if callable(document) else document, **options)
    return caught.value


def problems(document: Wire | Callable[[], Wire], **options: Any) -> list[Problem]:
    """Return the problems of a job, sorted by path."""
    return sorted(refused(document, **options).problems, key=lambda problem: problem.path)


def typed(problems: Iterable[Problem]) -> list[tuple[str, str]]:
    """Return the path of each problem with its type, or with its code if it is a warning."""
    return [(problem.path, problem.code or problem.type) for problem in problems]


def places(document: Wire, **options: Any) -> list[str]:
    """Return the paths of a job's problems, sorted."""
    return [problem.path for problem in problems(document, **options)]


def ssh_plugin(pair: ssh_keys.KeyPair = PAIR) -> SshPlugin:
    """Return an ssh plugin with its own key pair."""
    return SshPlugin(ssh_private_key=pair.private, ssh_public_key=pair.public)
