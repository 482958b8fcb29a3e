"""Convert Volcano Jobs to a Pulumi program, in Python or YAML, that creates the same jobs."""

from __future__ import annotations

from pulumi_volcano_jobs.convert.normalize import render_normalized
from pulumi_volcano_jobs.convert.program import Objects, Program, Secret
from pulumi_volcano_jobs.convert.pulumi_yaml import to_yaml
from pulumi_volcano_jobs.convert.python import to_python

__all__ = ["Objects", "Program", "Secret", "render_normalized", "to_python", "to_yaml"]
