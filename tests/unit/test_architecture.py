"""What the library loads, and what its source must not know."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pulumi_volcano_jobs
from pulumi_volcano_jobs.plugins import BUILT_IN
from pulumi_volcano_jobs.plugins.settings import flags_of

ROOT = Path(__file__).parents[2]
PACKAGE = Path(pulumi_volcano_jobs.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
FILES = sorted((ROOT / "tests" / "golden" / "cases").glob("*.yaml"))
JOBS = [name for path in FILES for name in re.findall(r"(?m)^  name: (\S+)$", path.read_text("utf-8"))[:1]]
FLAGS = {argument for plugin in BUILT_IN for argument in flags_of(plugin)}
OF_CASES = {name for name in [*(path.stem for path in FILES), *JOBS] if re.search(r"[-.\d]", name)} - FLAGS
"""Names of golden cases and their jobs that stand nowhere by chance."""

RENDER = """
document = {"metadata": {"name": "a"}, "spec": {"plugins": {"ssh": [], "svc": [], "pytorch": []}, "tasks": [
    {"name": name, "replicas": 1, "template": {"spec": {"containers": [{"name": "m", "image": "i"}]}}}
    for name in ("master", "worker")]}}
"""


def loaded(code: str) -> set[str]:
    """Give the modules (dotted names) that a fresh interpreter has loaded after some code."""
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
def test_nothing_heavy_is_loaded(code: str) -> None:
    """Neither Pulumi nor the command line, nor a key maker, nor a JSON Schema validator."""
    tops = {name.partition(".")[0] for name in loaded(code)}

    assert "pulumi_volcano_jobs" in tops
    assert tops.isdisjoint(HEAVY)


def test_the_component_is_not_loaded_until_it_is_asked_for() -> None:
    """It is the only part that knows Pulumi."""
    before = loaded("import pulumi_volcano_jobs")
    after = loaded("import pulumi_volcano_jobs\npulumi_volcano_jobs.VolcanoJob")

    assert not any(name.startswith("pulumi_volcano_jobs.component") for name in before)
    assert {"pulumi", "pulumi_volcano_jobs.component"} <= after
    assert not any(name.startswith("pulumi_volcano_jobs.testing") for name in after)


def test_the_helpers_for_tests_need_no_test_runner() -> None:
    """They are plain functions."""
    assert "pytest" not in loaded("import pulumi_volcano_jobs.testing")


def test_keys_are_made_without_loading_anything_before() -> None:
    """`cryptography` is loaded when a pair is made, and not when its module is."""
    assert "cryptography" not in loaded("import pulumi_volcano_jobs.plugins.ssh_keys")
    assert "cryptography" in loaded("import pulumi_volcano_jobs.plugins.ssh_keys as k\nk.generate()")


def test_what_is_public_is_there() -> None:
    """Every name of `__all__`, the component's too."""
    missing = [name for name in pulumi_volcano_jobs.__all__ if not hasattr(pulumi_volcano_jobs, name)]

    assert missing == []
    assert sorted(pulumi_volcano_jobs.__all__) == pulumi_volcano_jobs.__all__
    assert dir(pulumi_volcano_jobs) == sorted(pulumi_volcano_jobs.__all__)


def test_what_is_not_public_is_not_there() -> None:
    """With Python's own message."""
    with pytest.raises(AttributeError, match="pulumi_volcano_jobs attribute VolcanoJobb"):
        _ = pulumi_volcano_jobs.VolcanoJobb


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_golden_case_is_known_to_the_library(source: Path) -> None:
    """What is tested with them is not written for them: no case's or job's name, and none of the oracle's marks."""
    text = source.read_text("utf-8")

    assert re.findall(rf"(?<![\w-])(?:{'|'.join(map(re.escape, OF_CASES))})(?![\w-])", text) == []
    assert "<random-" not in text
    assert "00000000-0000" not in text
    assert set(re.findall(r"busybox[\w.:/-]*", text)) <= {"busybox:1.36.1"}
    assert re.findall(r"generatedName|contentDiffers|prunedFields", text) == []


def test_there_are_names_of_golden_cases_to_look_for() -> None:
    """Else the test above would say nothing."""
    assert {"pytorch-port-text", "plain-job-name-dot"} <= OF_CASES
    assert len(OF_CASES) > len(FILES) / 2


def test_the_default_image_is_written_once() -> None:
    """It is pytorch's own default."""
    having = [path.name for path in SOURCES if "busybox" in path.read_text("utf-8")]

    assert having == ["pytorch.py"]


def test_the_library_does_not_ask_for_the_time_or_for_chance_outside_of_keys() -> None:
    """The same job always gives the same manifests."""
    banned = re.compile(r"^\s*(?:import|from) (?:random|secrets|uuid|time|datetime|socket|urllib|http)\b", re.MULTILINE)
    core = [path for path in SOURCES if "component" not in path.parts and "cli" not in path.parts]

    assert [path.name for path in core if banned.search(path.read_text("utf-8"))] == []
