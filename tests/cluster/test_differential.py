"""Strict mode and a real API server agree about objects of accepted jobs and about rejected fields.

A failure lists each kind of disagreement once, with the smallest job that shows it and the number of the variant.
"""

from __future__ import annotations

import copy
import json
import os
import random
import re
import urllib.error
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cluster import Cluster

from pulumi_volcano_jobs import JobError, Problem, render
from pulumi_volcano_jobs.core.errors import RejectionStage
from pulumi_volcano_jobs.kubernetes import schema, validation
from tests.conftest import PAIR
from tests.fuzz.strategies import places
from tests.fuzz.variants import Variants
from tests.templates import Wire

# `make fuzz` sets a higher number.
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "300"))
# `make test` must not fail by chance; `make fuzz` looks for new kinds.
FIRST = random.SystemRandom().randrange(2**32) if "FUZZ_EXAMPLES" in os.environ else 0
AT_ONCE = 4
OF_A_TEMPLATE = re.compile(r"spec\.tasks\[(\d+)\]\.template\b")
OF_A_CLAIM = re.compile(r"spec\.volumes\[(\d+)\]\.volumeClaim\b(?!Name)")
# Warnings that the API server may reject an object: repeated entries, only in server-side apply, and fields whose
# feature gate is off by default.
ANNOUNCED = {"VJ116", "VJ123"}
# The classes of a cluster, and the fields that Pods get from them.
OF_A_CLASS = ("priorityClassName", "priority", "preemptionPolicy", "runtimeClassName", "overhead")


def rejection(cluster: Cluster, manifest: Wire) -> str:
    """Return the first cause why a dry run of server-side apply fails; empty if the API server accepts the object."""
    try:
        cluster.apply([manifest], dry=True)
    except urllib.error.HTTPError as error:
        status = json.loads(error.read())
        causes = (status.get("details") or {}).get("causes")
        return f"{causes[0]['field']}: {causes[0]['message']}" if causes else str(status["message"])
    return ""


def of_any_cluster(manifest: Wire) -> Wire:
    """Remove the namespace and all fields from a Pod that depend on the cluster; set the service account."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "namespace"}
    if manifest["kind"] != "Pod":
        return manifest | {"metadata": metadata}
    spec = manifest["spec"]
    has_class = not {"priorityClassName", "runtimeClassName"}.isdisjoint(spec)
    known = {key: value for key, value in spec.items() if not has_class or key not in OF_A_CLASS}
    return manifest | {"metadata": metadata, "spec": with_account(known)}


def with_account(spec: Wire) -> Wire:
    """Set the default service account, as an admission plugin does that the test cluster does not have."""
    return spec if spec.get("serviceAccount") else {"serviceAccountName": "default"} | spec


def disagreement(cluster: Cluster, document: Wire) -> str:
    """Return the kind of a disagreement about a job; empty if there is none."""
    try:
        made = render(document, keys=PAIR)
    except JobError as error:
        return false_rejection(cluster, document, error.problems)
    if not ANNOUNCED.isdisjoint(warning.code for warning in made.warnings):
        return ""
    for manifest in [*made.first_pods.values(), *made.objects]:
        said = rejection(cluster, of_any_cluster(manifest))
        if said:
            return f"only the API server rejects a {manifest['kind']}: {without_values(said)}"
    return ""


def false_rejection(cluster: Cluster, document: Wire, problems: tuple[Problem, ...]) -> str:
    """Return the first of our problems with a part that the API server accepts; empty if there is none."""
    for (kind, index), problem in parts_with_problems(problems).items():
        part = document["spec"][kind][index]
        manifest = pod(part["template"]) if kind == "tasks" else claim(part["volumeClaim"])
        if not has_gate(manifest) and not rejection(cluster, manifest):
            return f"only we reject {without_values(str(problem))}"
    return ""


def has_gate(manifest: Wire) -> bool:
    """Check whether an object has a field that the API server drops or rejects because its feature gate is off."""
    walk = schema.SchemaPruner()
    if manifest["kind"] == "Pod":
        template = walk.apply({"spec": manifest["spec"]}, schema.POD_TEMPLATE, "")
        return any(validation.check_feature_gates(template, ""))
    return any(validation.check_claim_feature_gates(walk.apply(manifest["spec"], schema.CLAIM, ""), ""))


def parts_with_problems(problems: tuple[Problem, ...]) -> Mapping[tuple[str, int], Problem]:
    """Return the first problem of each task's template and each claim that the API server must also have."""
    found: dict[tuple[str, int], Problem] = {}
    for problem in problems:
        for kind, pattern in (("tasks", OF_A_TEMPLATE), ("volumes", OF_A_CLAIM)):
            match = pattern.match(problem.path)
            # Volcano's webhook alone compares the CPUs of a template with the task's topologyPolicy.
            is_of_volcano = "topologyPolicy" in problem.reason
            if (
                match
                and problem.stage in {RejectionStage.WEBHOOK, RejectionStage.API}
                and not (problem.warning or is_of_volcano)
            ):
                found.setdefault((kind, int(match[1])), problem)
    return found


def pod(template: Wire) -> Wire:
    """Return a Pod of a template."""
    metadata = {
        key: value for key, value in (template.get("metadata") or {}).items() if key in {"labels", "annotations"}
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata | {"name": "pod"},
        "spec": with_account({"restartPolicy": "Never"} | template["spec"]),
    }


def claim(spec: Wire) -> Wire:
    """Return a claim of a spec."""
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "claim"}, "spec": spec}


def without_values(text: str) -> str:
    """Return a message without the values that differ between two of its kind."""
    text = re.sub(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'', '""', text)
    text = re.sub(
        r"\(/.*?;|\.(?:labels|annotations)\.[^:]*|(?<=Invalid value: ).*?: (?=[a-z])", "", text, flags=re.DOTALL
    )
    return re.sub(r"\d+", "0", text)[:200]


def smallest(document: Wire, is_still: Callable[[Wire], bool]) -> Wire:
    """Return a job without each field that is not needed for a finding."""
    for path in sorted(places(document), key=len):
        smaller = copy.deepcopy(document)
        try:
            remove(smaller, path)
        except (KeyError, IndexError):
            continue
        if is_still(smaller):
            return smallest(smaller, is_still)
    return document


def remove(tree: Any, path: tuple[Any, ...]) -> None:
    """Remove the value at a path."""
    for key in path[:-1]:
        tree = tree[key]
    del tree[path[-1]]


def findings(cluster: Cluster, make: Callable[[Variants], Wire]) -> Iterator[str]:
    """Yield each kind of disagreement with how often it occurs, its smallest job and the number of the variant."""
    numbers = range(FIRST, FIRST + EXAMPLES)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        kinds = list(threads.map(lambda number: disagreement(cluster, make(Variants(number))), numbers))
    counts = Counter(kinds)
    for kind in counts.keys() - {""}:
        number = numbers[kinds.index(kind)]
        job = smallest(make(Variants(number)), lambda other, kind=kind: disagreement(cluster, other) == kind)
        yield f"{counts[kind]} times, as in variant {number}: {kind}\n{json.dumps(job, default=str)}"


def test_the_api_server_agrees_about_variants_of_templates(cluster: Cluster) -> None:
    """Templates with a few fields changed at once."""
    assert sorted(findings(cluster, Variants.of_a_template)) == []


def test_the_api_server_agrees_about_variants_of_jobs(cluster: Cluster) -> None:
    """Jobs with new claims, other names, labels, numbers and plugins."""
    assert sorted(findings(cluster, Variants.job)) == []
