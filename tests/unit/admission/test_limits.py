"""Jobs that no cluster accepts are rejected in both modes before they use up the memory."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import ClusterFacts, JobContext, Plugin, SvcPlugin, render
from pulumi_volcano_jobs.core.errors import RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, Pod, config_map, secret
from pulumi_volcano_jobs.plugins import BUILT_IN
from pulumi_volcano_jobs.spec import naming
from tests.conftest import Wire, container, job, problems, refused, task, typed

CASES: dict[str, tuple[Wire, str, str]] = {
    "one task": (
        job(task(replicas=10**9)),
        "spec.tasks[0].replicas",
        "TooMany",
    ),
    "two tasks": (
        job(task("a", 100_000), task("b", 50_001), task("c", 1)),
        "spec.tasks[1].replicas",
        "TooMany",
    ),
    "a list of hosts": (
        job(task(replicas=30_000), plugins={"svc": []}),
        "spec.plugins.svc",
        "TooLong",
    ),
    "a configuration of hosts": (
        job(task(replicas=20_000), plugins={"svc": [], "ssh": []}),
        "spec.plugins.ssh",
        "TooLong",
    ),
    "a list of hosts in each Pod": (
        job(task(replicas=20_000), plugins={"tensorflow": []}),
        "spec.tasks[0].replicas",
        "TooLong",
    ),
    "a large template": (
        job(task(containers=[{"name": "main", "image": "x", "args": ["a" * 1_600_000]}])),
        "spec.tasks[0]",
        "TooLong",
    ),
}


@pytest.mark.parametrize(("document", "path", "error_type"), CASES.values(), ids=CASES)
def test_a_job_that_is_too_large_is_rejected(
    document: Wire, path: str, error_type: str, snapshot: SnapshotAssertion
) -> None:
    """With and without strict mode; the message has the number and the limit."""
    error = refused(document)

    assert typed(error.problems) == [(path, error_type)]
    assert error.stage is RejectionStage.API
    assert refused(document, strict=False).problems == error.problems
    assert str(error) == snapshot


def job_with_plugin(name: str, replicas: int) -> Wire:
    """Return a job with a plugin and a task for each of its roles; the last task has many replicas."""
    roles = {"mpi": ("master", "worker"), "pytorch": ("master", "worker"), "ray": ("head", "worker")}
    first, last = roles.get(name, ("chief", "worker"))
    tasks = (task(first, containers=[container(first)]), task(last, replicas, containers=[container(last)]))
    return job(*tasks, plugins={name: []})


SETTINGS: dict[str, dict[str, Any]] = {
    "strict": {},
    "lenient": {"strict": False},
    "recommended": {"defaults": "recommended"},
    "native": {"managed_by": "volcano"},
    "the template wins": {"on_conflict": "user"},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("plugin", sorted(plugin.name for plugin in BUILT_IN))
def test_nothing_is_computed_for_too_many_pods(
    plugin: str, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No address of a Pod is computed, and no hook of a plugin runs."""

    def fail(*_: object, **_named: object) -> NoReturn:
        message = "computed for each Pod"
        raise AssertionError(message)

    monkeypatch.setattr(naming, "all_addresses", fail)
    hooks = ("on_job_add", "on_pod_create", "extend_objects", "extend_pod", "on_job_update", "outputs")
    for kind in BUILT_IN:
        for hook in hooks:
            monkeypatch.setattr(kind, hook, fail)

    error = refused(job_with_plugin(plugin, 2_000_000_000), **settings)

    too_many = [problem for problem in error.problems if problem.type == "TooMany"]
    assert [(problem.path, problem.value) for problem in too_many] == [("spec.tasks[1].replicas", "2000000000")]


def test_the_limit_applies_to_all_tasks_together(snapshot: SnapshotAssertion) -> None:
    """Each task alone is small enough; no Pod is rendered after the limit. Lenient mode has the same limit."""
    large = [{"name": "main", "image": "x", "args": ["a" * 1_000_000]}]
    document = job(*(task(f"t{i}", 300, containers=large) for i in range(5)))

    error = refused(document)

    assert typed(error.problems) == [("spec.tasks[3].replicas", "TooLong")]
    assert refused(document, strict=False).problems == error.problems
    assert str(error) == snapshot


def test_the_masters_of_mpi_share_the_list_of_hosts() -> None:
    """All containers of all masters have the same string object."""
    containers = [container(f"c{i}") for i in range(3)]

    rendered = render(job(task("master", 2, containers=containers), task("worker", 5), plugins={"mpi": []}))

    values = [
        entry["value"]
        for pod in rendered.pods[:2]
        for item in pod["spec"]["containers"]
        for entry in item["env"]
        if entry["name"] == "MPI_HOST"
    ]
    assert len(values) == 6
    assert len(set(map(id, values))) == 1


MAIN = "spec.tasks[0].template.spec.containers[0].env"
LIMIT = 131072


class Stored(Plugin):
    """A plugin that adds a ConfigMap and a Secret with this number of bytes."""

    name = "test-stored"
    size: int = 0

    def on_job_add(self, ctx: JobContext) -> list[Manifest]:
        """Return both objects."""
        data = {"a": "x" * self.size}
        return [config_map("big", ctx.namespace, data), secret("big", ctx.namespace, data)]


class Growing(Plugin):
    """A plugin that sets a variable that is too long in the second Pod only."""

    name = "test-growing"

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Set the variable."""
        pod.containers[0].set_env("LIST", "x" * (LIMIT * pod.index))


def variable(size: int, name: str = "DATA") -> Wire:
    """Build a variable of this number of bytes, including its name."""
    return {"name": name, "value": "x" * (size - len(name) - 2)}


def with_env(*env: Wire) -> Wire:
    """Build a job by the variables of its container."""
    return job(task(containers=[container(env=list(env))]))


def test_a_variable_that_is_too_long_for_linux_is_an_error(snapshot: SnapshotAssertion) -> None:
    """The message has its name and size, and not its value."""
    error = refused(with_env({"name": "A", "value": "1"}, variable(LIMIT + 1)))

    assert typed(error.problems) == [(f"{MAIN}[1]", "TooLong")]
    assert str(error) == snapshot
    assert error.stage is RejectionStage.STRICT


def test_a_variable_of_the_maximum_length_is_accepted() -> None:
    """In strict mode; lenient mode accepts all variables, as Volcano does."""
    assert render(with_env(variable(LIMIT))).pods
    assert render(with_env(variable(LIMIT + 1)), strict=False).pods


def test_the_length_of_a_variable_is_in_bytes() -> None:
    """Linux counts bytes, not characters."""
    assert problems(with_env({"name": "A", "value": "ä" * 65535}))[0].path == f"{MAIN}[0]"


def test_a_value_that_is_not_known_yet_has_no_length() -> None:
    """The cluster rejects it if it is too long."""
    assert render(with_env({"name": "A", "value": Leaf("x")})).pods


class Referring(Plugin):
    """A plugin that sets variables from its ConfigMap."""

    name = "test-referring"

    def on_job_add(self, ctx: JobContext) -> list[Manifest]:
        """Return the ConfigMap."""
        return [config_map("lists", ctx.namespace, {f"LIST_{index}": "x" * 125_000 for index in range(8)})]

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Refer to all keys of the ConfigMap."""
        for index in range(8):
            pod.containers[0].set_env_from(
                f"LIST_{index}", {"configMapKeyRef": {"name": "lists", "key": f"LIST_{index}"}}
            )


def test_the_limit_applies_to_all_variables_together(snapshot: SnapshotAssertion) -> None:
    """Each variable would fit, and the Pod and the ConfigMap are small enough."""
    own = [variable(125_000, f"DATA_{index}") for index in range(9)]
    error = refused(job(task(containers=[container(env=own)]), plugins=[Referring()]))

    assert typed(error.problems) == [(MAIN, "TooLong")]
    assert str(error) == snapshot


def test_a_list_of_hosts_that_is_too_long_for_linux_is_one_error(snapshot: SnapshotAssertion) -> None:
    """The list is the same for all tasks, and the fix is a setting of svc."""
    document = job(task("m"), task("w" * 50, 2000), plugins={"svc": []})

    error = refused(document)

    assert typed(error.problems) == [("spec.plugins.svc", "TooLong")]
    assert "--inject-hosts-env=false" in error.problems[0].hint
    assert str(error) == snapshot


@pytest.mark.parametrize("version", ["", "1.15", "1.16"], ids=["unknown", "1.15", "1.16"])
def test_the_fix_for_a_list_of_hosts_depends_on_volcano_in_native_mode(
    version: str, snapshot: SnapshotAssertion
) -> None:
    """A release without the flag ignores it and all flags after it."""
    document = job(task("m"), task("w" * 50, 2000), plugins={"svc": []})

    (problem,) = problems(document, managed_by="volcano", cluster=ClusterFacts(volcano_version=version))

    assert ('managed_by="pulumi"' in problem.hint) is (version != "1.16")
    assert ("volcano_version" in problem.hint) is (version == "")
    assert problem.hint == snapshot


def test_the_fix_for_a_list_of_hosts_works() -> None:
    """The same job without the variables."""
    tasks = (task("m"), task("w" * 50, 2000))

    assert len(render(job(*tasks, plugins=[SvcPlugin(inject_hosts_env=False)])).pods) == 2001
    assert len(render(job(*tasks, plugins={"svc": []}), strict=False).pods) == 2001


def test_a_list_of_hosts_in_a_variable_of_mpi_that_is_too_long_is_an_error(snapshot: SnapshotAssertion) -> None:
    """The value of MPI_HOST is not a reference but the list itself."""
    tasks = (task("master"), task("worker", 6000))
    plugins = {"mpi": [], "svc": ["--inject-hosts-env=false"]}

    error = refused(job(*tasks, plugins=plugins))

    assert (error.problems[0].path, error.problems[0].type) == (MAIN, "TooLong")
    assert str(error.problems[0]) == snapshot


def test_the_last_pod_is_checked() -> None:
    """Values that differ between Pods mostly grow with the index."""
    document = job(task("worker", 2), plugins=[Growing()])

    assert [problem.path for problem in problems(document)] == [MAIN]


def test_an_object_that_is_too_large_for_kubernetes_is_an_error(snapshot: SnapshotAssertion) -> None:
    """The size of a Secret is that of its data without base64."""
    error = refused(job(plugins=[Stored(size=1048577)]))

    assert typed(error.problems) == [("spec.plugins.test-stored", "TooLong")] * 2
    assert str(error) == snapshot
    assert error.stage is RejectionStage.API
    assert render(job(plugins=[Stored(size=1048576)])).objects
    assert str(refused(job(plugins=[Stored(size=1048577)]), strict=False)) == str(error)
