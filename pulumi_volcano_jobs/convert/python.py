"""Python programs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.convert.formatter import Call, Module, Name
from pulumi_volcano_jobs.convert.program import Names, Program, Secrets, ordered_fields, resource_names, settings
from pulumi_volcano_jobs.plugins import BUILT_IN, Plugin
from pulumi_volcano_jobs.spec.model import Job, Model, Task

_PACKAGE = "pulumi_volcano_jobs"


def to_python(jobs: Sequence[Job], **options: Any) -> Program:
    """Write the Python program that makes jobs with typed plugins (`render_normalized`), with the same options."""
    names = resource_names(jobs)
    secrets = Secrets(names)
    module = Module(_docstring(jobs))
    pods = _shared_pods(jobs, module)
    writer = _Writer(module, pods, secrets, options)
    calls = [writer.job(job, name) for job, name in zip(jobs, names, strict=True)]
    if secrets.found:
        module.imports["pulumi"] = set()
        module.first("config", Call("pulumi.Config"))
    variables = Names("_")
    for name, call in zip(names, calls, strict=True):
        variable = "job" if len(jobs) == 1 else variables.reserve(_variable(name))
        module.assign(variable, call)
    return Program(module.text(), tuple(secrets.found))


def _docstring(jobs: Sequence[Job]) -> str:
    text = f"{len(jobs)} Volcano jobs" if len(jobs) > 1 else f"The Volcano job {jobs[0].name}"
    return f"{text}, from YAML by `volcano-jobs convert`."


def _variable(name: str) -> str:
    text = re.sub(r"[-.]", "_", name)
    text = text if text.endswith("_job") else f"{text}_job"  # no keyword ends so
    return f"job_{text}" if text[0].isdigit() else text


def _shared_pods(jobs: Sequence[Job], module: Module) -> Mapping[str, Name]:
    """Write each template that several tasks have once; find its variable by its `repr`, since 1 equals True."""
    count = Counter(repr(task.template) for job in jobs for task in job.tasks or () if task.template)
    pods: dict[str, Name] = {}
    for template in (task.template for job in jobs for task in job.tasks or ()):
        if count[repr(template)] > 1 and repr(template) not in pods:
            name = "pod" if not pods else f"pod_{len(pods) + 1}"
            pods[repr(template)] = Name(name)
            module.imports.setdefault("typing", set()).add("Any")
            module.assign(name, template, annotation="dict[str, Any]")
    return pods


class _Writer:
    """Writes jobs as calls of this library's classes."""

    def __init__(self, module: Module, pods: Mapping[str, Name], secrets: Secrets, options: Mapping[str, Any]) -> None:
        self._module = module
        self._options = options
        self._pods = pods
        self._secrets = secrets

    def job(self, job: Job, resource: str) -> Call:
        """Write a job: the resource's name, which is the job's unless it is given, and the arguments."""
        arguments: dict[str, Any] = dict(self._options)
        for name, _, value in ordered_fields(job):
            if name == "plugins":
                arguments[name] = [self._plugin(plugin, resource) for plugin in value.values()]
            elif (name, value) != ("name", resource):
                arguments[name] = self._value(value)
        return self._call(_PACKAGE, "VolcanoJob", ("", resource), ("", arguments))

    def _value(self, value: Any) -> Any:
        if isinstance(value, Model):
            arguments = [(name, self._value(item)) for name, _, item in ordered_fields(value)]
            if isinstance(value, Task):
                arguments[-1] = ("template", self._pods.get(repr(value.template), value.template))
            return self._call(_PACKAGE, type(value).__name__, *arguments)
        return [self._value(item) for item in value] if isinstance(value, tuple) else value

    def _plugin(self, plugin: Plugin, resource: str) -> Call:
        keys = self._secrets.add(resource, plugin)
        arguments = [
            (name, Call("config.require_secret", (("", keys[name]),)) if name in keys else value)
            for name, value in settings(plugin)
        ]
        kind = type(plugin)
        return self._call(_PACKAGE if kind in BUILT_IN else kind.__module__, kind.__qualname__, *arguments)

    def _call(self, module: str, function: str, *arguments: tuple[str, Any]) -> Call:
        self._module.imports.setdefault(module, set()).add(function.partition(".")[0])
        return Call(function, arguments)
