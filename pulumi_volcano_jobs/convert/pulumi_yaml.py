"""Convert jobs to Pulumi YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic.alias_generators import to_camel

from pulumi_volcano_jobs.convert.program import Program, Secrets, ordered_fields, resource_names
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.resource_types import VOLCANO_JOB
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.plugins import Plugin
from pulumi_volcano_jobs.spec.model import Job, Model

_SEVERAL = "volcano-jobs"


def to_yaml(jobs: Sequence[Job], **options: Any) -> Program:
    """Return a Pulumi YAML program that creates the jobs.

    The jobs are the results of `render_normalized`, which was called with the same options.
    """
    names = resource_names(jobs)
    secrets = Secrets(names)
    options_by_alias = {to_camel(option): value for option, value in options.items()}
    resources = {
        name: {"type": VOLCANO_JOB, "properties": options_by_alias | _properties(job, name, secrets)}
        for name, job in zip(names, jobs, strict=True)
    }
    project = names[0] if len(names) == 1 else _SEVERAL
    program: dict[str, Any] = {"name": project, "runtime": "yaml"}
    if secrets.found:
        program["config"] = {secret.key: {"type": "string", "secret": True} for secret in secrets.found}
    text = job_file.dump_as_ordered({**program, "resources": resources})
    return Program(text, tuple(secrets.found))


def _properties(job: Job, resource: str, secrets: Secrets) -> dict[str, Any]:
    """Return the inputs of the component. Plugins are written as Volcano's arguments."""
    properties = {}
    for name, alias, value in ordered_fields(job):
        if name == "plugins":
            properties[alias] = {
                plugin_name: _arguments(plugin, resource, secrets) for plugin_name, plugin in value.items()
            }
        elif (name, value) != ("name", resource):
            properties[alias] = _literal(_wire(value))
    return properties


def _arguments(plugin: Plugin, resource: str, secrets: Secrets) -> list[Any]:
    # A Leaf becomes an argument after its flag.
    hidden: dict[str, Any] = {setting: Leaf(key) for setting, key in secrets.add(resource, plugin).items()}
    arguments = plugin.unchecked(hidden).to_args()
    return [f"${{{item.path}}}" if isinstance(item, Leaf) else _literal(item) for item in arguments]


def _wire(value: Any) -> Any:
    if isinstance(value, Model):
        return {alias: _wire(item) for _, alias, item in ordered_fields(value)}
    return [_wire(item) for item in value] if isinstance(value, tuple) else value


def _literal(tree: Any) -> Any:
    """Escape `${...}` in texts and keys: Pulumi YAML reads `$$` as one dollar sign."""
    if isinstance(tree, Mapping):
        return {_literal(key): _literal(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_literal(item) for item in tree]
    return re.sub(r"\$\$+|\$(?=\{)", lambda match: match[0] * 2, tree) if isinstance(tree, str) else tree
