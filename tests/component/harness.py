"""Programs run against a monitor that keeps every registration as it went over the wire.

Pulumi's own mocks say nothing of parents, options, secrets and what is unknown; the requests do.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import pulumi
from google.protobuf import empty_pb2, json_format  # type: ignore[import-untyped]  # it has no types
from pulumi.runtime import mocks, rpc, settings, stack
from pulumi.runtime.proto import resource_pb2

from pulumi_volcano_jobs import VolcanoJob

Wire = dict[str, Any]
Program = Callable[[], Mapping[str, Any] | None]

# Before 3.262 Pulumi's SDK sends what is unknown in a preview without the mark of a secret; nothing is shown of it.
LOSES_MARKS = tuple(map(int, version("pulumi").split(".")[:2])) < (3, 262)
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"


@dataclass(frozen=True)
class Secret:
    """A value that is marked as a secret."""

    value: Any


class Unknown:
    """What is not known in a preview."""

    def __repr__(self) -> str:
        """Say so."""
        return "<unknown>"


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Value:
    """An Output of the program, once it is there."""

    value: Any
    known: bool
    secret: bool


@dataclass(frozen=True)
class Registered:
    """A resource as the engine was told of it."""

    parent: str
    """Type and name of the parent; empty for the stack."""
    inputs: Wire
    """The inputs, with `Secret` and `UNKNOWN` where the wire has marks."""
    digest: Any
    """The replacement trigger."""
    request: Any = field(repr=False)
    """The request itself, for all other options."""


@dataclass
class Run:
    """What a program did."""

    resources: dict[str, Registered] = field(default_factory=dict)
    """All resources by type and name, in order, but those of the package `test`."""
    outputs: dict[str, Wire] = field(default_factory=dict)
    """What components registered as their outputs."""
    values: dict[str, Value] = field(default_factory=dict)
    """The Outputs that the program gave back."""
    warnings: list[str] = field(default_factory=list)

    def tree(self) -> dict[str, str]:
        """Give the parent of each resource."""
        return {name: resource.parent for name, resource in self.resources.items()}

    def manifests(self) -> dict[str, Wire]:
        """Give the manifests of all Kubernetes objects, by type and name."""
        return {name: item.inputs for name, item in self.resources.items() if "metadata" in item.inputs}

    def names(self, kind: str) -> list[str]:
        """Give the names of the resources of a type, in the order in which they were registered."""
        return [name.removeprefix(f"{kind} ") for name in self.resources if name.startswith(f"{kind} ")]

    def digests(self) -> dict[str, Any]:
        """Give the digest of each Pod, by its name."""
        pods = [(name, item) for name, item in self.resources.items() if name.startswith("Pod ")]
        return {name.removeprefix("Pod "): item.digest for name, item in pods if item.digest}

    def leaves(self) -> dict[str, Any]:
        """List all values, marks of secrets included, by place: `Pod train-worker-0: spec.containers[0].image`."""
        trees = {name: {**item.inputs, "(digest)": item.digest} for name, item in self.resources.items()}
        trees |= {f"{name} has": outputs for name, outputs in self.outputs.items()}
        return {f"{name}: {path}": leaf for name, tree in trees.items() for path, leaf in _leaves(tree)}

    def secret(self) -> set[str]:
        """List the places of secrets."""
        return {place for place, leaf in self.leaves().items() if isinstance(leaf, Secret)}

    def unknown(self) -> set[str]:
        """List the places of what is not known, or has something in it that is not."""
        return {place for place, leaf in self.leaves().items() if UNKNOWN in map(bare, (leaf, *_below(leaf)))}


def _leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from _leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(tree, list) and tree:
        for index, value in enumerate(tree):
            yield from _leaves(value, f"{path}[{index}]")
    else:
        yield path, tree


def _below(leaf: Any) -> list[Any]:
    return [value for _, value in _leaves(leaf.value)] if isinstance(leaf, Secret) else []


def bare(leaf: Any) -> Any:
    """Take the mark of a secret away."""
    return leaf.value if isinstance(leaf, Secret) else leaf


class _Nothing(mocks.Mocks):
    """The monitor answers itself."""

    def call(self, args: mocks.MockCallArgs) -> Any:
        raise NotImplementedError(args.token)

    def new_resource(self, args: mocks.MockResourceArgs) -> Any:
        raise NotImplementedError(args.name)


class Monitor(mocks.MockMonitor):
    """Answers as an engine does: outputs are the inputs; in a preview no id and no output of `test` is known."""

    def __init__(self, run: Run, *, preview: bool, cluster: Mapping[str, Wire]) -> None:
        """Write what comes into `run`; see the function `run` for `cluster`."""
        super().__init__(_Nothing())
        self._run = run
        self._preview = preview
        self._cluster = cluster

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802  # gRPC's name
        """Keep a registration and answer it."""
        urn = self.make_urn(request.parent, request.type, request.name)
        answer = resource_pb2.RegisterResourceResponse(urn=urn)
        if request.custom and not self._preview:
            answer.id = f"id-of-{request.name}"
        if request.type.startswith("test:"):
            if not self._preview:
                answer.object.CopyFrom(request.object)
        elif request.type != "pulumi:pulumi:Stack":
            self._keep(request)
            answer.object.CopyFrom(request.object)
            if not self._preview:
                added = self._cluster.get(f"{request.type.rsplit(':', 1)[1]} {request.name}", {})
                json_format.ParseDict(_merged(json_format.MessageToDict(answer.object), added), answer.object)
        return answer

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802  # gRPC's name
        """Keep the outputs of a component."""
        self._run.outputs[_short(request.urn)] = _read(json_format.MessageToDict(request.outputs))
        return empty_pb2.Empty()

    def _keep(self, request: Any) -> None:
        name = f"{request.type.rsplit(':', 1)[1]} {request.name}"
        assert name not in self._run.resources
        trigger = request.replacement_trigger
        self._run.resources[name] = Registered(
            parent=_short(request.parent),
            inputs=_read(json_format.MessageToDict(request.object)),
            digest=_read(json_format.MessageToDict(trigger)) if trigger.WhichOneof("kind") else None,
            request=request,
        )


def _merged(tree: Wire, added: Wire) -> Wire:
    both = {key: _merged(tree[key], added[key]) for key in tree.keys() & added.keys() if isinstance(added[key], dict)}
    return {**tree, **added, **both}


def _short(urn: str) -> str:
    if not urn or "::pulumi:pulumi:Stack::" in urn:
        return ""
    *_, types, name = urn.split("::")
    return f"{types.rsplit(':', 1)[1]} {name}"


def _read(tree: Any) -> Any:
    if isinstance(tree, dict):
        if tree.get(_SIGNATURE) == _SECRET:
            return Secret(_read(tree["value"]))
        return {key: _read(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_read(value) for value in tree]
    if isinstance(tree, float) and tree.is_integer():
        return int(tree)
    return UNKNOWN if tree == rpc.UNKNOWN else tree


class Source(pulumi.CustomResource):
    """Another resource of the program: its output is known after it is made, so not in a preview."""

    value: pulumi.Output[Any]

    def __init__(self, name: str, value: Any) -> None:
        """Make one whose output is `value`."""
        super().__init__("test:index:Source", name, {"value": value})


def new_job(name: str, arguments: Any, opts: pulumi.ResourceOptions | None = None) -> VolcanoJob:
    """Make a job of arguments that are put together, which type checkers cannot follow."""
    return VolcanoJob(name, arguments, opts)


def run(
    program: Program,
    *,
    preview: bool = False,
    config: Mapping[str, str] | None = None,
    cluster: Mapping[str, Wire] | None = None,
) -> Run:
    """Run a program in a context of its own, to its end.

    Args:
        program: the program.
        preview: whether nothing is made.
        config: the stack's configuration.
        cluster: what the cluster adds to an object once it is made, such as a status; by type and name.

    Raises:
        Exception: what the program raises.
    """
    done = Run()
    _in_context(program, done, Monitor(done, preview=preview, cluster=cluster or {}), preview=preview, config=config)
    return done


def failed(
    program: Program, *, preview: bool = False, cluster: Mapping[str, Wire] | None = None
) -> tuple[Exception, Run]:
    """Run a program that must fail; give what it raised, and what it had done by then."""
    done = Run()
    try:
        _in_context(program, done, Monitor(done, preview=preview, cluster=cluster or {}), preview=preview)
    except Exception as error:  # noqa: BLE001  # the test looks at it
        return error, done
    raise AssertionError(f"the program went through and made {list(done.resources)}")


def _in_context(
    program: Program, done: Run, monitor: Monitor, *, preview: bool, config: Mapping[str, str] | None = None
) -> None:
    running = _run(program, done, monitor, preview=preview, config=config or {})
    contextvars.copy_context().run(lambda: asyncio.run(running))


async def _run(program: Program, done: Run, monitor: Monitor, *, preview: bool, config: Mapping[str, str]) -> None:
    # A set in new versions of Pulumi, a deque in old ones.
    settings.SETTINGS.outputs = type(settings.SETTINGS.outputs)()
    pulumi.runtime.set_all_config(dict(config))
    mocks.set_mocks(_Nothing(), stack="test", preview=preview, logger=_logger(done), monitor=monitor)
    given: Mapping[str, Any] | None = {}

    def inner() -> None:
        nonlocal given
        given = program()

    await stack.run_pulumi_func(inner)
    for name, value in (given or {}).items():
        output: pulumi.Output[Any] = pulumi.Output.from_input(value)
        done.values[name] = Value(await output.future(), await output.is_known(), await output.is_secret())


def _logger(done: Run) -> logging.Logger:
    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            done.warnings.append(record.getMessage())

    logger = logging.Logger("program", logging.WARNING)  # noqa: LOG001  # one for each run
    logger.addHandler(Keep())
    return logger
