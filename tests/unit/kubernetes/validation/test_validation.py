"""Kubernetes' own rules for a Pod template, before plugins edit it.

`tests/cluster/test_podcheck.py` sends the same templates to a real API server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.text import cropped
from pulumi_volcano_jobs.kubernetes import schema, validation
from tests.conftest import job, problems, task, typed
from tests.pod_rules import (
    OF_CLAIM,
    REFUSED,
    TAKEN,
    Mistake,
    asks,
    claim,
    container,
    main,
    pod,
    volume,
)
from tests.templates import RICH, Wire

TEMPLATE = "spec.tasks[0].template"


def of(spec: Wire, labels: Wire | None = None, annotations: Wire | None = None) -> Wire:
    """Return a job with Pods of a spec, labels and annotations."""
    metadata = {"labels": labels or {}, "annotations": annotations or {}}
    return job({"name": "worker", "replicas": 1, "template": {"metadata": metadata, "spec": spec}})


@pytest.mark.parametrize("name", REFUSED)
def test_a_template_that_kubernetes_rejects_is_rejected(name: str, snapshot: SnapshotAssertion) -> None:
    """Volcano's webhook runs the validation of Kubernetes, with and without strict mode."""
    mistake = REFUSED[name]
    document = of(mistake.spec, mistake.labels, mistake.annotations)

    found = problems(document)

    assert typed(found) == [(f"{TEMPLATE}.{mistake.path}", mistake.type)]
    assert found[0].stage is RejectionStage.WEBHOOK
    assert problems(document, strict=False) == found
    assert str(found[0]) == snapshot


# The API server drops a data source of a claim that it rejects in the template of one: test_volumes.py has its error.
OF_CLAIMS = {
    name: mistake
    for name, mistake in REFUSED.items()
    if mistake.path.startswith(OF_CLAIM) and name != "a source of another group"
}


@pytest.mark.parametrize("mistake", OF_CLAIMS.values(), ids=OF_CLAIMS)
def test_a_new_claim_of_the_job_has_the_rules_of_a_claim_of_a_pod(mistake: Mistake) -> None:
    """Path and message are the same."""
    spec = mistake.spec["volumes"][0]["ephemeral"]["volumeClaimTemplate"]["spec"]

    found = problems(job(volumes=[{"mountPath": "/data", "volumeClaim": spec}]))

    place = f"spec.volumes[0].volumeClaim{mistake.path.removeprefix(OF_CLAIM)}"
    assert typed(found) == [(place, mistake.type)]


@pytest.mark.parametrize("spec", [*TAKEN.values(), *RICH.values()], ids=[*TAKEN, *RICH])
def test_templates_that_kubernetes_accepts_render_in_strict_mode(spec: Wire) -> None:
    """The near misses of the rules, and specs with many fields."""
    assert len(render(of(spec)).pods) == 1


@pytest.mark.parametrize("value", ["a b", "x" * 64, "a-"], ids=["a blank", "64 characters", "a dash at the end"])
def test_an_invalid_label_value_is_rejected_and_shown(value: str) -> None:
    """Kubernetes has the same rules."""
    (found,) = problems(of(pod(), {"app": value}))

    assert typed([found]) == [(f"{TEMPLATE}.metadata.labels.app", "Invalid")]
    assert value in str(found)


@pytest.mark.parametrize("value", ["", "a"], ids=["empty", "of one character"])
def test_a_label_value_of_one_character_is_valid(value: str) -> None:
    """It is the shortest."""
    assert len(render(of(pod(), {"app": value})).pods) == 1


ONCE_MADE = {
    "an image with a blank at its end": (
        main(image="image:1 "),
        "spec.containers[0].image",
        "Invalid",
    ),
    "a volume of no image": (
        volume(image={"pullPolicy": "Always"}),
        "spec.volumes[0].image.reference",
        "Required",
    ),
    "a node before the gates are open": (
        pod(nodeName="node-1", schedulingGates=[{"name": "a"}]),
        "spec.nodeName",
        "Forbidden",
    ),
    "a priority without a class": (
        pod(priority=5),
        "spec.priority",
        "Forbidden",
    ),
    "a preemption policy without a class": (
        pod(preemptionPolicy="Never"),
        "spec.preemptionPolicy",
        "Forbidden",
    ),
    "overhead without a class": (
        pod(overhead={"cpu": "250m"}),
        "spec.overhead",
        "Forbidden",
    ),
    "one port of two containers on the node's network": (
        pod(
            hostNetwork=True,
            containers=[container(ports=[{"containerPort": 80}]), container("b", ports=[{"containerPort": 80}])],
        ),
        "spec.containers[1].ports[0].containerPort",
        "Duplicate",
    ),
    "a container's limit that becomes its request": (
        asks(None, {"cpu": 4}) | {"resources": {"requests": {"cpu": 2}}},
        "spec.resources.requests.cpu",
        "Invalid",
    ),
    "requests above the Pod's limit, which become its request": (
        asks({"cpu": 4}) | {"resources": {"limits": {"cpu": 2}}},
        "spec.resources.limits.cpu",
        "Invalid",
    ),
}


@pytest.mark.parametrize(("spec", "path", "error_type"), ONCE_MADE.values(), ids=ONCE_MADE)
def test_pods_that_only_the_api_server_rejects_are_an_error_in_strict_mode(
    spec: Wire, path: str, error_type: str, snapshot: SnapshotAssertion
) -> None:
    """The webhook accepts the template, and the API server accepts none of its Pods."""
    found = [problem for problem in problems(of(spec)) if not problem.warning]

    assert typed(found) == [(f"{TEMPLATE}.{path}", error_type)]
    assert found[0].stage is RejectionStage.API
    assert str(found[0]) == snapshot
    assert len(render(of(spec), strict=False).pods) == 1


def test_the_class_of_the_job_allows_a_priority() -> None:
    """Pods without a class get that of the job. Only a cluster knows the priority of a class."""
    document = of(pod(priority=5))
    document["spec"]["priorityClassName"] = "high"

    assert render(document).pods


INT32 = {
    "a port": (main(ports=[{"containerPort": 2**31}]), "spec.containers[0].ports[0].containerPort"),
    "a period": (
        main(livenessProbe={"exec": {"command": ["a"]}, "periodSeconds": 2**31}),
        "spec.containers[0].livenessProbe.periodSeconds",
    ),
    "a priority": (pod(priority=-(2**31) - 1), "spec.priority"),
    "a port or name": (
        main(livenessProbe={"tcpSocket": {"port": 2**33}}),
        "spec.containers[0].livenessProbe.tcpSocket.port",
    ),
}


@pytest.mark.parametrize(("spec", "path"), INT32.values(), ids=INT32)
def test_a_number_out_of_range_of_its_format_is_rejected(spec: Wire, path: str, snapshot: SnapshotAssertion) -> None:
    """The decoders of Volcano's webhook and of the API server reject it."""
    (found,) = problems(of(spec), strict=False)

    assert typed([found]) == [(f"{TEMPLATE}.{path}", "Invalid")]
    assert found.stage is RejectionStage.DECODE
    assert str(found) == snapshot


def test_a_number_of_64_bits_is_accepted_for_its_format() -> None:
    """Such as terminationGracePeriodSeconds."""
    assert render(of(pod(terminationGracePeriodSeconds=2**33))).pods


def test_a_hook_has_one_second_if_the_grace_period_is_negative(snapshot: SnapshotAssertion) -> None:
    """Kubernetes replaces a negative grace period by 1."""
    spec = main(lifecycle={"preStop": {"sleep": {"seconds": 2}}}) | {"terminationGracePeriodSeconds": -1}

    (problem,) = problems(of(spec), strict=False)

    assert typed([problem]) == [(f"{TEMPLATE}.spec.containers[0].lifecycle.preStop.sleep.seconds", "Invalid")]
    assert str(problem) == snapshot


def paths(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values in a tree except the root."""
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from paths(value, (*path, key))


def with_leaf(tree: Any, path: tuple[Any, ...]) -> Any:
    """Return a copy of a tree with one value that is not known yet."""
    if not path:
        return Leaf("unknown")
    copy = tree.copy()
    copy[path[0]] = with_leaf(tree[path[0]], path[1:])
    return copy


def found_with_leaf(spec: Wire, path: tuple[Any, ...]) -> list[Problem] | None:
    """Check a spec with one value that is not known yet. Return no problem if the value must be known."""
    walk = schema.SchemaPruner()
    template = walk.apply({"spec": with_leaf(spec, path)}, schema.POD_TEMPLATE, "")
    return (
        None
        if walk.problems
        else [*validation.check_template(template, ""), *validation.check_created_pods(template, "")]
    )


@pytest.mark.parametrize("spec", [*TAKEN.values(), *RICH.values()], ids=[*TAKEN, *RICH])
def test_any_unknown_value_is_accepted(spec: Wire) -> None:
    """Each value in turn is unknown, and all other values stay valid."""
    found = {path: found_with_leaf(spec, path) for path in paths(spec)}

    assert {path: told for path, told in found.items() if told} == {}


@pytest.mark.parametrize("mistake", REFUSED.values(), ids=REFUSED)
def test_an_unknown_value_does_not_add_problems(mistake: Mistake) -> None:
    """The check of the other values ends, and finds at most the mistake in them."""
    for path in paths(mistake.spec):
        told = {problem.path for problem in found_with_leaf(mistake.spec, path) or ()}

        assert told <= {f".{mistake.path}"}, path


def test_problems_of_several_templates_are_reported_at_once() -> None:
    """Each template can have several."""
    document = job(task("a", hostname="A", containers=[container(image="")]), task("b", containers=[container("B")]))

    assert [problem.path for problem in problems(document)] == [
        "spec.tasks[0].template.spec.containers[0].image",
        "spec.tasks[0].template.spec.hostname",
        "spec.tasks[1].template.spec.containers[0].name",
    ]


@pytest.mark.parametrize("spec", [claim(storageClassName="A" * 300), claim(volumeMode="A" * 300)])
def test_a_long_value_is_cut_in_a_message(spec: Wire) -> None:
    """Messages stay readable."""
    (problem,) = problems(of(spec))

    assert f'value: "{cropped("A" * 300, 100)}": ' in str(problem)


@pytest.mark.parametrize(
    ("amount", "hint"),
    [
        ("8GB", "write 8Gi, or 8G for powers of 1,000"),
        ("1.5 kb", "write 1.5Ki, or 1.5k for powers of 1,000"),
        ("8GiB", "write 8Gi"),
        ("eight", ""),
    ],
)
def test_an_amount_in_bytes_gets_a_hint(amount: str, hint: str) -> None:
    """Kubernetes has no suffix for bytes."""
    (problem,) = problems(of(main(resources={"limits": {"memory": amount}})))

    assert problem.hint == hint


def test_a_mount_with_a_misspelt_volume_gets_a_hint() -> None:
    """The most similar volume of the Pod is suggested."""
    container_spec = main(volumeMounts=[{"name": "dta", "mountPath": "/data"}])
    (problem,) = problems(of({**container_spec, "volumes": [{"name": "data"}, {"name": "logs"}]}))

    assert problem.hint == "did you mean data?"


def test_values_of_variables_are_never_shown() -> None:
    """They may be secrets."""
    document = of(main(env=[{"name": "A", "value": "s3cret", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]))

    assert "s3cret" not in str(problems(document))
