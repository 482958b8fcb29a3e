"""Write findings as JSON for scripts, and as SARIF for editors and code review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from pulumi_volcano_jobs.core.errors import WARNINGS, Problem, RejectionStage
from pulumi_volcano_jobs.core.text import json_text

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    RejectionStage.DECODE: "Volcano's mutating webhook rejects the type of the value",
    RejectionStage.SCHEMA: "The API server rejects it by the schema of Volcano's CRD",
    RejectionStage.WEBHOOK: "Volcano's validating webhook rejects it",
    RejectionStage.CONTROLLER: "Volcano's job controller cannot process it",
    RejectionStage.PLUGIN: "A plugin of Volcano fails when it creates Pods",
    RejectionStage.API: "The API server rejects an object of the job",
    RejectionStage.STRICT: "Volcano accepts it, but it probably does not do what you want",
}


@dataclass(frozen=True)
class Finding:
    """A problem and its file."""

    file: str
    problem: Problem


def as_json(findings: Sequence[Finding]) -> str:
    """Return findings as one JSON list. `line` and `column` start at 1; 0 means unknown."""
    return json_text([_entry(finding) for finding in findings])


def as_sarif(findings: Sequence[Finding]) -> str:
    """Return findings, whose files are URIs, as a SARIF 2.1.0 log.

    The rule of a finding is the stage that rejects the job, or the code of the warning.
    """
    texts = {stage.name.lower(): text for stage, text in _RULES.items()} | WARNINGS
    rules = [{"id": rule, "shortDescription": {"text": text}} for rule, text in texts.items()]
    driver = {"name": "volcano-jobs", "version": version("pulumi-volcano-jobs"), "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(item) for item in findings],
    }
    return json_text({"$schema": _SARIF, "version": "2.1.0", "runs": [run]})


def _entry(finding: Finding) -> dict[str, Any]:
    problem = finding.problem
    return {
        "file": finding.file,
        "line": problem.line,
        "column": problem.column,
        "path": problem.path,
        "level": _level(problem),
        "type": problem.type,
        "stage": problem.stage.name.lower(),
        "code": problem.code,
        "reason": problem.reason,
        "value": problem.value,
        "hint": problem.hint,
    }


def _result(finding: Finding) -> dict[str, Any]:
    problem = finding.problem
    place: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": finding.file}}}
    if problem.line:
        place["physicalLocation"]["region"] = {"startLine": problem.line, "startColumn": problem.column}
    if problem.path:
        place["logicalLocations"] = [{"fullyQualifiedName": problem.path}]
    return {
        "ruleId": problem.code or problem.stage.name.lower(),
        "level": _level(problem),
        "message": {"text": str(problem)},
        "locations": [place],
        "properties": {"type": problem.type},
    }


def _level(problem: Problem) -> str:
    return "warning" if problem.warning else "error"
