"""Warnings about torchrun without a rendezvous, and about one process for several GPUs."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import PytorchPlugin, render
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, container, job, task

GPUS = {"limits": {"nvidia.com/gpu": 8}}
PYTORCH = "spec.plugins.pytorch"


def codes(document: Wire, **options: Any) -> list[str]:
    """Return the codes of a job's warnings."""
    return [warning.code for warning in render(document, **options).warnings]


def training(command: Any, plugin: PytorchPlugin | None = None, workers: int = 1, **fields: Any) -> Wire:
    """Build a PyTorch job whose master and workers have the same container."""
    containers = [container(command=command, **fields)]
    tasks = [task("master", containers=containers), task("worker", workers, containers=containers)]
    return job(*tasks, plugins=[plugin or PytorchPlugin()])


def script(text: str) -> list[str]:
    """Return a command that runs a shell script."""
    return ["bash", "-c", text]


ALONE: dict[str, Any] = {
    "torchrun": ["torchrun", "train.py"],
    "a path": ["/opt/conda/bin/torchrun", "--nproc-per-node=8", "train.py"],
    "the module run": ["python", "-m", "torch.distributed.run", "--nproc_per_node", "8", "train.py"],
    "the module launch": ["python3", "-u", "-m", "torch.distributed.launch", "train.py"],
    "a script": script("pip install -r requirements.txt && exec torchrun train.py"),
    "variables before it": script("OMP_NUM_THREADS=1 torchrun --nproc_per_node=$GPUS train.py"),
    "only this Pod": ["torchrun", "--standalone", "train.py"],
    "one node": ["torchrun", "--nnodes=1", "--nproc-per-node=8", "train.py"],
    "one node as two arguments": ["torchrun", "--nnodes", "1", "train.py"],
    "a rank without nodes": ["torchrun", "--node_rank=$(RANK)", "--master_addr=$(MASTER_ADDR)", "train.py"],
    "a login shell": ["/bin/bash", "-lc", "set -e\ncd /src\ntorchrun train.py 2>&1 | tee log"],
    "a timeout": ["timeout", "1h", "torchrun", "train.py"],
    "a variable with the command": script(
        'LAUNCH="python -m torch.distributed.run --nproc_per_node 8"\n$LAUNCH train.py'
    ),
    "a variable with the arguments": script("export ARGS='--nproc_per_node 8'; torchrun $ARGS train.py"),
    "nodes of the script": ["torchrun", "train.py", "--nnodes", "2"],
    "accelerate": ["accelerate", "launch", "--multi_gpu", "--num_processes", "8", "train.py"],
    "accelerate with one machine": ["accelerate", "launch", "--num_machines=1", "train.py"],
    "deepspeed": script("deepspeed --num_gpus 8 train.py --deepspeed ds.json"),
}


@pytest.mark.parametrize("command", ALONE.values(), ids=ALONE)
def test_torchrun_without_a_rendezvous_has_a_warning(command: Any) -> None:
    """Every Pod would train alone, and succeed."""
    assert codes(training(command)) == ["VJ120"]


@pytest.mark.parametrize("launcher", [["accelerate", "launch"], ["deepspeed"]], ids=["accelerate", "deepspeed"])
def test_the_message_names_the_launcher_and_its_fix(launcher: list[str], snapshot: SnapshotAssertion) -> None:
    """These launchers do not read the variables that the option torchrun sets."""
    (warning,) = render(training([*launcher, "train.py"], PytorchPlugin(torchrun=True))).warnings

    assert str(warning) == snapshot


def test_the_message_about_torchrun_names_the_tasks_and_the_fix(snapshot: SnapshotAssertion) -> None:
    """Volcano's controllers cannot set a rank in each Pod, but an elastic job needs none."""
    whole = training(["torchrun", "train.py"])
    worker_only = training(["torchrun", "train.py"])
    worker_only["spec"]["tasks"][0] = task("master", containers=[container(command=["python", "train.py"])])

    messages = [
        str(warning)
        for document, mode in ((whole, "pulumi"), (whole, "volcano"), (worker_only, "pulumi"))
        for warning in render(document, managed_by=mode).warnings  # type: ignore[arg-type]
    ]

    assert all(message.startswith(f"{PYTORCH}: ") for message in messages)
    assert messages == snapshot


TOGETHER: dict[str, Wire] = {
    "the option of the plugin": training(["torchrun", "train.py"], PytorchPlugin(torchrun=True)),
    "an elastic job": training(["torchrun", "train.py"], PytorchPlugin(max_nodes=4)),
    "nodes": training(["torchrun", "--nnodes=2", "--node-rank=$(RANK)", "train.py"]),
    "ten nodes": training(["torchrun", "--nnodes=10", "train.py"]),
    "from one node": training(["torchrun", "--nnodes=1:2", "train.py"]),
    "nodes as a variable": training(script("torchrun --nnodes $WORLD_SIZE --node_rank $RANK train.py")),
    "a rendezvous": training(["torchrun", "--rdzv-endpoint=$(MASTER_ADDR):29500", "train.py"]),
    "variables in env": training(["torchrun", "train.py"], env=[{"name": "PET_NNODES", "value": "2"}]),
    "variables in a script": training(script("export PET_RDZV_ENDPOINT=$MASTER_ADDR:29500\ntorchrun train.py")),
    "variables that are not known": training(["torchrun", "t.py"], envFrom=[{"configMapRef": {"name": "torch"}}]),
    "arguments in a variable": training(script("torchrun $TORCHRUN_ARGS train.py")),
    "arguments in a variable of Kubernetes": training(["torchrun", "$(FLAGS)", "train.py"]),
    "arguments of the script": training(["sh", "-c", 'torchrun "$@"', "sh"]),
    "arguments in a variable with nodes": training(script('ARGS="--nnodes $N --node_rank $RANK"\ntorchrun $ARGS t.py')),
    "arguments in one of two variables": training(
        script('if [ $N = 1 ]; then A="--standalone"; else A="--nnodes $N"; fi; torchrun $A t.py')
    ),
    "arguments in an array": training(script('ARGS=(--nnodes 2)\ntorchrun "${ARGS[@]}" t.py')),
    "accelerate with machines": training(
        ["accelerate", "launch", "--num_machines=2", "--machine_rank=$(RANK)", "t.py"]
    ),
    "accelerate with a file": training(["accelerate", "launch", "--config_file", "/etc/accelerate.yaml", "t.py"]),
    "deepspeed with hosts": training(["deepspeed", "--hostfile=/job/hostfile", "t.py"]),
    "a file": training(["bash", "torchrun.sh"]),
    "a message": training(script("echo torchrun starts; ./train")),
    "an Output": training(Leaf("command")),
    "one Pod": training(["torchrun", "train.py"], workers=0),
    "without the plugin": job(task("worker", 2, containers=[container(command=["torchrun", "train.py"])])),
    "another task": job(
        task("master"),
        task("worker"),
        task("eval", containers=[container(command=["torchrun", "eval.py"])]),
        plugins=[PytorchPlugin()],
    ),
}


@pytest.mark.parametrize("document", TOGETHER.values(), ids=TOGETHER)
def test_torchrun_with_a_rendezvous_has_no_warning(document: Wire) -> None:
    """The same is true if the rendezvous is not known."""
    assert codes(document) == []


ONE_PROCESS: dict[str, Any] = {
    "a file": ["python", "train.py"],
    "a module": ["python3.11", "-m", "trainer.main"],
    "a script": script("pip install -r requirements.txt\npython -u train.py --epochs 3; echo done"),
}


@pytest.mark.parametrize("command", ONE_PROCESS.values(), ids=ONE_PROCESS)
def test_one_process_for_several_gpus_has_a_warning(command: Any) -> None:
    """RANK and WORLD_SIZE count Pods."""
    visible = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]

    assert codes(training(command, resources=GPUS)) == ["VJ140"]
    assert codes(training(command, resources=GPUS, env=visible)) == ["VJ140"]


def test_the_message_about_one_process_names_the_fix(snapshot: SnapshotAssertion) -> None:
    """If the plugin sets the variables of torchrun, the command must still start it."""
    command = ["python", "train.py"]

    messages = [
        str(render(training(command, plugin, resources=GPUS)).warnings[0])
        for plugin in (PytorchPlugin(), PytorchPlugin(torchrun=True))
    ]

    assert messages == snapshot


ALL_GPUS: dict[str, Wire] = {
    "one GPU": training(["python", "train.py"], resources={"limits": {"nvidia.com/gpu": 1}}),
    "no GPU": training(["python", "train.py"]),
    "GPUs that are not known": training(["python", "train.py"], resources=Leaf("resources")),
    "accelerate": training(["accelerate", "launch", "--num_machines=2", "train.py"], resources=GPUS),
    "deepspeed": training(script("deepspeed --hostfile /job/hostfile train.py"), resources=GPUS),
    "its own processes": training(["python", "train.py", "--nproc_per_node=8"], resources=GPUS),
    "devices of Lightning": training(["python", "train.py", "--devices=8"], resources=GPUS),
    "a variable for processes": training(
        ["python", "train.py"], resources=GPUS, env=[{"name": "NPROC_PER_NODE", "value": "8"}]
    ),
    "variables that are not known": training(
        ["python", "train.py"], resources=GPUS, envFrom=[{"configMapRef": {"name": "settings"}}]
    ),
    "a server of a model": training(["python", "-m", "vllm.entrypoints.openai.api_server"], resources=GPUS),
    "code": training(["python", "-c", "import train; train.main()"], resources=GPUS),
    "a launcher after a Python program": training(script("python prepare.py && ./train"), resources=GPUS),
    "one Pod": training(["python", "train.py"], workers=0, resources=GPUS),
    "an image without a command": training(None, resources=GPUS),
    "another plugin": job(
        task("worker", 2, containers=[container(command=["python", "train.py"], resources=GPUS)]), plugins={"svc": []}
    ),
}


@pytest.mark.parametrize("document", ALL_GPUS.values(), ids=ALL_GPUS)
def test_a_program_that_may_use_all_gpus_has_no_warning(document: Wire) -> None:
    """The warning is only for the likely case."""
    assert codes(document) == []
