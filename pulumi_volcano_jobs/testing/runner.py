"""Programs run without an engine, each in a thread and a context of its own."""

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
from pulumi.runtime import mocks, settings, stack
from typing_extensions import Unpack

from pulumi_volcano_jobs.component.input_errors import OutputValueError
from pulumi_volcano_jobs.core.errors import JobError, Problem
from pulumi_volcano_jobs.testing.lookup import missing
from pulumi_volcano_jobs.testing.mock_engine import Engine, EngineOptions, Monitor, Recording
from pulumi_volcano_jobs.testing.result import Result
from pulumi_volcano_jobs.testing.values import SecretValue, Wire, reveal

T = TypeVar("T")
# Pulumi keeps some of its state, as Python does the working directory, for the whole process: runs take turns.
_TURN = threading.Lock()
_THREAD = "pulumi-program"
Program: TypeAlias = Callable[[], object] | str | Path
"""A function, async or not, or a program's file or folder. If a function returns a mapping, it is exported."""


class Surroundings(TypedDict, total=False):
    """What there is beside the program; all of it may be left out."""

    preview: bool
    """Whether it is a preview: nothing is made, and what comes from resources is not known."""
    config: Mapping[str, object]
    """The stack's configuration; a key without a colon is the project's own. What is no text is written as JSON."""
    secrets: Mapping[str, object]
    """The configuration that is secret."""
    project: str
    """The project's name; `project` by default."""
    stack: str
    """The stack's name; `stack` by default."""
    organization: str
    """The organization's name; `organization` by default."""
    cluster: Mapping[str, Wire]
    """What the cluster adds to an object once it is made, such as a status, by kind and name in the stack:
    `{"Job train": {"status": {"state": {"phase": "Failed"}}}}`."""
    stacks: Mapping[str, Mapping[str, Any]]
    """The outputs of other stacks that the program refers to, by the stack's whole name."""
    mocks: mocks.Mocks
    """Answers for resources of other providers than Kubernetes, once they are made, and for all functions."""
    state: Result
    """An earlier `up` of the same stack: keys that it made are kept, and `Result.changes` compares with it."""


class Failure(NamedTuple):
    """How a program failed."""

    error: Exception
    """What it raised."""
    result: Result
    """What it had done by then."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the job that was refused; none if it failed for another reason."""
        return self.error.problems if isinstance(self.error, (JobError, OutputValueError)) else ()


def run(program: Program, **surroundings: Unpack[Surroundings]) -> Result:
    """Run a program to its end, as `pulumi up` does, or as `pulumi preview` with `preview=True`.

    A file is run where it lies, with its folder on the import path. Nothing of a run is left for the next one.
    Transforms are not called; Python warns of it.

    Args:
        program: a function without arguments, a file, or a folder with a `__main__.py`.
        surroundings: configuration, names, and what other resources answer (see `Surroundings`).

    Raises:
        JobError: if a job is refused; `problems` has every problem with its path.
        Exception: whatever else the program raises.
    """
    __tracebackhide__ = True
    surroundings = _sealed(surroundings)
    recording = Recording()
    _run(program, recording, surroundings)
    return _result(recording, surroundings)


def failed(program: Program, **surroundings: Unpack[Surroundings]) -> Failure:
    """Run a program that must fail; give what it raised, and what it had done by then.

    Args:
        program: as in `run`.
        surroundings: as in `run`.

    Raises:
        AssertionError: if it goes through.
    """
    __tracebackhide__ = True
    surroundings = _sealed(surroundings)
    recording = Recording()
    try:
        _run(program, recording, surroundings)
    except Exception as error:  # noqa: BLE001  # the test looks at it
        return Failure(error, _result(recording, surroundings))
    raise AssertionError(f"the program went through: {_result(recording, surroundings)!r}")


def computed(value: T) -> pulumi.Output[T]:
    """Give an Output as a resource of the same program has it: known after an update, and not in a preview."""
    is_known = not pulumi.runtime.is_dry_run()
    return pulumi.Output(set(), _ready(value if is_known else None), _ready(is_known))  # type: ignore[arg-type]  # nobody sees it


def _ready(value: T) -> asyncio.Future[T]:
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    future.set_result(value)
    return future


def _sealed(surroundings: Surroundings) -> Surroundings:
    """Mark the secrets: test runners may show the variables of all frames of a failure."""
    for name in surroundings.keys() - Surroundings.__annotations__.keys():
        raise TypeError(missing("argument", name, Surroundings.__annotations__, "run"))
    secrets = {key: SecretValue(value) for key, value in surroundings.get("secrets", {}).items()}
    return {**surroundings, "secrets": secrets}


def _result(recording: Recording, surroundings: Surroundings) -> Result:
    if recording.has_transforms:
        warnings.warn("no transform was called: test transforms on an engine, with pulumi.automation", stacklevel=3)
    before = surroundings.get("state")
    return Result(recording, preview=surroundings.get("preview", False), before=before)


def _run(program: Program, recording: Recording, surroundings: Surroundings) -> None:
    """Run in a thread, where no event loop runs yet, and in an empty context, where Pulumi keeps its own state."""
    __tracebackhide__ = True
    future: Future[None] = Future()

    def inside() -> None:
        try:
            with _callable(program) as call:
                asyncio.run(_program(call, recording, surroundings))
        except BaseException as error:  # noqa: BLE001  # it is raised again below
            future.set_exception(error)
        else:
            future.set_result(None)

    if threading.current_thread().name == _THREAD:
        raise RuntimeError("a program that runs under `run` cannot call `run`: call it beside the program, in the test")
    with _TURN:
        thread = threading.Thread(target=lambda: contextvars.Context().run(inside), name=_THREAD)
        thread.start()
        thread.join()
    for fault in recording.errors:
        raise fault from future.exception()
    future.result()


async def _program(call: Callable[[], object], recording: Recording, surroundings: Surroundings) -> None:
    loop = asyncio.get_running_loop()
    # One thread: the engine is asked in the order of the program, and the resources have the same order in each run.
    loop.set_default_executor(ThreadPoolExecutor(max_workers=1))
    # Pulumi's host does the same: of a program that fails, some futures are never looked at.
    loop.set_exception_handler(lambda _loop, _context: None)
    before, preview = surroundings.get("state"), surroundings.get("preview", False)
    if before is not None and (preview or before.preview):
        raise ValueError(
            "state is that of an `up`, and for one: a preview does not tell what the provider would change"
        )
    world = EngineOptions(
        preview=preview,
        cluster=surroundings.get("cluster", {}),
        stacks=surroundings.get("stacks", {}),
        mocks=surroundings.get("mocks"),
        state=before.registrations if before else {},
    )
    project = surroundings.get("project", "project")
    _configure(project, surroundings)
    monitor = Monitor(recording, world)
    mocks.set_mocks(
        monitor.mocks,
        project=project,
        stack=surroundings.get("stack", "stack"),
        organization=surroundings.get("organization", "organization"),
        preview=preview,
        # Until the engine below is in its place.
        logger=logging.Logger("silent", logging.CRITICAL),  # noqa: LOG001  # it is nobody else's
        monitor=monitor,
    )
    # A set in new versions of Pulumi, a deque in old ones; it is shared by all contexts.
    settings.SETTINGS.outputs = type(settings.SETTINGS.outputs)()
    settings.SETTINGS.engine = Engine(recording)
    # The program gets a stack of its own, in which async programs run too.
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
    """Wait for what nobody waits for, such as warnings of resources."""
    waiting = asyncio.all_tasks() - {asyncio.current_task()}
    if waiting:
        await asyncio.wait(waiting, timeout=5)


def _configure(project: str, surroundings: Surroundings) -> None:
    plain, secret = (
        {key if ":" in key else f"{project}:{key}": _text(reveal(value)) for key, value in settings.items()}
        for settings in (surroundings.get("config", {}), surroundings.get("secrets", {}))
    )
    pulumi.runtime.set_all_config({**plain, **secret}, list(secret))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@contextmanager
def _callable(program: Program) -> Iterator[Callable[[], object]]:
    """Give what runs the program; a file is run where it lies, as the engine does it."""
    if callable(program):
        yield program
        return
    path = Path(program).resolve()
    file = path / "__main__.py" if path.is_dir() else path
    if not file.is_file():
        raise FileNotFoundError(f"there is no program {file}: give a function, a file, or a folder with a __main__.py")
    with _inside(file.parent):
        # Nothing that it defines is exported.
        yield lambda: runpy.run_path(str(file), run_name="__main__") and None


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    path, directory, modules = list(sys.path), Path.cwd(), set(sys.modules)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        os.chdir(directory)
        sys.path[:] = path
        # The program's own modules are run again next time; what is installed is not.
        for name in sys.modules.keys() - modules:
            if _is_of(sys.modules[name], folder):
                del sys.modules[name]


def _is_of(module: Any, folder: Path) -> bool:
    file = getattr(module, "__file__", None) or ""
    return Path(file).is_relative_to(folder) and "site-packages" not in Path(file).parts
