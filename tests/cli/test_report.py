"""`volcano-jobs validate --format json` and `sarif`: problems and warnings for programs."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import pytest

from tests.cli.conftest import Shell

JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  minAvailable: 5
  plugins: {svc: []}
  tasks:
    - name: worker
      replicas: 2
      template: {spec: {restartPolicy: Never, containers: [{name: main, image: a}]}}
"""
ERROR = {
    "file": "job.yaml",
    "line": 5,
    "column": 3,
    "path": "spec.minAvailable",
    "level": "error",
    "type": "Invalid",
    "stage": "webhook",
}


def report(shell: Shell, style: str, *files: str, code: int = 1) -> Any:
    """Run the command, and parse the report on standard output."""
    answer = shell("validate", "--format", style, *files)
    assert (answer.code, answer.err) == (code, "")
    return json.loads(answer.out)


def files_of(found: Any) -> list[str]:
    """Return the file of each result of a report in either format."""
    if isinstance(found, list):
        return [item["file"] for item in found]
    places = [result["locations"][0]["physicalLocation"] for result in found["runs"][0]["results"]]
    return [place["artifactLocation"]["uri"] for place in places]


def test_json_lists_the_same_results_as_the_text(shell: Shell) -> None:
    """Each result has its place, who would reject the job, and the parts of the message."""
    file = shell.write("job.yaml", JOB)

    (error,) = report(shell, "json", file)

    assert error | ERROR == error
    line = f"job.yaml:5:3: spec.minAvailable: Invalid value: 5: {error['reason']}"
    (shown,) = shell("validate", file).lines
    assert shown.startswith(line)
    assert error["hint"] in shown


def test_sarif_has_the_properties_that_editors_read(shell: Shell) -> None:
    """A run has the tool, its rules, and a result with file, region and path."""
    file = shell.write("job.yaml", JOB)

    log = report(shell, "sarif", file)

    assert (log["version"], log["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("volcano-jobs", version("pulumi-volcano-jobs"))
    (result,) = run["results"]
    assert result["ruleId"] in {rule["id"] for rule in driver["rules"]}
    assert (result["ruleId"], result["level"], result["properties"]) == ("webhook", "error", {"type": "Invalid"})
    assert result["message"]["text"].startswith("spec.minAvailable: ")
    assert result["locations"] == [
        {
            "physicalLocation": {"artifactLocation": {"uri": "job.yaml"}, "region": {"startLine": 5, "startColumn": 3}},
            "logicalLocations": [{"fullyQualifiedName": "spec.minAvailable"}],
        }
    ]


def test_sarif_names_a_file_by_its_uri(shell: Shell) -> None:
    """A space in a file name is escaped."""
    file = shell.write("my job.yaml", JOB)

    (run,) = report(shell, "sarif", file)["runs"]

    (place,) = run["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "my%20job.yaml"}


def test_a_warning_is_listed_with_exit_code_0(shell: Shell) -> None:
    """It is listed with its level."""
    file = shell.write("job.yaml", JOB.replace("minAvailable: 5", "minAvailable: 2").replace("svc", "ssh"))

    (warning,) = report(shell, "json", file, code=0)

    assert (warning["path"], warning["level"], warning["type"]) == ("spec.plugins.ssh", "warning", "Warning")


@pytest.mark.parametrize("style", ["json", "sarif"])
def test_invalid_yaml_and_duplicates_are_listed(shell: Shell, style: str) -> None:
    """One report covers all files, also if one of them cannot be parsed."""
    good = JOB.replace("minAvailable: 5", "minAvailable: 2")
    files = [shell.write("broken.yaml", "a: [\n"), shell.write("job.yaml", JOB)]

    assert files_of(report(shell, style, *files)) == ["broken.yaml", "job.yaml"]
    twins = shell.write("twins.yaml", f"{good}---\n{good}")
    assert files_of(report(shell, style, twins)) == ["twins.yaml"]


@pytest.mark.parametrize(("style", "nothing"), [("json", "[]"), ("sarif", '"results": []')])
def test_a_good_file_has_an_empty_report(shell: Shell, style: str, nothing: str) -> None:
    """The document is still complete."""
    file = shell.write("job.yaml", JOB.replace("minAvailable: 5", "minAvailable: 2").replace("ssh", "svc"))

    assert nothing in shell.good("validate", "--format", style, file).out


@pytest.mark.parametrize("style", ["json", "sarif"])
def test_a_report_shows_no_key(shell: Shell, style: str) -> None:
    """The text format hides keys in the same way."""
    file = shell.write("job.yaml", JOB.replace("ssh: []", "ssh: ['--ssh-private-key=AAAAsecret'], svc: []"))

    assert "AAAAsecret" not in json.dumps(report(shell, style, file))
