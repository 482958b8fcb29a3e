"""Options that control validation of a job."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.testing import failed, run
from tests.component.programs import new_job
from tests.conftest import Wire, container, task, typed

OWN = container(env=[{"name": "VC_TASK_INDEX", "value": "7"}])
CONFLICT: Wire = {"plugins": {"env": []}, "tasks": [task(containers=[OWN])]}


def index_of(arguments: Wire) -> Any:
    """Return the variable that both set, as rendered in the Pod."""
    pod = run(lambda: {"made": new_job("train", arguments).name}).resources["Pod train-worker-0"]
    env = pod.inputs["spec"]["containers"][0]["env"]
    return next(entry["value"] for entry in env if entry["name"] == "VC_TASK_INDEX")


def test_on_conflict_selects_the_plugin_or_the_template() -> None:
    """The Pod has the value of the selected one."""
    assert index_of({**CONFLICT, "on_conflict": "plugin"}) == "0"
    assert index_of({**CONFLICT, "on_conflict": "user"}) == "7"


def test_warnings_are_disabled_by_their_codes() -> None:
    """Warnings of native mode are included."""
    policy = {"event": "PodFailed", "action": "RestartPod"}
    arguments = {"plugins": {"ssh": []}, "tasks": [task()], "policies": [policy], "managed_by": "volcano"}

    def codes(*ignored: str) -> list[str]:
        told = run(lambda: {"made": new_job("train", {**arguments, "ignore_warnings": list(ignored)}).name}).warnings
        return [text[-7:] for text in told]

    assert codes() == ["[VJ110]", "[VJ117]"]
    assert codes("VJ117") == ["[VJ110]"]
    assert codes("VJ110", "VJ117") == []


REJECTED: dict[str, tuple[Wire, str, str]] = {
    "another action on conflicts": ({"on_conflict": "template"}, "on_conflict", "NotSupported"),
    "the template takes precedence in native mode": (
        {"on_conflict": "user", "managed_by": "volcano"},
        "on_conflict",
        "Forbidden",
    ),
    "a code that no warning has": ({"ignore_warnings": ["VJ101", "ssh"]}, "ignore_warnings[1]", "NotSupported"),
    "one code instead of a list": ({"ignore_warnings": "VJ101"}, "ignore_warnings", "TypeInvalid"),
    "a version of Volcano that is not a string": ({"volcano_version": 1.15}, "volcano_version", "TypeInvalid"),
    "an unknown version of Kubernetes": ({"kubernetes_version": "v1.31"}, "kubernetes_version", "NotSupported"),
}


@pytest.mark.parametrize("name", REJECTED)
def test_a_wrong_option_is_rejected(name: str, snapshot: SnapshotAssertion) -> None:
    """No Pod is registered."""
    options, path, error_type = REJECTED[name]

    failure = failed(lambda: {"made": new_job("train", {"tasks": [task()], **options}).name})

    assert typed(failure.problems) == [(path, error_type)]
    assert not [name for name in failure.result.resources if name.startswith("Pod ")]
    assert str(failure.error) == snapshot


OF_VERSIONS: dict[str, tuple[Wire, str, str]] = {
    "a version of Volcano with a v": ({"volcano_version": "v1.15"}, "volcano_version", "NotSupported"),
    "a task that this version of Volcano requires": (
        {"volcano_version": "1.14", "managed_by": "volcano", "tasks": [task("master")], "plugins": {"mpi": []}},
        "spec.plugins.mpi",
        "Required",
    ),
    "a field that this version of Kubernetes does not have": (
        {"kubernetes_version": "1.25", "tasks": [task(schedulingGates=[{"name": "a"}])]},
        "spec.tasks[0].template.spec.schedulingGates",
        "Forbidden",
    ),
}


@pytest.mark.parametrize(("options", "path", "error_type"), OF_VERSIONS.values(), ids=OF_VERSIONS)
def test_a_job_is_validated_against_the_versions_of_the_options(options: Wire, path: str, error_type: str) -> None:
    """No Pod is registered."""
    failure = failed(lambda: {"made": new_job("train", {"tasks": [task()], **options}).name})

    assert typed(failure.problems) == [(path, error_type)]
    assert not [name for name in failure.result.resources if name.startswith("Pod ")]
