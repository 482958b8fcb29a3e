"""Lenient mode renders the same manifests as Volcano's own plugins."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs import ClusterFacts, JobError, render
from pulumi_volcano_jobs.core.errors import LENIENT, Problem, RejectionStage
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.spec.naming import claim, volume
from tests import upstream

from . import compare

HERE = Path(__file__).parent
STAGES = {
    "decode": {RejectionStage.DECODE},
    "mutate": {RejectionStage.DECODE},
    "crd-schema": {RejectionStage.SCHEMA},
    "validate": {RejectionStage.WEBHOOK},
    "controller": {RejectionStage.CONTROLLER},
    "plugin:OnPodCreate": {RejectionStage.PLUGIN},
}


def _cases(root: Path, pattern: str) -> list[Path]:
    return sorted((root / "cases").glob(pattern))


def _expected(case: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((case.parents[1] / "expected" / f"{case.stem}.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="session")
def cluster() -> ClusterFacts:
    """Return the simulated cluster of the golden files."""
    return ClusterFacts.from_objects([yaml.safe_load((HERE / "cluster.yaml").read_text("utf-8"))])


def _document(case: Path, expected: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(case.read_text("utf-8"))
    if "generatedName" in expected["meta"]:
        document["metadata"]["name"] = expected["meta"]["generatedName"]
    return document


def _check(case: Path, expected: dict[str, Any], cluster: ClusterFacts) -> None:
    document = _document(case, expected)
    stage = expected["meta"]["stage"]
    if stage != "created":
        with pytest.raises(JobError) as refused:
            render(document, strict=False, cluster=cluster)
        assert refused.value.stage in STAGES[stage], str(refused.value)
        return
    rendered = render(document, strict=False, cluster=cluster)
    job = rendered.job
    paths = [item.mount_path for item in job.volumes or ()]
    claims, own_volumes = [claim(job.name, path) for path in paths], {volume(job.name, path) for path in paths}
    names = compare.renames(expected, claims)

    def by_name(items: Any) -> dict[tuple[str, str], Any]:
        normal = [compare.normal_form(compare.decoded(compare.with_default_queue(item)), names) for item in items]
        return {(item["kind"], item["metadata"]["name"]): item for item in normal}

    assert by_name(rendered.objects) == by_name(expected["objects"])
    assert [pod["metadata"]["name"] for pod in rendered.pods] == [pod["metadata"]["name"] for pod in expected["pods"]]
    ranks = compare.ranks(expected)
    for ours, pod in zip(rendered.pods, expected["pods"], strict=True):
        volumes = [v["name"] for v in ours["spec"].get("volumes", []) if v["name"] in own_volumes]
        theirs = compare.normal_form(pod, names | compare.pod_volumes(pod, volumes))
        for (name, annotation), value in ranks.items():
            if theirs["metadata"]["name"] == name:
                theirs["metadata"]["annotations"][annotation] = value
        assert compare.normal_form(ours, {}) == theirs
    wire = compare.normal_form(job.to_manifest(), {})
    assert wire == compare.normal_form(expected["job"], {})


@pytest.mark.parametrize("case", _cases(HERE, "*.yaml"), ids=lambda case: case.stem)
def test_a_written_case_equals_the_result_of_volcano(case: Path, cluster: ClusterFacts) -> None:
    """Every written case, whether Volcano accepts or rejects it."""
    _check(case, _expected(case), cluster)


REAL = _cases(upstream.CASES, "real-*.yaml")


@upstream.compares_with_cases
@pytest.mark.parametrize("case", REAL or [upstream.CASES], ids=lambda case: case.stem)
def test_a_manifest_of_volcanos_repository_equals_the_result_of_volcano(case: Path, cluster: ClusterFacts) -> None:
    """Every Job in Volcano's repository."""
    _check(case, _expected(case), cluster)


CREATED = [case for case in (*_cases(HERE, "*.yaml"), *REAL) if _expected(case)["meta"]["stage"] == "created"]


@pytest.mark.parametrize("case", CREATED, ids=lambda case: case.stem)
def test_the_native_job_of_a_case_renders_the_same(case: Path, cluster: ClusterFacts) -> None:
    """The native Job, written as YAML and read again, has the same objects and Pods."""
    made = render(_document(case, _expected(case)), strict=False, cluster=cluster)

    (read,) = job_file.load_jobs(job_file.dump([made.job.to_manifest()]))
    again = render(read, strict=False, cluster=cluster)

    assert read.to_manifest() == again.job.to_manifest() == made.job.to_manifest()
    assert (again.objects, again.pods) == (made.objects, made.pods)


def _reported(document: dict[str, Any], cluster: ClusterFacts, **options: Any) -> dict[str, str]:
    """Return the code of each problem of a job by its path; an error of strict mode has the code of lenient mode."""
    try:
        found: tuple[Problem, ...] = render(document, cluster=cluster, **options).warnings
    except JobError as error:
        found = (*error.problems, *error.warnings)
    return {problem.path: problem.code or LENIENT for problem in found}


@pytest.mark.parametrize("managed_by", ["pulumi", "volcano"])
@pytest.mark.parametrize("case", CREATED, ids=lambda case: case.stem)
def test_lenient_mode_reports_every_problem_of_strict_mode(case: Path, managed_by: str, cluster: ClusterFacts) -> None:
    """Errors are warnings. Only a mistake in arguments hides others: Volcano ignores the arguments after it."""
    document = _document(case, _expected(case))
    strict = _reported(document, cluster, managed_by=managed_by)
    lenient = _reported(document, cluster, managed_by=managed_by, strict=False)

    unread = {
        path
        for path in strict.keys() - lenient.keys()
        if any(other.rpartition("[")[0] == path.rpartition("[")[0] for other in lenient)
    }
    assert all(path.startswith("spec.plugins.") for path in unread)
    assert {path: code for path, code in strict.items() if path not in unread}.items() <= lenient.items()
    pruned = _expected(case)["meta"].get("prunedFields", ())
    assert {path for path, code in lenient.items() if code == LENIENT} >= {*pruned}


def _texts(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(tree, dict):
        return [found for key, value in tree.items() for found in _texts(value, (*path, key))]
    if isinstance(tree, list):
        return [found for key, value in enumerate(tree) for found in _texts(value, (*path, key))]
    return [path] if isinstance(tree, str) and tree else []


def test_a_changed_byte_in_any_text_of_a_case_is_detected(cluster: ClusterFacts) -> None:
    """The comparison covers each text of objects and Pods: each is changed once."""
    case = HERE / "cases" / "multi-mpi-env.yaml"
    expected = _expected(case)
    _check(case, expected, cluster)
    unseen = []
    for path in _texts({"objects": expected["objects"], "pods": expected["pods"]}):
        if "ownerReferences" in path:
            continue
        changed = copy.deepcopy(expected)
        holder: Any = changed
        for key in path[:-1]:
            holder = holder[key]
        digit = holder[path[-1]][-1].isdigit()
        holder[path[-1]] = holder[path[-1]][:-1] + (
            "7" if digit and holder[path[-1]][-1] != "7" else "8" if digit else "_"
        )
        try:
            _check(case, changed, cluster)
        except (AssertionError, ValueError):
            continue
        unseen.append(path)
    assert unseen == []
