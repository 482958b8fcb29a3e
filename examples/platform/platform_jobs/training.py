"""`TrainingJob`: a PyTorch job as this platform runs it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pulumi

from platform_jobs.teams import TEAMS
from pulumi_volcano_jobs import (
    ContainerDict,
    JobDefaults,
    JobError,
    PodTemplateSpecDict,
    Problem,
    PytorchPlugin,
    TaskArgs,
    VolcanoJob,
    presets,
)

GPUS = (1, 2, 4, 8)
"""How many GPUs of a node a Pod may have."""
CPUS_OF_GPU = 8
MEMORY_OF_GPU = 64
SHM_OF_GPU = 16
"""What comes with each GPU: CPUs, GiB of memory, and GiB of that at /dev/shm."""


class TrainingError(JobError, pulumi.RunError):
    """Arguments that this platform refuses; Pulumi shows a RunError without a traceback."""


@dataclass(frozen=True, kw_only=True)
class TrainingJobArgs:
    """What a team says of a job; all else is the platform's."""

    team: str
    """One of `TEAMS`."""
    queue: pulumi.Input[str]
    """The team's queue, of the stack that owns it: `Queues().of(team)`."""
    image: pulumi.Input[str]
    """Without a registry, it is of the stack's `volcano-jobs:imageRegistry`."""
    script: str
    """What torchrun starts, once for each GPU."""
    arguments: Sequence[pulumi.Input[str]] = ()
    """Arguments of the script."""
    env: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """Variables; secrets stay secret."""
    nodes: int = 1
    """How many Pods."""
    gpus: int = 1
    """How many GPUs each Pod has, with their share of the node's CPUs and memory."""


class TrainingJob(pulumi.ComponentResource):
    """A job of PyTorch: torchrun on each node, in the team's queue, at the team's cost."""

    job: VolcanoJob
    """The job itself, for what this component has no output of."""
    name: pulumi.Output[str]
    queue: pulumi.Output[str]
    pods: pulumi.Output[list[str]]
    master_address: pulumi.Output[str]

    def __init__(self, name: str, args: TrainingJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Make a job.

        Args:
            name: the name of the resource, and of the job.
            args: what the team says of it.
            opts: as for every component.

        Raises:
            TrainingError: with all that this platform refuses; nothing has been made then.
            pulumi.RunError: with all that cannot be a job.
        """
        problems = list(_problems(name, args))
        if problems:
            raise TrainingError(problems)
        super().__init__("platform:index:TrainingJob", name, {}, opts)
        pod = _template(args)
        tasks: list[TaskArgs] = [{"name": "master", "replicas": 1, "template": pod}]
        if args.nodes > 1:
            tasks.append({"name": "worker", "replicas": args.nodes - 1, "template": pod})
        self.job = VolcanoJob(
            name,
            queue=args.queue,
            defaults="recommended",
            job_defaults=JobDefaults(labels=TEAMS[args.team].labels),
            plugins=[PytorchPlugin()],
            tasks=tasks,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.name = self.job.name
        self.queue = pulumi.Output.from_input(args.queue)
        self.pods = self.job.pod_names
        self.master_address = self.job.pytorch.master_address
        self.register_outputs(
            {"name": self.name, "queue": self.queue, "pods": self.pods, "masterAddress": self.master_address}
        )


def _problems(name: str, args: TrainingJobArgs) -> Iterator[Problem]:
    team = TEAMS.get(args.team)
    if team is None:
        supported = f"supported values: {', '.join(map(json.dumps, TEAMS))}"
        hint = "use one of them, or add the team to platform_jobs/teams.py"
        yield Problem(f"{name}.team", "NotSupported", supported, hint, json.dumps(args.team))
    if isinstance(args.arguments, str):
        # To Python and its type checkers, a string is also a sequence of strings.
        yield Problem(f"{name}.arguments", "TypeInvalid", "must be a list", f"write {args.arguments.split()}")
    if args.nodes < 1:
        yield Problem(f"{name}.nodes", "Invalid", "must be at least 1", value=str(args.nodes))
    if args.gpus not in GPUS:
        reason = f"supported values: {', '.join(map(str, GPUS))}, because other numbers leave GPUs of a node unused"
        yield Problem(f"{name}.gpus", "NotSupported", reason, value=str(args.gpus))
    elif team and args.nodes * args.gpus > team.gpus:
        reason = f"the job needs {args.nodes * args.gpus} GPUs, but the queue of {team.name} has {team.gpus}"
        yield Problem(f"{name}.nodes", "Invalid", reason, "use fewer nodes", str(args.nodes))


def _template(args: TrainingJobArgs) -> PodTemplateSpecDict:
    amounts = {
        "cpu": str(CPUS_OF_GPU * args.gpus),
        "memory": f"{MEMORY_OF_GPU * args.gpus}Gi",
        presets.NVIDIA_GPU: str(args.gpus),
    }
    container: ContainerDict = {
        "name": "train",
        "image": args.image,
        "command": ["torchrun", args.script, *args.arguments],
        "env": [{"name": name, "value": value} for name, value in args.env.items()],
        "resources": {"requests": amounts, "limits": amounts},
    }
    return presets.apply(
        {"spec": {"restartPolicy": "OnFailure", "containers": [container]}},
        presets.shm(f"{SHM_OF_GPU * args.gpus}Gi"),
        presets.nccl(interface="eth", debug="WARN"),
        presets.no_istio_sidecar(),
    )
