"""A field of a job or of a queue has one declaration: the types of all languages are generated from it."""

from __future__ import annotations

import json
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, is_typeddict

import argtypes
import pulumi
import pytest
import reference

from pulumi_volcano_jobs import JobError, component
from pulumi_volcano_jobs.admission import policies, unknown_fields
from pulumi_volcano_jobs.component import provider
from pulumi_volcano_jobs.core import docstrings
from pulumi_volcano_jobs.core.resource_types import VOLCANO_JOB, VOLCANO_QUEUE
from pulumi_volcano_jobs.kubernetes import queue_schema, schema, template_types
from pulumi_volcano_jobs.rendering import queue
from pulumi_volcano_jobs.spec.fields import Action, Count
from pulumi_volcano_jobs.spec.model import Job
from tests.conftest import task, typed

CONTAINER = "io.k8s.api.core.v1.Container"


class NewerJob(Job):
    """A job with one more field."""

    longest_wait: Count | None = None
    """Seconds that the job may wait."""


def annotations_of(source: str, name: str) -> Mapping[str, Any]:
    """Run generated source, and return the annotations of a class in it."""
    module: dict[str, Any] = {"__name__": "generated"}
    exec(compile(source, "generated", "exec", dont_inherit=True), module)  # noqa: S102  # what the generator wrote
    annotations: Mapping[str, Any] = module[name].__annotations__
    return annotations


@pytest.mark.parametrize("file", argtypes.MODULES, ids=lambda file: file.stem)
def test_generated_modules_are_up_to_date(file: Any) -> None:
    """`make schema` writes them."""
    assert file.read_text("utf-8") == argtypes.formatted(argtypes.MODULES[file]()), "run `make schema`"


def test_a_new_field_of_a_job_is_in_the_types_of_all_languages() -> None:
    """With its documentation."""
    ours = annotations_of(argtypes.job_fields_module(NewerJob), "JobFields")
    theirs = argtypes.provider_inputs_module(NewerJob)

    assert "longest_wait" in ours
    assert annotations_of(theirs, "VolcanoJobInputs")["longest_wait"] is int
    for source in (argtypes.job_fields_module(NewerJob), theirs):
        assert '"""Seconds that the job may wait."""' in source


def test_the_types_have_each_action_that_volcano_has() -> None:
    """Types and messages list the same actions."""
    assert set(get_args(get_args(Action)[0])) == policies.ACTIONS.keys()


def test_each_field_of_a_template_is_in_its_type() -> None:
    """In the spelling of YAML and in the one of pulumi_kubernetes."""
    fields = template_types.ContainerDict.__annotations__.keys()

    assert {"imagePullPolicy", "image_pull_policy"} <= fields
    assert {*schema.wire_names(CONTAINER), *schema.wire_names(CONTAINER).values()} == fields


def test_a_new_field_of_a_job_is_validated() -> None:
    """The model checks it."""
    with pytest.raises(JobError) as caught:
        NewerJob.model_validate({"name": "train", "tasks": [task()], "longestWait": -1})

    assert typed(caught.value.problems) == [("spec.longestWait", "Invalid")]


def test_a_misspelt_new_field_of_a_job_has_its_name_as_the_fix() -> None:
    """The name comes from the model."""
    misspelt = NewerJob.model_validate({"name": "train", "tasks": [task()], "longestWiat": 1})
    (problem,) = unknown_fields.check(misspelt)

    assert (problem.path, problem.hint) == ("spec.longestWiat", "did you mean longestWait?")


InputsOf = Callable[[str, str], Any]


@pytest.fixture
def inputs_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InputsOf:
    """Return a function that reads the inputs of a component in the provider's schema, for a generated module."""

    def schema_inputs(source: str, token: str) -> Any:
        (tmp_path / "newer_inputs.py").write_text(source, "utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "newer_inputs", raising=False)
        kind = token.rpartition(":")[2]
        inputs = pkgutil.resolve_name(f"newer_inputs:{kind}Inputs")
        monkeypatch.setitem(getattr(provider, kind).__init__.__annotations__, "args", inputs)
        return json.loads(provider.JobProvider().schema)["resources"][token]["inputProperties"]

    return schema_inputs


def test_a_new_field_of_a_job_is_in_the_schema(inputs_of: InputsOf) -> None:
    """Pulumi's analyzer reads the generated module."""
    inputs = inputs_of(argtypes.provider_inputs_module(NewerJob), VOLCANO_JOB)

    described = {"type": "integer", "plain": True, "description": "Seconds that the job may wait."}
    assert inputs["longestWait"] == described


def test_a_new_field_of_a_job_is_in_the_reference() -> None:
    """With its type and its documentation."""
    _, listed = reference._fields(NewerJob)

    assert listed.splitlines()[-1] == "- **`longest_wait`** (`longestWait`, `int`): Seconds that the job may wait."


@pytest.fixture
def newer_queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add a field to the schema of a queue."""
    field = {"type": "integer", "description": "Seconds that a job may wait."}
    monkeypatch.setitem(queue_schema.DEFINITIONS[queue_schema.SPEC]["properties"], "longestWait", field)
    cached = [item for item in vars(schema).values() if hasattr(item, "cache_clear")]
    for function in cached:
        function.cache_clear()
    yield
    for function in cached:
        function.cache_clear()


@pytest.mark.usefixtures("newer_queue")
def test_a_new_field_of_a_queue_is_in_the_schema(inputs_of: InputsOf) -> None:
    """It may be an Output, as every field of a queue except its name."""
    inputs = inputs_of(argtypes.provider_inputs_module(), VOLCANO_QUEUE)

    assert inputs["longestWait"] == {"type": "integer", "description": "Seconds that a job may wait."}


@pytest.mark.usefixtures("newer_queue")
def test_a_misspelt_new_field_of_a_queue_has_its_name_as_the_fix() -> None:
    """The name comes from the schema."""
    with pytest.raises(JobError) as caught:
        queue.queue({"name": "research", "longestWiat": 1})
    (problem,) = caught.value.problems

    assert (problem.path, problem.hint) == ("spec.longestWiat", "did you mean longestWait?")


@pytest.mark.usefixtures("newer_queue")
def test_a_new_field_of_a_queue_is_in_types_and_messages() -> None:
    """With its documentation."""
    ours, theirs = argtypes.queue_args_module(), argtypes.provider_inputs_module()

    assert "longest_wait" in annotations_of(ours, "VolcanoQueueArgs")
    assert annotations_of(theirs, "VolcanoQueueInputs")["longest_wait"] == pulumi.Input[int]
    assert all('"""Seconds that a job may wait."""' in source for source in (ours, theirs))
    assert queue.queue({"name": "research", "longestWait": 3})["spec"]["longestWait"] == 3
    with pytest.raises(JobError) as caught:
        queue.queue({"name": "research", "longestWait": "long"})
    assert typed(caught.value.problems) == [("spec.longestWait", "TypeInvalid")]


@pytest.mark.parametrize(("page", "kind"), [("job", "VolcanoJobArgs"), ("stack", "VolcanoQueueArgs")])
def test_the_reference_documents_each_argument(page: str, kind: str) -> None:
    """A class on the page has it."""
    paths = re.findall(r"^::: (\S+)$", reference.pages()[page], re.MULTILINE)
    classes = [pkgutil.resolve_name(":".join(path.rsplit(".", 1))) for path in paths]
    # A TypedDict also has the annotations of its bases; the site shows only the class itself.
    documented = {name for item in classes if is_typeddict(item) for name in docstrings.own_docs_of(item)}

    assert getattr(component, kind).__annotations__.keys() <= documented
