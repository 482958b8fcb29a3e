"""README.md and the pages in docs/ show the output of the commands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from pulumi_volcano_jobs.cli.status import _EXIT_CODES as EXIT_CODES
from pulumi_volcano_jobs.status.kubectl import RESOURCES
from pulumi_volcano_jobs.status.reasons.observation import CODES
from tests.cli.conftest import Kubectl, Shell
from tests.cli.states import STATES
from tests.conftest import job

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "commands.md").read_text("utf-8")
COMMAND = re.compile(r"```console\n\$ volcano-jobs ([^\n]*)\n(.*?)```", re.DOTALL)
CONSOLE = COMMAND.findall(PAGE)
STATUS = (ROOT / "docs" / "status.md").read_text("utf-8")
STATE = re.compile(r"<!-- state: (\S+) -->\n```console\n\$ volcano-jobs status train\n(.*?)```", re.DOTALL)
SHOWN = [
    pytest.param(*shown, id=f"{page}-{shown[0]}")
    for page in ("status", "quickstart", "gpus", "registries", "secrets")
    for shown in STATE.findall((ROOT / "docs" / f"{page}.md").read_text("utf-8"))
]
QUICKSTART = (ROOT / "docs" / "quickstart.md").read_text("utf-8")
LOGS = re.compile(r"<!-- logs -->\n```console\n\$ volcano-jobs ([^\n]*)\n(.*?)```", re.DOTALL)
PICTURES = re.findall(r"<!-- volcano-jobs ([^\n]*) -->\n```mermaid\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(
    ("command", "output"), [*CONSOLE, *PICTURES], ids=[command for command, _ in (*CONSOLE, *PICTURES)]
)
def test_the_commands_print_the_output_of_the_page(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, command: str, output: str
) -> None:
    """They run in the repository at 80 columns. The page leaves out the warnings on standard error."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")

    assert shell.warned(*command.split()).out == output


def test_the_readme_shows_the_first_lines_of_explain(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ellipsis replaces the other lines."""
    ((command, output),) = COMMAND.findall((ROOT / "README.md").read_text("utf-8"))
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")

    assert output.endswith("\n...\n")
    assert shell.warned(*command.split()).out.startswith(output.removesuffix("...\n"))


def test_the_page_shows_each_command() -> None:
    """It explains a job and a Pod, and draws a graph."""
    assert [command.split()[0] for command, _ in (*CONSOLE, *PICTURES)] == ["explain", "explain", "graph"]


def test_the_hook_of_pre_commit_is_a_command(shell: Shell) -> None:
    """pre-commit adds the arguments of the user, and the changed files."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    program, *arguments = hook["entry"].split()

    assert (hook["id"], program) == ("volcano-jobs-validate", "volcano-jobs")
    shell.good(*arguments, "--ignore", "VJ103", shell.write("job.yaml", job()))


def test_the_page_about_editors_has_the_hook_and_working_commands(shell: Shell) -> None:
    """The commands read the folder `jobs`."""
    (shell.folder / "jobs").mkdir()
    shell.write("jobs/job.yaml", job())
    shell.write("job.yaml", job())
    page = (ROOT / "docs" / "editors.md").read_text("utf-8")

    commands = re.findall(r"^volcano-jobs ([^|>\n]*)", page, re.MULTILINE)

    assert len(commands) == 3
    assert [shell(*command.split()).code for command in commands] == [0] * 3
    _, hooks = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    (hook,) = hooks["repos"][0]["hooks"]
    assert hook["id"] == "volcano-jobs-validate"
    assert shell("validate", *hook["args"], "jobs/job.yaml").code == 0


@pytest.mark.parametrize(("state", "output"), SHOWN)
def test_a_page_shows_the_output_of_status(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, state: str, output: str
) -> None:
    """Each state is recorded."""
    monkeypatch.setenv("COLUMNS", "80")
    recorded = json.dumps({"kind": "List", "items": STATES[state]()}).encode()

    assert shell("status", "--from", "-", stdin=recorded).out == output


def test_the_page_about_status_lists_the_codes_of_reasons_and_states() -> None:
    """Scripts use both."""
    rows = re.findall(r"^\| (`[^|]*) \|", STATUS, re.MULTILINE)
    states = re.findall(r"^\| (\d) \| (\w*) ?\|", STATUS, re.MULTILINE)

    assert sorted(code for row in rows for code in re.findall(r"`([a-z-]+)`", row)) == sorted(CODES)
    assert {name: int(code) for code, name in states if name} == EXIT_CODES


def test_the_page_about_status_records_each_kind() -> None:
    """`--from` then has the same objects as a cluster."""
    recorded = {name for names in re.findall(r"^kubectl get (\S+)", STATUS, re.MULTILINE) for name in names.split(",")}
    assert recorded == {"pvc" if name == "persistentvolumeclaims" else name for name in RESOURCES.values()}


@pytest.mark.parametrize(
    ("page", "state", "earlier"),
    [(STATUS, "out-of-memory", ["first"]), (QUICKSTART, "quickstart", [])],
    ids=["status", "quickstart"],
)
def test_a_page_shows_the_output_of_logs(
    kubectl: Kubectl, shell: Shell, page: str, state: str, earlier: list[str]
) -> None:
    """`--tail 1` of the page about status skips the lines before the last."""
    (command, output), *_ = LOGS.findall(page)
    lines = dict(re.findall(r"\[(.*?)\] (.*)", output))
    objects = STATES[state]()
    kubectl.has(objects, {f"train-{rank}/main": [*earlier, line] for rank, line in lines.items()})

    assert shell.good(*command.split(), "--namespace", objects[0]["metadata"]["namespace"]).out == output
