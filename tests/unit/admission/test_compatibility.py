"""Check a job against the release of Volcano that runs it: each fact at its first release and at the one before."""

from __future__ import annotations

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import ClusterFacts, JobError, Plugin, PytorchPlugin, SshPlugin, SvcPlugin, flag, render
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.plugins import BUILT_IN
from pulumi_volcano_jobs.plugins.settings import flags_of
from pulumi_volcano_jobs.spec import releases
from tests.conftest import Wire, container, job, task, typed

MASTER, WORKER = task("master", restartPolicy="OnFailure"), task("worker", 2)
PARTITION: Wire = {"totalPartitions": 2, "partitionSize": 1}


def errors(document: Wire, version: str, **options: Any) -> list[Problem]:
    """Return the errors of a job in a cluster with a release of Volcano."""
    given = {"managed_by": "volcano", "cluster": ClusterFacts(volcano_version=version), **options}
    try:
        render(document, **given)
    except JobError as error:
        return list(error.problems)
    return []


def with_policy(**policy: Any) -> Wire:
    """Return a job with a policy."""
    return job(policies=[policy])


FACTS: dict[str, tuple[Wire, str, str, str, str]] = {
    # Job, last release without support, first release with support, path and type of the problem.
    "hcclrank": (job(MASTER, plugins={"hcclrank": []}), "1.12.2", "1.12.3", "spec.plugins.hcclrank", "NotSupported"),
    "ray": (
        job(task("head", containers=[container("head")]), plugins={"ray": []}),
        "1.12.4",
        "1.13",
        "spec.plugins.ray",
        "NotSupported",
    ),
    "wait-master-enabled": (
        job(MASTER, WORKER, plugins={"pytorch": ["--wait-master-enabled=true"]}),
        "1.13.3",
        "1.14",
        "spec.plugins.pytorch[0]",
        "Forbidden",
    ),
    "wait-master-timeout": (
        job(MASTER, WORKER, plugins=[PytorchPlugin(wait_master_timeout=9)]),
        "1.13.3",
        "1.14",
        "spec.plugins.pytorch.wait_master_timeout",
        "Forbidden",
    ),
    "wait-master-image": (
        job(MASTER, WORKER, plugins={"pytorch": ["--port=1", "--wait-master-image", "a"]}),
        "1.13.3",
        "1.14",
        "spec.plugins.pytorch[1]",
        "Forbidden",
    ),
    "ssh-port": (
        job(plugins=[SvcPlugin(), SshPlugin(ssh_port=23)]),
        "1.14.4",
        "1.15",
        "spec.plugins.ssh.ssh_port",
        "Forbidden",
    ),
    "inject-hosts-env": (
        job(plugins={"svc": ["--inject-hosts-env=false", "--publish-not-ready-addresses=true"]}),
        "1.15.1",
        "1.16",
        "spec.plugins.svc[0]",
        "Forbidden",
    ),
    "a flag with its default value": (
        job(plugins={"svc": ["--inject-hosts-env=true", "--publish-not-ready-addresses"]}),
        "1.15",
        "1.16",
        "spec.plugins.svc[0]",
        "Forbidden",
    ),
    "MPI without workers": (job(MASTER, plugins={"mpi": []}), "1.14.4", "1.15", "spec.plugins.mpi", "Required"),
    "partitionPolicy": (
        job({**WORKER, "partitionPolicy": PARTITION}),
        "1.13.3",
        "1.14",
        "spec.tasks[0].partitionPolicy",
        "Forbidden",
    ),
    "highestTierName": (
        job(networkTopology={"highestTierName": "rack"}),
        "1.13.3",
        "1.14",
        "spec.networkTopology.highestTierName",
        "Forbidden",
    ),
    "networkTopology": (
        job(networkTopology={"highestTierAllowed": 1}),
        "1.11.2",
        "1.12",
        "spec.networkTopology",
        "Forbidden",
    ),
    "PodPending": (
        with_policy(events=["PodFailed", "PodPending"], action="RestartJob", timeout="1m"),
        "1.10.2",
        "1.11",
        "spec.policies[0].events[1]",
        "NotSupported",
    ),
    "RestartPod": (
        with_policy(event="PodFailed", action="RestartPod"),
        "1.10.2",
        "1.11",
        "spec.policies[0].action",
        "NotSupported",
    ),
    "RestartPartition of a task": (
        job({**WORKER, "policies": [{"event": "PodFailed", "action": "RestartPartition"}]}),
        "1.13.3",
        "1.14",
        "spec.tasks[0].policies[0].action",
        "NotSupported",
    ),
    "a field of the Pod template": (
        job(task(hostnameOverride="a")),
        "1.13.3",
        "1.14",
        "spec.tasks[0].template.spec.hostnameOverride",
        "Forbidden",
    ),
}
COMPOSED = ("partitionPolicy", "highestTierName", "networkTopology")
"""The facts that also concern a PodGroup."""


@pytest.mark.parametrize("name", FACTS)
def test_a_job_is_rejected_if_the_release_lacks_a_feature(name: str, snapshot: SnapshotAssertion) -> None:
    """The first release with the feature accepts the job, and so do jobs without a release, with and without strict."""
    document, last, first, path, error_type = FACTS[name]

    found = errors(document, last)

    assert typed(found) == [(path, error_type)]
    assert last in found[0].reason
    assert errors(document, last, strict=False) == found
    for strict in (True, False):
        assert errors(document, first, strict=strict) == errors(document, "", strict=strict) == []
    assert str(found[0]) == snapshot


@pytest.mark.parametrize("name", FACTS)
def test_with_pulumis_pods_only_the_podgroup_matters(name: str) -> None:
    """Plugins and flags are the library's own there."""
    document, last, _, path, _ = FACTS[name]

    found = [problem.path for problem in errors(document, last, managed_by="pulumi")]

    assert found == ([path] if name in COMPOSED else [])


def test_every_fact_about_flags_and_plugins_is_tried_here() -> None:
    """A new `since` needs a row above."""
    declared = {plugin.name for plugin in BUILT_IN if plugin.since}
    declared |= {name for plugin in BUILT_IN for name in flags_of(plugin, of="since")}

    assert declared <= FACTS.keys()


@pytest.mark.parametrize("value", [*releases.MINORS, "1.9.1", "1.12.4", "1.15.1"])
def test_known_releases_are_accepted(value: str) -> None:
    """Minor releases and their patch releases."""
    assert ClusterFacts(volcano_version=value).volcano_version == value


@pytest.mark.parametrize(
    "value", ["1", "1.8", "1.17", "1.15.9", "1.16.0", "v1.15", "1.15.", "1.015", " 1.15", "latest"]
)
def test_an_unknown_release_is_rejected(value: str) -> None:
    """Nothing is guessed about it."""
    with pytest.raises(JobError) as error:
        ClusterFacts(volcano_version=value)

    assert typed(error.value.problems) == [("volcano_version", "NotSupported")]
    assert error.value.problems[0].value == json.dumps(value)


def test_the_error_of_an_unknown_release_has_the_known_releases(snapshot: SnapshotAssertion) -> None:
    """They are in order."""
    with pytest.raises(JobError) as error:
        ClusterFacts(volcano_version="latest")

    assert ", ".join(f'"{release}"' for release in releases.MINORS) in str(error.value)
    assert str(error.value) == snapshot


def test_recommended_options_are_those_of_the_release() -> None:
    """Flags that it lacks stay off; with Pulumi's Pods they do not matter."""
    document = job(MASTER, WORKER, plugins={"pytorch": [], "svc": []})

    def arguments(version: str) -> Wire:
        facts = ClusterFacts(volcano_version=version)
        made = render(document, defaults="recommended", managed_by="volcano", cluster=facts)
        plugins: Wire = made.native_job.to_manifest()["spec"]["plugins"]
        return plugins

    assert arguments("1.13") == {"pytorch": [], "svc": ["--publish-not-ready-addresses=true"]}
    assert "--wait-master-enabled=true" in arguments("1.14")["pytorch"]
    composed = render(document, defaults="recommended", cluster=ClusterFacts(volcano_version="1.13"))
    assert "initContainers" in composed.pods[-1]["spec"]


class Aged(Plugin):
    """A plugin whose first flag by name is its newest one."""

    name = "test-aged"
    newest: int = flag("a", default=0, since="1.16")
    newer: bool = flag("b", default=False, since="1.9")
    later: str = flag("c", default="", since="1.10")
    old: int = flag("z", default=0)


ORDERS: dict[str, tuple[list[str], list[str]]] = {
    "the newest last": (["--a=1", "--z=2"], ["--z=2", "--a=1"]),
    "as numbers, not as text": (["--c=x", "--b"], ["--b", "--c=x"]),
    "values with their flags": (["-a", "1", "--c", "--b", "--z", "2"], ["--z", "2", "--c", "--b", "-a", "1"]),
    "the last of equal flags stays the last": (["--a=1", "--z=1", "--z=2"], ["--z=1", "--z=2", "--a=1"]),
    "what Go does not read stays in its place": (["--a=1", "--z=2", "--", "--z=3"], ["--a=1", "--z=2", "--", "--z=3"]),
    "a bad value ends what Go reads": (["--a=x", "--z=2"], ["--a=x", "--z=2"]),
    "an unknown flag too": (["--a=1", "--y", "--z=2"], ["--a=1", "--y", "--z=2"]),
    "nothing": ([], []),
}


@pytest.mark.parametrize(("given", "sorted_"), ORDERS.values(), ids=ORDERS)
def test_arguments_are_sorted_by_age(given: list[str], sorted_: list[str]) -> None:
    """An older Volcano ignores an unknown flag and all flags after it."""
    assert Aged.newest_last(given) == sorted_


def test_settings_are_written_by_age() -> None:
    """Settings of one release are sorted by name."""
    assert Aged(newest=1, newer=True, later="x", old=2).to_args() == ["--z=2", "--b=true", "--c=x", "--a=1"]


@pytest.mark.parametrize(
    "plugins",
    [
        {"svc": ["--inject-hosts-env=false", "--publish-not-ready-addresses=true"]},
        [SvcPlugin(inject_hosts_env=False, publish_not_ready_addresses=True)],
    ],
    ids=["arguments", "settings"],
)
def test_a_native_job_has_the_newest_flags_last(plugins: Any) -> None:
    """As arguments and as settings."""
    made = render(job(plugins=plugins), managed_by="volcano").native_job.to_manifest()

    assert made["spec"]["plugins"]["svc"] == ["--publish-not-ready-addresses=true", "--inject-hosts-env=false"]


def test_a_flag_after_a_bad_value_is_an_error_in_strict_mode_only() -> None:
    """No release of Volcano reads it."""
    document = job(MASTER, WORKER, plugins={"pytorch": ["--port=x", "--wait-master-enabled"]})

    assert "spec.plugins.pytorch[1]" in {problem.path for problem in errors(document, "1.13")}
    assert errors(document, "1.13", strict=False) == []


def test_arguments_that_volcano_does_not_read_stay_in_their_place() -> None:
    """Sorted before the bad value, the flag would have an effect."""
    args = ["--wait-master-enabled=x", "--port=1"]

    made = render(job(MASTER, WORKER, plugins={"pytorch": args}), managed_by="volcano", strict=False)

    assert made.native_job.to_manifest()["spec"]["plugins"]["pytorch"] == args
