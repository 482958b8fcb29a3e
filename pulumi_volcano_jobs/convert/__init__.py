"""From Volcano Jobs to the Pulumi program, Python or YAML, that makes the same jobs."""

from __future__ import annotations

from pulumi_volcano_jobs.convert.in_python import to_python
from pulumi_volcano_jobs.convert.in_yaml import to_yaml
from pulumi_volcano_jobs.convert.meaning import understand
from pulumi_volcano_jobs.convert.program import Program, Secret

__all__ = ["Program", "Secret", "to_python", "to_yaml", "understand"]
