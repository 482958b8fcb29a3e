"""The plugin or template that sets each value in a Pod."""

from __future__ import annotations

from typing import Any

from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobContext, Plugin, Pod, flag, render
from pulumi_volcano_jobs.explain.provenance import (
    CONTAINER,
    INIT_CONTAINER,
    REMOVED,
    VARIABLE,
    FieldRef,
    Ownership,
    Ownerships,
    trace,
)
from pulumi_volcano_jobs.rendering.renderer import JOB, TEMPLATE
from tests.conftest import Wire, container, job, task


def traced(document: Wire, index: int = 0, **options: Any) -> Ownerships:
    """Trace a Pod of a job's first task."""
    rendered = render(document, redact=True, **options)
    (first, *_) = rendered.job.tasks or ()
    return trace(rendered, first, index)


def test_each_value_has_its_source() -> None:
    """The template, the job or the plugin."""
    origins = traced(job(plugins={"env": []}), index=0)

    assert origins[FieldRef(CONTAINER, "main", "main")] == Ownership("example.org/image:1", (TEMPLATE,))
    assert origins[FieldRef("schedulerName")] == Ownership("volcano", (JOB,))
    assert origins[FieldRef(VARIABLE, "VC_TASK_INDEX", "main")] == Ownership("0", ("env",))


def test_an_overridden_value_has_both_sources() -> None:
    """Lenient mode: a plugin overrides a value of the template. The last source set the value."""
    template = task(containers=[container(env=[{"name": "VC_TASK_INDEX", "value": "mine"}])])

    origins = traced(job(template, plugins={"env": []}), strict=False)

    assert origins[FieldRef(VARIABLE, "VC_TASK_INDEX", "main")] == Ownership("0", (TEMPLATE, "env"))


def test_a_plugin_that_sets_an_equal_value_is_not_a_source() -> None:
    """The value does not change."""
    origins = traced(job(task(hostname="me"), plugins={"svc": []}))

    assert origins[FieldRef("hostname")].managers == (TEMPLATE,)
    assert origins[FieldRef("subdomain")].managers == ("svc",)


def test_a_removed_value_has_the_plugin_that_removes_it() -> None:
    """The template is also a source."""

    class Bare(Plugin):
        name = "bare"

        def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
            """Remove the restart policy."""
            pod.fields.pop("restartPolicy")

    assert traced(job(plugins=[Bare()]))[FieldRef("restartPolicy")] == Ownership(REMOVED, (TEMPLATE, "bare"))


def test_each_value_of_a_pod_has_one_line(snapshot: SnapshotAssertion) -> None:
    """A reference has the kind and the name of its object."""
    main = container(
        env=[
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "B"}}},
            {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "D"},
        ],
        volumeMounts=[{"name": "v", "mountPath": "/v", "subPath": "sub", "readOnly": True}],
        ports=[{"containerPort": 53, "protocol": "UDP", "name": "dns"}],
        command=["sh", "-c", "true"],
        stdin=True,
    )
    sources = [{"secret": {"name": "s"}}, {"configMap": {"name": "c"}}, {"serviceAccountToken": {"path": "t"}}]
    volumes = [
        {"name": "v", "emptyDir": {}},
        {"name": "p", "persistentVolumeClaim": {"claimName": "mine"}},
        {"name": "q", "projected": {"sources": sources}},
    ]

    origins = traced(job(task(containers=[main], volumes=volumes)))

    values = {fact: origin.value for fact, origin in origins.items() if origin.manager == TEMPLATE}
    assert values[FieldRef("restartPolicy")] == "Never"
    assert values[FieldRef("command", "", "main")] == '["sh", "-c", "true"]'
    assert values[FieldRef("stdin", "", "main")] == "true"
    assert [f"{fact.kind} {fact.name}: {value}" for fact, value in values.items()] == snapshot


def test_an_added_container_has_one_line() -> None:
    """Its fields are omitted, except the image."""
    tasks = (task("worker"), task("master"))

    origins = traced(job(*tasks, plugins={"pytorch": ["--wait-master-enabled=true"]}))

    added = [fact for fact in origins if fact.container == "wait-for-master"]
    assert added == [FieldRef(INIT_CONTAINER, "wait-for-master", "wait-for-master")]


def test_a_secret_setting_is_not_in_the_lines() -> None:
    """A plugin receives a placeholder."""

    class Token(Plugin):
        name = "token"
        token: str = flag("token", default="", secret=True)

        def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
            """Set a variable to the secret."""
            for item in pod.containers:
                item.set_env("TOKEN", self.token)

    plugin = Token(token="s3cret")

    assert traced(job(plugins=[plugin]))[FieldRef(VARIABLE, "TOKEN", "main")].value == "<secret>"
    assert "s3cret" not in repr(plugin)
