"""The options that choose how a job is checked."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs.core.errors import WARNINGS
from pulumi_volcano_jobs.testing import failed, run
from tests.component.programs import new_job
from tests.conftest import Wire, container, task

OWN = container(env=[{"name": "VC_TASK_INDEX", "value": "7"}])
CONFLICT: Wire = {"plugins": {"env": []}, "tasks": [task(containers=[OWN])]}


def index_of(arguments: Wire) -> Any:
    """Give the variable that both set, as the Pod has it."""
    pod = run(lambda: {"made": new_job("train", arguments).name}).resources["Pod train-worker-0"]
    env = pod.inputs["spec"]["containers"][0]["env"]
    return next(entry["value"] for entry in env if entry["name"] == "VC_TASK_INDEX")


def test_who_counts_in_a_conflict_is_chosen() -> None:
    """The plugin, or the template."""
    assert index_of({**CONFLICT, "on_conflict": "plugin"}) == "0"
    assert index_of({**CONFLICT, "on_conflict": "user"}) == "7"


def test_warnings_are_switched_off_by_their_codes() -> None:
    """Those of the native mode, too."""
    arguments = {"plugins": {"ssh": []}, "tasks": [task()], "managed_by": "volcano"}

    def codes(*ignored: str) -> list[str]:
        told = run(lambda: {"made": new_job("train", {**arguments, "ignore_warnings": list(ignored)}).name}).warnings
        return [text[-7:] for text in told]

    assert codes() == ["[VJ110]", "[VJ117]"]
    assert codes("VJ117") == ["[VJ110]"]
    assert codes("VJ110", "VJ117") == []


REFUSED: dict[str, tuple[Wire, str]] = {
    "who counts": (
        {"on_conflict": "template"},
        "on_conflict: this must be one of error, plugin, user (given: 'template')",
    ),
    "a template with volcano": (
        {"on_conflict": "user", "managed_by": "volcano"},
        (
            'on_conflict: with managed_by="volcano" the plugins are Volcano\'s, and what they set counts: say'
            ' on_conflict="plugin", or remove the template\'s own'
        ),
    ),
    "a code that no warning has": (
        {"ignore_warnings": ["VJ101", "ssh"]},
        f"ignore_warnings[1]: no warning has this code (given: 'ssh'): they are {min(WARNINGS)} to {max(WARNINGS)}",
    ),
    "one code": (
        {"ignore_warnings": "VJ101"},
        'ignore_warnings: this must be a list of codes: for example ["VJ103"]',
    ),
    "a version as it is not written": (
        {"volcano_version": "v1.15"},
        (
            'volcano_version: Unsupported value: \'v1.15\': supported values: "1.9", "1.10", "1.11", "1.12",'
            ' "1.13", "1.14", "1.15", "1.16", and their releases such as "1.15.1": set the version of Volcano in the'
            " cluster, or omit it"
        ),
    ),
    "a version of Volcano that is no text": (
        {"volcano_version": 1.15},
        "volcano_version: this must be a plain string: it decides what an update does",
    ),
    "what that Volcano lacks": (
        {"volcano_version": "1.14", "managed_by": "volcano", "tasks": [task("master")], "plugins": {"mpi": []}},
        (
            "spec.plugins.mpi: --worker: Required value: Volcano 1.14 rejects an MPI job without this task (allowed"
            " since 1.15) (given: 'worker'): add the task, upgrade Volcano, or set managed_by=\"pulumi\""
        ),
    ),
    "a version that is not known": (
        {"kubernetes_version": "v1.31"},
        (
            "kubernetes_version: this must be one of 1.25, 1.26, 1.27, 1.28, 1.29, 1.30, 1.31, 1.32, 1.33, 1.34, 1.35,"
            " 1.36 (given: 'v1.31')"
        ),
    ),
    "a field that the cluster does not know": (
        {"kubernetes_version": "1.25", "tasks": [task(schedulingGates=[{"name": "a"}])]},
        (
            "spec.tasks[0].template.spec.schedulingGates: Kubernetes 1.25 does not know this field, and drops it:"
            " remove it, or run the job on a newer version"
        ),
    ),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_choice_is_told_in_full(options: Wire, message: str) -> None:
    """Before anything is made."""
    error, made = failed(lambda: {"made": new_job("train", {"tasks": [task()], **options}).name})

    assert str(error) == f"the VolcanoJob train has a problem:\n  {message}"
    assert not [name for name in made.resources if name.startswith("Pod ")]
