"""Any input results in a rendered job or its problems, without tracebacks, partial output or endless loops."""

from __future__ import annotations

import base64
import copy
import json
import os
import signal
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pulumi_volcano_jobs import JobError, Rendered, SshPlugin, render
from pulumi_volcano_jobs.admission import limits
from pulumi_volcano_jobs.files import job_file
from tests.commands import run_command
from tests.conftest import job, task
from tests.fuzz import strategies
from tests.property import strategies as sound

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "150"))  # `make fuzz` sets a higher number
MOST_CPU_SECONDS = 2 * EXAMPLES
"""The limit of one test. An example needs about 0.05 s of CPU time."""
profile = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True, scope="module")
def _small_jobs() -> Iterator[None]:
    """Lower the limit on Pods. Benchmarks measure large jobs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "MOST_PODS", 300)
        yield


@pytest.fixture(autouse=True)
def _bounded_work() -> Iterator[None]:
    """Fail a test that takes far more CPU time than an example needs."""

    def stop(_: int, frame: object) -> None:
        pytest.fail(f"more than {MOST_CPU_SECONDS} s of CPU time, in {frame}")

    previous = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_CPU_SECONDS)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, previous)


def outcome(document: Any, *, strict: bool, plugins: Any = None, **options: Any) -> Rendered | JobError:
    """Render a document that can be anything. Return manifests that can be written, or problems with reasons.

    `plugins` are arguments of Volcano, or functions that create typed plugins.
    """
    made: Rendered | JobError
    try:
        if plugins is not None:
            document["spec"]["plugins"] = [use() for use in plugins] if isinstance(plugins, list) else plugins
        made = render(document, strict=strict, **options)
    except JobError as error:
        made = error
    if isinstance(made, JobError):
        # The type of an error is a reason, such as "Required value".
        assert [problem for problem in made.problems if problem.warning and not problem.reason] == []
        assert [problem for problem in made.problems if not (problem.reason or problem.hint)] == []
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
def test_changed_text_of_a_job_ends_with_an_exit_code(text: bytes, command: list[str], lenient: bool) -> None:  # noqa: FBT001
    """The exit code is 0, 1 or 2. On failure, the command prints only messages: `validate` to standard output."""
    result = run_command(*command, *["--lenient"] * lenient, "-", stdin=text)

    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in {0, 1, 2}
    findings, product = result.stderr, result.stdout
    if command == ["validate"] and result.exit_code != 2:
        *lines, summary = result.stdout.splitlines()
        assert summary.endswith(" in 1 file")
        findings, product = "\n".join(lines), result.stderr.replace("volcano-jobs: skipped ", "")
    assert result.exit_code == 0 or (product, bool(findings)) == ("", True)
    assert [line for line in findings.splitlines() if not line.startswith(("<stdin>:", "volcano-jobs: "))] == []


@profile
@given(strategies.spoiled(), st.booleans(), st.sampled_from(["volcano", "recommended"]))
def test_a_job_with_unusual_values_ends_with_an_outcome(document: Any, strict: bool, defaults: str) -> None:  # noqa: FBT001
    """A Python program can have such values. Options read more fields than Volcano's plugins do."""
    outcome(document, strict=strict, defaults=defaults)


@profile
@given(sound.jobs(), st.data(), st.booleans())
def test_a_job_with_a_duplicate_key_ends_with_an_outcome(document: Any, data: st.DataObject, strict: bool) -> None:  # noqa: FBT001
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
def test_a_random_mapping_is_rejected(document: Any, strict: bool) -> None:  # noqa: FBT001
    """It is not a job."""
    assert isinstance(outcome(document, strict=strict), JobError)


@profile
@given(strategies.uses | strategies.typed, st.booleans())
def test_plugins_with_random_settings_end_with_an_outcome(plugins: Any, strict: bool) -> None:  # noqa: FBT001
    """Volcano's or typed plugins, with values of any type."""
    tasks = [task(name, 2) for name in ("master", "worker", "head", "ps")]

    outcome(job(*tasks), plugins=plugins, strict=strict)


def shown_text(result: Rendered | JobError) -> str:
    """Return all text of a result that is shown to users."""
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
    """In no message, warning or repr, in any place."""
    assume(strict or place != "another plugin")  # Volcano gets the arguments of a plugin without keys as they are
    document = job(task("worker", 2), plugins=_placed(key, place))

    shown = shown_text(outcome(copy.deepcopy(document), strict=strict, redact=True))

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
    """In any place: printed text, messages, and the reprs of parsed jobs."""
    assume(command[0] != "convert" or place in PLACES)  # a program keeps a template as it is
    key = f"{before}-----BEGIN RSA PRIVATE KEY-----\n{strategies.SECRET}\n-----END RSA PRIVATE KEY-----\n"
    worker = task("worker", 2)
    if place in IN_TEMPLATES:
        IN_TEMPLATES[place](worker["template"]["spec"], key)
    document = job(worker, plugins=_placed(key, place) if place in PLACES else {"ssh": [], "svc": []})
    text = json.dumps(document)

    result = run_command(*command, *["--lenient"] * lenient, "-", stdin=text)
    read = job_file.read(text)

    assert isinstance(result.exception, (SystemExit, type(None)))
    shown = f"{result.stdout} {result.stderr} {read!r} {read}"
    assert strategies.SECRET[:-10] not in shown
    assert base64.b64encode(strategies.SECRET.encode()).decode()[:-20] not in shown


@profile
@given(strategies.keys, strategies.ODD, st.booleans(), st.booleans())
def test_typed_keys_are_never_shown(key: str, other: Any, wrapped: bool, strict: bool) -> None:  # noqa: FBT001
    """Invalid values in the place of a key are not shown either."""
    given_key: Any = [key] if wrapped else key
    plugin = partial(SshPlugin, ssh_private_key=given_key, ssh_public_key=other)

    shown = shown_text(outcome(job(), plugins=[plugin], strict=strict, redact=True))

    assert strategies.SECRET[:-10] not in shown
