"""The rules as separate Pulumi policies: `PolicyPack("platform", [allowed_queues(["research"]), ...])`.

A rule about one object is a resource policy, which runs before the object is created. A rule about several objects (the
Pods of a gang, a missing NetworkPolicy) is a stack policy, which runs when all objects are known: at the end of a
preview, and so before `pulumi up` starts the update.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from pulumi_volcano_jobs.core.errors import ErrorType, JobError, Problem, job_error, value_text
from pulumi_volcano_jobs.kubernetes import images
from pulumi_volcano_jobs.policy import checks, jobs
from pulumi_volcano_jobs.policy.reported import ReportedFindings
from pulumi_volcano_jobs.policy.resources import Findings, PolicyInput, UnknownValue, from_args

Config = Mapping[str, Any]
_NAME = "^.+$"
# Registries are compared without a trailing slash.
_REGISTRY = f"^{images.REGISTRY}/?$"


def allowed_queues(
    queues: Sequence[str] = (), *, enforcement_level: EnforcementLevel | None = None
) -> ResourceValidationPolicy:
    """Return the policy that jobs must be in one of these queues. A job without a queue is in `default`.

    Args:
        queues: the allowed queues. If empty, the configuration of the pack must contain them (`queues`).
        enforcement_level: the enforcement level; by default, the level of the pack.

    Raises:
        JobError: if the list is invalid.
    """
    return _resource_policy(
        "volcano-job-queues",
        "Jobs must use an allowed queue.",
        lambda resource, config, _: checks.queue(resource, config["queues"]),
        {"queues": _list_setting(queues, "queues", _NAME, "queue names")},
        enforcement_level,
    )


def allowed_registries(
    registries: Sequence[str] = (), *, enforcement_level: EnforcementLevel | None = None
) -> ResourceValidationPolicy:
    """Return the policy that images of containers, init containers and volumes must be from one of these registries.

    Args:
        registries: the allowed registries: hosts (`ghcr.io`), or hosts with a path (`ghcr.io/my-team`). An image
            without a host is in `docker.io`, and Docker's official images are in `docker.io/library`. If empty, the
            configuration of the pack must contain them (`registries`).
        enforcement_level: the enforcement level; by default, the level of the pack.

    Raises:
        JobError: if the list is invalid.
    """
    return _resource_policy(
        "volcano-job-images",
        "Images must come from an allowed registry.",
        lambda resource, config, _: checks.registry(resource, config["registries"]),
        {
            "registries": _list_setting(
                registries, "registries", _REGISTRY, "hosts with or without a path, such as ghcr.io/my-team"
            )
        },
        enforcement_level,
    )


def resource_requests(
    resources: Sequence[str] = ("cpu", "memory"),
    *,
    init_containers: bool = False,
    enforcement_level: EnforcementLevel | None = None,
) -> ResourceValidationPolicy:
    """Return the policy that containers must request resources. A limit is sufficient: it is the default of a request.

    Args:
        resources: the names of the resources (`resources` in the configuration of the pack).
        init_containers: whether init containers must also request resources (`initContainers`). Sidecars always must.
        enforcement_level: the enforcement level; by default, the level of the pack.

    Raises:
        JobError: if the list is invalid.
    """
    return _resource_policy(
        "volcano-job-requests",
        "Containers must request resources.",
        lambda resource, config, _: checks.requests(
            resource, config["resources"], init_containers=config["initContainers"]
        ),
        {
            "resources": _list_setting(resources, "resources", _NAME, "resource names, such as cpu"),
            "initContainers": {"type": "boolean", "default": init_containers},
        },
        enforcement_level,
    )


def no_host_network(*, enforcement_level: EnforcementLevel | None = None) -> ResourceValidationPolicy:
    """Return the policy that Pods may not use the network of their node."""
    return _resource_policy(
        "volcano-job-host-network",
        "Pods may not use the network of their node.",
        lambda resource, _, __: checks.host_network(resource),
        {},
        enforcement_level,
    )


def no_plain_keys(*, enforcement_level: EnforcementLevel | None = None) -> ResourceValidationPolicy:
    """Return the policy that private keys must be secret in the program, in Jobs, in Pods and in ConfigMaps."""
    return _resource_policy(
        "volcano-job-keys",
        "Private keys must be secret.",
        lambda resource, _, parent: checks.plain_keys(resource, parent),
        {},
        enforcement_level,
    )


def gang(share: float = 1, *, enforcement_level: EnforcementLevel | None = None) -> StackValidationPolicy:
    """Return the policy that the Pods of a job must start together, so that no Pod holds devices while it waits.

    Args:
        share: the share of the Pods, from 0 to 1 (`share` in the configuration of the pack). The minimum is two Pods.
        enforcement_level: the enforcement level; by default, the level of the pack.

    Raises:
        JobError: if the share is not a number from 0 to 1.
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        raise job_error(
            [Problem("share", "Invalid", "must be a number from 0 to 1", "use 1 for all Pods", value_text(share))]
        )
    return _stack_policy(
        "volcano-job-gang",
        "The Pods of a job must start together.",
        lambda job, config: checks.gang(job, config["share"]),
        {"share": {"type": "number", "minimum": 0, "maximum": 1, "default": share}},
        enforcement_level,
    )


def network_policy(
    *, every_job: bool = False, enforcement_level: EnforcementLevel | None = None
) -> StackValidationPolicy:
    """Return the policy that jobs with the svc plugin, which most plugins require, must have its NetworkPolicy.

    Args:
        every_job: whether jobs without svc must also have one (`everyJob` in the configuration of the pack).
        enforcement_level: the enforcement level; by default, the level of the pack.
    """
    return _stack_policy(
        "volcano-job-network-policy",
        "Jobs must have a NetworkPolicy.",
        lambda job, config: checks.network_policy(job, every_job=config["everyJob"]),
        {"everyJob": {"type": "boolean", "default": every_job}},
        enforcement_level,
    )


def _list_setting(values: Sequence[str], setting: str, pattern: str, noun: str) -> dict[str, Any]:
    """Validate a list, and return its schema. An empty list is not a default: the engine then requires the setting."""
    is_list = isinstance(values, Collection) and not isinstance(values, (str, Mapping))
    if not (is_list and all(isinstance(name, str) and re.fullmatch(pattern, name) for name in values)):
        error_type: ErrorType = "Invalid" if is_list else "TypeInvalid"
        raise job_error([Problem(setting, error_type, f"must be a list of {noun}", value=value_text(values))])
    items = {"type": "string", "pattern": pattern}
    described: dict[str, Any] = {"type": "array", "items": items, "minItems": 1}
    return {**described, "default": list(values)} if values else described


def _resource_policy(
    name: str,
    description: str,
    check: Callable[[PolicyInput, Config, str], Findings],
    settings: dict[str, dict[str, Any]],
    level: EnforcementLevel | None,
) -> ResourceValidationPolicy:
    reported = ReportedFindings()

    def validate(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
        try:
            resource = from_args(args.resource_type, args.urn, args.props)
        except JobError as error:
            report_violation(str(error), None)
            return
        parent = args.opts.parent or ""
        findings = check(resource, _config(settings, args.get_config()), parent.rpartition("::")[2])
        _report(reported.new_findings(resource, parent, findings), report_violation, None)

    return ResourceValidationPolicy(name, description, validate, level, _schema(settings))


def _stack_policy(
    name: str,
    description: str,
    check: Callable[[checks.PolicyJob, Config], Findings],
    settings: dict[str, dict[str, Any]],
    level: EnforcementLevel | None,
) -> StackValidationPolicy:
    def validate(args: StackValidationArgs, report_violation: ReportViolation) -> None:
        config = _config(settings, args.get_config())
        unknown = []
        try:
            for job in jobs.jobs(args.resources):
                unknown += _report_known(check(job, config), report_violation, job.urn)
        except JobError as error:
            report_violation(str(error), None)
        _raise_first(unknown)

    return StackValidationPolicy(name, description, validate, level, _schema(settings))


def _schema(settings: dict[str, dict[str, Any]]) -> PolicyConfigSchema:
    return PolicyConfigSchema(settings, [name for name, item in settings.items() if "default" not in item])


def _config(settings: Mapping[str, Mapping[str, Any]], config: Config) -> Config:
    return {name: item.get("default", []) for name, item in settings.items()} | dict(config)


def _report(findings: Findings, report_violation: ReportViolation, urn: str | None) -> None:
    _raise_first(_report_known(findings, report_violation, urn))


def _report_known(findings: Findings, report_violation: ReportViolation, urn: str | None) -> list[UnknownValue]:
    """Report the problems, and return the unknown values."""
    unknown = []
    for item in findings:
        if isinstance(item, UnknownValue):
            unknown.append(item)
        else:
            report_violation(str(item), urn)
    return unknown


def _raise_first(unknown: Iterable[UnknownValue]) -> None:
    # Pulumi reports this error as advice: the rule cannot check the value during a preview.
    for item in unknown:
        raise item.error
