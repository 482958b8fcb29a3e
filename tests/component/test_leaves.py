"""Fields that accept Outputs: a secret stays a secret, and only the unknown value is unknown."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pulumi
import pytest

from pulumi_volcano_jobs import PytorchPlugin, RayPlugin, SshPlugin, SvcPlugin, VolcanoJob
from pulumi_volcano_jobs.component.kubernetes_object import DIGEST, WAIT_FOR
from pulumi_volcano_jobs.component.plugin_components import PLAIN_SECRETS, POD_SPEC
from pulumi_volcano_jobs.testing import Result, computed, is_unknown, reveal, run
from tests.component.programs import LOSES_MARKS, new_job
from tests.conftest import CLAIM, PAIR, Wire, container, task

DIGESTS = {f"Pod train-{pod}: (trigger)" for pod in ("master-0", "worker-0", "worker-1")}
PODS = ("master-0", "worker-0", "worker-1")


def workers(*paths: str) -> set[str]:
    """Return the paths in the Pods of both workers."""
    return {f"Pod train-worker-{index}: {path}" for index in (0, 1) for path in paths}


def pods(*paths: str) -> set[str]:
    """Return the paths in all Pods."""
    return {f"Pod train-{pod}: {path}" for pod in PODS for path in paths}


def with_tasks(places: set[str]) -> set[str]:
    """Add the paths in the inputs of the task components, which hold the spec of their first Pod."""
    of_tasks = (re.fullmatch(r"Pod (train-\w+)-0: spec\.(.*)", place) for place in places)
    return places | {f"Task {found[1]}: {POD_SPEC}.{found[2]}" for found in of_tasks if found}


def with_digests(places: set[str]) -> set[str]:
    """Add the digest of values that are updated in place, and the condition that waits for it."""
    in_place = re.compile(
        r"(Pod \S+: metadata\.(?:labels|annotations)|(?:PersistentVolumeClaim|Service) \S+: spec)\..*"
    )
    owners = {place.partition(": ")[0] for place in places if in_place.fullmatch(place)}
    return places | {f"{owner}: metadata.annotations.{key}" for owner in owners for key in (DIGEST, WAIT_FOR)}


@dataclass(frozen=True)
class Place:
    """A field that accepts an Output."""

    arguments: Callable[[Any], Wire]
    """Return the job with a value in this field."""
    in_objects: set[str]
    """Paths of the values that depend on the Output, without the inputs of task components."""
    value: Any = "value"
    secret: frozenset[str] = frozenset()
    """Paths of values that are always secret."""

    @property
    def leaves(self) -> set[str]:
        """Paths of all values that contain or depend on the Output."""
        return with_tasks(with_digests(self.in_objects))


def job(worker: Wire | None = None, **fields: Any) -> Wire:
    """Return a job with one master and two workers."""
    return {"tasks": [task("master"), worker or task("worker", 2)], "plugins": [PytorchPlugin()], **fields}


def in_container(**fields: Any) -> Wire:
    """Return the job with additional fields in the container of the workers."""
    return job(task("worker", 2, containers=[container(**fields)]))


def in_spec(**fields: Any) -> Wire:
    """Return the job with additional fields in the Pod spec of the workers."""
    return job(task("worker", 2, **fields))


def in_metadata(**fields: Any) -> Wire:
    """Return the job with additional metadata in the template of the workers."""
    worker = task("worker", 2)
    return job({**worker, "template": {**worker["template"], "metadata": fields}})


def in_init_container(**fields: Any) -> Wire:
    """Return the job with additional fields in an init container of the workers."""
    return in_spec(initContainers=[container("before", **fields)])


PLACES = {
    "namespace": Place(
        lambda value: job(namespace=value),
        {
            *pods("metadata.namespace", "metadata.labels.volcano.sh/job-namespace"),
            "ConfigMap train-svc: metadata.namespace",
            "NetworkPolicy train-svc: metadata.namespace",
            "NetworkPolicy train-svc: spec.podSelector.matchLabels.volcano.sh/job-namespace",
            "NetworkPolicy train-svc: spec.ingress[0].from[0].podSelector.matchLabels.volcano.sh/job-namespace",
            "PodGroup train: metadata.namespace",
            "Service train-svc: metadata.namespace",
            "Service train-svc: spec.selector.volcano.sh/job-namespace",
            "Stash train-managed-by: input",
            "VolcanoJob train has: namespace",
        },
    ),
    "queue": Place(
        lambda value: job(queue=value),
        {
            "PodGroup train: spec.queue",
            *pods("metadata.labels.volcano.sh/queue-name", "metadata.annotations.volcano.sh/queue-name"),
        },
    ),
    "priority class": Place(
        lambda value: job(priority_class_name=value),
        {"PodGroup train: spec.priorityClassName", *pods("spec.priorityClassName"), *DIGESTS},
    ),
    "label": Place(lambda value: job(labels={"team": value}), {"PodGroup train: metadata.labels.team"}),
    "annotation": Place(lambda value: job(annotations={"note": value}), {"PodGroup train: metadata.annotations.note"}),
    "annotation that the Pods get": Place(
        lambda value: job(annotations={"volcano.sh/preemptable": value}),
        {
            "PodGroup train: metadata.annotations.volcano.sh/preemptable",
            *pods("metadata.annotations.volcano.sh/preemptable"),
        },
    ),
    "label of a template": Place(lambda value: in_metadata(labels={"team": value}), workers("metadata.labels.team")),
    "annotation of a template": Place(
        lambda value: in_metadata(annotations={"note": value}), workers("metadata.annotations.note")
    ),
    "image": Place(lambda value: in_container(image=value), workers("spec.containers[0].image") | DIGESTS),
    "env value": Place(
        lambda value: in_container(env=[{"name": "LEVEL", "value": "1"}, {"name": "TOKEN", "value": value}]),
        workers("spec.containers[0].env[1].value") | DIGESTS,
    ),
    "env source": Place(
        lambda value: in_container(env=[{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": value, "key": "k"}}}]),
        workers("spec.containers[0].env[0].valueFrom.secretKeyRef.name") | DIGESTS,
    ),
    "command": Place(
        lambda value: in_container(command=["run", value]), workers("spec.containers[0].command[1]") | DIGESTS
    ),
    "args": Place(lambda value: in_container(args=["--name", value]), workers("spec.containers[0].args[1]") | DIGESTS),
    "all args": Place(
        lambda value: in_container(args=value), workers("spec.containers[0].args") | DIGESTS, value=["--name", "x"]
    ),
    "resources": Place(
        lambda value: in_container(resources={"requests": {"cpu": value, "memory": "1Gi"}}),
        {"PodGroup train: spec.minResources", *workers("spec.containers[0].resources.requests.cpu"), *DIGESTS},
        value="2",
    ),
    "all resources": Place(
        lambda value: in_container(resources=value),
        {"PodGroup train: spec.minResources", *workers("spec.containers[0].resources"), *DIGESTS},
        value={"limits": {"nvidia.com/gpu": "1"}},
    ),
    "probe": Place(
        lambda value: in_container(livenessProbe={"httpGet": {"path": value, "port": 80}}),
        workers("spec.containers[0].livenessProbe.httpGet.path") | DIGESTS,
    ),
    "image of an init container": Place(
        lambda value: in_init_container(image=value), workers("spec.initContainers[0].image") | DIGESTS
    ),
    "service account": Place(
        lambda value: in_spec(serviceAccountName=value), workers("spec.serviceAccountName") | DIGESTS
    ),
    "priority class of a template": Place(
        lambda value: in_spec(priorityClassName=value), workers("spec.priorityClassName") | DIGESTS
    ),
    "node selector": Place(
        lambda value: in_spec(nodeSelector={"zone": value}), workers("spec.nodeSelector.zone") | DIGESTS
    ),
    "all tolerations": Place(
        lambda value: in_spec(tolerations=value), workers("spec.tolerations") | DIGESTS, value=[{"operator": "Exists"}]
    ),
    "name of a Secret that is mounted": Place(
        lambda value: in_spec(volumes=[{"name": "keys", "secret": {"secretName": value}}]),
        workers("spec.volumes[0].secret.secretName") | DIGESTS,
    ),
    "storage class of a claim": Place(
        lambda value: job(volumes=[{"mountPath": "/data", "volumeClaim": {**CLAIM, "storageClassName": value}}]),
        {"PersistentVolumeClaim train-pvc-data: spec.storageClassName"},
    ),
    # pulumi_kubernetes marks all data of a Secret as one secret, so all values are unknown together.
    "private key": Place(
        lambda value: job(plugins=[SshPlugin(ssh_private_key=value, ssh_public_key=PAIR.public), SvcPlugin()]),
        {"Secret train-ssh: data", "SshPlugin train-ssh has: private_key"},
        PAIR.private,
        secret=frozenset({"Secret train-ssh: data", "SshPlugin train-ssh has: private_key"}),
    ),
    "private key among Volcano's arguments": Place(
        lambda value: job(plugins={"ssh": ["--ssh-private-key", value, f"--ssh-public-key={PAIR.public}"], "svc": []}),
        {"Secret train-ssh: data", "SshPlugin train-ssh has: private_key"},
        PAIR.private,
        secret=frozenset({"Secret train-ssh: data", "SshPlugin train-ssh has: private_key"}),
    ),
    "public key": Place(
        lambda value: job(plugins=[SshPlugin(ssh_private_key=PAIR.private, ssh_public_key=value), SvcPlugin()]),
        {"Secret train-ssh: data", "SshPlugin train-ssh has: public_key", *DIGESTS},
        PAIR.public,
        secret=frozenset({"Secret train-ssh: data", "SshPlugin train-ssh has: private_key"}),
    ),
}


def of_another_resource(value: Any) -> pulumi.Output[Any]:
    """Return an output of a resource, which is known after the resource is created."""
    return computed(value)


KINDS: dict[str, Callable[[Any], Any]] = {
    "an Output": pulumi.Output.from_input,
    "a secret": pulumi.Output.secret,
    "an Output of another resource": of_another_resource,
    "a secret of another resource": lambda value: pulumi.Output.secret(of_another_resource(value)),
}


@pytest.fixture(params=[False, True], ids=["up", "preview"])
def preview(request: pytest.FixtureRequest) -> bool:
    """Return whether the program runs in a preview."""
    is_preview: bool = request.param
    return is_preview


def run_with(where: str, *, preview: bool, kind: Callable[[Any], Any] = lambda value: value) -> Result:
    """Run a program with a value of the given kind in a field of the job."""
    place = PLACES[where]

    def program() -> None:
        new_job("train", place.arguments(kind(place.value)))

    return run(program, preview=preview)


@functools.cache
def plain(where: str, *, preview: bool) -> Result:
    """Run the program with the plain value; the result is shared by all comparisons."""
    return run_with(where, preview=preview)


@pytest.mark.parametrize("where", PLACES)
def test_with_plain_values_only_keys_are_secret_and_all_values_are_known(where: str, *, preview: bool) -> None:
    """No field is an Output."""
    done = plain(where, preview=preview)

    assert done.unknown() == set()
    assert done.secret() == PLACES[where].secret


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", PLACES)
def test_only_values_derived_from_the_output_are_marked(where: str, kind: str, *, preview: bool) -> None:
    """Other values equal those of the program with the plain value."""
    place, with_plain = PLACES[where], plain(where, preview=preview)

    done = run_with(where, preview=preview, kind=KINDS[kind])

    is_unknown = preview and "another resource" in kind
    assert done.unknown() == (place.leaves if is_unknown else set())
    secret = place.leaves | place.secret if "secret" in kind else place.secret
    assert done.secret() == (secret - place.leaves if is_unknown and LOSES_MARKS else secret)
    assert others(done, place) == others(with_plain, place)
    assert is_unknown or whole(done) == whole(with_plain)


def others(done: Result, place: Place) -> dict[str, Any]:
    """Return the leaves that do not depend on the value."""
    # Reports of plain secrets depend on the kind of value: see tests/component/test_plain_secrets.py.
    own = (*place.leaves, f"SshPlugin train-ssh: {PLAIN_SECRETS}")
    return {name: reveal(leaf) for name, leaf in done.leaves().items() if not name.startswith(own)}


def whole(done: Result) -> dict[str, Any]:
    """Return all inputs and digests without marks."""
    inputs = {name: {**item.inputs, PLAIN_SECRETS: None} for name, item in done.resources.items()}
    return {name: reveal([inputs[name], item.replacement_trigger]) for name, item in done.resources.items()}


def test_only_outputs_computed_from_an_unknown_namespace_are_unknown() -> None:
    """Ray's addresses wait for the namespace; names and hosts do not."""

    def program() -> dict[str, Any]:
        tasks = [task("head", containers=[container("head")]), task("worker", containers=[container("worker")])]
        job = VolcanoJob("train", {"namespace": of_another_resource("ml"), "plugins": [RayPlugin()], "tasks": tasks})
        return {"url": job.ray.dashboard_url, "service": job.ray.service_name, "hosts": job.hosts}

    preview = run(program, preview=True).outputs

    assert {name: not is_unknown(value) for name, value in preview.items()} == {
        "url": False,
        "service": True,
        "hosts": True,
    }
    assert run(program).outputs["url"] == "http://train-head-svc.ml.svc:8265"
