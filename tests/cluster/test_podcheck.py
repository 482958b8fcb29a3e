"""The Pod validation of this library and that of the API server accept and reject the same Pod templates."""

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
from cluster import Cluster

from pulumi_volcano_jobs import JobError, render
from pulumi_volcano_jobs.kubernetes import schema, validation
from tests.cluster.conftest import Manifest, Space
from tests.golden.cases import CLUSTER, WRITTEN, read
from tests.native_rules import OF_A_GATE, REJECTED
from tests.pod_rules import REFUSED, TAKEN, Mistake
from tests.templates import RICH, Wire

TEXTS = ("", "UPPER_case", "x" * 300, "-1", "not a thing", "..", "/abs", "a..b")
NUMBERS = (-1, 0, 70000, 2**31 - 1)
GONE = object()
MANY = 100
# The service account admission plugin, which the test cluster does not run, sets the account of tokens.
KNOWN_BY_A_CLUSTER = [("serviceAccountName",)]
Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class Answer:
    """The response of the API server for a Pod."""

    reason: str = ""
    causes: tuple[tuple[str, str], ...] = ()
    """Fields and types of the causes."""
    message: str = ""


@pytest.fixture(scope="module")
def space(cluster: Cluster) -> Space:
    """Provide a namespace for dry runs, which create no objects."""
    return Space(cluster, "default")


def dry_run(space: Space, pod: Manifest) -> Answer:
    """Create a Pod as a dry run, and return the response, which is empty on success."""
    path = f"/api/v1/namespaces/{space.name}/pods?dryRun=All&fieldValidation=Strict"
    try:
        space.cluster.request("POST", path, pod)
    except urllib.error.HTTPError as error:
        status = json.loads(error.read())
        causes = (status.get("details") or {}).get("causes") or ()
        typed = tuple((cause.get("field", ""), cause["reason"].removeprefix("FieldValue")) for cause in causes)
        # The response of a failed dry run has no reason, only a message.
        return Answer(status.get("reason", "InternalError"), typed, status["message"])
    return Answer()


def pod(spec: Wire, labels: Wire | None = None, annotations: Wire | None = None) -> Manifest:
    """Return a Pod with a spec."""
    metadata = {"name": "pod", "labels": labels or {}, "annotations": annotations or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def local_problems(spec: Wire) -> tuple[list[str], list[str]]:
    """Return the paths that the library rejects, and the paths that the Volcano CRD requires."""
    walk = schema.SchemaPruner()
    template = walk.apply({"spec": spec}, schema.POD_TEMPLATE, "")
    problems = [*validation.check_template(template, ""), *validation.check_created_pods(template, "")]
    # The API server accepts an image that is not a reference. The kubelet rejects it.
    rejected = [item for item in problems if "InvalidImageName" not in item.reason]
    ours, missing = ([item.path.removeprefix(".") for item in items] for items in (rejected, walk.problems))
    return ours, missing


def is_same_field(ours: str, theirs: str) -> bool:
    """Return whether two paths name one field, or one path contains the other.

    The API server writes map keys in brackets, and names labels as a whole.
    """
    one, other = (re.sub(r"\[(?!\d+\])([^\]]*)\]", r".\1", path) for path in (ours, theirs))
    return one == other or one.startswith((f"{other}.", f"{other}[")) or other.startswith((f"{one}.", f"{one}["))


@pytest.mark.parametrize("mistake", REFUSED.values(), ids=REFUSED)
def test_the_api_server_rejects_specs_that_the_library_rejects(space: Space, mistake: Mistake) -> None:
    """The path of the field and the error type are the same."""
    answer = dry_run(space, pod(mistake.spec, mistake.labels, mistake.annotations))

    assert answer.reason == mistake.reason, answer
    if mistake.reason == "Invalid":
        place = mistake.server or mistake.path
        types = {error_type for field, error_type in answer.causes if is_same_field(place, field)}
        assert types if mistake.server else mistake.type in types, answer


@pytest.mark.parametrize("spec", [*TAKEN.values(), *RICH.values()], ids=[*TAKEN, *RICH])
def test_the_api_server_accepts_specs_that_the_library_accepts(space: Space, spec: Wire) -> None:
    """The specs are just within the limits, or have many fields."""
    assert dry_run(space, pod(spec)) == Answer()
    assert local_problems(spec) == ([], [])


@pytest.mark.parametrize(("spec", "_"), REJECTED.values(), ids=REJECTED)
def test_the_api_server_accepts_pods_that_only_native_mode_rejects(space: Space, spec: Wire, _: object) -> None:
    """These rules are those of Volcano's webhook and CRD."""
    is_accepted = dry_run(space, pod(spec)) == Answer()

    assert is_accepted == (spec not in [REJECTED[name][0] for name in OF_A_GATE])
    assert local_problems(spec) == ([], [])


def strictly(case: Path) -> list[Manifest]:
    """Return the Pods of a golden case in strict mode, or none if it is rejected."""
    try:
        return list(render(read(case), cluster=CLUSTER).pods)
    except JobError:
        return []


def of_any_cluster(made: Manifest) -> Manifest:
    """Return a spec without namespace and priority class, which exist only in some clusters."""
    metadata = {key: value for key, value in made["metadata"].items() if key != "namespace"}
    spec = {key: value for key, value in made["spec"].items() if key != "priorityClassName"}
    return made | {"metadata": metadata, "spec": spec}


def test_the_api_server_accepts_rendered_pods(space: Space) -> None:
    """Each golden case that renders in strict mode is used, with the edits of the plugins."""
    pods = {f"{case.stem} {made['metadata']['name']}": made for case in WRITTEN for made in strictly(case)}

    answers = {name: dry_run(space, of_any_cluster(made)) for name, made in pods.items()}

    assert len({name.split()[0] for name in pods}) > len(WRITTEN) / 2
    assert {name: answer for name, answer in answers.items() if answer != Answer()} == {}


def changes(tree: Any, path: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Yield replacement values for each path: mistakes for scalars; absent, empty or doubled values for others."""
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
    """Return a copy of a tree with one value changed."""
    if not path:
        return value
    copy, (key, *rest) = tree.copy(), path
    if rest or value is not GONE:
        copy[key] = changed(tree[key], tuple(rest), value)
    else:
        del copy[key]
    return copy


def disagreement(space: Space, spec: Wire) -> str:
    """Return which side alone rejects a spec, or an empty string if both agree."""
    answer, (ours, missing) = dry_run(space, pod(spec)), local_problems(spec)
    if "no PriorityClass with name" in answer.message:
        return ""
    if answer.reason and not ours and not missing:
        return f"only the API server, for {answer.message}"
    return f"only we, at {', '.join(ours)}" if ours and not answer.reason else ""


@pytest.mark.parametrize("name", RICH)
def test_the_library_and_the_api_server_agree_on_typical_mistakes(space: Space, name: str) -> None:
    """Each value of a spec with many fields is replaced in turn."""
    spoilt = [(path, value, changed(RICH[name], path, value)) for path, value in changes(RICH[name]) if path]

    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(lambda item: disagreement(space, item[2]), spoilt))

    differing = [(path, value, who) for (path, value, _), who in zip(spoilt, told, strict=True) if who]
    assert [item for item in differing if item[0] not in KNOWN_BY_A_CLUSTER] == []
    assert len(spoilt) > MANY
