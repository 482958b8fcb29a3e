"""The options that choose how a job is checked: the same for all commands."""

from __future__ import annotations

import pytest

from pulumi_volcano_jobs.core.errors import WARNINGS
from tests.cli.conftest import PLACEHOLDERS, Shell
from tests.conftest import container, job, task

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
    """A slip of the pen must not switch off nothing in silence."""
    answer = shell("validate", "--ignore", "VJ103,vj104", shell.write("job.yaml", ODD))

    assert (answer.code, answer.out) == (2, "")
    known = f"{min(WARNINGS)} to {max(WARNINGS)}"
    assert answer.lines == [f"volcano-jobs: --ignore[1]: no warning has this code (given: 'vj104'): they are {known}"]


def test_who_counts_in_a_conflict_is_chosen(shell: Shell) -> None:
    """Nobody, the plugin or the template."""
    file = shell.write("job.yaml", CONFLICT)

    def value(*arguments: str) -> str:
        (pod,) = (item for item in shell.good("render", *arguments, file).documents() if item["kind"] == "Pod")
        env = pod["spec"]["containers"][0]["env"]
        return next(str(entry["value"]) for entry in env if entry["name"] == "VC_TASK_INDEX")

    assert shell("render", file).code == 1
    assert (value("--on-conflict", "plugin"), value("--on-conflict", "user"), value("--lenient")) == ("0", "7", "0")


def test_volcano_lets_no_template_count(shell: Shell) -> None:
    """The choice cannot be handed over to it."""
    file = shell.write("job.yaml", CONFLICT)

    answer = shell("render", "--managed-by", "volcano", "--on-conflict", "user", file)

    assert (answer.code, answer.out) == (2, "")
    assert answer.lines == [
        (
            "volcano-jobs: --on-conflict user needs --managed-by pulumi: Volcano's plugins write over what the template"
            " sets"
        )
    ]


def test_fields_that_the_cluster_s_version_does_not_know_are_told(shell: Shell) -> None:
    """By their place, whatever else is wrong."""
    pod = task(hostnameOverride="a", schedulingGates=[{"name": "a"}])
    file = shell.write("job.yaml", job(pod))

    answer = shell("validate", "--kubernetes-version", "1.25", file)

    assert answer.code == 1
    assert [line.partition(": ")[2] for line in answer.lines] == [
        (
            f"spec.tasks[0].template.spec.{field}: Kubernetes 1.25 does not know this field, and drops it: remove"
            " it, or"
            " run the job on a newer version"
        )
        for field in ("hostnameOverride", "schedulingGates")
    ]
    assert shell("validate", "--kubernetes-version", "1.36", file).code == 0


def test_a_version_that_is_not_known_is_bad_usage(shell: Shell) -> None:
    """The message says which are."""
    answer = shell("validate", "--kubernetes-version", "v1.31", shell.write("job.yaml", job()))

    assert (answer.code, answer.lines) == (2, ["volcano-jobs: --kubernetes-version v1.31 is none of 1.25 to 1.36"])


def test_what_volcano_lacks_is_an_error_at_its_line(shell: Shell) -> None:
    """The report volcano-version.yaml, by every command that makes a native Job."""
    plugins = {"svc": ["--inject-hosts-env=false", "--publish-not-ready-addresses=true"]}
    file = shell.write("job.yaml", job(plugins=plugins))
    native = ("--managed-by", "volcano", "--volcano-version")

    for command in ("validate", "render", "explain", "convert"):
        answer = shell(command, *native, "1.15", file)
        assert answer.code == 1
        assert "spec.plugins.svc[0]: --inject-hosts-env: Forbidden: Volcano 1.15 has no flag" in answer.lines[0]
        shell.good(command, *native, "1.16", file)
        shell.good(command, "--volcano-version", "1.15", file)


def test_a_version_of_volcano_that_is_not_known_is_bad_usage(shell: Shell) -> None:
    """The message lists those that are, in every command."""
    file = shell.write("job.yaml", job())

    for command in ("validate", "render", "explain", "graph", "convert"):
        answer = shell(command, "--volcano-version", "0.4", file)
        assert answer.code == 2
        assert answer.lines[0].startswith(
            'volcano-jobs: --volcano-version: Unsupported value: \'0.4\': supported values: "1.9", "1.10",'
        )


def test_validate_checks_the_job_that_volcano_gets(shell: Shell) -> None:
    """Its own options are errors there only."""
    file = shell.write("job.yaml", job(plugins={"ssh": [], "svc": []}))
    chosen = ("validate", "--set", "ssh.key_type=ed25519", file)

    assert shell(*chosen).code == 0
    answer = shell(*chosen, "--managed-by", "volcano")
    assert answer.code == 1
    assert "plugin_options.ssh.key_type" in answer.lines[0]


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
    "no plugin": ("port=1", "--set port: write PLUGIN.OPTION=VALUE, such as --set pytorch.port=29500"),
    "no value": ("svc.port", "--set svc.port: write PLUGIN.OPTION=VALUE, such as --set pytorch.port=29500"),
    "no option": ("svc.=1", "--set svc.: write PLUGIN.OPTION=VALUE, such as --set pytorch.port=29500"),
    "no YAML": ("svc.port=[1", "--set svc.port: the value is no YAML"),
}


@pytest.mark.parametrize(("setting", "message"), BAD_SETTINGS.values(), ids=BAD_SETTINGS)
def test_a_setting_that_is_none_is_bad_usage(shell: Shell, setting: str, message: str) -> None:
    """The message shows how it is written."""
    answer = shell("validate", "--set", setting, shell.write("job.yaml", job(plugins={"svc": []})))

    assert (answer.code, answer.lines) == (2, [f"volcano-jobs: {message}"])


def test_an_option_that_a_plugin_has_not_is_a_problem(shell: Shell) -> None:
    """As in a program."""
    file = shell.write("job.yaml", job(plugins={"svc": []}))

    answer = shell("validate", "--set", "svc.disable_network_polcy=true", file)

    assert answer.code == 1
    assert answer.lines == [
        (
            "job.yaml:7:5: plugin_options.svc.disable_network_polcy: the plugin has no such option: did you mean"
            " disable_network_policy?"
        )
    ]


VALUES = {"on": True, "1:4": "1:4", "2026-11-28": "2026-11-28", "0o17": 15, "null": None, "": "", "[1, a]": [1, "a"]}


@pytest.mark.parametrize(("text", "value"), VALUES.items(), ids=repr)
def test_a_value_is_read_as_kubectl_reads_it(shell: Shell, text: str, value: object) -> None:
    """By the reader of job files; what does not fit says what was read."""
    file = shell.write("job.yaml", job(plugins={"svc": []}))

    answer = shell("validate", "--set", f"svc.publish_not_ready_addresses={text}", file)

    said = f"plugin_options.svc.publish_not_ready_addresses: this must be True or False (given: {value!r})"
    assert answer.lines == ([] if value is True else [f"job.yaml:7:5: {said}"])
