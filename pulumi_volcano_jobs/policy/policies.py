"""The rules as policies of Pulumi, each on its own: `PolicyPack("platform", [allowed_queues(["research"]), ...])`.

What is about one object is a resource policy: it is asked before the object is made. Only what is about several (how
many Pods a gang has, whether a NetworkPolicy is missing) is a stack policy, which is asked when all of them are known:
at the end of a preview, and so before `pulumi up` begins.
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
# A slash at the end is left out where registries are compared.
_REGISTRY = f"^{images.REGISTRY}/?$"


def allowed_queues(
    queues: Sequence[str] = (), *, enforcement_level: EnforcementLevel | None = None
) -> ResourceValidationPolicy:
    """Jobs are in one of these queues; a job that names none is in `default`.

    Args:
        queues: the list; without one, the pack's configuration must have it (`queues`).
        enforcement_level: what a violation does; by default what the pack says.

    Raises:
        JobError: if the list is none.
    """
    return _resource_policy(
        "volcano-job-queues",
        "A job is in a queue of the platform's list.",
        lambda resource, config, _: checks.queue(resource, config["queues"]),
        {"queues": _list_setting(queues, "queues", _NAME, "the names of queues")},
        enforcement_level,
    )


def allowed_registries(
    registries: Sequence[str] = (), *, enforcement_level: EnforcementLevel | None = None
) -> ResourceValidationPolicy:
    """Images are of one of these registries: of containers, init containers and volumes.

    Args:
        registries: the list, of hosts (`ghcr.io`) and paths on them (`ghcr.io/my-team`); images without a host are of
            `docker.io`, and those of Docker's own library of `docker.io/library`. Without a list, the pack's
            configuration must have it (`registries`).
        enforcement_level: what a violation does; by default what the pack says.

    Raises:
        JobError: if the list is none.
    """
    return _resource_policy(
        "volcano-job-images",
        "A job's images are of a registry of the platform's list.",
        lambda resource, config, _: checks.registry(resource, config["registries"]),
        {
            "registries": _list_setting(
                registries, "registries", _REGISTRY, "hosts, or paths on them, such as ghcr.io/my-team"
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
    """Containers request these resources; a limit counts, since it is the default of a request.

    Args:
        resources: the names; `resources` in the pack's configuration.
        init_containers: whether those that end before the others start must, too (`initContainers`); those that go on
            beside the others always must.
        enforcement_level: what a violation does; by default what the pack says.

    Raises:
        JobError: if the list is none.
    """
    return _resource_policy(
        "volcano-job-requests",
        "A job's containers request the resources that they need.",
        lambda resource, config, _: checks.requests(
            resource, config["resources"], init_containers=config["initContainers"]
        ),
        {
            "resources": _list_setting(resources, "resources", _NAME, "the names of resources, such as cpu"),
            "initContainers": {"type": "boolean", "default": init_containers},
        },
        enforcement_level,
    )


def no_host_network(*, enforcement_level: EnforcementLevel | None = None) -> ResourceValidationPolicy:
    """Pods are not on the network of their node."""
    return _resource_policy(
        "volcano-job-host-network",
        "A job's Pods are not on the network of their node.",
        lambda resource, _, __: checks.host_network(resource),
        {},
        enforcement_level,
    )


def no_plain_keys(*, enforcement_level: EnforcementLevel | None = None) -> ResourceValidationPolicy:
    """No private key lies open: in the program, or in a Job, Pod or ConfigMap."""
    return _resource_policy(
        "volcano-job-keys",
        "A job's private keys are secret.",
        lambda resource, _, parent: checks.plain_keys(resource, parent),
        {},
        enforcement_level,
    )


def gang(share: float = 1, *, enforcement_level: EnforcementLevel | None = None) -> StackValidationPolicy:
    """Jobs of several Pods start at once, so that none holds devices while it waits for others.

    Args:
        share: how much of the Pods (0 to 1), and two at least; `share` in the pack's configuration.
        enforcement_level: what a violation does; by default what the pack says.

    Raises:
        JobError: if the share is no number from 0 to 1.
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        raise job_error(
            [Problem("share", "Invalid", "must be a number from 0 to 1", "1 means all Pods", value_text(share))]
        )
    return _stack_policy(
        "volcano-job-gang",
        "The Pods of a job start at once, or not at all.",
        lambda job, config: checks.gang(job, config["share"]),
        {"share": {"type": "number", "minimum": 0, "maximum": 1, "default": share}},
        enforcement_level,
    )


def network_policy(
    *, every_job: bool = False, enforcement_level: EnforcementLevel | None = None
) -> StackValidationPolicy:
    """Jobs with the svc plugin (most others bring it along) keep its NetworkPolicy.

    Args:
        every_job: whether jobs without svc must have one, too (`everyJob` in the pack's configuration).
        enforcement_level: what a violation does; by default what the pack says.
    """
    return _stack_policy(
        "volcano-job-network-policy",
        "A NetworkPolicy says who reaches a job's Pods.",
        lambda job, config: checks.network_policy(job, every_job=config["everyJob"]),
        {"everyJob": {"type": "boolean", "default": every_job}},
        enforcement_level,
    )


def _list_setting(values: Sequence[str], setting: str, pattern: str, noun: str) -> dict[str, Any]:
    """Check a list, and describe it; an empty one has no default, so that the engine demands it."""
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
    """Report what was found, and give what is not known."""
    unknown = []
    for item in findings:
        if isinstance(item, UnknownValue):
            unknown.append(item)
        else:
            report_violation(str(item), urn)
    return unknown


def _raise_first(unknown: Iterable[UnknownValue]) -> None:
    # Pulumi then says, as advice, what keeps the rule from a whole answer in this preview.
    for item in unknown:
        raise item.error
