"""Warnings about commands that do not use all Pods or all GPUs of a PyTorch job."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import Leaf, has_leaf
from pulumi_volcano_jobs.core.phrases import listed
from pulumi_volcano_jobs.kubernetes import commands
from pulumi_volcano_jobs.kubernetes.commands import ShellCommand
from pulumi_volcano_jobs.kubernetes.container_lists import containers_in
from pulumi_volcano_jobs.kubernetes.manifest import Manifest
from pulumi_volcano_jobs.plugins import PytorchPlugin
from pulumi_volcano_jobs.plugins.resource_requests import accelerators
from pulumi_volcano_jobs.plugins.settings import path_of
from pulumi_volcano_jobs.spec.model import Job, Task

_PYTHON = re.compile(r"python[\d.]*")
_LAUNCH_MODULES = frozenset({"torch.distributed.run", "torch.distributed.launch"})
_TORCHRUN, _ACCELERATE, _DEEPSPEED = "torchrun", "accelerate launch", "deepspeed"
# Options with which a launcher knows the other Pods. A job of one node has no rendezvous.
_RENDEZVOUS = {
    _TORCHRUN: re.compile(r"--?nnodes(?![= ]1(?![\d:]))|--?rdzv"),
    _ACCELERATE: re.compile(r"--num[-_]machines(?![= ]1(?!\d))|--config[-_]file"),
    _DEEPSPEED: re.compile(r"--hostfile|-H\b|--include|--launcher\b|--num_nodes(?![= ]1(?!\d))|--no_ssh|--node_rank"),
}
_VARIABLES = re.compile(r"PET_NNODES|PET_RDZV")
# A word of an argument or variable by which the program may start a process for each GPU itself, or use all GPUs in one
# process.
_OWN_PROCESSES = re.compile(
    r"torchrun|torch\.distributed|accelerate|deepspeed|horovod|lightning|mpirun|mpiexec|composer|colossal|spawn|launch"
    r"|multiproc|\bray\b|vllm|sglang|nproc|num[-_]?(?:gpu|proc|device)|n[-_]?gpu|\bgpus?\b|devices|parallel|node[-_]?rank",
    re.IGNORECASE,
)
# Variables that say nothing about the processes of a program that torchrun does not start.
_NEUTRAL = ("NVIDIA_", "PET_", "VC_", "VK_")
_MINOR = frozenset({"cp", "echo", "exit", "rm", "sleep", "tail", "tee", "touch", "true", "wait"})


def warnings(
    job: Job, pytorch: PytorchPlugin, first_pods: Mapping[str, Manifest], *, native: bool
) -> Iterator[Problem]:
    """Yield a warning about torchrun without a rendezvous, and about one process for several GPUs."""
    roles = [task for task in job.tasks or () if task.name in {pytorch.master, pytorch.worker} and task.size]
    if sum(task.size for task in roles) < 2 or job.task(pytorch.master) is None:  # noqa: PLR2004  # one Pod needs neither
        return
    containers = [(task, item) for task in roles for item in containers_in(first_pods[task.name or ""]["spec"])]
    path, setting = path_of(PytorchPlugin), "max_nodes" if native else "torchrun"
    started = [(task, _alone(container)) for task, container in containers]
    for launcher in _RENDEZVOUS:
        if alone := _names(task for task, found in started if launcher in found):
            reason = f"{launcher} of {alone} starts without a rendezvous, so each Pod trains alone"
            yield Problem(path, "Warning", reason, _fix(launcher, setting), code="VJ120")
    if single := _names(task for task, container in containers if _uses_one_accelerator(container)):
        reason = (
            f"one process starts for all accelerators of a Pod in {single}, and RANK counts Pods, so the program"
            " probably uses one accelerator of each Pod"
        )
        has_variables = pytorch.torchrun or pytorch.is_elastic
        hint = "start the program with torchrun" + ("" if has_variables else f" and set pytorch.{setting}")
        yield Problem(path, "Warning", reason, hint, code="VJ140")


def _names(tasks: Iterable[Task]) -> str:
    names = dict.fromkeys(task.name or "" for task in tasks)
    return listed("task", list(names)) if names else ""


def _fix(launcher: str, setting: str) -> str:
    if launcher == _TORCHRUN:
        return f"set pytorch.{setting}, or pass --nnodes and --rdzv-endpoint to torchrun"
    if launcher == _ACCELERATE:
        return "pass --num_machines, --machine_rank, --main_process_ip and --main_process_port to accelerate"
    return f"start the program with torchrun instead, and set pytorch.{setting}"


def _alone(container: Mapping[str, Any]) -> frozenset[str]:
    """Return the launchers of a container that do not know of other Pods."""
    arguments = commands.arguments_of(container)
    if arguments is None:
        return frozenset()
    started = [_launched(command) for command in commands.run_by(arguments)]
    alone = {
        launcher
        for launcher, options in filter(None, started)
        if not any(map(_is_opaque, options)) and not _RENDEZVOUS[launcher].search(" ".join(options))
    }
    return frozenset(alone - {_TORCHRUN} if _has_variables(container, arguments) else alone)


def _has_variables(container: Mapping[str, Any], arguments: Sequence[str]) -> bool:
    """Check whether a variable may tell torchrun of other Pods."""
    variables = container.get("env") or ()
    return _has_config_map(container) or bool(
        _VARIABLES.search(" ".join([*arguments, *(entry["name"] for entry in variables)]))
    )


def _has_config_map(container: Mapping[str, Any]) -> bool:
    """Check whether a container has variables of a ConfigMap, whose names are not known."""
    sources = container.get("envFrom")
    return has_leaf(sources) or any("configMapRef" in source for source in sources or ())


def _launched(command: ShellCommand) -> tuple[str, Sequence[str]] | None:
    """Return the launcher that a command starts, with its arguments up to the script, or None."""
    words = command.words[1:]
    if command.program == "torchrun":
        launcher = _TORCHRUN
    elif _PYTHON.fullmatch(command.program) and (module := _module(command)) and module[0] in _LAUNCH_MODULES:
        launcher, words = _TORCHRUN, tuple(module[1:])
    elif command.program == "deepspeed":
        launcher = _DEEPSPEED
    elif command.program == "accelerate" and words[:1] == ("launch",):
        launcher = _ACCELERATE
    else:
        return None
    end = next((index for index, word in enumerate(words) if word.endswith(".py")), len(words))
    return launcher, words[:end]


def _is_opaque(word: str) -> bool:
    """Check whether a word as a whole is a variable, which may contain a rendezvous."""
    return bool(re.fullmatch(r"\$(?:\w+|@|\*|\{[^}]*\}|\([^()]*\))", word))


def _module(command: ShellCommand) -> Sequence[str]:
    """Return the module of `python -m MODULE` and its arguments."""
    for index, word in enumerate(command.words[1:], 1):
        if word == "-m":
            return command.words[index + 1 :]
        if not word.startswith("-"):
            break
    return ()


def _uses_one_accelerator(container: Mapping[str, Any]) -> bool:
    arguments, count = commands.arguments_of(container), accelerators(container)
    if arguments is None or isinstance(count, Leaf) or count < 2:  # noqa: PLR2004
        return False
    names = [entry["name"] for entry in container.get("env") or () if not entry["name"].startswith(_NEUTRAL)]
    if _has_config_map(container) or any(map(_OWN_PROCESSES.search, [*arguments, *names])):
        return False
    major = [command for command in commands.run_by(arguments) if command.program not in _MINOR]
    return any(map(_is_plain_python, major[-1:]))


def _is_plain_python(command: ShellCommand) -> bool:
    """Check whether a command runs a script or a module with Python."""
    arguments = command.words[1:]
    is_inline = "-c" in arguments[:1]
    return bool(_PYTHON.fullmatch(command.program)) and bool(arguments) and not is_inline
