"""The programs and the configuration of docs/stack.md."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs.component import stack_config
from pulumi_volcano_jobs.spec.job_defaults import NAMES
from pulumi_volcano_jobs.testing import run
from tests.component.programs import needs_transforms, new_job
from tests.conftest import task

TEXT = (Path(__file__).parents[2] / "docs/stack.md").read_text("utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
(CONFIGURATION,) = re.findall(r"^```yaml\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
MADE: list[dict[str, list[str]]] = [
    {"Queue": ["all-teams", "research"], "VolcanoJob": ["train"]},
    {"Queue": ["research"], "VolcanoJob": ["large", "small"]},
    {"Queue": [], "VolcanoJob": ["train"]},
]


@pytest.mark.filterwarnings("ignore:transforms were not called")
@pytest.mark.parametrize("number", [0, 1, pytest.param(2, marks=needs_transforms)])
def test_a_program_runs(number: int) -> None:
    """It logs no warning and creates the objects that the page describes."""
    done = run(lambda: exec(PROGRAMS[number], {}))  # noqa: S102  # our own page

    assert {kind: sorted(done.names(kind)) for kind in MADE[number]} == MADE[number]
    assert done.warnings == []


def test_all_programs_of_the_page_are_tested() -> None:
    """The list above is complete."""
    assert len(PROGRAMS) == len(MADE)


def test_the_defaults_of_the_program_apply_to_each_job() -> None:
    """The page lists the values."""
    done = run(lambda: exec(PROGRAMS[1], {}))  # noqa: S102  # our own page

    for name in ("small", "large"):
        pod = done.manifests()[f"Pod {name}-worker-0"]
        assert pod["metadata"]["labels"]["team"] == "ml"
        assert pod["spec"]["nodeSelector"] == {"pool": "gpu"}
        # With the recommended options the init container uses the image of the worker.
        images = {item["image"] for key in ("initContainers", "containers") for item in pod["spec"][key]}
        assert images == {"ghcr.io/team/train:1"}


def configuration() -> dict[str, str]:
    """Return the configuration of the page as a program receives it: values that are not text are JSON."""
    values: dict[str, Any] = yaml.safe_load(CONFIGURATION)["config"]
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}


def test_the_configuration_of_the_page_is_valid() -> None:
    """Each key of it changes the job."""
    spec = task("worker", containers=[{"name": "main", "image": "train:1"}])
    done = run(lambda: new_job("train", {"tasks": [spec]}) and None, config=configuration())

    pod = done.manifests()["Pod train-worker-0"]
    assert pod["metadata"]["namespace"] == "research"
    assert pod["metadata"]["labels"]["volcano.sh/queue-name"] == "batch"
    assert pod["metadata"]["labels"]["team"] == "ml"
    assert pod["spec"]["containers"][0]["image"] == "ghcr.io/team/train:1"
    assert pod["spec"]["imagePullSecrets"] == [{"name": "pull"}]
    assert pod["spec"]["nodeSelector"] == {"pool": "gpu"}
    assert pod["spec"]["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]


def test_the_page_names_every_default() -> None:
    """Both spellings are listed."""
    (table,) = re.findall(r"^\| default.*?\n\n", TEXT, re.DOTALL | re.MULTILINE)
    named = set(re.findall(r"`(\w+)`", "\n".join(row.split("|")[1] for row in table.splitlines()[2:] if row)))

    assert named == set(NAMES) | set(stack_config.NAMES)
