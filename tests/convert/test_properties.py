"""Properties of the program of any job and of any value."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.convert import render_normalized, to_python, to_yaml
from pulumi_volcano_jobs.convert.formatter import Call, Module
from pulumi_volcano_jobs.files import job_file
from tests.convert.cases import evaluated, rendered, written
from tests.convert.test_yaml import resources
from tests.property import strategies
from tests.property.test_properties import CLUSTER, profile

# Texts that are hard to quote or to wrap.
hard_texts = st.text(st.sampled_from("ab c\n\n\t'\"\\${}#é初\u0301\u2028\x00\x7f\U0001f600"), max_size=200)
texts = strategies.texts | hard_texts | st.sampled_from(["", "a b " * 60, "x" * 300, "line\n" * 4, '"""\n\n'])
trees = st.recursive(
    texts
    | st.integers()
    | st.integers(10**30, 10**40)
    | st.booleans()
    | st.none()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
on_files = settings(profile, suppress_health_check=[*HealthCheck], max_examples=40)


def formatted(program: str) -> str:
    """Return a program as formatted by ruff."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--no-cache", "--line-length=120", "-"]
    return subprocess.run(command, input=program.encode(), capture_output=True, check=True).stdout.decode()


@on_files
@given(st.dictionaries(texts, trees, min_size=1, max_size=4))
def test_any_value_is_formatted_like_ruff_and_can_be_read_back(tree: dict[str, Any]) -> None:
    """Texts, numbers, empty lists and mappings, and keys that are not identifiers are generated."""
    module = Module("A tree.")
    module.assign("tree", Call("dict", (("", tree), ("other", tree))))
    source = module.text()

    names: dict[str, Any] = {}
    exec(compile(source, "__main__.py", "exec"), names)  # noqa: S102  # it is ours

    assert repr(names["tree"]) == repr(dict(tree, other=tree))
    assert formatted(source) == source


@profile
@given(st.data())
def test_any_job_is_converted_to_an_equivalent_program(data: st.DataObject) -> None:
    """Both languages are checked; the Python program is formatted."""
    document = data.draw(strategies.fitting_jobs())
    note = data.draw(texts)
    for task in document["spec"]["tasks"]:
        task["template"]["spec"]["containers"][0]["args"] = [note]
    (found,) = job_file.read(job_file.dump([document | {"spec": document["spec"] | {"plugins": args_of(document)}}]))
    expected = written(render(found.data, cluster=CLUSTER))
    _, job = render_normalized(found, cluster=CLUSTER)

    program, in_yaml = to_python([job]), to_yaml([job])

    with pytest.MonkeyPatch.context() as monkeypatch:
        ((name, args),) = evaluated(program, monkeypatch)
    assert rendered(name, args, CLUSTER) == expected
    ((resource, properties),) = resources(in_yaml).items()
    assert written(render({"name": resource, **properties}, cluster=CLUSTER)) == expected
    assert formatted(program.text) == program.text


def args_of(document: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the plugins of a job as a file has them."""
    return strategies.in_args_form(document["spec"]["plugins"])
