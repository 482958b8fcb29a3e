"""The port of sshd, which mpi and ssh share."""

from __future__ import annotations

import pytest

from pulumi_volcano_jobs import ClusterFacts, render
from tests.conftest import job, task

MASTER, WORKER = task("master", restartPolicy="OnFailure"), task("worker", 2)


@pytest.mark.parametrize(("version", "says"), [("1.14", False), ("1.15", True), ("", True)])
def test_the_recommended_ssh_port_is_the_mpi_port_if_volcano_has_the_flag(version: str, *, says: bool) -> None:
    """Otherwise a warning reports that the ports differ."""
    document = job(MASTER, WORKER, plugins={"mpi": ["--port=2222"]})
    facts = ClusterFacts(volcano_version=version)

    made = render(document, defaults="recommended", managed_by="volcano", cluster=facts)

    assert ("--ssh-port=2222" in made.native_job.to_manifest()["spec"]["plugins"]["ssh"]) is says
    assert ("VJ111" in {warning.code for warning in made.warnings}) is not says
