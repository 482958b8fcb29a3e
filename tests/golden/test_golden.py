"""Lenient mode renders the same manifests as Volcano's own plugins."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from pulumi_volcano_jobs import JobError, render
from pulumi_volcano_jobs.core.errors import LENIENT, Problem, RejectionStage
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.spec.naming import claim, volume
from tests import upstream

from . import compare
from .cases import CLUSTER, CREATED, HERE, META, REAL, WRITTEN, expected, read

STAGES = {
    "decode": {RejectionStage.DECODE},
    "mutate": {RejectionStage.DECODE},
    "crd-schema": {RejectionStage.SCHEMA},
    "validate": {RejectionStage.WEBHOOK},
    "controller": {RejectionStage.CONTROLLER},
    "plugin:OnPodCreate": {RejectionStage.PLUGIN},
}


def _document(case: Path) -> dict[str, Any]:
    document: dict[str, Any] = read(case)
    if name := META[case.stem].get("generatedName"):
        document["metadata"]["name"] = name
    return document


def _check(case: Path, wanted: dict[str, Any]) -> None:
    document = _document(case)
    stage = wanted["meta"]["stage"]
    if stage != "created":
        with pytest.raises(JobError) as refused:
            render(document, strict=False, cluster=CLUSTER)
        assert refused.value.stage in STAGES[stage], str(refused.value)
        return
    rendered = render(document, strict=False, cluster=CLUSTER)
    job = rendered.job
    paths = [item.mount_path for item in job.volumes or ()]
    claims, own_volumes = [claim(job.name, path) for path in paths], {volume(job.name, path) for path in paths}
    names = compare.renames(wanted, claims)

    def by_name(items: Any) -> dict[tuple[str, str], Any]:
        normal = [compare.normal_form(compare.decoded(compare.with_default_queue(item)), names) for item in items]
        return {(item["kind"], item["metadata"]["name"]): item for item in normal}

    assert by_name(rendered.objects) == by_name(wanted["objects"])
    assert [pod["metadata"]["name"] for pod in rendered.pods] == [pod["metadata"]["name"] for pod in wanted["pods"]]
    ranks = compare.ranks(wanted)
    for ours, pod in zip(rendered.pods, wanted["pods"], strict=True):
        volumes = [v["name"] for v in ours["spec"].get("volumes", []) if v["name"] in own_volumes]
        theirs = compare.normal_form(pod, names | compare.pod_volumes(pod, volumes))
        for (name, annotation), value in ranks.items():
            if theirs["metadata"]["name"] == name:
                theirs["metadata"]["annotations"][annotation] = value
        assert compare.normal_form(ours, {}) == theirs
    wire = compare.normal_form(job.to_manifest(), {})
    assert wire == compare.normal_form(wanted["job"], {})


@pytest.mark.parametrize("case", WRITTEN, ids=lambda case: case.stem)
def test_a_written_case_equals_the_result_of_volcano(case: Path) -> None:
    """Every written case, whether Volcano accepts or rejects it."""
    _check(case, expected(case))


@upstream.compares_with_cases
@pytest.mark.parametrize("case", REAL or [upstream.CASES], ids=lambda case: case.stem)
def test_a_manifest_of_volcanos_repository_equals_the_result_of_volcano(case: Path) -> None:
    """Every Job in Volcano's repository."""
    _check(case, expected(case))


@pytest.mark.parametrize("case", CREATED, ids=lambda case: case.stem)
def test_the_native_job_of_a_case_renders_the_same(case: Path) -> None:
    """The native Job, written as YAML and read again, has the same objects and Pods."""
    made = render(_document(case), strict=False, cluster=CLUSTER)

    (read,) = job_file.load_jobs(job_file.dump([made.job.to_manifest()]))
    again = render(read, strict=False, cluster=CLUSTER)

    assert read.to_manifest() == again.job.to_manifest() == made.job.to_manifest()
    assert (again.objects, again.pods) == (made.objects, made.pods)


def _reported(document: dict[str, Any], **options: Any) -> dict[str, str]:
    """Return the code of each problem of a job by its path; an error of strict mode has the code of lenient mode."""
    try:
        found: tuple[Problem, ...] = render(document, cluster=CLUSTER, **options).warnings
    except JobError as error:
        found = (*error.problems, *error.warnings)
    return {problem.path: problem.code or LENIENT for problem in found}


@pytest.mark.parametrize("managed_by", ["pulumi", "volcano"])
@pytest.mark.parametrize("case", CREATED, ids=lambda case: case.stem)
def test_lenient_mode_reports_every_problem_of_strict_mode(case: Path, managed_by: str) -> None:
    """Errors are warnings. Only a mistake in arguments hides others: Volcano ignores the arguments after it."""
    document = _document(case)
    strict = _reported(document, managed_by=managed_by)
    lenient = _reported(document, managed_by=managed_by, strict=False)

    unread = {
        path
        for path in strict.keys() - lenient.keys()
        if any(other.rpartition("[")[0] == path.rpartition("[")[0] for other in lenient)
    }
    assert all(path.startswith("spec.plugins.") for path in unread)
    assert {path: code for path, code in strict.items() if path not in unread}.items() <= lenient.items()
    pruned = META[case.stem].get("prunedFields", ())
    assert {path for path, code in lenient.items() if code == LENIENT} >= {*pruned}


def _texts(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(tree, dict):
        return [found for key, value in tree.items() for found in _texts(value, (*path, key))]
    if isinstance(tree, list):
        return [found for key, value in enumerate(tree) for found in _texts(value, (*path, key))]
    return [path] if isinstance(tree, str) and tree else []


def test_a_changed_byte_in_any_text_of_a_case_is_detected() -> None:
    """The comparison covers each text of objects and Pods: each is changed once."""
    case = HERE / "cases" / "multi-mpi-env.yaml"
    unchanged = expected(case)
    _check(case, unchanged)
    unseen = []
    for path in _texts({"objects": unchanged["objects"], "pods": unchanged["pods"]}):
        if "ownerReferences" in path:
            continue
        changed = copy.deepcopy(unchanged)
        holder: Any = changed
        for key in path[:-1]:
            holder = holder[key]
        digit = holder[path[-1]][-1].isdigit()
        holder[path[-1]] = holder[path[-1]][:-1] + (
            "7" if digit and holder[path[-1]][-1] != "7" else "8" if digit else "_"
        )
        try:
            _check(case, changed)
        except (AssertionError, ValueError):
            continue
        unseen.append(path)
    assert unseen == []
