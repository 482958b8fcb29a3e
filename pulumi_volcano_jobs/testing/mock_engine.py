"""A mock of the Pulumi engine that records every registration and answers like the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import empty_pb2, json_format, struct_pb2  # type: ignore[import-untyped]  # it has no types
from pulumi.runtime import mocks, settings
from pulumi.runtime.proto import engine_pb2, resource_pb2

from pulumi_volcano_jobs.component.stashed_keys import STASH, StashingMocks
from pulumi_volcano_jobs.core.resource_types import PACKAGE
from pulumi_volcano_jobs.core.suggestions import missing
from pulumi_volcano_jobs.testing.resources import Registration
from pulumi_volcano_jobs.testing.values import Wire, read

_STACK = "pulumi:pulumi:Stack"
_REFERENCE = "pulumi:pulumi:StackReference"
# Providers of these types return their inputs and the values of `cluster`; mocks are not called for them.
_ECHOED = ("kubernetes:", "pulumi:", f"{PACKAGE}:")


@dataclass
class Recording:
    """The resources, outputs and log messages of a program."""

    registrations: dict[str, Registration] = field(default_factory=dict)
    """All resources except the stack, by URN, in order."""
    outputs: Wire = field(default_factory=dict)
    """The outputs of the stack."""
    warnings: list[str] = field(default_factory=list)
    """All warnings, including warnings without a resource."""
    has_transforms: bool = False
    """Whether a resource or the stack has transforms, which the mock does not call."""
    errors: list[Exception] = field(default_factory=list)
    """Errors about missing data of the test. They are raised after the program, so that Pulumi can finish its tasks."""


@dataclass(frozen=True)
class EngineOptions:
    """The data of a test that the engine returns to the program."""

    preview: bool = False
    cluster: Mapping[str, Wire] = field(default_factory=dict)
    stacks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mocks: mocks.Mocks | None = None
    state: Mapping[str, Registration] = field(default_factory=dict)


class _DefaultMocks(mocks.Mocks):
    """Default of `mocks`: a resource has its inputs as outputs, and function calls are errors."""

    def call(self, args: mocks.MockCallArgs) -> Any:
        raise NotImplementedError(
            f"the program calls the function {args.token}, which has no mock: pass run(..., mocks=...) a "
            "pulumi.runtime.Mocks that implements `call`"
        )

    def new_resource(self, args: mocks.MockResourceArgs) -> Any:
        return args.resource_id or f"id-of-{args.name}", args.inputs


class Monitor(mocks.MockMonitor, StashingMocks):
    """Mock of the engine's resource monitor."""

    def __init__(self, recording: Recording, options: EngineOptions) -> None:
        """Record registrations in `recording`."""
        super().__init__(options.mocks or _DefaultMocks())
        self._recording = recording
        self._options = options

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """Return a URN with the types of all parents, as the engine does. Pulumi's mocks include only the last type."""
        types = parent.split("::")[2] if parent else _STACK
        qualified = type_ if types == _STACK else f"{types}${type_}"
        return f"urn:pulumi:{settings.get_stack()}::{settings.get_project()}::{qualified}::{name}"

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802  # gRPC's name
        """Record a registration, and return its outputs."""
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type == _STACK:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        if urn in self._recording.registrations:
            # The engine's message.
            raise RuntimeError(f"Duplicate resource URN '{urn}'; try giving it a unique name")
        self._recording.has_transforms |= bool(request.transforms)
        registration = Registration(urn, request)
        self._recording.registrations[urn] = registration
        response = resource_pb2.RegisterResourceResponse(urn=urn)
        if self._is_asked(request):
            response = _closing(super().RegisterResource, request)
        else:
            response.object.CopyFrom(self._outputs(urn, request))
            if request.custom and not self._options.preview:
                response.id = f"id-of-{request.name}"
        registration.state = response.object
        return response

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802  # gRPC's name
        """Record the outputs of a component or of the stack."""
        outputs = read(json_format.MessageToDict(request.outputs))
        registration = self._recording.registrations.get(request.urn)
        if registration:
            registration.outputs = outputs
        else:
            # `set_mocks` also creates a stack, whose empty outputs may be registered after the program's.
            self._recording.outputs |= outputs
        return empty_pb2.Empty()

    def RegisterStackTransform(self, request: Any) -> Any:  # noqa: ARG002, N802  # gRPC's name
        """Record that the program registers a transform, which the mock does not call."""
        self._recording.has_transforms = True
        return empty_pb2.Empty()

    def ReadResource(self, request: Any) -> Any:  # noqa: N802  # gRPC's name
        """Return the outputs of a resource that the program reads. Outputs of another stack come from `stacks`."""
        if request.type != _REFERENCE:
            return _closing(super().ReadResource, request)
        stacks = self._options.stacks
        if request.id not in stacks:
            reason = f"{missing('stack', request.id, stacks)}: pass its outputs as run(..., stacks=...)"
            self._recording.errors.append(LookupError(reason))
        urn = self.make_urn(request.parent, request.type, request.name)
        response = resource_pb2.ReadResourceResponse(urn=urn)
        outputs = {"name": request.id, "outputs": dict(stacks.get(request.id, {})), "secretOutputNames": []}
        json_format.ParseDict(outputs, response.properties)
        return response

    def Invoke(self, request: Any) -> Any:  # noqa: N802  # gRPC's name
        """Call the mocks for a function."""
        return _closing(super().Invoke, request)

    def _is_asked(self, request: Any) -> bool:
        """Check whether the test's mocks answer: a real provider answers after a preview only."""
        is_mocked = self._options.mocks is not None and not self._options.preview
        return is_mocked and (request.custom or request.remote) and not request.type.startswith(_ECHOED)

    def _outputs(self, urn: str, request: Any) -> struct_pb2.Struct:
        outputs = struct_pb2.Struct()
        outputs.CopyFrom(request.object)
        if request.type == STASH:
            self._stash(outputs, urn, request)
        if not self._options.preview:
            added = self._options.cluster.get(f"{request.type.rsplit(':', 1)[1]} {request.name}", {})
            json_format.ParseDict(_merged(json_format.MessageToDict(outputs), added), outputs)
        return outputs

    def _stash(self, outputs: struct_pb2.Struct, urn: str, request: Any) -> None:
        """Copy the input of a Stash to its output. If changes are ignored, keep the output of an earlier run."""
        earlier = self._options.state.get(urn)
        if earlier and "input" in request.ignoreChanges:
            outputs.CopyFrom(earlier.state)
        elif "input" in outputs.fields:
            outputs.fields["output"].CopyFrom(outputs.fields["input"])


class Engine(mocks.MockEngine):
    """Mock of the engine's log."""

    def __init__(self, recording: Recording) -> None:
        """Record warnings in `recording`."""
        super().__init__(None)
        self._recording = recording

    def Log(self, request: Any) -> None:  # noqa: N802  # gRPC's name
        """Record a warning, and add it to its resource."""
        if request.severity == engine_pb2.WARNING:
            self._recording.warnings.append(request.message)
            registration = self._recording.registrations.get(request.urn)
            if registration:
                registration.warnings.append(request.message)


def _closing(call: Callable[[Any], Any], request: Any) -> Any:
    """Call Pulumi's own mocks, and close the event loop that they open in each thread."""
    try:
        return call(request)
    finally:
        loop = asyncio.get_event_loop()
        if not loop.is_running():
            loop.close()
            asyncio.set_event_loop(None)


def _merged(tree: Wire, added: Wire) -> Wire:
    merged = {
        key: _merged(tree[key], added[key])
        for key in tree.keys() & added.keys()
        if isinstance(tree[key], dict) and isinstance(added[key], dict)
    }
    return {**tree, **added, **merged}
