"""Outputs that resolve to invalid values: the error has the path and the rule, but never the value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import SshPlugin, SvcPlugin, VolcanoJob, VolcanoQueue
from pulumi_volcano_jobs.testing import SecretValue, computed, failed, run
from tests.component.programs import new_job
from tests.conftest import BYTES, OTHER_PAIR, PAIR, Wire, container, task, typed

SECRET = "hunter2"
CONTAINER = "spec.tasks[0].template.spec.containers[0]"


def of_container(**fields: Any) -> Wire:
    """Return the arguments of a job whose container has these fields."""
    return {"tasks": [task("worker", 2, containers=[container(**fields)])]}


def secret(value: Any) -> Any:
    """Return a secret Output."""
    return pulumi.Output.secret(value)


WRONG: dict[str, tuple[Callable[[], Wire], str, str]] = {
    "limits that are text": (
        lambda: of_container(resources={"limits": secret(SECRET)}),
        f"{CONTAINER}.resources.limits",
        "TypeInvalid",
    ),
    "memory that is no amount": (
        lambda: of_container(resources={"limits": {"memory": secret(f"{SECRET} Gi")}}),
        f"{CONTAINER}.resources.limits.memory",
        "Invalid",
    ),
    "memory in resources": (
        lambda: of_container(resources=secret({"limits": {"memory": f"{SECRET} Gi"}})),
        f"{CONTAINER}.resources.limits.memory",
        "Invalid",
    ),
    "a negative amount": (
        lambda: of_container(resources={"requests": {"cpu": secret(-1)}}),
        f"{CONTAINER}.resources.requests.cpu",
        "Invalid",
    ),
    "a list of resources": (
        lambda: of_container(resources=secret([SECRET])),
        f"{CONTAINER}.resources",
        "TypeInvalid",
    ),
    "an image that is a number": (lambda: of_container(image=secret(5)), f"{CONTAINER}.image", "TypeInvalid"),
    "an image that cannot be pulled": (
        lambda: of_container(image=secret(f"{SECRET} 1")),
        f"{CONTAINER}.image",
        "Invalid",
    ),
    "the image of a volume": (
        lambda: {"tasks": [task("worker", volumes=[{"name": "m", "image": secret({"reference": f"A/{SECRET}:"})}])]},
        "spec.tasks[0].template.spec.volumes[0].image.reference",
        "Invalid",
    ),
    "a registry": (
        lambda: of_container() | {"image_registry": secret(f"https://{SECRET}.io")},
        "image_registry",
        "Invalid",
    ),
    "a shared registry": (
        lambda: of_container() | {"job_defaults": {"image_registry": secret([SECRET])}},
        "job_defaults.image_registry",
        "TypeInvalid",
    ),
    "a variable that is a mapping": (
        lambda: of_container(env=[{"name": "A", "value": secret({SECRET: 1})}]),
        f"{CONTAINER}.env[0].value",
        "TypeInvalid",
    ),
    "a label": (
        lambda: of_container() | {"labels": {"example.com/team": secret({SECRET: 1})}},
        "metadata.labels.example.com/team",
        "TypeInvalid",
    ),
    "a namespace": (lambda: of_container() | {"namespace": secret([SECRET])}, "metadata.namespace", "TypeInvalid"),
    "a queue": (lambda: of_container() | {"queue": secret({SECRET: 1})}, "spec.queue", "TypeInvalid"),
    "a key": (
        lambda: of_container() | {"plugins": {"ssh": ["--ssh-private-key", secret([SECRET]), "--ssh-public-key=x"]}},
        "spec.plugins.ssh[1]",
        "TypeInvalid",
    ),
    "the storage of a claim": (
        lambda: (
            of_container()
            | {
                "volumes": [
                    {"mountPath": "/x", "volumeClaim": {"resources": {"requests": {"storage": secret(SECRET)}}}}
                ]
            }
        ),
        "spec.volumes[0].volumeClaim.resources.requests.storage",
        "Invalid",
    ),
    "a shared node selector": (
        lambda: of_container() | {"job_defaults": {"node_selector": secret(SECRET)}},
        "job_defaults.node_selector",
        "TypeInvalid",
    ),
    "shared tolerations": (
        lambda: of_container() | {"job_defaults": {"tolerations": secret({SECRET: 1})}},
        "job_defaults.tolerations",
        "TypeInvalid",
    ),
}


@pytest.mark.parametrize("plugins", [{}, {"pytorch": []}, {"ray": []}, {"mpi": []}], ids=str)
@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
@pytest.mark.parametrize(("arguments", "path", "error_type"), WRONG.values(), ids=WRONG)
def test_a_wrong_value_of_an_output_is_an_error_that_hides_it(
    arguments: Callable[[], Wire], path: str, error_type: str, mode: str, plugins: Wire
) -> None:
    """In both modes, and with plugins that compute other values from it."""

    def program() -> dict[str, Any]:
        given = arguments()
        role = {"ray": "head", "pytorch": "master", "mpi": "master"}.get(next(iter(plugins), ""))
        more = [task(role)] if role else []
        plugin_uses = {**plugins, **given.get("plugins", {}), "svc": []}
        wire = {**given, "tasks": [*given["tasks"], *more], "managed_by": mode, "plugins": plugin_uses}
        return {"name": VolcanoJob("train", wire).name}

    failure = failed(program)

    assert isinstance(failure.error, pulumi.RunError)
    assert not isinstance(failure.error, ValueError)  # Pulumi would show a traceback for this exception.
    assert typed(failure.problems) == [(path, error_type)]
    assert failure.problems[0].value == ""
    assert SECRET not in f"{failure.error!r} {failure.error} {failure.error.__cause__!r} {failure.error.__context__!r}"


def test_the_error_of_a_queue_has_the_kind_of_the_resource(snapshot: SnapshotAssertion) -> None:
    """The path and the type are the same."""
    failure = failed(lambda: {"name": VolcanoQueue("research", {"capability": {"cpu": secret(SECRET)}}).name})

    assert typed(failure.problems) == [("spec.capability.cpu", "Invalid")]
    assert str(failure.error) == snapshot


@pytest.mark.parametrize("field", ["image", "image_registry"])
def test_the_error_of_an_image_has_a_fix_without_the_value(field: str, snapshot: SnapshotAssertion) -> None:
    """The fix of a known image contains the image."""

    def program() -> dict[str, Any]:
        value = secret("Team/Train")
        given = of_container(image=value) if field == "image" else of_container() | {field: value}
        return {"name": VolcanoJob("train", given).name}

    assert str(failed(program).error) == snapshot


def test_images_and_registries_are_accepted_when_they_become_known() -> None:
    """The image of the Pod has the registry."""

    def program() -> dict[str, Any]:
        given = of_container(image=secret("train:1")) | {"image_registry": secret("ghcr.io/team")}
        return {"name": VolcanoJob("train", given).name}

    assert run(program).job("train").pod("worker", 0).image == SecretValue("ghcr.io/team/train:1")


def test_a_null_in_a_value_is_ignored() -> None:
    """The API server drops it."""

    def program() -> dict[str, Any]:
        resources = pulumi.Output.from_input({"limits": {"cpu": None, "memory": "1Gi"}})
        return {"name": VolcanoJob("train", of_container(resources=resources)).name}

    group = run(program).resources["PodGroup train"]

    assert group.inputs["spec"]["minResources"]["limits.memory"] == "2Gi"


KEY_PAIRS: dict[str, tuple[Callable[[], tuple[Any, Any]], str]] = {
    "a private key": (lambda: (secret(SECRET), PAIR.public), "spec.plugins.ssh.ssh_private_key"),
    "a plain private key": (lambda: (SECRET, PAIR.public), "spec.plugins.ssh.ssh_private_key"),
    "a public key of another pair": (
        lambda: (secret(PAIR.private), OTHER_PAIR.public),
        "spec.plugins.ssh.ssh_public_key",
    ),
    "a public key that is an Output": (
        lambda: (PAIR.private, pulumi.Output.from_input(OTHER_PAIR.public)),
        "spec.plugins.ssh.ssh_public_key",
    ),
}


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
@pytest.mark.parametrize(("keys", "path"), KEY_PAIRS.values(), ids=KEY_PAIRS)
def test_a_key_pair_is_checked_when_it_is_known(keys: Callable[[], tuple[Any, Any]], path: str, mode: str) -> None:
    """A program keeps private keys secret, so they are Outputs."""

    def program() -> dict[str, Any]:
        private, public = keys()
        plugins = [SshPlugin(ssh_private_key=private, ssh_public_key=public), SvcPlugin()]
        return {"name": new_job("train", {**of_container(), "plugins": plugins, "managed_by": mode}).name}

    failure = failed(program)

    assert typed(failure.problems) == [(path, "Invalid")]
    assert SECRET not in str(failure.error)
    assert BYTES not in str(failure.error)


def test_the_keys_of_volcanos_arguments_are_checked_when_they_are_known() -> None:
    """The path is that of the argument."""
    arguments = ["--ssh-private-key", lambda: secret(SECRET), f"--ssh-public-key={PAIR.public}"]

    def program() -> dict[str, Any]:
        ssh = [argument() if callable(argument) else argument for argument in arguments]
        return {"name": new_job("train", {**of_container(), "plugins": {"ssh": ssh, "svc": []}}).name}

    assert typed(failed(program).problems) == [("spec.plugins.ssh[1]", "Invalid")]


def test_a_private_key_is_checked_in_a_preview_that_does_not_know_the_public_key() -> None:
    """The private key stays known."""

    def program(private: str) -> dict[str, Any]:
        plugins = [SshPlugin(ssh_private_key=secret(private), ssh_public_key=computed(PAIR.public)), SvcPlugin()]
        return {"name": new_job("train", {**of_container(), "plugins": plugins}).name}

    failure = failed(lambda: program(SECRET), preview=True)

    assert typed(failure.problems) == [("spec.plugins.ssh.ssh_private_key", "Invalid")]
    assert run(lambda: program(PAIR.private), preview=True).job("train")


@pytest.mark.parametrize("ignored", [[], ["VJ126"]], ids=["reported", "ignored"])
def test_a_dsa_key_has_a_warning_when_it_is_known(ignored: list[str]) -> None:
    """As with the command line."""

    def program() -> dict[str, Any]:
        keys = SshPlugin(ssh_private_key=secret(PAIR.private), ssh_public_key=f"ssh-dss AAAA\n{PAIR.public}")
        fields = {"plugins": [keys, SvcPlugin()], "ignore_warnings": ignored}
        return {"name": new_job("train", {**of_container(), **fields}).name}

    assert [warning[-7:] for warning in run(program).warnings] == ([] if ignored else ["[VJ126]"])
