"""The components for Pulumi's other languages: `pulumi-resource-volcano-jobs` serves them to YAML, TypeScript and Go.

The arguments are a Volcano Job's `spec` as it stands, with the metadata's fields beside it. Pulumi reads the schema
from annotations and docstrings, here and in `inputs.py`: no unions, and no annotations as strings.
"""

import json
import re
import sys
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
from pulumi_volcano_jobs.component.plugin_components import PACKAGE
from pulumi_volcano_jobs.component.provider_inputs import VolcanoJobInputs, VolcanoQueueInputs
from pulumi_volcano_jobs.component.volcano_queue import BaseQueue
from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, raise_if_any
from pulumi_volcano_jobs.core.tree import map_tree, whole_number
from pulumi_volcano_jobs.kubernetes import schema

_DISTRIBUTION = "pulumi-volcano-jobs"
_INPUTS = {"VolcanoJob": VolcanoJobInputs, "VolcanoQueue": VolcanoQueueInputs}
_NAMES = sorted({name for inputs in _INPUTS.values() for name in inputs.__annotations__})
_IN_PYTHON = re.compile(
    rf"""\b(?:(?P<set>{"|".join(_NAMES)})=(?=")|(?P<name>{"|".join(name for name in _NAMES if "_" in name)})\b)"""
)


class VolcanoJob(BaseJob):
    """A Volcano Job: Pods, PodGroup, Services, Secret, ConfigMap and NetworkPolicy, or one Job for Volcano."""

    name: pulumi.Output[str]
    """The job's name."""
    namespace: pulumi.Output[str]
    """The namespace of all that the job is made of."""
    pod_names: pulumi.Output[list[str]]
    """The names of the Pods by task and index."""
    pod_group_name: pulumi.Output[str]
    """The PodGroup, which makes a gang of the Pods."""
    hosts: pulumi.Output[dict[str, list[str]]]
    """The addresses of each task's Pods by index, inside the namespace."""

    def __init__(
        self,
        name: str,
        args: VolcanoJobInputs,
        opts: Optional[pulumi.ResourceOptions] = None,  # noqa: UP045  # Pulumi's reader of annotations knows no |
    ) -> None:
        """Make a job."""
        super().__init__(name, args, opts)

    def _warn(self, text: str) -> None:
        super()._warn(_in_schema_spelling(text))


class VolcanoQueue(BaseQueue):
    """A Volcano Queue; `queue: ${research.name}` puts a job into it."""

    name: pulumi.Output[str]
    """The queue's name."""

    def __init__(
        self,
        name: str,
        args: VolcanoQueueInputs,
        opts: Optional[pulumi.ResourceOptions] = None,  # noqa: UP045  # see VolcanoJob
    ) -> None:
        """Make a queue."""
        super().__init__(name, args, opts)


class JobProvider(ComponentProvider):
    """Pulumi's own provider of components; it knows more about the package, and says mistakes without a traceback."""

    schema: str

    def __init__(self) -> None:
        """Read the schema from the components, and the rest from the distribution's metadata."""
        about = metadata(_DISTRIBUTION)
        super().__init__([VolcanoJob, VolcanoQueue], PACKAGE, version=about["Version"])
        schema = _plain_words(json.loads(self.schema))
        # What a job needs is checked with it. Pulumi before 3.238 takes all inputs for required.
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
        )

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: Optional[pulumi.ResourceOptions] = None,  # noqa: UP045  # as above
    ) -> provider.ConstructResult:
        """Make a job or a queue; a mistake in it is an error of the program, not of this provider."""
        kind = resource_type.rpartition(":")[2]
        if kind not in _INPUTS:
            # The SDK that a program was written with may be newer than this provider.
            problem = f"pulumi-resource-volcano-jobs {self.version} has no {kind} (it has {', '.join(_INPUTS)})"
            raise _program_error(f"{problem}: update {_DISTRIBUTION}, or generate the SDK again")
        try:
            with as_input_errors(name, kind=kind):
                raise_if_any(_unknown_inputs(inputs, kind))
            return super().construct(name, resource_type, inputs, options)
        except JobInputError as error:
            raise _program_error(error.message) from None
        except ComponentInitError as error:
            if isinstance(error.inner, JobInputError):
                raise _program_error(_in_schema_spelling(error.inner.message)) from None
            raise

    def map_inputs(self, inputs: pulumi.Inputs, component_def: ComponentDefinition) -> pulumi.Inputs:
        """Give the inputs their Python names; what is in them is the job's own, and is checked with it.

        Pulumi's own mapping would fail with a traceback where an Output stands in the place of an integer.
        """
        names = component_def.inputs_mapping
        return {names[key]: map_tree(value, whole_number) for key, value in inputs.items() if value is not None}


def _unknown_inputs(inputs: pulumi.Inputs, kind: str) -> list[Problem]:
    """Find what the schema does not have; most languages have refused it before."""
    known = {to_camel(name) for name in _INPUTS[kind].__annotations__}
    return [
        Problem(key, "Forbidden", "there is no such input", schema.suggestion(paths.wire_name(key), known))
        for key in inputs
        if key not in known
    ]


def _plain_words(tree: Any) -> Any:
    """Take the source's line breaks out of descriptions, and leave out those that a list repeats for its items."""
    if not isinstance(tree, dict):
        return tree
    description = tree.get("description")
    replaced: dict[str, Any] = {"description": " ".join(description.split())} if isinstance(description, str) else {}
    for key in ("items", "additionalProperties"):
        if key in tree:
            replaced[key] = {name: value for name, value in _plain_words(tree[key]).items() if name != "description"}
    return {key: replaced.get(key, _plain_words(value)) for key, value in tree.items()}


def _program_error(message: str) -> pulumi.InputPropertiesError:
    # Pulumi shows the value of each property that it is told of, and keys may be in it: the message names the paths.
    return pulumi.InputPropertiesError(message, [])


def _in_schema_spelling(text: str) -> str:
    """Write the names of inputs as the schema has them: `managedBy: "volcano"` for `managed_by="volcano"`."""
    return _IN_PYTHON.sub(
        lambda match: f"{to_camel(match['set'])}: " if match["set"] else to_camel(match["name"]), text
    )


def main() -> None:
    """Serve the components to the Pulumi engine."""
    provider.main(JobProvider(), sys.argv[1:])
