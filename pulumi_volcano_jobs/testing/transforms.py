"""Transforms, which an engine calls for each resource: Pulumi's own mocks leave them out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Mapping
from typing import Any

from pulumi.runtime import _callbacks
from pulumi.runtime.proto import resource_pb2

from pulumi_volcano_jobs.testing.ordered_executor import Turn, step_aside, turn
from pulumi_volcano_jobs.testing.resources import Registration

# How the same option is called in a registration and for a transform.
_OPTIONS: Mapping[str, str] = {
    "additionalSecretOutputs": "additional_secret_outputs",
    "aliases": "aliases",
    "customTimeouts": "custom_timeouts",
    "deleteBeforeReplace": "delete_before_replace",
    "deletedWith": "deleted_with",
    "dependencies": "depends_on",
    "ignoreChanges": "ignore_changes",
    "protect": "protect",
    "provider": "provider",
    "replaceOnChanges": "replace_on_changes",
    "replacement_trigger": "replacement_trigger",
    "retainOnDelete": "retain_on_delete",
    "version": "version",
}
_ROUNDS, _ROUND, _PATIENCE = 50, 0.01, 60.0


class Transforms:
    """The transforms of a program, called as an engine does: the resource's own, its parents', the stack's."""

    def __init__(self) -> None:
        """Begin with none; they run in the program's event loop."""
        self._loop = asyncio.get_running_loop()
        self._of_stack: list[Any] = []

    def of_stack(self, callback: Any) -> None:
        """Take a transform of all resources."""
        self._of_stack.append(callback)

    def apply(self, request: Any, registered: Mapping[str, Registration]) -> None:
        """Let all transforms of a resource change its registration."""
        for callback in [*_inherited(request, registered), *self._of_stack]:
            asked = resource_pb2.TransformRequest(
                type=request.type,
                name=request.name,
                custom=request.custom,
                parent=request.parent,
                properties=request.object,
                options=_options(request),
            )
            answer = self._call(callback.token, asked)
            request.object.CopyFrom(answer.properties)
            if answer.HasField("options"):
                _take(request, answer.options)

    def _call(self, token: str, asked: resource_pb2.TransformRequest) -> Any:
        found = [item._callbacks[token] for item in _callbacks._CallbackServicer._servicers if token in item._callbacks]  # noqa: SLF001  # there is no other way to a transform
        answering = _answer(found[0](asked.SerializeToString()), asked, turn())
        return asyncio.run_coroutine_threadsafe(answering, self._loop).result()


async def _answer(called: Awaitable[Any], asked: resource_pb2.TransformRequest, mine: Turn) -> Any:
    """Wait for a transform; if that takes long, let those behind it in the line begin, of which it may need one."""
    step_aside()
    answer = asyncio.ensure_future(called)
    for _ in range(_ROUNDS):
        if answer.done():
            break
        # At least one round of the event loop, which may be busy.
        await asyncio.wait([answer], timeout=_ROUND)
    else:
        mine.set()
        await asyncio.wait([answer], timeout=_PATIENCE)
    if not answer.done():
        raise TimeoutError(f"a transform of {asked.type} {asked.name} has not ended after {_PATIENCE:g} seconds")
    return answer.result()


def _inherited(request: Any, registered: Mapping[str, Registration]) -> Iterator[Any]:
    yield from request.transforms
    parent = registered.get(request.parent)
    if parent:
        yield from _inherited(parent.request, registered)


def _options(request: Any) -> Any:
    options = resource_pb2.TransformResourceOptions()
    for ours, theirs in _OPTIONS.items():
        _copy(request, ours, options, theirs)
    return options


def _take(request: Any, options: Any) -> None:
    for ours, theirs in _OPTIONS.items():
        request.ClearField(ours)
        _copy(options, theirs, request, ours)


def _copy(source: Any, name: str, target: Any, as_name: str) -> None:
    """Copy a field that is set."""
    for descriptor, value in source.ListFields():
        if descriptor.name == name:
            if hasattr(value, "CopyFrom"):
                getattr(target, as_name).CopyFrom(value)
            elif isinstance(value, (bool, str)):
                setattr(target, as_name, value)
            else:
                getattr(target, as_name).extend(value)
