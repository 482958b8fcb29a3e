"""A field of a job or of a queue has one declaration: the types of all languages are generated from it."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator, Mapping
from typing import Any, is_typeddict

import argtypes
import pulumi
import pytest
import reference

from pulumi_volcano_jobs import JobError, component
from pulumi_volcano_jobs.kubernetes import queue_schema, schema
from pulumi_volcano_jobs.rendering import queue
from pulumi_volcano_jobs.spec.fields import Count
from pulumi_volcano_jobs.spec.model import Job
from tests.conftest import task, typed


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


def test_a_new_field_of_a_job_is_validated() -> None:
    """The model checks it."""
    with pytest.raises(JobError) as caught:
        NewerJob.model_validate({"name": "train", "tasks": [task()], "longestWait": -1})

    assert typed(caught.value.problems) == [("spec.longestWait", "Invalid")]


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
    documented = {name for item in classes if is_typeddict(item) for name in argtypes.own_docs_of(item)}

    assert getattr(component, kind).__annotations__.keys() <= documented
