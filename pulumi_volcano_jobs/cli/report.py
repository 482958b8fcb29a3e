"""Findings about files for programs: JSON for scripts, SARIF for editors and code review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from pulumi_volcano_jobs.core.errors import WARNINGS, Problem, RejectionStage
from pulumi_volcano_jobs.core.text import json_text

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    RejectionStage.DECODE: "Volcano's mutating webhook refuses a value of this type",
    RejectionStage.SCHEMA: "The schema of Volcano's resource definition refuses it",
    RejectionStage.WEBHOOK: "Volcano's validating webhook refuses it",
    RejectionStage.CONTROLLER: "Volcano's job controller stops at it",
    RejectionStage.PLUGIN: "A plugin of Volcano stops at it when Pods are made",
    RejectionStage.API: "The API server refuses what would be made of it",
    RejectionStage.STRICT: "Nobody refuses it, and it does something else than what was meant",
}


@dataclass(frozen=True)
class Finding:
    """A problem, and the file that it is in."""

    file: str
    problem: Problem


def as_json(findings: Sequence[Finding]) -> str:
    """Write findings as one JSON list; `line` and `column` count from 1, and 0 says that there is none."""
    return json_text([_entry(finding) for finding in findings])


def as_sarif(findings: Sequence[Finding]) -> str:
    """Write findings, whose files are URIs, as a SARIF 2.1.0 log; a rule is who would refuse, or a warning's code."""
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
