"""Options of the pytorch plugin: torchrun, elastic jobs, and a wait for the master that prints the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import EnvPlugin, JobContext, Plugin, PytorchPlugin, SshPlugin, SvcPlugin, render
from pulumi_volcano_jobs.core.leaf import Derived, Leaf, substitute
from pulumi_volcano_jobs.plugins.pytorch_torchrun import DEVICES
from pulumi_volcano_jobs.plugins.wait_containers import SCRIPT
from pulumi_volcano_jobs.testing import Resource, run
from tests.component.programs import new_job
from tests.conftest import Wire, container, job, problems, task, typed

PLACE = "spec.plugins.pytorch"
WAIT = "wait-for-master"
REPLICAS = 'metadata.annotations["pulumi.com/volcano-replicas"]'


def gang(plugin: Plugin, workers: int = 2, *others: Wire, more: tuple[Plugin, ...] = (), **fields: Any) -> Wire:
    """Build a job of one master and some workers. The keywords are fields of their containers."""
    tasks = (
        task(name, count, containers=[container(**fields)]) for name, count in (("master", 1), ("worker", workers))
    )
    return job(*tasks, *others, plugins=[plugin, *more])


def asking(**amounts: Any) -> Wire:
    """Return the resources of a container by their limits; `gpu` is NVIDIA's."""
    return {"limits": {"cpu": "4", **{"nvidia.com/gpu" if name == "gpu" else name: amounts[name] for name in amounts}}}


def env(pod: Wire, name: str = "main") -> dict[str, Any]:
    """Return the literal variables of a Pod's container."""
    spec = pod["spec"]
    (found,) = (item for item in [*spec["containers"], *spec.get("initContainers", ())] if item["name"] == name)
    return {entry["name"]: entry["value"] for entry in found.get("env", ()) if "value" in entry}


def torchrun_env(document: Wire, **choices: Any) -> dict[str, dict[str, Any]]:
    """Return torchrun's variables of each Pod."""
    pods = render(document, **choices).pods
    return {pod["metadata"]["name"]: {k: v for k, v in env(pod).items() if k.startswith("PET_")} for pod in pods}


def templates(document: Wire, **choices: Any) -> dict[str, Wire]:
    """Return the templates of the native Job by task name."""
    spec = render(document, managed_by="volcano", **choices).native_job.to_manifest()["spec"]
    return {item["name"]: item["template"] for item in spec["tasks"]}


def test_pytorch_sets_no_variables_of_torchrun_by_default() -> None:
    """Volcano's plugin does not set them."""
    assert set(map(len, torchrun_env(gang(PytorchPlugin())).values())) == {0}


def test_torchrun_gets_nodes_rank_and_master() -> None:
    """The classic variables stay."""
    document = gang(PytorchPlugin(torchrun=True, port=29500), 2, task("tensorboard"))

    world = {"PET_MASTER_ADDR": "train-master-0.train", "PET_MASTER_PORT": "29500", "PET_NNODES": "3"}
    assert torchrun_env(document) == {
        "train-master-0": {**world, "PET_NODE_RANK": "0"},
        "train-worker-0": {**world, "PET_NODE_RANK": "1"},
        "train-worker-1": {**world, "PET_NODE_RANK": "2"},
        "train-tensorboard-0": {},
    }
    assert env(render(document).pods[2])["RANK"] == "2"


def test_a_job_without_a_master_has_no_torchrun_variables() -> None:
    """In lenient mode it also has none of the classic variables."""
    (pod,) = render(job(task("worker"), plugins=[PytorchPlugin(torchrun=True)]), strict=False).pods

    assert env(pod) == {}


PROCESSES: dict[str, tuple[Any, Wire | None, str | None]] = {
    "no resources": ("request", None, None),
    "no accelerator": ("request", asking(), None),
    "GPUs": ("request", asking(gpu="8"), "8"),
    "a number of GPUs": ("request", asking(gpu=2), "2"),
    "none of them": ("request", asking(gpu="0"), "1"),
    "requested and limited": ("request", {"requests": {"amd.com/gpu": "4"}, **asking(**{"amd.com/gpu": "4"})}, "4"),
    "of two kinds": ("request", asking(**{"gpu.intel.com/i915": "1", "gpu.intel.com/xe": "1"}), "2"),
    "given": (4, asking(gpu="8"), "4"),
    "left to torchrun": ("auto", asking(gpu="8"), "auto"),
}


@pytest.mark.parametrize(("count", "resources", "expected"), PROCESSES.values(), ids=PROCESSES)
def test_torchrun_starts_a_process_for_each_accelerator(
    count: int | str, resources: Wire | None, expected: str | None
) -> None:
    """An explicit number takes precedence. Without accelerators torchrun has its own default."""
    fields: Wire = {"resources": resources} if resources else {}
    made = torchrun_env(gang(PytorchPlugin(torchrun=True, nproc_per_node=count), **fields))

    assert {name: variables.get("PET_NPROC_PER_NODE") for name, variables in made.items()} == dict.fromkeys(
        made, expected
    )


ACCELERATORS = (
    "nvidia.com/gpu",
    "nvidia.com/mig-1g.5gb",
    "amd.com/gpu",
    "gpu.intel.com/i915",
    "gpu.intel.com/xe",
    "habana.ai/gaudi",
    "huawei.com/Ascend910",
    "volcano.sh/vgpu-number",
)


@pytest.mark.parametrize("name", ACCELERATORS)
def test_accelerators_of_all_vendors_are_counted(name: str) -> None:
    """Each is a device of torch."""
    made = torchrun_env(gang(PytorchPlugin(torchrun=True), resources=asking(**{name: "3"})))

    assert made["train-worker-0"]["PET_NPROC_PER_NODE"] == "3"


UNKNOWN: dict[str, tuple[Any, Any, str]] = {
    "the amount": (asking(gpu=Leaf("gpus")), "4", "4"),
    "the limits": ({"limits": Leaf("limits")}, {"nvidia.com/gpu": "4"}, "4"),
    "limits without one": ({"limits": Leaf("limits")}, {"cpu": "4"}, "1"),
    "all": (Leaf("resources"), {"limits": {"nvidia.com/gpu": "4"}}, "4"),
    "nothing at all": (Leaf("resources"), None, "1"),
}


@pytest.mark.parametrize(("resources", "known", "expected"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_accelerators_make_the_number_of_processes_unknown(resources: Any, known: Any, expected: str) -> None:
    """The variable is set when the number is known."""
    made = torchrun_env(gang(PytorchPlugin(torchrun=True), resources=resources))

    value = made["train-master-0"]["PET_NPROC_PER_NODE"]
    assert isinstance(value, Derived)
    assert substitute(value, lambda _: known) == expected


def test_unknown_values_elsewhere_keep_the_number_of_processes() -> None:
    """Only the unknown value is unknown in the Pods."""
    made = torchrun_env(
        gang(PytorchPlugin(torchrun=True), resources={"limits": {"cpu": Leaf("cpu"), "amd.com/gpu": 2}})
    )

    assert made["train-master-0"]["PET_NPROC_PER_NODE"] == "2"


def test_an_elastic_job_has_its_master_as_rendezvous() -> None:
    """Only the Pod of the master hosts it. No rank is set."""
    world = {
        "PET_MAX_RESTARTS": "3",
        "PET_NNODES": "2:4",
        "PET_RDZV_BACKEND": "c10d",
        "PET_RDZV_ENDPOINT": "train-master-0.train:23456",
        "PET_RDZV_ID": "train",
    }
    made = torchrun_env(gang(PytorchPlugin(min_nodes=2, max_nodes=4), 1))

    assert made == {
        "train-master-0": {**world, "PET_RDZV_CONF": "is_host=1"},
        "train-worker-0": {**world, "PET_RDZV_CONF": "is_host=0"},
    }


def test_an_elastic_job_has_options_for_restarts_and_processes() -> None:
    """Setting torchrun in addition changes nothing."""
    chosen: Wire = {"max_nodes": 3, "max_restarts": 10, "nproc_per_node": "gpu"}
    made = torchrun_env(gang(PytorchPlugin(**chosen)))

    assert made == torchrun_env(gang(PytorchPlugin(**chosen, torchrun=True)))
    assert made["train-worker-1"]["PET_NNODES"] == "1:3"
    assert made["train-worker-1"]["PET_MAX_RESTARTS"] == "10"
    assert made["train-worker-1"]["PET_NPROC_PER_NODE"] == "gpu"


def test_native_mode_supports_elastic_jobs() -> None:
    """The variables are in the templates, because all Pods of a task have the same values."""
    document = gang(PytorchPlugin(max_nodes=4, torchrun=True), resources=asking(gpu="8"))
    pods = torchrun_env(document)

    made = templates(document)
    assert {name: env(template) for name, template in made.items()} == {
        "master": pods["train-master-0"],
        "worker": pods["train-worker-1"],
    }
    assert templates(gang(PytorchPlugin(max_nodes=4), 3)) == templates(gang(PytorchPlugin(max_nodes=4), 1))


def test_torchrun_without_max_nodes_is_rejected_in_native_mode(snapshot: SnapshotAssertion) -> None:
    """The rank differs from Pod to Pod, and the template of a task does not."""
    found = problems(gang(PytorchPlugin(torchrun=True)), managed_by="volcano")

    assert typed(found) == [(f"{PLACE}.torchrun", "Forbidden")]
    assert "max_nodes" in str(found[0])
    assert str(found[0]) == snapshot


def kept(document: Wire, plugin: PytorchPlugin, **choices: Any) -> dict[str, Wire]:
    """Return the first Pods without the variables that follow the replicas."""
    made = render(document, **choices)
    (chosen,) = (item for item in made.plugins if item.name == plugin.name)
    scaled = chosen.on_job_update(JobContext(made.job)).scaled_env
    for pod in made.first_pods.values():
        for item in pod["spec"]["containers"]:
            item["env"] = [entry for entry in item["env"] if entry["name"] not in scaled]
    return {name: pod["spec"] for name, pod in made.first_pods.items()}


SCALED: dict[str, tuple[PytorchPlugin, Wire, frozenset[str], bool]] = {
    "by default": (PytorchPlugin(), {}, frozenset({"WORLD_SIZE"}), True),
    "torchrun": (PytorchPlugin(torchrun=True), {}, frozenset({"WORLD_SIZE", "PET_NNODES"}), True),
    "elastic": (PytorchPlugin(max_nodes=9), {}, frozenset({"WORLD_SIZE"}), False),
    "elastic torchrun": (PytorchPlugin(max_nodes=9, torchrun=True), {}, frozenset({"WORLD_SIZE"}), False),
    "waiting": (
        PytorchPlugin(wait_master_enabled=True, wait_master_script="checked"),
        {},
        frozenset({"WORLD_SIZE"}),
        True,
    ),
    "recommended": (
        PytorchPlugin(),
        {"defaults": "recommended"},
        frozenset({"WORLD_SIZE", "PET_NNODES"}),
        True,
    ),
}


@pytest.mark.parametrize(("plugin", "choices", "scaled", "is_static"), SCALED.values(), ids=SCALED)
def test_scaling_changes_only_the_declared_variables(
    plugin: PytorchPlugin, choices: Wire, scaled: frozenset[str], *, is_static: bool
) -> None:
    """`on_scale` decides whether Pods are replaced; an elastic job accepts new Pods."""
    assert kept(gang(plugin, 2), plugin, **choices) == kept(gang(plugin, 5), plugin, **choices)
    made = render(gang(plugin), **choices)
    (update,) = (item.on_job_update(JobContext(made.job)) for item in made.plugins if item.name == "pytorch")
    assert (update.scaled_env, update.is_static) == (scaled, is_static)


@pytest.mark.parametrize(("most", "replaced"), [(0, True), (9, False)], ids=["fixed", "elastic"])
def test_scaling_a_static_job_replaces_all_pods(most: int, *, replaced: bool) -> None:
    """The annotation with the replicas changes, and the digest does not."""

    def pod(workers: int) -> Resource:
        spec = gang(PytorchPlugin(max_nodes=most, torchrun=True), workers)["spec"]

        def program() -> None:
            new_job("train", spec)

        return run(program).resources["Pod train-worker-0"]

    assert pod(2).replacement_trigger == pod(5).replacement_trigger
    assert (REPLICAS in pod(2).replace_on_changes) is replaced
    assert (REPLICAS in pod(2).ignore_changes) is not replaced


def test_an_elastic_job_may_start_with_fewer_pods() -> None:
    """VJ103 does not apply, because an elastic job runs with a part of its Pods."""
    document = gang(PytorchPlugin(max_nodes=4), 3)
    document["spec"]["minAvailable"] = 2

    assert render(document).warnings == ()


WRONG: dict[str, tuple[Wire | Callable[[], Wire], list[tuple[str, str]]]] = {
    "no process": (gang(PytorchPlugin(torchrun=True, nproc_per_node=0)), [(f"{PLACE}.nproc_per_node", "Invalid")]),
    "a device that there is not": (
        gang(PytorchPlugin(torchrun=True, nproc_per_node="gpus")),
        [(f"{PLACE}.nproc_per_node", "Invalid")],
    ),
    "processes of nothing": (gang(PytorchPlugin(nproc_per_node=2)), [(f"{PLACE}.nproc_per_node", "Forbidden")]),
    "elastic without an end": (
        gang(PytorchPlugin(min_nodes=2, max_restarts=1)),
        [(f"{PLACE}.max_restarts", "Forbidden"), (f"{PLACE}.min_nodes", "Forbidden")],
    ),
    "none at least": (
        gang(PytorchPlugin(min_nodes=0, max_nodes=4, max_restarts=-1)),
        [(f"{PLACE}.max_restarts", "Invalid"), (f"{PLACE}.min_nodes", "Invalid")],
    ),
    "more at least than at most": (gang(PytorchPlugin(min_nodes=4, max_nodes=2)), [(f"{PLACE}.max_nodes", "Invalid")]),
    "a negative number": (gang(PytorchPlugin(max_nodes=-1)), [(f"{PLACE}.max_nodes", "Invalid")]),
    "more Pods than nodes": (
        gang(PytorchPlugin(max_nodes=4), 4, task("tensorboard")),
        [(f"{PLACE}.max_nodes", "Invalid")],
    ),
    "fewer Pods than are needed": (
        gang(PytorchPlugin(min_nodes=4, max_nodes=8), 2),
        [(f"{PLACE}.min_nodes", "Invalid")],
    ),
    "a script that there is not": (
        lambda: gang(PytorchPlugin(wait_master_script="check")),
        [(f"{PLACE}.wait_master_script", "NotSupported")],
    ),
    "a variable of the template's own": (
        gang(PytorchPlugin(torchrun=True), env=[{"name": "PET_NNODES", "value": "7"}]),
        [(f"spec.tasks[{index}].template.spec.containers[0].env[0]", "Forbidden") for index in (0, 1)],
    ),
}


@pytest.mark.parametrize(("document", "expected"), WRONG.values(), ids=WRONG)
def test_options_that_cannot_work_are_rejected(
    document: Wire | Callable[[], Wire], expected: list[tuple[str, str]], snapshot: SnapshotAssertion
) -> None:
    """The message has the value and the fix."""
    found = problems(document)

    assert typed(found) == expected
    assert list(map(str, found)) == snapshot


def test_the_problem_of_an_option_has_the_path_of_the_option() -> None:
    """The path of the argument `--port` is another one."""
    document = job(task("master"), task("worker"), plugins={"pytorch": ["--port=29500"]})

    (found,) = problems(document, plugin_options={"pytorch": {"max_nodes": 1}})

    (same,) = problems(job(task("master"), task("worker"), plugins=[PytorchPlugin(max_nodes=1)]))
    assert typed([found, same]) == [("plugin_options.pytorch.max_nodes", "Invalid"), (f"{PLACE}.max_nodes", "Invalid")]
    assert (found.reason, found.value, found.hint) == (same.reason, same.value, same.hint)


@pytest.mark.parametrize("device", DEVICES)
def test_words_for_nproc_per_node_are_accepted(device: str) -> None:
    """Torchrun has these words."""
    made = torchrun_env(gang(PytorchPlugin(torchrun=True, nproc_per_node=device)))

    assert made["train-worker-0"]["PET_NPROC_PER_NODE"] == device


def waiter(spec: Wire) -> Wire:
    """Return the init container that waits."""
    (found,) = (item for item in spec.get("initContainers", ()) if item["name"] == WAIT)
    return dict(found)


def checked(**settings: Any) -> PytorchPlugin:
    """Return a plugin whose wait prints its reason."""
    return PytorchPlugin(wait_master_enabled=True, wait_master_script="checked", **settings)


def test_the_wait_copies_image_rights_and_resources_of_the_worker() -> None:
    """A namespace or a quota that accepts the worker also accepts the wait."""
    like: Wire = {
        "imagePullPolicy": "Always",
        "resources": asking(gpu="8"),
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000},
    }
    made = render(gang(checked(port=29500, wait_master_timeout=60), 1, **like))

    assert waiter(made.pods[1]["spec"]) == {
        "name": WAIT,
        "image": "example.org/image:1",
        **like,
        "command": ["sh", "-c", SCRIPT, "sh", "60", "busybox:1.36.1"],
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "env": [
            {"name": "MASTER_ADDR", "value": "train-master-0.train"},
            {"name": "MASTER_PORT", "value": "29500"},
            *(
                {"name": name, "valueFrom": {"configMapKeyRef": {"name": "train-svc", "key": name}}}
                for name in ("VC_MASTER_HOSTS", "VC_MASTER_NUM", "VC_WORKER_HOSTS", "VC_WORKER_NUM")
            ),
        ],
        "volumeMounts": [{"mountPath": "/etc/volcano", "name": "train-svc"}],
    }
    assert "initContainers" not in made.pods[0]["spec"]


def test_an_explicit_image_of_the_wait_is_used() -> None:
    """It can be Volcano's default. The pull policy of the worker does not apply to it."""
    document = gang(checked(wait_master_image="busybox:1.36.1"), imagePullPolicy="Never")

    found = waiter(render(document).pods[1]["spec"])
    assert found["image"] == "busybox:1.36.1"
    assert "imagePullPolicy" not in found


def test_an_unknown_image_is_one_leaf_in_both_containers() -> None:
    """The wait copies the image of the worker."""
    image = Leaf("image")

    assert waiter(render(gang(checked(), image=image)).pods[1]["spec"])["image"] is image


def test_base_plugins_extend_the_wait() -> None:
    """They run later and handle it as a container of the template."""
    plugin = checked()
    more: tuple[Plugin, ...] = (EnvPlugin(), SshPlugin(), SvcPlugin())
    spec = render(gang(plugin, 2, more=more)).pods[2]["spec"]

    (main,) = spec["containers"]
    found = waiter(spec)
    assert found["volumeMounts"] == main["volumeMounts"]
    names = {entry["name"] for entry in main["env"]}
    assert {entry["name"] for entry in found["env"]} == names - {"WORLD_SIZE", "RANK"}


def test_the_native_template_has_the_wait() -> None:
    """Volcano's plugin then adds none, because the name exists."""
    made = templates(gang(checked()))

    assert waiter(made["worker"]["spec"])["command"] == ["sh", "-c", SCRIPT, "sh", "300", "busybox:1.36.1"]
    assert "initContainers" not in made["master"]["spec"]


def test_an_init_container_of_the_template_replaces_the_wait() -> None:
    """Volcano's plugin does the same."""
    own = container(WAIT, command=["true"])
    document = job(task("master"), task("worker", initContainers=[own]), plugins=[checked()])

    assert waiter(render(document).pods[1]["spec"])["command"] == ["true"]
    assert templates(document)["worker"]["spec"]["initContainers"] == [own]


def test_wait_is_off_by_default() -> None:
    """Setting only the script does not turn it on."""
    document = gang(PytorchPlugin(wait_master_script="checked"))

    assert all("initContainers" not in pod["spec"] for pod in render(document).pods)


def test_the_recommended_job_has_the_wait_and_the_torchrun_variables() -> None:
    """The wait has the timeout of torch, 30 minutes."""
    made = render(gang(PytorchPlugin()), defaults="recommended")

    assert env(made.pods[1])["PET_NODE_RANK"] == "1"
    assert waiter(made.pods[1]["spec"])["command"][4] == "1800"


def test_recommended_options_omit_those_that_volcano_does_not_support() -> None:
    """The other options are on."""
    made = templates(gang(PytorchPlugin()), defaults="recommended")["worker"]

    assert env(made) == {}
    assert waiter(made["spec"])["command"][4] == "1800"


def test_explicit_options_override_recommended_ones() -> None:
    """Each option is independent."""
    plugin = PytorchPlugin(torchrun=False, wait_master_enabled=False)
    made = render(gang(plugin), defaults="recommended")

    assert torchrun_env(gang(plugin), defaults="recommended")["train-master-0"] == {}
    assert all("initContainers" not in pod["spec"] for pod in made.pods)


def test_a_task_without_containers_is_rejected() -> None:
    """The message has one problem and no traceback."""
    document = job(task("master"), task("worker", containers=[]), plugins=[checked()])

    assert typed(problems(document)) == [("spec.tasks[1].template.spec.containers", "Required")]
