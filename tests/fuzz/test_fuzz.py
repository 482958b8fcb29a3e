"""Whatever comes in, a job comes out or its problems: no traceback, no output on failure, no end that never comes."""

from __future__ import annotations

import base64
import copy
import json
import os
import traceback
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from pulumi_volcano_jobs import JobError, Rendered, SshPlugin, cli, render
from pulumi_volcano_jobs.admission import limits
from pulumi_volcano_jobs.files import job_file
from tests.conftest import job, task
from tests.fuzz import strategies
from tests.property import strategies as sound

profile = settings(
    # `make fuzz` asks for many more.
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "150")),
    deadline=timedelta(seconds=20),
    derandomize=bool(os.environ.get("CI")),
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True, scope="module")
def _small_jobs() -> Iterator[None]:
    """Let jobs be small: how long the rendering of a large one takes is for the benchmarks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "MOST_PODS", 300)
        yield


def outcome(document: Any, *, strict: bool, plugins: Any = None, **options: Any) -> Rendered | JobError:
    """Render what may be no job at all: it becomes manifests that can be written, or problems that say something.

    `plugins` are those of the job: Volcano's arguments, or functions that make typed ones.
    """
    made: Rendered | JobError
    try:
        if plugins is not None:
            document["spec"]["plugins"] = [use() for use in plugins] if isinstance(plugins, list) else plugins
        made = render(document, strict=strict, **options)
    except JobError as error:
        made = error
    if isinstance(made, JobError):
        assert [problem for problem in made.problems if not problem.reason] == []
        return made
    manifests = [made.job.to_manifest(), *made.objects, *made.pods]
    assert job_file.dump(manifests)
    assert job_file.dump(manifests, "json")
    return made


@profile
@given(
    strategies.mutated(),
    st.sampled_from([["render"], ["render", "--format", "json"], ["render", "--managed-by", "volcano"], ["validate"]]),
    st.booleans(),
)
def test_text_that_was_a_job(text: bytes, command: list[str], lenient: bool) -> None:  # noqa: FBT001
    """The command line ends with 0, 1 or 2; when it fails it prints nothing but what is wrong."""
    result = CliRunner().invoke(
        cli.app, [*command, *["--lenient"] * lenient, "-"], input=text, prog_name="volcano-jobs"
    )

    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in {0, 1, 2}
    assert result.exit_code == 0 or (result.stdout, bool(result.stderr)) == ("", True)
    assert [line for line in result.stderr.splitlines() if not line.startswith(("<stdin>:", "volcano-jobs: "))] == []


@profile
@given(strategies.spoiled(), st.booleans(), st.sampled_from(["volcano", "recommended"]))
def test_a_job_with_something_odd_in_it(document: Any, strict: bool, defaults: str) -> None:  # noqa: FBT001
    """As a Python program may have it; options look at more of it than Volcano's plugins do."""
    outcome(document, strict=strict, defaults=defaults)


@profile
@given(sound.jobs(), st.data(), st.booleans())
def test_a_duplicate_key(document: Any, data: st.DataObject, strict: bool) -> None:  # noqa: FBT001
    """Its second value lacks a field, or is another value."""
    path = data.draw(st.sampled_from([path for path in strategies.places(document) if isinstance(path[-1], str)]))
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    second = copy.deepcopy(holder[path[-1]])
    inner = list(strategies.places(second))
    if inner:
        *above, last = data.draw(st.sampled_from(inner))
        parent = second
        for key in above:
            parent = parent[key]
        del parent[last]
    else:
        second = data.draw(st.none() | st.integers(-1, 2) | st.text(max_size=3) | st.just([]) | st.just({}))
    holder[f"{path[-1]}<twice>"] = second
    for read in job_file.read(json.dumps(document, default=str).replace('<twice>"', '"')):
        outcome(read.data, strict=strict, earlier=read.problems)


@profile
@given(strategies.odd.filter(lambda value: isinstance(value, dict)), st.booleans())
def test_a_mapping_of_anything(document: Any, strict: bool) -> None:  # noqa: FBT001
    """It is no job."""
    assert isinstance(outcome(document, strict=strict), JobError)


@profile
@given(strategies.uses | strategies.typed, st.booleans())
def test_arguments_of_plugins(plugins: Any, strict: bool) -> None:  # noqa: FBT001
    """Volcano's or typed ones, of any type."""
    tasks = [task(name, 2) for name in ("master", "worker", "head", "ps")]

    outcome(job(*tasks), plugins=plugins, strict=strict)


def told(result: Rendered | JobError) -> str:
    """Give all that may be shown of a result."""
    if isinstance(result, JobError):
        parts: list[Any] = ["".join(traceback.format_exception(result)), vars(result)]
        error: BaseException | None = result
        while error is not None:
            parts += [str(error), repr(error)]
            error = error.__cause__ or error.__context__
        return "\n".join(map(str, parts))
    manifests = [result.job.to_manifest(), *result.objects, *result.pods]
    return f"{result.warnings} {result.plugins} {result.job} {job_file.dump(manifests)}"


def _placed(key: str, place: str) -> dict[str, list[Any]]:
    return {
        "right": {"ssh": [f"--ssh-private-key={key}", "--ssh-public-key=x"]},
        "alone": {"ssh": [f"--ssh-private-key={key}"]},
        "apart": {"ssh": ["--ssh-private-key", key, "--ssh-port=0"]},
        "blank": {"ssh": [f"--ssh-private-key {key}"]},
        "misspelt": {"ssh": [f"--ssh-private-kye={key}"]},
        "no flag": {"ssh": [key]},
        "dashes": {"ssh": [f"--{key}", f"-{key}"]},
        "public": {"ssh": [f"--ssh-public-key={key}"]},
        "port": {"ssh": [f"--ssh-port={key}"]},
        "a list": {"ssh": [["--ssh-private-key", key]]},
        "text": {"ssh": f"--ssh-private-key={key}"},  # type: ignore[dict-item]
        "a mapping": {"ssh": {"ssh-private-key": key}},  # type: ignore[dict-item]
        "another plugin": {"svc": [f"--ssh-private-key={key}"]},
        "another type": {"ssh": [f"--ssh-private-key={key}", "--ssh-public-key", 5]},
    }[place]


PLACES = (
    "right", "alone", "apart", "blank", "misspelt", "no flag", "dashes", "public", "port", "a list", "text",
    "a mapping", "another plugin", "another type",
)  # fmt: skip


@profile
@given(strategies.keys, st.sampled_from(PLACES), st.booleans())
def test_keys_as_arguments_are_never_shown(key: str, place: str, strict: bool) -> None:  # noqa: FBT001
    """In no message, warning or repr, wherever the key stands."""
    assume(strict or place != "another plugin")  # Volcano gets the arguments of a plugin without keys as they are
    document = job(task("worker", 2), plugins=_placed(key, place))

    shown = told(outcome(copy.deepcopy(document), strict=strict, redact=True))

    assert strategies.SECRET[:-10] not in shown
    assert base64.b64encode(strategies.SECRET.encode()).decode()[:-20] not in shown


COMMANDS = [
    ["render"],
    ["render", "--managed-by", "volcano"],
    ["render", "--format", "json"],
    ["validate"],
    ["validate", "--format", "json"],
    ["validate", "--format", "sarif"],
    ["explain"],
    ["graph"],
    ["convert"],
    ["convert", "--language", "yaml"],
]
IN_TEMPLATES: dict[str, Callable[[dict[str, Any], str], Any]] = {
    "a variable": lambda spec, key: spec["containers"][0].update(env=[{"name": "KEY", "value": key}]),
    "a variable's name": lambda spec, key: spec["containers"][0].update(env=[{"name": f"KEY={key}"}]),
    "a command": lambda spec, key: spec["containers"][0].update(command=["sh", "-c", f"echo '{key}'"]),
    "an image": lambda spec, key: spec["containers"][0].update(image=key),
    "a port": lambda spec, key: spec["containers"][0].update(ports=[{"containerPort": key}]),
    "an unknown field": lambda spec, key: spec.update({key: key}),
    "an amount": lambda spec, key: spec["containers"][0].update(resources={"limits": {"memory": key}}),
    "a policy": lambda spec, key: spec.update(restartPolicy=key),
}


@profile
@given(
    st.sampled_from(COMMANDS),
    st.booleans(),
    st.sampled_from([*PLACES, *IN_TEMPLATES]),
    st.sampled_from(["", "  ", "x"]),
)
def test_no_command_prints_a_planted_key(command: list[str], lenient: bool, place: str, before: str) -> None:  # noqa: FBT001
    """Wherever it stands: in what is printed, in messages, and in the reprs of what is read."""
    assume(command[0] != "convert" or place in PLACES)  # a program keeps a template as it is
    key = f"{before}-----BEGIN RSA PRIVATE KEY-----\n{strategies.SECRET}\n-----END RSA PRIVATE KEY-----\n"
    worker = task("worker", 2)
    if place in IN_TEMPLATES:
        IN_TEMPLATES[place](worker["template"]["spec"], key)
    document = job(worker, plugins=_placed(key, place) if place in PLACES else {"ssh": [], "svc": []})
    text = json.dumps(document)

    result = CliRunner().invoke(
        cli.app, [*command, *["--lenient"] * lenient, "-"], input=text, prog_name="volcano-jobs"
    )
    read = job_file.read(text)

    assert isinstance(result.exception, (SystemExit, type(None)))
    shown = f"{result.stdout} {result.stderr} {read!r} {read}"
    assert strategies.SECRET[:-10] not in shown
    assert base64.b64encode(strategies.SECRET.encode()).decode()[:-20] not in shown


@profile
@given(strategies.keys, strategies.ODD, st.booleans(), st.booleans())
def test_typed_keys_are_never_shown(key: str, other: Any, wrapped: bool, strict: bool) -> None:  # noqa: FBT001
    """Nor what stands in the place of one."""
    given_key: Any = [key] if wrapped else key
    plugin = partial(SshPlugin, ssh_private_key=given_key, ssh_public_key=other)

    shown = told(outcome(job(), plugins=[plugin], strict=strict, redact=True))

    assert strategies.SECRET[:-10] not in shown
