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
# A job of one node has no rendezvous.
_RENDEZVOUS = re.compile(r"--?nnodes(?![= ]1(?![\d:]))|--?rdzv|PET_NNODES|PET_RDZV")
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
    if alone := _names(task for task, container in containers if _trains_alone(container)):
        reason = f"torchrun of {alone} starts without a rendezvous, so each Pod trains alone"
        hint = f"set pytorch.{setting}, or pass --nnodes and --rdzv-endpoint to torchrun"
        yield Problem(path, "Warning", reason, hint, code="VJ120")
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


def _trains_alone(container: Mapping[str, Any]) -> bool:
    arguments = commands.arguments_of(container)
    if arguments is None or _has_rendezvous(container, arguments):
        return False
    found = [_options_of_torchrun(command) for command in commands.run_by(arguments)]
    started = [options for options in found if options is not None]
    return bool(started) and not any(_is_opaque(word) for options in started for word in options)


def _has_rendezvous(container: Mapping[str, Any], arguments: Sequence[str]) -> bool:
    """Check whether a variable or an argument may tell torchrun of other Pods."""
    variables = container.get("env") or ()
    values = [value for entry in variables if isinstance(value := entry.get("value"), str)]
    texts = [*arguments, *(entry["name"] for entry in variables), *values]
    return _has_config_map(container) or bool(_RENDEZVOUS.search(" ".join(texts)))


def _has_config_map(container: Mapping[str, Any]) -> bool:
    """Check whether a container has variables of a ConfigMap, whose names are not known."""
    sources = container.get("envFrom")
    return has_leaf(sources) or any("configMapRef" in source for source in sources or ())


def _options_of_torchrun(command: ShellCommand) -> Sequence[str] | None:
    """Return the arguments of torchrun up to the script, or None if the command is not torchrun."""
    if command.program == "torchrun":
        arguments: Sequence[str] = command.words[1:]
    elif _PYTHON.fullmatch(command.program) and (module := _module(command)) and module[0] in _LAUNCH_MODULES:
        arguments = module[1:]
    else:
        return None
    end = next((index for index, word in enumerate(arguments) if word.endswith(".py")), len(arguments))
    return arguments[:end]


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
