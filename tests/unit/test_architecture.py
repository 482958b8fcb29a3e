"""Modules that the library loads, and names that its source must not contain."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import pulumi_volcano_jobs
from pulumi_volcano_jobs.plugins import BUILT_IN
from pulumi_volcano_jobs.plugins.settings import flags_of
from tests.golden.cases import WRITTEN

ROOT = Path(__file__).parents[2]
PACKAGE = Path(pulumi_volcano_jobs.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
JOBS = [name for path in WRITTEN for name in re.findall(r"(?m)^  name: (\S+)$", path.read_text("utf-8"))[:1]]
FLAGS = {argument for plugin in BUILT_IN for argument in flags_of(plugin)}
OF_CASES = {name for name in [*(path.stem for path in WRITTEN), *JOBS] if re.search(r"[-.\d]", name)} - FLAGS
"""Names of golden cases and their jobs that are too specific to occur by chance."""

RENDER = """
document = {"metadata": {"name": "a"}, "spec": {"plugins": {"ssh": [], "svc": [], "pytorch": []}, "tasks": [
    {"name": name, "replicas": 1, "template": {"spec": {"containers": [{"name": "m", "image": "i"}]}}}
    for name in ("master", "worker")]}}
"""


def loaded(code: str) -> set[str]:
    """Return the modules (dotted names) that a new interpreter has loaded after running code."""
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(json.loads(done.stdout.splitlines()[-1]))


USES = {
    "importing the library": "import pulumi_volcano_jobs",
    "importing what needs no Pulumi by name": "from pulumi_volcano_jobs import Job, PytorchPlugin, load_jobs, render",
    "rendering": f"import pulumi_volcano_jobs as v\n{RENDER}\nassert len(v.render(document).pods) == 2",
    "reading and writing files": (
        f"import pulumi_volcano_jobs as v\nfrom pulumi_volcano_jobs.files import job_file\n{RENDER}\n"
        "assert v.load_jobs(job_file.dump([v.render(document).job.to_manifest()]))"
    ),
    "refusing a job": (
        "import pulumi_volcano_jobs as v\ntry:\n    v.render({'metadata': {}, 'spec': {'x': 1}})\n"
        "except v.JobError as error:\n    assert str(error)\nelse:\n    raise SystemExit(1)"
    ),
}
HEAVY = ("pulumi", "pulumi_kubernetes", "typer", "rich", "cryptography", "kubernetes_validate", "grpc", "jsonschema")


@pytest.mark.parametrize("code", USES.values(), ids=USES)
def test_slow_modules_are_not_loaded(code: str) -> None:
    """Pulumi, the command line, key generation and JSON Schema validators."""
    tops = {name.partition(".")[0] for name in loaded(code)}

    assert "pulumi_volcano_jobs" in tops
    assert tops.isdisjoint(HEAVY)


def test_the_component_is_loaded_on_first_use() -> None:
    """Only the component imports Pulumi."""
    before = loaded("import pulumi_volcano_jobs")
    after = loaded("import pulumi_volcano_jobs\npulumi_volcano_jobs.VolcanoJob")

    assert not any(name.startswith("pulumi_volcano_jobs.component") for name in before)
    assert {"pulumi", "pulumi_volcano_jobs.component"} <= after
    assert not any(name.startswith("pulumi_volcano_jobs.testing") for name in after)


def test_the_helpers_for_tests_need_no_test_runner() -> None:
    """They are plain functions."""
    assert "pytest" not in loaded("import pulumi_volcano_jobs.testing")


def test_keys_are_generated_in_a_new_interpreter() -> None:
    """`cryptography` is imported when a key pair is generated, not with its module."""
    assert "cryptography" not in loaded("import pulumi_volcano_jobs.plugins.ssh_keys")
    assert "cryptography" in loaded("import pulumi_volcano_jobs.plugins.ssh_keys as k\nk.generate()")


def test_every_public_name_exists() -> None:
    """All names of `__all__`, including the component."""
    missing = [name for name in pulumi_volcano_jobs.__all__ if not hasattr(pulumi_volcano_jobs, name)]

    assert missing == []
    assert sorted(pulumi_volcano_jobs.__all__) == pulumi_volcano_jobs.__all__
    assert dir(pulumi_volcano_jobs) == sorted(pulumi_volcano_jobs.__all__)


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    """The message is Python's."""
    with pytest.raises(AttributeError, match="pulumi_volcano_jobs attribute VolcanoJobb"):
        _ = pulumi_volcano_jobs.VolcanoJobb


# Users see these names, in a module that says which class it is.
USERS_NAMES = {
    "the same thing in `pulumi_volcano_jobs.testing`": {"Container", "Job", "KubernetesObject", "Pod"},
    "the type of an input in the schema": {
        "DependsOn",
        "NetworkTopology",
        "PartitionPolicy",
        "Policy",
        "Task",
        "Volume",
    },
    "a resource in the schema": {"VolcanoJob", "VolcanoQueue"},
    "one class, with another definition for type checkers": {"FrozenModel", "Setting"},
}


def test_a_class_name_is_used_once() -> None:
    """A leading underscore does not make another name."""
    trees = [ast.parse(path.read_text("utf-8")) for path in SOURCES]
    classes = [node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    counts = Counter(name.lstrip("_") for name in classes)

    assert {name for name, count in counts.items() if count > 1} == set().union(*USERS_NAMES.values())


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_library_contains_no_golden_case(source: Path) -> None:
    """The library has no rules for test cases: no name of a case or a job, and no mark of the oracle."""
    text = source.read_text("utf-8")

    assert re.findall(rf"(?<![\w-])(?:{'|'.join(map(re.escape, OF_CASES))})(?![\w-])", text) == []
    assert "<random-" not in text
    assert "00000000-0000" not in text
    assert set(re.findall(r"busybox[\w.:/-]*", text)) <= {"busybox:1.36.1"}
    assert re.findall(r"generatedName|contentDiffers|prunedFields", text) == []


def test_golden_cases_have_specific_names() -> None:
    """Without such names the test above would check nothing."""
    assert {"pytorch-port-text", "plain-job-name-dot"} <= OF_CASES
    assert len(OF_CASES) > len(WRITTEN) / 2


def test_the_default_image_is_written_once() -> None:
    """The pytorch plugin has it."""
    having = [path.name for path in SOURCES if "busybox" in path.read_text("utf-8")]

    assert having == ["pytorch.py"]


def test_only_keys_depend_on_time_or_randomness() -> None:
    """The same job always renders the same manifests."""
    banned = re.compile(r"^\s*(?:import|from) (?:random|secrets|uuid|time|datetime|socket|urllib|http)\b", re.MULTILINE)
    core = [path for path in SOURCES if {"cli", "component", "status"}.isdisjoint(path.parts)]

    assert [path.name for path in core if banned.search(path.read_text("utf-8"))] == []
