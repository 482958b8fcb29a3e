"""The components for other Pulumi languages: `pulumi-resource-volcano-jobs` provides them to YAML, TypeScript and Go.

The arguments are the fields of a Volcano Job's `spec` and of its metadata, in one mapping. Pulumi reads the schema from
annotations and docstrings, here and in `provider_inputs.py`. It supports neither unions nor annotations as strings.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import metadata
from typing import Any, Optional

import pulumi
from pulumi import provider
from pulumi.provider.experimental.analyzer import ComponentDefinition
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.server import ComponentInitError
from pydantic.alias_generators import to_camel

from pulumi_volcano_jobs.component.base_job import BaseJob
from pulumi_volcano_jobs.component.input_errors import JobInputError, as_input_errors
from pulumi_volcano_jobs.component.provider_inputs import VolcanoJobInputs, VolcanoQueueInputs
from pulumi_volcano_jobs.component.volcano_queue import BaseQueue
from pulumi_volcano_jobs.core import distribution, paths
from pulumi_volcano_jobs.core.errors import Problem, raise_if_any
from pulumi_volcano_jobs.core.phrases import Spelling
from pulumi_volcano_jobs.core.resource_types import PACKAGE
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.core.tree import map_tree, whole_number

_INPUTS = {"VolcanoJob": VolcanoJobInputs, "VolcanoQueue": VolcanoQueueInputs}
_SCHEMA_SPELLING = Spelling(to_camel, '{}: "{}"')


class VolcanoJob(BaseJob):
    """A Volcano Job: Pods, PodGroup, Services, Secret, ConfigMap and NetworkPolicy, or one Job for Volcano."""

    name: pulumi.Output[str]
    """The job's name."""
    namespace: pulumi.Output[str]
    """The namespace of all objects of the job."""
    pod_names: pulumi.Output[list[str]]
    """The names of the Pods by task and index."""
    pod_group_name: pulumi.Output[str]
    """The name of the PodGroup."""
    hosts: pulumi.Output[dict[str, list[str]]]
    """The addresses of each task's Pods by index, inside the namespace."""

    def __init__(
        self,
        name: str,
        args: VolcanoJobInputs,
        opts: Optional[pulumi.ResourceOptions] = None,  # noqa: UP045  # Pulumi's analyzer does not support |
    ) -> None:
        """Register a job."""
        super().__init__(name, args, opts)

    def _with_hints(self, problems: Iterable[Problem]) -> list[Problem]:
        return [
            replace(problem.spelled(self._spelling()), path=paths.with_root(problem.path, to_camel))
            for problem in problems
        ]

    def _spelling(self) -> Spelling:
        return _SCHEMA_SPELLING


class VolcanoQueue(BaseQueue):
    """A Volcano Queue. `queue: ${research.name}` on a job selects it."""

    name: pulumi.Output[str]
    """The queue's name."""

    def __init__(
        self,
        name: str,
        args: VolcanoQueueInputs,
        opts: Optional[pulumi.ResourceOptions] = None,  # noqa: UP045  # see VolcanoJob
    ) -> None:
        """Register a queue."""
        super().__init__(name, args, opts)

    def _with_hints(self, problems: Iterable[Problem]) -> list[Problem]:
        return list(problems)


class JobProvider(ComponentProvider):
    """Pulumi's component provider, with more package metadata and with errors that have no traceback."""

    schema: str

    def __init__(self) -> None:
        """Read the schema from the components, and the rest from the distribution's metadata."""
        about = metadata(distribution.NAME)
        super().__init__([VolcanoJob, VolcanoQueue], PACKAGE, version=about["Version"])
        schema = _plain_words(json.loads(self.schema))
        # The job validates its required fields. Pulumi before 3.238 declares all inputs as required.
        for component in schema["resources"].values():
            component["requiredInputs"] = []
        for kind in schema["types"].values():
            kind.pop("required", None)
        self.schema = json.dumps(
            schema
            | {
                "displayName": "Volcano Jobs",
                "description": about["Summary"],
                "keywords": [*about["Keywords"].split(","), "category/infrastructure", "kind/component"],
                "license": about["License-Expression"],
            }
            | _owner_facts(about["Author"])
        )

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: Optional[pulumi.ResourceOptions] = None,  # noqa: UP045  # as above
    ) -> provider.ConstructResult:
        """Register a job or a queue. An error in its arguments is an error of the program, not of this provider."""
        kind = resource_type.rpartition(":")[2]
        if kind not in _INPUTS:
            # The program's SDK may be newer than this provider.
            problem = f"pulumi-resource-volcano-jobs {self.version} has no {kind} (it has {', '.join(_INPUTS)})"
            raise _program_error(f"{problem}: update {distribution.NAME}, or generate the SDK again")
        try:
            with as_input_errors(name, kind=kind):
                raise_if_any(_unknown_inputs(inputs, kind))
            return super().construct(name, resource_type, inputs, options)
        except JobInputError as error:
            raise _program_error(error.message) from None
        except ComponentInitError as error:
            if isinstance(error.inner, JobInputError):
                raise _program_error(error.inner.message) from None
            raise

    def map_inputs(self, inputs: pulumi.Inputs, component_def: ComponentDefinition) -> pulumi.Inputs:
        """Return the inputs with their Python names. The job validates their values.

        Pulumi's own mapping would fail with a traceback for an Output instead of an integer.
        """
        names = component_def.inputs_mapping
        return {names[key]: map_tree(value, whole_number) for key, value in inputs.items() if value is not None}


def _owner_facts(author: str | None) -> dict[str, str]:
    """Return the fields for Pulumi's Registry that pyproject.toml declares once the package has an owner."""
    urls = distribution.urls()
    facts = {"publisher": author, "repository": urls.get("Repository"), "logoUrl": urls.get("Logo")}
    return {name: value for name, value in facts.items() if value}


def _unknown_inputs(inputs: pulumi.Inputs, kind: str) -> list[Problem]:
    """Return a Problem for each input that the schema does not have. Most languages reject it earlier."""
    known = {to_camel(name) for name in _INPUTS[kind].__annotations__}
    return [
        Problem(key, "Forbidden", "unknown field", suggestion(paths.wire_name(key), known))
        for key in inputs
        if key not in known
    ]


def _plain_words(tree: Any) -> Any:
    """Remove line breaks from descriptions, and the description of a list's items if it repeats the list's."""
    if not isinstance(tree, dict):
        return tree
    description = tree.get("description")
    replaced: dict[str, Any] = {"description": " ".join(description.split())} if isinstance(description, str) else {}
    for key in ("items", "additionalProperties"):
        if key in tree:
            replaced[key] = {name: value for name, value in _plain_words(tree[key]).items() if name != "description"}
    return {key: replaced.get(key, _plain_words(value)) for key, value in tree.items()}


def _program_error(message: str) -> pulumi.InputPropertiesError:
    # Pulumi shows the value of each property in the details, which may contain keys. The message names the paths.
    return pulumi.InputPropertiesError(message, [])


def main() -> None:
    """Run the provider for the Pulumi engine."""
    provider.main(JobProvider(), sys.argv[1:])
