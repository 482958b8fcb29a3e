"""Find the argument or option of a job that sets a plugin setting."""

from __future__ import annotations

from dataclasses import replace

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.phrases import Phrase
from pulumi_volcano_jobs.plugins import registry
from pulumi_volcano_jobs.plugins.settings import flag_of
from pulumi_volcano_jobs.spec.fields import PluginSettings
from pulumi_volcano_jobs.spec.model import Job
from pulumi_volcano_jobs.spec.options import RenderOptions


def relocate_plugin_problem(problem: Problem, job: Job, options: RenderOptions) -> Problem:
    """Return a problem of a plugin setting with the path of the option or argument that sets it."""
    relative_path = problem.path.removeprefix("spec.plugins.")
    if relative_path == problem.path:
        return problem
    name, _, setting = relative_path.partition(".")
    if setting.partition("[")[0] in ((options.get("plugin_options") or {}).get(name) or ()):
        return replace(problem, path=f"plugin_options.{relative_path}")
    use, plugin, head = job.uses.get(name), registry.find(name), f"spec.plugins.{name}"
    if plugin is None or use is None or isinstance(use, PluginSettings):
        return problem
    argument = flag_of(plugin, setting)
    if not argument:
        return problem
    positions = [
        index for index, arg in enumerate(use) if isinstance(arg, str) and arg.lstrip("-").partition("=")[0] == argument
    ]
    path = f"{head}[{positions[-1]}]" if positions else head
    return replace(problem, path=path, reason=Phrase(f"--{argument}: ", problem.reason or "may not be empty"))
