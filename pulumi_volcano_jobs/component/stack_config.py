"""The defaults for jobs that stand in the stack's configuration, so that programs in any language share them."""

from __future__ import annotations

import json
from typing import Any

import pulumi
from pulumi.runtime import config as settings
from pydantic.alias_generators import to_camel

from pulumi_volcano_jobs.component.plugin_components import PACKAGE
from pulumi_volcano_jobs.core import bounds
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, wrong_type
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.spec import job_defaults as shared_defaults

# Pulumi's own, for each package.
_OF_PULUMI = frozenset({"pluginDownloadURL", "version"})
NAMES = {to_camel(name): name for name in shared_defaults.NAMES}
"""The defaults by their names in the configuration."""


def job_defaults() -> tuple[dict[str, Any], list[Problem]]:
    """Read them; give those in which nothing is wrong, and the problems of the others."""
    problems: list[Problem] = []
    configured: dict[str, Any] = {}
    for key, text in _configured().items():
        place = f"{PACKAGE}:{key}"
        if key not in NAMES:
            hint = schema.suggestion(key, NAMES)
            problems.append(Problem(place, "Forbidden", "the stack's configuration has no default of this name", hint))
        elif _is_secret(place):
            reason = "a default is no secret: it stands in each object, for all to read"
            problems.append(
                Problem(place, "Forbidden", reason, "set it without --secret, or give job_defaults an Output")
            )
        elif NAMES[key] not in shared_defaults.STRUCTURED:
            configured[NAMES[key]] = text
        else:
            try:
                configured[NAMES[key]] = json.loads(text)
            except (ValueError, RecursionError):
                hint = "write it as YAML in Pulumi.<stack>.yaml, or use `pulumi config set --path`"
                problems.append(
                    wrong_type(place, "a mapping or a list, and it is text", hint, stage=RejectionStage.STRICT)
                )
    if bound_problems := bounds.check_bounds(configured, PACKAGE):
        return {}, [*problems, *bound_problems]
    valid, invalid = shared_defaults.validate(configured, lambda name: f"{PACKAGE}:{to_camel(name)}")
    return valid, [*problems, *invalid]


def _is_secret(key: str) -> bool:
    return settings.is_config_secret(key) or key in settings.get_config_secret_keys_env()


def _configured() -> dict[str, str]:
    """Give what is configured for this package, without what is empty; a project of its name has keys of its own."""
    prefix, everything = f"{PACKAGE}:", {**settings.get_config_env(), **settings.CONFIG.get()}
    values = {key.removeprefix(prefix): value for key, value in everything.items() if key.startswith(prefix) and value}
    is_own = pulumi.get_project() == PACKAGE
    return {key: value for key, value in values.items() if key not in _OF_PULUMI and (key in NAMES or not is_own)}
