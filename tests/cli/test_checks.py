"""The options that choose how a job is checked: the same for all commands."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.core.errors import unknown_codes, value_text
from pulumi_volcano_jobs.spec import releases
from tests.cli.conftest import PLACEHOLDERS, Shell
from tests.conftest import container, job, task, typed

ODD = job(task(restartPolicy=None), plugins={"ssh": []})
CONFLICT = job(task(containers=[container(env=[{"name": "VC_TASK_INDEX", "value": "7"}])]), plugins={"env": []})


@pytest.mark.parametrize("command", ["render", "convert", "validate"])
def test_a_warning_is_switched_off_by_its_code(shell: Shell, command: str) -> None:
    """One, or several; the others stay."""
    file = shell.write("job.yaml", ODD)
    rest = [PLACEHOLDERS.strip()] if command == "render" else []

    def codes(*options: str) -> list[str]:
        return [line if line in rest else line[-7:] for line in shell(command, *options, file).lines]

    assert codes() == ["[VJ110]", "[VJ101]", *rest]
    assert codes("--ignore", "VJ110") == ["[VJ101]", *rest]
    assert codes("--ignore", "VJ110, VJ101") == rest


def test_a_code_that_no_warning_has_is_bad_usage(shell: Shell) -> None:
    """A misspelt code would ignore no warning."""
    (problem,) = unknown_codes(["VJ103", "vj104"], "--ignore")

    answer = shell("validate", "--ignore", "VJ103,vj104", shell.write("job.yaml", ODD))

    assert (answer.code, answer.out) == (2, "")
    assert typed([problem]) == [("--ignore[1]", "NotSupported")]
    assert answer.lines == [f"volcano-jobs: {problem}"]


def test_who_counts_in_a_conflict_is_chosen(shell: Shell) -> None:
    """Nobody, the plugin or the template."""
    file = shell.write("job.yaml", CONFLICT)

    def value(*arguments: str) -> str:
        (pod,) = (item for item in shell.warned("render", *arguments, file).documents() if item["kind"] == "Pod")
        env = pod["spec"]["containers"][0]["env"]
        return next(str(entry["value"]) for entry in env if entry["name"] == "VC_TASK_INDEX")

    assert shell("render", file).code == 1
    assert (value("--on-conflict", "plugin"), value("--on-conflict", "user"), value("--lenient")) == ("0", "7", "0")


def test_templates_do_not_take_precedence_in_native_mode(shell: Shell, snapshot: SnapshotAssertion) -> None:
    """Volcano's plugins override what the template sets."""
    file = shell.write("job.yaml", CONFLICT)

    commands = ("render", "validate", "explain", "convert")
    (answer,) = {shell(command, "--managed-by", "volcano", "--on-conflict", "user", file) for command in commands}

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == snapshot


def test_fields_that_the_cluster_s_version_does_not_know_are_rejected(shell: Shell) -> None:
    """Each has an error with its own path."""
    pod = task(hostnameOverride="a", schedulingGates=[{"name": "a"}])
    file = shell.write("job.yaml", job(pod))

    paths = [f"spec.tasks[0].template.spec.{field}" for field in ("hostnameOverride", "schedulingGates")]
    answer = shell("validate", "--kubernetes-version", "1.25", file)
    problems = shell.problems("--kubernetes-version", "1.25", file)

    assert typed(problems) == [(path, "Forbidden") for path in paths]
    assert ["1.25" in problem.reason for problem in problems] == [True, True]
    assert answer.code == 1
    assert answer.places == [f"job.yaml:{problem.line}:{problem.column}: {problem.path}" for problem in problems]
    assert shell("validate", "--kubernetes-version", "1.36", file).code == 0


def test_an_unknown_version_of_kubernetes_is_bad_usage(shell: Shell, snapshot: SnapshotAssertion) -> None:
    """The message lists the known versions."""
    answer = shell("validate", "--kubernetes-version", "v1.31", shell.write("job.yaml", job()))

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == snapshot


def test_a_flag_that_a_version_of_volcano_does_not_have_is_an_error(shell: Shell) -> None:
    """Every command that creates a native Job reports it, with its line."""
    plugins = {"svc": ["--inject-hosts-env=false", "--publish-not-ready-addresses=true"]}
    file = shell.write("job.yaml", job(plugins=plugins))
    native = ("--managed-by", "volcano", "--volcano-version")

    problem = shell.problems(*native, "1.15", file)[0]
    assert typed([problem]) == [("spec.plugins.svc[0]", "Forbidden")]
    assert problem.reason.startswith("--inject-hosts-env: ")
    assert "Volcano 1.15 " in problem.reason
    for command in ("validate", "render", "explain", "convert"):
        answer = shell(command, *native, "1.15", file)
        assert answer.code == 1
        assert answer.lines[0] == f"job.yaml:{problem.line}:{problem.column}: {problem}"
        shell.good(command, *native, "1.16", file)
        shell.good(command, "--volcano-version", "1.15", file)


def test_an_unknown_version_of_volcano_is_bad_usage(shell: Shell) -> None:
    """Every command says so."""
    file = shell.write("job.yaml", job())
    (problem,) = releases.check_release("0.4", "--volcano-version")

    assert typed([problem]) == [("--volcano-version", "NotSupported")]
    for command in ("validate", "render", "explain", "graph", "convert"):
        answer = shell(command, "--volcano-version", "0.4", file)
        assert (answer.code, answer.lines) == (2, [f"volcano-jobs: {problem}"])


def test_validate_checks_the_job_that_volcano_gets(shell: Shell) -> None:
    """Its own options are errors there only."""
    file = shell.write("job.yaml", job(plugins={"ssh": [], "svc": []}))
    chosen = ("validate", "--set", "ssh.key_type=ed25519", file)

    assert shell(*chosen).code == 0
    answer = shell(*chosen, "--managed-by", "volcano")
    assert answer.code == 1
    assert answer.places[0].endswith(": plugin_options.ssh.key_type")


def published(shell: Shell, *arguments: str) -> object:
    """Render a job with svc, and tell whether its Service publishes Pods that are not ready."""
    file = shell.write("job.yaml", job(plugins={"svc": []}))
    objects = shell.good("render", *arguments, file).documents()
    (service,) = (item for item in objects if item["kind"] == "Service")
    return service["spec"].get("publishNotReadyAddresses")


def test_options_of_plugins_are_set(shell: Shell) -> None:
    """A value is what it is in YAML; the last of several counts."""
    option = "svc.publish_not_ready_addresses"

    assert published(shell) is None
    assert published(shell, "--set", f"{option}=true") is True
    assert published(shell, "--set", f"{option}=true", "--set", f"{option}=false") is None


BAD_SETTINGS = {
    "no plugin": "port=1",
    "no value": "svc.port",
    "no option": "svc.=1",
    "no YAML": "svc.port=[1",
}


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_a_malformed_setting_is_bad_usage(shell: Shell, name: str, snapshot: SnapshotAssertion) -> None:
    """The message shows the form of a setting."""
    answer = shell("validate", "--set", BAD_SETTINGS[name], shell.write("job.yaml", job(plugins={"svc": []})))

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == snapshot


def test_an_unknown_option_of_a_plugin_is_a_problem(shell: Shell) -> None:
    """The fix names the option with the most similar name."""
    file = shell.write("job.yaml", job(plugins={"svc": []}))
    setting = ("--set", "svc.disable_network_polcy=true", file)

    answer = shell("validate", *setting)
    (problem,) = shell.problems(*setting)

    assert typed([problem]) == [("plugin_options.svc.disable_network_polcy", "Forbidden")]
    assert "disable_network_policy" in problem.hint
    assert answer.code == 1
    assert answer.lines == [f"job.yaml:7:5: {problem}"]


VALUES = {"on": True, "1:4": "1:4", "2026-11-28": "2026-11-28", "0o17": 15, "null": None, "": "", "[1, a]": [1, "a"]}


@pytest.mark.parametrize(("text", "value"), VALUES.items(), ids=repr)
def test_a_value_is_read_as_kubectl_reads_it(shell: Shell, text: str, value: object) -> None:
    """The reader of job files parses it; the problem of a value of the wrong type shows what was read.

    A null is the default of the option.
    """
    file = shell.write("job.yaml", job(plugins={"svc": []}))
    setting = ("--set", f"svc.publish_not_ready_addresses={text}", file)

    problems = shell.problems(*setting)

    path = "plugin_options.svc.publish_not_ready_addresses"
    assert [(*pair, problem.value) for pair, problem in zip(typed(problems), problems, strict=True)] == (
        [] if value in (True, None) else [(path, "TypeInvalid", value_text(value))]
    )
    assert shell("validate", *setting).lines == [f"job.yaml:7:5: {problem}" for problem in problems]
