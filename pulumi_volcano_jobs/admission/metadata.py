"""Check the metadata of a job: its name and names derived from it, namespace, labels and annotations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, value_text, wrong_type
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_PULUMI, Phrase
from pulumi_volcano_jobs.kubernetes import validation
from pulumi_volcano_jobs.kubernetes.dns import DNS_LABEL, MAX_LABEL
from pulumi_volcano_jobs.plugins import Plugin, RayPlugin, SshPlugin, SvcPlugin
from pulumi_volcano_jobs.spec import naming, releases
from pulumi_volcano_jobs.spec.model import Job

_SERVICES_SINCE = "1.36"
"""First release of Kubernetes that accepts a digit at the start of a Service name (RelaxedServiceNameValidation)."""
_DNS_1035 = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character,"
    " and end with an alphanumeric character"
)
_SUFFIX = 12
"""Number of random characters that Volcano's controller appends to the names of volumes."""
_OTHER_NAME = Phrase("rename the job, or set ", MANAGED_BY_PULUMI)


def check(job: Job) -> Iterator[Problem]:
    """Yield a Problem for each label and annotation that the API server rejects before it calls the webhook."""
    own = {"labels": job.labels, "annotations": job.annotations}
    yield from validation.object_meta(own, "metadata", RejectionStage.SCHEMA)


def namespace(value: Any) -> Iterator[Problem]:
    """Yield a Problem if a value is not a namespace."""
    path = "metadata.namespace"
    if isinstance(value, (str, Leaf)):
        yield from validation.dns_label(value, path)
    else:
        yield wrong_type(path, "a string", value=value_text(value))


def label(job: Job, plugins: Collection[str]) -> Iterator[Problem]:
    """Yield a Problem if a job's name is not a DNS label, although a plugin uses it for a Service or a volume."""
    for name, noun in ((SvcPlugin.name, "Service"), (SshPlugin.name, "volume")):
        if name in plugins:
            hint = f"rename the job, because the {noun} of the plugin {name} has its name"
            yield from (replace(problem, hint=hint) for problem in validation.dns_label(job.name, "metadata.name"))
            return


def head_service(job: Job, plugins: Collection[str]) -> Iterator[Problem]:
    """Yield a Problem if the name of Ray's head Service is too long."""
    name = naming.head_service(job.name)
    if RayPlugin.name in plugins and len(name) > MAX_LABEL:
        reason = f"the name of a Service may not be more than {MAX_LABEL} characters, but {name} has {len(name)}"
        yield Problem("metadata.name", "TooLong", reason, "shorten the name of the job", stage=RejectionStage.API)


def check_services(job: Job, plugins: Sequence[Plugin], kubernetes_version: str) -> Iterator[Problem]:
    """Yield a Problem if the cluster's version of Kubernetes rejects the name of the job's Service."""
    is_older = releases.is_older(kubernetes_version, _SERVICES_SINCE)
    has_services = any(isinstance(plugin, (SvcPlugin, RayPlugin)) for plugin in plugins)
    if is_older and has_services and job.name[0].isdigit():
        reason = f"Kubernetes {kubernetes_version} rejects the Service: {_DNS_1035}"
        yield Problem(
            "metadata.name", "Invalid", reason, "start the name with a letter", value_text(job.name), RejectionStage.API
        )


def volume_names(job: str) -> Iterator[Problem]:
    """Yield a Problem if the API server rejects the names that Volcano derives for the volumes of Pods."""
    longest = MAX_LABEL - len("-") - _SUFFIX
    if len(job) <= longest and re.fullmatch(DNS_LABEL, job):
        return
    reason = (
        f"must be a lowercase RFC 1123 label of at most {longest} characters, without dots:"
        " Volcano appends a random suffix to it in the names of Pod volumes"
    )
    yield Problem("metadata.name", "Invalid", reason, _OTHER_NAME, value_text(job), RejectionStage.API)
