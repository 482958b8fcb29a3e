"""Who set what in a Pod."""

from __future__ import annotations

from typing import Any

from pulumi_volcano_jobs import JobContext, Plugin, Pod, flag, render
from pulumi_volcano_jobs.explain.provenance import Fact, Origin, Origins, trace
from tests.conftest import Wire, container, job, task


def traced(document: Wire, index: int = 0, **options: Any) -> Origins:
    """Trace a Pod of a job's first task."""
    rendered = render(document, redact=True, **options)
    (first, *_) = rendered.job.tasks or ()
    return trace(rendered, first, index)


def test_each_fact_has_its_maker() -> None:
    """The template, the job or the plugin."""
    origins = traced(job(plugins={"env": []}), index=0)

    assert origins[Fact("container", "main", "main")] == Origin("example.org/image:1", ("the template",))
    assert origins[Fact("schedulerName")] == Origin("volcano", ("the job",))
    assert origins[Fact("variable", "VC_TASK_INDEX", "main")] == Origin("0", ("env",))


def test_what_is_written_over_names_both() -> None:
    """The lenient mode lets a plugin do so; the last one counts."""
    template = task(containers=[container(env=[{"name": "VC_TASK_INDEX", "value": "mine"}])])

    origins = traced(job(template, plugins={"env": []}), strict=False)

    assert origins[Fact("variable", "VC_TASK_INDEX", "main")] == Origin("0", ("the template", "env"))


def test_what_a_plugin_sets_to_the_same_value_is_the_template_s() -> None:
    """Nothing has changed."""
    origins = traced(job(task(hostname="me"), plugins={"svc": []}))

    assert origins[Fact("hostname")].makers == ("the template",)
    assert origins[Fact("subdomain")].makers == ("svc",)


def test_what_a_plugin_removes_is_told() -> None:
    """With the plugin that removed it."""

    class Bare(Plugin):
        name = "bare"

        def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
            """Take the restart policy away."""
            pod.fields.pop("restartPolicy")

    assert traced(job(plugins=[Bare()]))[Fact("restartPolicy")] == Origin("removed", ("the template", "bare"))


def test_a_pod_s_parts_are_told_in_words() -> None:
    """References by the object that they name, all else in one line."""
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

    told = {(fact.kind, fact.name): origin.value for fact, origin in origins.items() if origin.maker == "the template"}
    assert told == {
        ("restartPolicy", ""): "Never",
        ("container", "main"): "example.org/image:1",
        ("variable", "A"): "Secret s, key k",
        ("variable", "B"): "ConfigMap c",
        ("variable", "C"): "fieldRef fieldPath status.podIP",
        ("variable", "D"): "",
        ("mount", "/v"): "volume v, subPath sub, read-only",
        ("port", "53/UDP"): "dns",
        ("command", ""): '["sh", "-c", "true"]',
        ("stdin", ""): "true",
        ("volume", "v"): '{"emptyDir": {}}',
        ("volume", "p"): "claim mine",
        ("volume", "q"): 'Secret s, ConfigMap c, {"serviceAccountToken": {"path": "t"}}',
    }


def test_of_an_added_container_its_own_business_is_left_out() -> None:
    """Its image and what it shares with the others is enough."""
    tasks = (task("worker"), task("master"))

    origins = traced(job(*tasks, plugins={"pytorch": ["--wait-master-enabled=true"]}))

    added = [fact for fact in origins if fact.container == "wait-for-master"]
    assert added == [Fact("init container", "wait-for-master", "wait-for-master")]


def test_a_secret_setting_is_never_in_it() -> None:
    """A plugin sees a placeholder, whatever it does with its setting."""

    class Token(Plugin):
        name = "token"
        token: str = flag("token", default="", secret=True)

        def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
            """Hand it on."""
            for item in pod.containers:
                item.set_env("TOKEN", self.token)

    plugin = Token(token="s3cret")

    assert traced(job(plugins=[plugin]))[Fact("variable", "TOKEN", "main")].value == "<secret>"
    assert "s3cret" not in repr(plugin)
