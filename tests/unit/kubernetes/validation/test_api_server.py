"""Fields in the Pods of a template that the API server rejects or ignores."""

from __future__ import annotations

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.core.errors import RejectionStage
from tests.conftest import job, problems
from tests.pod_rules import OF_CLAIM, claim


def test_a_data_source_that_the_api_server_ignores_in_an_ephemeral_volume_is_an_error() -> None:
    """The API server accepts the Pod, and drops the source from the generated claim."""
    spec = claim(dataSource={"apiGroup": "example.org", "kind": "Backup", "name": "a"})
    document = job({"name": "worker", "replicas": 1, "template": {"spec": spec}})

    assert [(problem.path, problem.stage) for problem in problems(document)] == [
        (f"spec.tasks[0].template.{OF_CLAIM}.dataSource", RejectionStage.STRICT)
    ]
    assert render(document, strict=False).pods
