"""Helpers to test programs with `VolcanoJob`s: run a program without an engine, and check its jobs.

    result = run("__main__.py", config={"image": "example.org/train:1"})
    assert result.job("train").pod("worker", 1).env["RANK"] == "2"

The helpers work with any test runner; see docs/testing.md.
"""

from __future__ import annotations

from pulumi_volcano_jobs.component.lookup import NotFound
from pulumi_volcano_jobs.testing.changes import Changes
from pulumi_volcano_jobs.testing.job import Job
from pulumi_volcano_jobs.testing.pods import Container, Pod, PodTemplate
from pulumi_volcano_jobs.testing.resources import KubernetesObject, Resource
from pulumi_volcano_jobs.testing.result import Result
from pulumi_volcano_jobs.testing.runner import Failure, Program, Surroundings, computed, failed, run
from pulumi_volcano_jobs.testing.values import UNKNOWN, SecretValue, Text, Unknown, is_secret, is_unknown, reveal

__all__ = [
    "UNKNOWN",
    "Changes",
    "Container",
    "Failure",
    "Job",
    "KubernetesObject",
    "NotFound",
    "Pod",
    "PodTemplate",
    "Program",
    "Resource",
    "Result",
    "SecretValue",
    "Surroundings",
    "Text",
    "Unknown",
    "computed",
    "failed",
    "is_secret",
    "is_unknown",
    "reveal",
    "run",
]
