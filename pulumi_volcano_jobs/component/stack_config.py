"""Defaults for jobs in the configuration of the stack, which programs in any language share."""

from __future__ import annotations

import json
from typing import Any

import pulumi
from pulumi.runtime import config as settings
from pydantic.alias_generators import to_camel

from pulumi_volcano_jobs.core import bounds
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, wrong_type
from pulumi_volcano_jobs.core.phrases import Option, Phrase
from pulumi_volcano_jobs.core.resource_types import PACKAGE
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.spec import job_defaults as shared_defaults

# Options of Pulumi that every package has.
_OF_PULUMI = frozenset({"pluginDownloadURL", "version"})
NAMES = {to_camel(name): name for name in shared_defaults.NAMES}
"""The defaults by their names in the configuration."""


def job_defaults() -> tuple[dict[str, Any], list[Problem]]:
    """Return the valid defaults of the configuration, and the problems of the other ones."""
    problems: list[Problem] = []
    configured: dict[str, Any] = {}
    for key, text in _configured().items():
        place = f"{PACKAGE}:{key}"
        if key not in NAMES:
            hint = suggestion(key, NAMES)
            problems.append(Problem(place, "Forbidden", "unknown default", hint))
        elif _is_secret(place):
            reason = "a default may not be secret, because every object shows it in plain text"
            hint = Phrase("set it without --secret, or pass an Output in ", Option("job_defaults"))
            problems.append(Problem(place, "Forbidden", reason, hint))
        elif NAMES[key] not in shared_defaults.STRUCTURED:
            configured[NAMES[key]] = text
        else:
            try:
                configured[NAMES[key]] = json.loads(text)
            except (ValueError, RecursionError):
                hint = "write it as YAML in Pulumi.<stack>.yaml, or use `pulumi config set --path`"
                problems.append(wrong_type(place, "a mapping or a list, not text", hint, stage=RejectionStage.STRICT))
    if bound_problems := bounds.check_bounds(configured, PACKAGE):
        return {}, [*problems, *bound_problems]
    valid, invalid = shared_defaults.validate(configured, lambda name: f"{PACKAGE}:{to_camel(name)}")
    return valid, [*problems, *invalid]


def _is_secret(key: str) -> bool:
    return settings.is_config_secret(key) or key in settings.get_config_secret_keys_env()


def _configured() -> dict[str, str]:
    """Return the non-empty configuration of this package. A project with the package's name also has other keys."""
    prefix, everything = f"{PACKAGE}:", {**settings.get_config_env(), **settings.CONFIG.get()}
    values = {key.removeprefix(prefix): value for key, value in everything.items() if key.startswith(prefix) and value}
    is_own = pulumi.get_project() == PACKAGE
    return {key: value for key, value in values.items() if key not in _OF_PULUMI and (key in NAMES or not is_own)}
