"""Runs of programs without an engine, each in a separate thread and context."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import os
import runpy
import sys
import threading
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypedDict, TypeVar

import pulumi
from pulumi.runtime import settings, stack
from pulumi.runtime.mocks import Mocks, set_mocks
from typing_extensions import Unpack

from pulumi_volcano_jobs.component.input_errors import OutputValueError
from pulumi_volcano_jobs.core.errors import JobError, Problem
from pulumi_volcano_jobs.core.suggestions import missing
from pulumi_volcano_jobs.core.tree import without_none
from pulumi_volcano_jobs.testing.mock_engine import Engine, EngineOptions, Monitor, Recording
from pulumi_volcano_jobs.testing.result import Result
from pulumi_volcano_jobs.testing.tracebacks import shortened
from pulumi_volcano_jobs.testing.values import SecretValue, Wire, reveal

T = TypeVar("T")
# Runs take turns, because Pulumi has state that is global to the process, and so is the working directory.
_TURN = threading.Lock()
_THREAD = "pulumi-program"
Program: TypeAlias = Callable[[], object] | str | Path
"""A function, async or not, or the file or folder of a program. A mapping that a function returns is exported."""


class Surroundings(TypedDict, total=False):
    """The environment of a program; every key is optional, and None means "not set"."""

    preview: bool | None
    """Whether the run is a preview: nothing is created, and outputs of resources are unknown."""
    config: Mapping[str, object] | None
    """The configuration of the stack. A key without a colon belongs to the project. Other values than strings are
    written as JSON."""
    secrets: Mapping[str, object] | None
    """The secret configuration of the stack."""
    project: str | None
    """The project's name; `project` by default."""
    stack: str | None
    """The stack's name; `stack` by default."""
    organization: str | None
    """The organization's name; `organization` by default."""
    cluster: Mapping[str, Wire] | None
    """Fields that the cluster adds to an object when it is created, such as a status, by kind and name in the stack:
    `{"Job train": {"status": {"state": {"phase": "Failed"}}}}`."""
    stacks: Mapping[str, Mapping[str, Any]] | None
    """The outputs of other stacks that the program refers to, by the full name of the stack."""
    mocks: Mocks | None
    """Mocks of all functions, and of resources of other providers than Kubernetes."""
    state: Result | None
    """An earlier `up` of the same stack. Its generated keys are kept, and `Result.changes` compares with it."""


class Failure(NamedTuple):
    """The failure of a program."""

    error: Exception
    """The exception."""
    result: Result
    """The resources, outputs and warnings until the failure."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the rejected job; empty if the program failed for another reason."""
        return self.error.problems if isinstance(self.error, (JobError, OutputValueError)) else ()


def run(program: Program, **surroundings: Unpack[Surroundings]) -> Result:
    """Run a program to its end, as `pulumi up` does, or as `pulumi preview` does with `preview=True`.

    A file runs in its own folder, which is on the import path. A run has no effect on later runs. Transforms are not
    called, and a Python warning reports them.

    Args:
        program: a function without arguments, a file, or a folder with a `__main__.py`.
        surroundings: configuration, names, and the outputs of other resources (see `Surroundings`).

    Raises:
        JobError: if a job is rejected; `problems` has every problem with its path.
        Exception: any other exception of the program.
    """
    __tracebackhide__ = True
    surroundings = _sealed(surroundings)
    recording = Recording()
    _run(program, recording, surroundings)
    return _result(recording, surroundings)


def failed(program: Program, **surroundings: Unpack[Surroundings]) -> Failure:
    """Run a program that must fail; return the exception, and the result until then.

    Args:
        program: as in `run`.
        surroundings: as in `run`.

    Raises:
        AssertionError: if the program does not fail.
    """
    __tracebackhide__ = True
    surroundings = _sealed(surroundings)
    recording = Recording()
    try:
        _run(program, recording, surroundings)
    except Exception as error:  # noqa: BLE001  # the test checks the type
        return Failure(error, _result(recording, surroundings))
    raise AssertionError(f"the program did not fail: {_result(recording, surroundings)!r}")


def computed(value: T) -> pulumi.Output[T]:
    """Return an Output like that of a resource of the program: known after an update, unknown in a preview."""
    is_known = not pulumi.runtime.is_dry_run()
    return pulumi.Output(set(), _ready(value if is_known else None), _ready(is_known))  # type: ignore[arg-type]  # mypy sees the Input types only


def _ready(value: T) -> asyncio.Future[T]:
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    future.set_result(value)
    return future


def _sealed(surroundings: Surroundings) -> Surroundings:
    """Wrap the secrets, because test runners may show local variables when a test fails."""
    for name in surroundings.keys() - Surroundings.__annotations__.keys():
        raise TypeError(missing("argument", name, Surroundings.__annotations__, "run"))
    secrets = without_none(surroundings.get("secrets") or {})
    return {**surroundings, "secrets": {key: SecretValue(value) for key, value in secrets.items()}}


def _result(recording: Recording, surroundings: Surroundings) -> Result:
    if recording.has_transforms:
        warnings.warn("transforms were not called: test them on an engine, with pulumi.automation", stacklevel=3)
    before = surroundings.get("state")
    return Result(recording, preview=bool(surroundings.get("preview")), before=before)


def _run(program: Program, recording: Recording, surroundings: Surroundings) -> None:
    """Run in a thread without an event loop, and in an empty context, because Pulumi keeps state in the context."""
    __tracebackhide__ = True
    future: Future[None] = Future()

    def inside() -> None:
        try:
            with _callable(program) as call:
                asyncio.run(_program(call, recording, surroundings))
        except BaseException as error:  # noqa: BLE001  # raised again below
            future.set_exception(error)
        else:
            future.set_result(None)

    if threading.current_thread().name == _THREAD:
        raise RuntimeError("a program that runs under `run` cannot call `run`: call it in the test")
    with _TURN:
        thread = threading.Thread(target=lambda: contextvars.Context().run(inside), name=_THREAD)
        thread.start()
        thread.join()
    # An error about missing data of the test is the cause of any other error.
    error = next(iter(recording.errors), future.exception())
    if error:
        raise shortened(error)


async def _program(call: Callable[[], object], recording: Recording, surroundings: Surroundings) -> None:
    loop = asyncio.get_running_loop()
    # With one thread, the engine gets requests in the order of the program, so each run has the same order.
    loop.set_default_executor(ThreadPoolExecutor(max_workers=1))
    # Pulumi's host does the same: when a program fails, the results of some futures are never read.
    loop.set_exception_handler(lambda _loop, _context: None)
    before, preview = surroundings.get("state"), bool(surroundings.get("preview"))
    if before is not None and (preview or before.preview):
        raise ValueError(
            "state must be the result of an `up`, and needs preview=False: a preview does not know the changes of the "
            "provider"
        )
    world = EngineOptions(
        preview=preview,
        cluster=surroundings.get("cluster") or {},
        stacks=surroundings.get("stacks") or {},
        mocks=surroundings.get("mocks"),
        state=before.registrations if before else {},
    )
    project = surroundings.get("project") or "project"
    _configure(project, surroundings)
    monitor = Monitor(recording, world)
    set_mocks(
        monitor.mocks,
        project=project,
        stack=surroundings.get("stack") or "stack",
        organization=surroundings.get("organization") or "organization",
        preview=preview,
        # The engine is replaced below.
        logger=logging.Logger("silent", logging.CRITICAL),  # noqa: LOG001  # not shared with other code
        monitor=monitor,
    )
    # A set in new versions of Pulumi, a deque in old ones. All contexts share it.
    settings.SETTINGS.outputs = type(settings.SETTINGS.outputs)()
    settings.SETTINGS.engine = Engine(recording)
    # A new stack, in which async programs also run.
    settings.ROOT.set(None)
    await stack.run_in_stack(lambda: _exporting(call))
    await _settled()


def _exporting(call: Callable[[], object]) -> Awaitable[None] | None:
    result = call()
    if isinstance(result, Awaitable):
        return _exporting_later(result)
    _export(result)
    return None


async def _exporting_later(awaitable: Awaitable[object]) -> None:
    _export(await awaitable)


def _export(exported: object) -> None:
    for name, value in exported.items() if isinstance(exported, Mapping) else ():
        pulumi.export(name, value)


async def _settled() -> None:
    """Wait for tasks that the program does not await, such as warnings of resources."""
    waiting = asyncio.all_tasks() - {asyncio.current_task()}
    if waiting:
        await asyncio.wait(waiting, timeout=5)


def _configure(project: str, surroundings: Surroundings) -> None:
    plain, secret = (
        {key if ":" in key else f"{project}:{key}": _text(reveal(value)) for key, value in settings.items()}
        for settings in (without_none(surroundings.get("config") or {}), surroundings.get("secrets") or {})
    )
    pulumi.runtime.set_all_config({**plain, **secret}, list(secret))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@contextmanager
def _callable(program: Program) -> Iterator[Callable[[], object]]:
    """Yield a function that runs the program; a file runs in its folder, as with the engine."""
    if callable(program):
        yield program
        return
    path = Path(program).resolve()
    file = path / "__main__.py" if path.is_dir() else path
    if not file.is_file():
        raise FileNotFoundError(f"no program {file}: pass a function, a file, or a folder with a __main__.py")
    with _inside(file.parent):
        # A file exports its outputs itself.
        yield lambda: runpy.run_path(str(file), run_name="__main__") and None


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    path, directory, modules, no_bytecode = list(sys.path), Path.cwd(), set(sys.modules), sys.dont_write_bytecode
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    # Otherwise an edit could have no effect: Python uses a compiled module if size and second of its source are equal.
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        os.chdir(directory)
        sys.path[:] = path
        sys.dont_write_bytecode = no_bytecode
        # Import the program's modules again in the next run, but not installed ones.
        for name in sys.modules.keys() - modules:
            if _is_of(sys.modules[name], folder):
                del sys.modules[name]


def _is_of(module: Any, folder: Path) -> bool:
    file = getattr(module, "__file__", None) or ""
    return Path(file).is_relative_to(folder) and "site-packages" not in Path(file).parts
