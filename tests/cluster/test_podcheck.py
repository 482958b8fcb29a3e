"""What we refuse in a Pod template, the API server refuses at the same place; what we take, it takes."""

from __future__ import annotations

import json
import re
import urllib.error
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster import Cluster

from pulumi_volcano_jobs import ClusterFacts, JobError, render
from pulumi_volcano_jobs.kubernetes import schema, validation
from tests.cluster.conftest import Manifest, Space
from tests.golden.test_golden import HERE as GOLDEN
from tests.native_rules import OF_A_GATE, REJECTED
from tests.pod_rules import REFUSED, TAKEN, Mistake
from tests.templates import RICH, Wire

CASES = sorted((GOLDEN / "cases").glob("*.yaml"))
TEXTS = ("", "UPPER_case", "x" * 300, "-1", "not a thing", "..", "/abs", "a..b")
NUMBERS = (-1, 0, 70000, 2**31 - 1)
GONE = object()
MANY = 100
# The admission of service accounts, which the test cluster does not have, fills in the one that tokens are of.
KNOWN_BY_A_CLUSTER = [("serviceAccountName",)]
Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class Answer:
    """What the API server says of a Pod."""

    reason: str = ""
    causes: tuple[tuple[str, str], ...] = ()
    """The fields of the causes with their types."""
    message: str = ""


@pytest.fixture(scope="module")
def space(cluster: Cluster) -> Space:
    """Provide a namespace for dry runs, which leave nothing there."""
    return Space(cluster, "default")


def asked(space: Space, pod: Manifest) -> Answer:
    """Send a Pod as a dry run, and give the answer; an empty one if it is taken."""
    path = f"/api/v1/namespaces/{space.name}/pods?dryRun=All&fieldValidation=Strict"
    try:
        space.cluster.request("POST", path, pod)
    except urllib.error.HTTPError as error:
        status = json.loads(error.read())
        causes = (status.get("details") or {}).get("causes") or ()
        typed = tuple((cause.get("field", ""), cause["reason"].removeprefix("FieldValue")) for cause in causes)
        # Where it fails it gives no reason, only what happened.
        return Answer(status.get("reason", "InternalError"), typed, status["message"])
    return Answer()


def pod(spec: Wire, labels: Wire | None = None, annotations: Wire | None = None) -> Manifest:
    """Give a Pod of a spec."""
    metadata = {"name": "pod", "labels": labels or {}, "annotations": annotations or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def found(spec: Wire) -> tuple[list[str], list[str]]:
    """Give the places where our check refuses a spec, and those where it lacks what Volcano's definition requires."""
    walk = schema.SchemaPruner()
    template = walk.apply({"spec": spec}, schema.POD_TEMPLATE, "")
    problems = [*validation.check_template(template, ""), *validation.check_created_pods(template, "")]
    ours, missing = ([item.path.removeprefix(".") for item in items] for items in (problems, walk.problems))
    return ours, missing


def is_same_place(ours: str, theirs: str) -> bool:
    """Tell whether two paths name one field, or one of them what the other is in.

    The API server writes keys of maps in brackets, and names labels as a whole.
    """
    one, other = (re.sub(r"\[(?!\d+\])([^\]]*)\]", r".\1", path) for path in (ours, theirs))
    return one == other or one.startswith((f"{other}.", f"{other}[")) or other.startswith((f"{one}.", f"{one}["))


@pytest.mark.parametrize("mistake", REFUSED.values(), ids=REFUSED)
def test_the_api_server_rejects_what_we_reject(space: Space, mistake: Mistake) -> None:
    """The field is the same, and so is the type of an error of this field."""
    answer = asked(space, pod(mistake.spec, mistake.labels, mistake.annotations))

    assert answer.reason == mistake.reason, answer
    if mistake.reason == "Invalid":
        place = mistake.server or mistake.path
        types = {error_type for field, error_type in answer.causes if is_same_place(place, field)}
        assert types if mistake.server else mistake.type in types, answer


@pytest.mark.parametrize("spec", [*TAKEN.values(), *RICH.values()], ids=[*TAKEN, *RICH])
def test_the_api_server_takes_what_we_just_take(space: Space, spec: Wire) -> None:
    """The near misses of the rules, and specs with many fields."""
    assert asked(space, pod(spec)) == Answer()
    assert found(spec) == ([], [])


@pytest.mark.parametrize(("spec", "_"), REJECTED.values(), ids=REJECTED)
def test_the_api_server_accepts_pods_that_only_native_mode_rejects(space: Space, spec: Wire, _: object) -> None:
    """These rules are those of Volcano's webhook and CRD."""
    is_accepted = asked(space, pod(spec)) == Answer()

    assert is_accepted == (spec not in [REJECTED[name][0] for name in OF_A_GATE])
    assert found(spec) == ([], [])


def strictly(case: Path) -> list[Manifest]:
    """Give the Pods of a golden case, made strictly; none if it is refused."""
    document = yaml.safe_load(case.read_text("utf-8"))
    cluster = ClusterFacts.from_objects([yaml.safe_load((GOLDEN / "cluster.yaml").read_text("utf-8"))])
    try:
        return list(render(document, cluster=cluster).pods)
    except JobError:
        return []


def of_any_cluster(made: Manifest) -> Manifest:
    """Leave out what only one cluster has: the namespace and the priority class."""
    metadata = {key: value for key, value in made["metadata"].items() if key != "namespace"}
    spec = {key: value for key, value in made["spec"].items() if key != "priorityClassName"}
    return made | {"metadata": metadata, "spec": spec}


def test_the_api_server_takes_the_pods_that_we_render(space: Space) -> None:
    """Of every golden case that renders strictly, as the plugins leave them."""
    pods = {f"{case.stem} {made['metadata']['name']}": made for case in CASES for made in strictly(case)}

    answers = {name: asked(space, of_any_cluster(made)) for name, made in pods.items()}

    assert len({name.split()[0] for name in pods}) > len(CASES) / 2
    assert {name: answer for name, answer in answers.items() if answer != Answer()} == {}


def changes(tree: Any, path: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Yield what to put where: for a value typical wrong ones, for the rest nothing, emptiness or all of it twice."""
    if path:
        yield path, GONE
    if isinstance(tree, bool):
        yield path, not tree
    elif isinstance(tree, int):
        yield from ((path, number) for number in NUMBERS if number != tree)
    elif isinstance(tree, str):
        yield from ((path, text) for text in TEXTS if text != tree)
    else:
        yield path, type(tree)()
        if isinstance(tree, list):
            yield path, tree + tree
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from changes(value, (*path, key))


def changed(tree: Any, path: Steps, value: Any) -> Any:
    """Give a copy of a tree with one value changed."""
    if not path:
        return value
    copy, (key, *rest) = tree.copy(), path
    if rest or value is not GONE:
        copy[key] = changed(tree[key], tuple(rest), value)
    else:
        del copy[key]
    return copy


def disagreement(space: Space, spec: Wire) -> str:
    """Tell who alone refuses a spec; empty if both or neither do."""
    answer, (ours, missing) = asked(space, pod(spec)), found(spec)
    if "no PriorityClass with name" in answer.message:
        return ""
    if answer.reason and not ours and not missing:
        return f"only the API server, for {answer.message}"
    return f"only we, at {', '.join(ours)}" if ours and not answer.reason else ""


@pytest.mark.parametrize("name", RICH)
def test_we_and_the_api_server_agree_about_every_typical_mistake(space: Space, name: str) -> None:
    """Each value of a spec with many fields is spoilt in turn, and nobody finds what the other does not."""
    spoilt = [(path, value, changed(RICH[name], path, value)) for path, value in changes(RICH[name]) if path]

    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(lambda item: disagreement(space, item[2]), spoilt))

    differing = [(path, value, who) for (path, value, _), who in zip(spoilt, told, strict=True) if who]
    assert [item for item in differing if item[0] not in KNOWN_BY_A_CLUSTER] == []
    assert len(spoilt) > MANY
