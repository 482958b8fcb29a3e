"""What only Volcano's controllers do."""

from __future__ import annotations

from pulumi_volcano_jobs import Plugin, render
from pulumi_volcano_jobs.admission.controllers import enacted, problems, warnings
from tests.conftest import job, ssh_plugin, task


def test_each_thing_has_its_place_and_its_meaning() -> None:
    """In words, with the task that a policy is of."""
    first = {
        **task("first"),
        "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}],
        "dependsOn": {"name": ["second"]},
    }
    policies = [{"events": ["PodEvicted", "PodFailed"], "action": "RestartJob"}, {"exitCode": 3, "action": "AbortJob"}]
    document = job(first, task("second"), policies=policies, ttlSecondsAfterFinished=60, minSuccess=1)

    assert enacted(render(document).job) == [
        ("spec.policies[0]", "restart the job on PodEvicted, PodFailed"),
        ("spec.policies[1]", "abort the job on exit code 3"),
        ("spec.ttlSecondsAfterFinished", "remove the job 60 s after its end"),
        ("spec.minSuccess", "complete the job once 1 Pod succeeded"),
        ("spec.tasks[0].policies[0]", "complete the job on TaskCompleted of first"),
        ("spec.tasks[0].dependsOn", "start first after second"),
    ]


def test_a_job_without_any_has_none() -> None:
    """Defaults are no wishes."""
    assert enacted(render(job()).job) == []


def test_a_plugin_of_the_user_s_own_is_a_problem() -> None:
    """Volcano does not know it."""

    class Own(Plugin):
        name = "own"

    made = render(job(plugins=[Own()]))
    (problem,) = problems(made.job, made.plugins)

    assert str(problem) == (
        "spec.plugins.own: Volcano's controllers do not know this plugin, and would refuse the job: "
        'remove it, or use managed_by="pulumi"'
    )


def test_a_key_pair_that_volcano_makes_is_warned_of() -> None:
    """A given one is not."""
    made = render(job(plugins={"ssh": [], "svc": []}))
    given = render(job(plugins={"ssh": ssh_plugin().to_args(), "svc": []}))

    assert [(problem.path, problem.warning) for problem in warnings(made.plugins)] == [("spec.plugins.ssh", True)]
    assert list(warnings(given.plugins)) == []
