"""Find placeholders of unfilled templates in a job, such as `${IMAGE}`, `{{ image }}`, `$(IMAGE)` or `<image>`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, key_text
from pulumi_volcano_jobs.spec.document import DOCUMENT_FIELDS, IN_METADATA

_REPLACE = "replace it by a value"
_RENDER = "render the template first, for example with helm template or Jinja"
_KINDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\{\{.*?\}\}|\{%.*?%\}"), _RENDER),
    (re.compile(r"\$\{\w+[^}]*\}|\$[A-Za-z_]\w*"), "fill in the template first, for example with envsubst"),
    (re.compile(r"\$\([^()]+\)"), "fill in the template first, for example with kustomize build"),
    (re.compile(r"<[^<>]+>|\[\[.+?\]\]|__[A-Z][A-Z0-9_]*?__|@[A-Z][A-Z0-9_]*@|%[A-Z][A-Z0-9_]*%"), _REPLACE),
    (re.compile(r"\{[A-Za-z_][\w.]*\}|\bYOUR_[A-Z_]+\b"), _REPLACE),
    (re.compile(r"(?i:change[-_]?me|replace[-_]?me)|TODO|FIXME|TBD"), _REPLACE),
)
_WHOLE = _KINDS[-1][0]
"""Words that are placeholders only if the value has nothing else."""
# Free text, in which programs and Kubernetes expand variables themselves.
_FREE = frozenset(
    {"annotations", "args", "command", "httpGet", "subPathExpr", "value", "volumeAttributes", "options", "message"}
)
_ARGUMENTS = "spec.plugins."
# Text that certainly has no other meaning and no secret: a name between marks.
_SHOWN = re.compile(r"[$<{(\[@%_ ]*[\w .-]{1,40}[>})\]@%_ ]*")


def find(job: Mapping[str, Any]) -> dict[str, Problem]:
    """Return a warning for each value with a placeholder, by path. Text in which variables are expanded is skipped.

    Args:
        job: the job, in the form for kubectl or in the flat form.
    """
    return {path: problem for path, text in _texts(_for_kubectl(job), "") if (problem := _problem(path, text))}


def explained(problem: Problem, found: Mapping[str, Problem]) -> Problem:
    """Return the problem of a value, with the right fix if the value has a placeholder."""
    placeholder = found.get(problem.path)
    if placeholder is None or problem.warning:
        return problem
    return replace(problem, hint=placeholder.hint)


def in_text(line: str) -> bool:
    """Check whether a line that is not YAML has a placeholder, so that the file is probably a template."""
    return any(pattern.search(line) for pattern, _ in _KINDS[:-1])


def _for_kubectl(job: Mapping[str, Any]) -> Mapping[str, Any]:
    if DOCUMENT_FIELDS & job.keys():
        return job
    metadata = {key: value for key, value in job.items() if key in IN_METADATA}
    return {"metadata": metadata, "spec": {key: value for key, value in job.items() if key not in metadata}}


def _texts(tree: Any, path: str) -> Iterator[tuple[str, str]]:
    if len(path) > paths.LONGEST_SHOWN:
        return
    if isinstance(tree, str):
        yield path, tree
    elif isinstance(tree, Mapping):
        for key, value in tree.items():
            if key not in _FREE:
                yield from _texts(value, paths.join(path, key_text(key)))
    elif isinstance(tree, (list, tuple)):
        for index, value in enumerate(tree):
            yield from _texts(value, paths.join(path, index))


def _problem(path: str, text: str) -> Problem | None:
    # An argument may be a password with any characters, so only a placeholder instead of its whole value is certain.
    is_argument = path.startswith(_ARGUMENTS)
    value = text.partition("=")[2] if is_argument else text
    for pattern, hint in _KINDS:
        match = pattern.fullmatch(value) if is_argument or pattern is _WHOLE else pattern.search(value)
        if match:
            shown = f" {match[0]}" if _SHOWN.fullmatch(match[0]) else ""
            reason = f"the placeholder{shown} of a template is not filled in"
            return Problem(path, "Warning", reason, hint, code="VJ135")
    return None
