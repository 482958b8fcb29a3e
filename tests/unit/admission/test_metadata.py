"""The name of a job, and the names that are derived from it."""

from __future__ import annotations

import pytest

from pulumi_volcano_jobs import RayPlugin, render
from pulumi_volcano_jobs.core.errors import RejectionStage
from tests.conftest import Wire, container, job, places, problems, task, typed
from tests.golden.cases import golden


def test_the_name_of_a_job_with_a_service_is_a_service_name() -> None:
    """Volcano accepts dots, and the API server then rejects the Service."""
    assert places(golden("plain-job-name-dot")) == ["metadata.name"]
    assert render(job(name="my.job")).pods


SHORT = (task("h", containers=[container("head")]),)
NAMES: dict[str, tuple[Wire, list[str]]] = {
    "the last Pod's name": (job(task("w" * 55, 11)), ["spec.tasks[0].name"]),
    "the last Pod's name that just fits": (job(task("w" * 55, 10)), []),
    "the head's Service": (job(*SHORT, name="r" * 55, plugins=[RayPlugin(head="h")]), ["metadata.name"]),
    "the head's Service that just fits": (job(*SHORT, name="r" * 54, plugins=[RayPlugin(head="h")]), []),
}


@pytest.mark.parametrize(("document", "told"), NAMES.values(), ids=NAMES)
def test_a_derived_name_of_more_than_63_characters_is_an_error(document: Wire, told: list[str]) -> None:
    """The webhook checks only the names of Volcano's Pods, and the API server rejects the others."""
    if not told:
        assert render(document).pods
        return
    found = problems(document)

    assert typed(found) == [(path, "TooLong") for path in told]
    assert {problem.stage for problem in found} == {RejectionStage.API}
    assert render(document, strict=False).pods
