"""Fields that only Volcano's controllers implement."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import Plugin, render
from pulumi_volcano_jobs.admission.controllers import controller_only_fields, problems, warnings
from tests.conftest import Wire, job, ssh_plugin, task, typed


def test_each_field_of_the_controllers_has_its_path_and_meaning(snapshot: SnapshotAssertion) -> None:
    """The meaning of a policy has the name of its task."""
    first = {
        **task("first"),
        "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}],
        "dependsOn": {"name": ["second"]},
    }
    policies = [{"events": ["PodEvicted", "PodFailed"], "action": "RestartJob"}, {"exitCode": 3, "action": "AbortJob"}]
    document = job(first, task("second"), policies=policies, ttlSecondsAfterFinished=60, minSuccess=1)

    meanings = controller_only_fields(render(document).job)

    assert [path for path, _ in meanings] == [
        "spec.policies[0]",
        "spec.policies[1]",
        "spec.ttlSecondsAfterFinished",
        "spec.minSuccess",
        "spec.tasks[0].policies[0]",
        "spec.tasks[0].dependsOn",
    ]
    assert [meaning for _, meaning in meanings] == snapshot


def test_a_job_without_such_fields_has_no_problem() -> None:
    """Default values are not reported."""
    assert controller_only_fields(render(job()).job) == []


def test_a_user_s_own_plugin_is_a_problem(snapshot: SnapshotAssertion) -> None:
    """Volcano does not have it."""

    class Own(Plugin):
        name = "own"

    made = render(job(plugins=[Own()]))
    (problem,) = problems(made.job, made.plugins)

    assert typed([problem]) == [("spec.plugins.own", "Forbidden")]
    assert 'managed_by="pulumi"' in problem.hint
    assert str(problem) == snapshot


def test_a_key_pair_that_volcano_generates_has_a_warning(snapshot: SnapshotAssertion) -> None:
    """A key pair of the user has none."""
    policy = {"event": "PodFailed", "action": "RestartTask"}
    made = render(job(plugins={"ssh": [], "svc": []}, policies=[policy]))
    given = render(job(plugins={"ssh": ssh_plugin().to_args(), "svc": []}, policies=[policy]))

    assert typed(warnings(made.job, made.plugins)) == [("spec.plugins.ssh", "VJ117")]
    assert list(map(str, warnings(made.job, made.plugins))) == snapshot
    assert list(warnings(given.job, given.plugins)) == []


@pytest.mark.parametrize("policies", [[], [{"event": "PodEvicted", "action": "RestartJob"}]], ids=["none", "all"])
def test_a_key_pair_that_all_pods_get_has_no_warning(policies: list[Wire]) -> None:
    """Volcano creates a new pair only when it deletes Pods, and here it deletes all Pods of the job."""
    made = render(job(plugins={"ssh": [], "svc": []}, policies=policies))

    assert list(warnings(made.job, made.plugins)) == []
