"""Options of the ray plugin: the command of the head, further arguments, requested resources, probes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import RayPlugin, render
from pulumi_volcano_jobs.core.leaf import Derived, Leaf, substitute
from pulumi_volcano_jobs.plugins.context import JobContext
from tests.conftest import Wire, container, job, problems, task, typed

HEAD = "ray start --head --block --dashboard-host=0.0.0.0 --port=6379 --dashboard-port=8265"
HEAD += " --ray-client-server-port=10001"
WORKER = "ray start --block --address=train-head-0.train:6379"
OPEN_HEAD = HEAD.replace(" --block", "")


def ray(head: Wire | None = None, worker: Wire | None = None, workers: int = 1, **settings: Any) -> Wire:
    """Build a Ray job; `head` and `worker` are fields of their containers."""
    tasks = (
        task("head", containers=[container("head", **head or {})]),
        task("worker", workers, containers=[container("worker", **worker or {})]),
    )
    return job(*tasks, plugins=[RayPlugin(**settings)])


def containers(document: Wire, **choices: Any) -> tuple[Wire, Wire]:
    """Return the container of the head and that of the workers."""
    firsts = render(document, **choices).first_pods
    return firsts["head"]["spec"]["containers"][0], firsts["worker"]["spec"]["containers"][0]


def commands(document: Wire, **choices: Any) -> tuple[Any, Any]:
    """Return the commands of both containers."""
    head, worker = containers(document, **choices)
    return head["command"], worker["command"]


def test_without_options_the_commands_are_those_of_volcano() -> None:
    """Ray has no recommended options, because some images cannot answer its probes."""
    own = {"command": ["python", "driver.py"], "args": ["--fast"], "resources": {"requests": {"cpu": 2}}}
    document = ray(own, own)

    assert commands(document) == (["sh", "-c", HEAD], ["sh", "-c", WORKER])
    assert containers(document)[0]["args"] == ["--fast"]
    assert containers(document, defaults="recommended") == containers(document)


def test_the_command_of_the_head_runs_after_ray_has_started() -> None:
    """It replaces the waiting shell. The command of the workers is overridden."""
    head, worker = containers(
        ray({"command": ["python", "d.py"], "args": ["--x"]}, {"command": ["y"]}, keep_command=True)
    )

    assert head["command"] == ["sh", "-c", f'{OPEN_HEAD} && exec "$@"', "sh", "python", "d.py"]
    assert head["args"] == ["--x"]
    assert worker["command"] == ["sh", "-c", WORKER]


def test_the_command_of_the_head_needs_no_quotes(tmp_path: Path) -> None:
    """It runs unchanged after a successful `ray start`."""
    odd = ["printf", "%s|", "a b", "it's", '"$HOME"', "$(id)", "*", "", "-c"]
    made, _ = containers(ray({"command": odd[:4], "args": odd[4:]}, keep_command=True, head_start_args=["--x='a b'"]))
    stub = tmp_path / "ray"
    stub.write_text('#!/bin/sh\nprintf "%s|" "$@" >&2\nexit "$ENDS"\n', "utf-8")
    stub.chmod(0o755)

    def run(ends: str) -> subprocess.CompletedProcess[str]:
        path = {"PATH": f"{tmp_path}:/usr/bin:/bin", "ENDS": ends}
        return subprocess.run(made["command"] + made["args"], env=path, capture_output=True, text=True, check=False)

    done, failed = run("0"), run("3")
    assert (done.stdout, done.returncode) == ("".join(f"{word}|" for word in odd[2:]), 0)
    assert done.stderr.endswith("|--ray-client-server-port=10001|--x='a b'|")
    assert (failed.stdout, failed.returncode) == ("", 3)


def test_an_unknown_command_is_kept() -> None:
    """One word of it or the whole command can be unknown."""
    word, _ = commands(ray({"command": ["python", Leaf("x")]}, keep_command=True))
    whole, _ = commands(ray({"command": Leaf("x")}, keep_command=True))

    assert (word[:5], type(word[5])) == (["sh", "-c", f'{OPEN_HEAD} && exec "$@"', "sh", "python"], Leaf)
    assert isinstance(whole, Derived)
    assert substitute(whole, lambda _: ["python", "d.py"]) == [*word[:4], "python", "d.py"]


def test_ray_start_gets_further_arguments() -> None:
    """They are quoted, and can be tuples or lists of YAML."""
    found = commands(ray(head_start_args=("--num-cpus=0", "--system-config={}"), worker_start_args=["--labels=a=b c"]))

    assert found == (
        ["sh", "-c", f"{HEAD} --num-cpus=0 '--system-config={{}}'"],
        ["sh", "-c", f"{WORKER} '--labels=a=b c'"],
    )


RESOURCES: dict[str, tuple[Wire, str]] = {
    "all three": (
        {"requests": {"cpu": 4, "memory": "16Gi"}, "limits": {"nvidia.com/gpu": 2}},
        " --num-cpus=4 --num-gpus=2 --memory=17179869184",
    ),
    "a begun CPU": ({"requests": {"cpu": "1500m"}}, " --num-cpus=2"),
    "the request before the limit": ({"requests": {"cpu": 2}, "limits": {"cpu": 8}}, " --num-cpus=2"),
    "the limit for want of a request": ({"limits": {"memory": "1.5k"}}, " --memory=1500"),
    "several kinds of GPU": ({"limits": {"nvidia.com/gpu": 1, "nvidia.com/mig-1g.5gb": 2}}, " --num-gpus=3"),
    "nothing": ({}, ""),
}


@pytest.mark.parametrize(("resources", "told"), RESOURCES.values(), ids=RESOURCES)
def test_ray_gets_the_resources_that_its_container_requests(resources: Wire, told: str) -> None:
    """On the head and on workers."""
    found = commands(ray({"resources": resources}, {"resources": resources}, requested_resources=True))

    assert found == (["sh", "-c", HEAD + told], ["sh", "-c", WORKER + told])


def test_an_explicit_amount_overrides_the_requested_one() -> None:
    """Such as a head that runs no tasks."""
    resources = {"resources": {"requests": {"cpu": 2, "memory": 1024}}}
    settings = {"requested_resources": True, "head_start_args": ("--num-cpus", "0")}
    head, worker = commands(ray(resources, resources, **settings))

    assert head == ["sh", "-c", f"{HEAD} --memory=1024 --num-cpus 0"]
    assert worker == ["sh", "-c", f"{WORKER} --num-cpus=2 --memory=1024"]


@pytest.mark.parametrize("unknown", [{"requests": {"cpu": Leaf("x")}}, {"requests": Leaf("x")}, Leaf("x")])
def test_unknown_amounts_make_only_the_command_line_unknown(unknown: Any) -> None:
    """The command of the head follows it."""
    known = 3 if isinstance(unknown, dict) and isinstance(unknown["requests"], dict) else {"cpu": 3}
    known = known if isinstance(unknown, dict) else {"requests": known}
    head = {"command": ["python"], "resources": unknown}
    found, _ = commands(ray(head, requested_resources=True, keep_command=True))

    assert [type(word) for word in found] == [str, str, Derived, str, str]
    assert substitute(found[2], lambda _: known) == f'{OPEN_HEAD} --num-cpus=3 && exec "$@"'


def probe(path: str, port: int, delay: int, failures: int) -> Wire:
    """Return a probe."""
    times = {"initialDelaySeconds": delay, "periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": failures}
    return {"httpGet": {"path": path, "port": port}} | times


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
def test_probes_check_gcs_on_the_head_and_the_raylet_on_workers(mode: Any) -> None:
    """In both modes; probes of the template stay."""
    own = {"exec": {"command": ["true"]}}
    made = render(ray(worker={"livenessProbe": own}, probes=True, dashboard_port=8000), managed_by=mode)
    pods = [made.first_pods[name] for name in ("head", "worker")]
    templates = [item["template"] for item in made.native_job.to_manifest()["spec"]["tasks"]]
    head, worker = (item["spec"]["containers"][0] for item in (pods if mode == "pulumi" else templates))

    assert head["readinessProbe"] == probe("/api/gcs_healthz", 8000, 10, 10)
    assert head["livenessProbe"] == probe("/api/gcs_healthz", 8000, 30, 120)
    assert worker["readinessProbe"] == probe("/api/local_raylet_healthz", 52365, 10, 10)
    assert worker["livenessProbe"] == own


@pytest.mark.parametrize(
    ("arguments", "port"),
    [
        (("--dashboard-agent-listen-port=5000",), 5000),
        (("--labels=a=b", "--dashboard-agent-listen-port", "5000", "--num-cpus=1"), 5000),
        (("--dashboard-agent-listen-port",), 52365),
        (("--dashboard-agent-listen-port=auto",), 52365),
    ],
)
def test_probes_of_workers_use_the_port_of_their_agent(arguments: tuple[str, ...], port: int) -> None:
    """If the arguments have the port."""
    _, worker = containers(ray(probes=True, worker_start_args=arguments))

    assert worker["readinessProbe"]["httpGet"]["port"] == port


def test_other_containers_have_no_probes_and_no_ray() -> None:
    """Such as sidecars."""
    document = ray(probes=True, requested_resources=True, head_start_args=("--x",))
    document["spec"]["tasks"][0]["template"]["spec"]["containers"].append(container("sidecar"))
    _, sidecar = render(document).pods[0]["spec"]["containers"]

    assert not sidecar.keys() & {"command", "readinessProbe", "livenessProbe"}


def test_scaling_changes_no_pod() -> None:
    """Ray accepts new workers."""
    settings = {"keep_command": True, "probes": True, "requested_resources": True, "worker_start_args": ("--x",)}
    small, large = (render(ray({"command": ["python"]}, workers=size, **settings)) for size in (1, 5))

    assert small.first_pods == large.first_pods
    assert RayPlugin(**settings).on_job_update(JobContext(small.job)).scaled_env == frozenset()


PLUGIN = "spec.plugins.ray"
WRONG: dict[str, tuple[Wire | Callable[[], Wire], list[tuple[str, str]]]] = {
    "no command to keep": (
        ray({"args": ["--x"]}, keep_command=True),
        [("spec.tasks[0].template.spec.containers[0]", "Required")],
    ),
    "arguments in one text": (
        lambda: ray(head_start_args="--num-cpus=0"),
        [(f"{PLUGIN}.head_start_args", "TypeInvalid")],
    ),
    "arguments that are not strings": (
        ray(worker_start_args=("--num-cpus", 4)),
        [(f"{PLUGIN}.worker_start_args", "TypeInvalid")],
    ),
    "arguments that the plugin gives": (
        ray(head_start_args=("--port=1",), worker_start_args=("--block",)),
        [(f"{PLUGIN}.head_start_args", "Forbidden"), (f"{PLUGIN}.worker_start_args", "Forbidden")],
    ),
}


@pytest.mark.parametrize(("document", "expected"), WRONG.values(), ids=WRONG)
def test_a_wrong_option_is_rejected(
    document: Wire | Callable[[], Wire], expected: list[tuple[str, str]], snapshot: SnapshotAssertion
) -> None:
    """The path is that of the option, or of the container without a command."""
    found = [problem for problem in problems(document) if not problem.warning]

    assert typed(found) == expected
    assert list(map(str, found)) == snapshot


NOT_NATIVE: dict[str, Any] = {
    "head_start_args": ("--num-cpus=0",),
    "keep_command": True,
    "requested_resources": True,
    "worker_start_args": ("--x",),
}


@pytest.mark.parametrize("setting", NOT_NATIVE)
def test_options_that_change_the_command_are_rejected_in_native_mode(setting: str, snapshot: SnapshotAssertion) -> None:
    """Volcano's plugin overrides the command."""
    value = NOT_NATIVE[setting]
    document = ray({"command": ["python"]}, **{setting: value})

    found = [problem for problem in problems(document, managed_by="volcano") if not problem.warning]

    assert typed(found) == [(f"{PLUGIN}.{setting}", "Forbidden")]
    assert found[0].value == (json.dumps(value) if isinstance(value, bool) else repr(value))
    assert str(found[0]) == snapshot


def test_lenient_mode_keeps_ray_running_without_a_command() -> None:
    """The container of the head would otherwise exit at once."""
    assert commands(ray(keep_command=True), strict=False)[0] == ["sh", "-c", HEAD]
