"""A job judged as a whole: every problem at once, whoever would find it, or in Volcano's order without strictness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pulumi_volcano_jobs.admission import compatibility, controllers, limits, webhook
from pulumi_volcano_jobs.admission import strict as strict_checks
from pulumi_volcano_jobs.admission.defaults import Stored, plugin_place, store
from pulumi_volcano_jobs.admission.plugin_paths import plugin_place
from pulumi_volcano_jobs.core.errors import JobError, Problem, Stage, job_error, not_following, raise_if_any, shown
from pulumi_volcano_jobs.core.leaf import Leaf, is_given
from pulumi_volcano_jobs.kubernetes import validation
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from pulumi_volcano_jobs.spec.model import Job
from pulumi_volcano_jobs.spec.options import Choices
from pulumi_volcano_jobs.spec.parse import parse_what_fits


class Examined(NamedTuple):
    """A job with its defaults, and what was found of it."""

    stored: Stored
    problems: tuple[Problem, ...]

    @property
    def can_be_looked_into(self) -> bool:
        """Whether plugins can render Pods for more checks: job and plugins are well-formed and exceed no limit."""
        job = self.stored.job
        has_containers = all(task.pod_spec.get("containers") for task in job.tasks or ())
        return (
            has_containers
            and not any(limits.pods(job))
            and not any(
                problem.stage <= Stage.SCHEMA or problem.path.startswith(("spec.plugins", "plugin_options"))
                for problem in self.problems
                if not problem.warning
            )
        )


def examine(
    job: Job | Mapping[str, Any],
    cluster: ClusterFacts,
    namespace: Any,
    earlier: Sequence[Problem],
    choices: Choices,
    *,
    strict: bool,
) -> Examined:
    """Fill in the defaults of a job and look for problems in it.

    Args:
        job: the job, or its document in either form.
        cluster: what only a cluster knows.
        namespace: the namespace of a job that names none.
        earlier: problems that were found before.
        choices: what is decided beside it.
        strict: whether to look for all problems at once.

    Raises:
        JobError: if nothing is left to make a job of; without `strict` for the problems of the first of Volcano's
            stages that has any.
    """
    model, malformed = (job, []) if isinstance(job, Job) else parse_what_fits(job)
    malformed = [*earlier, *not_following(malformed, earlier)]
    if model is None or not strict:
        raise_if_any(malformed)
    if model is None:
        raise job_error(malformed)
    if not is_given(model.namespace):
        model = model.with_(namespace=namespace)
        malformed += _of_namespace(namespace)
    stored = store(model, choices, strict=strict, volcano_version=cluster.volcano_version)
    refused = [*stored.problems, *webhook.metadata(stored.job)]
    problems = [*malformed, *not_following([plugin_place(item, model, choices) for item in refused], malformed)]
    native = choices.get("managed_by") == "volcano"
    missing = compatibility.check(stored.job, stored.plugins, cluster.volcano_version, strict=strict, native=native)
    if strict:
        is_whole = all(problem.stage > Stage.SCHEMA for problem in malformed)
        look = _all_problems if is_whole else _local_problems
        found = look(stored, cluster, native=native)
        found += not_following(list(missing), found)
        if native:
            found += [*controllers.problems(stored.job, stored.plugins), *controllers.warnings(stored.plugins)]
        problems += not_following([plugin_place(problem, model, choices) for problem in found], problems)
    else:
        # Volcano asks one after the other.
        raise_if_any(problem for problem in problems if problem.stage <= Stage.SCHEMA)
        asked = webhook.check(stored.job, stored.plugins, cluster, native=native)
        raise_if_any([*problems, *(plugin_place(problem, model, choices) for problem in asked)])
        raise_if_any(_missing_claims(stored.job, cluster))
        raise_if_any(plugin_place(problem, model, choices) for problem in missing)
        if native:
            # No fall-back of Volcano's: it would do something else.
            raise_if_any(problem for plugin in stored.plugins for problem in plugin.not_native())
    return Examined(stored, tuple(problems))


def _of_namespace(namespace: Any) -> Iterator[Problem]:
    path = "metadata.namespace"
    if isinstance(namespace, (str, Leaf)):
        yield from validation.dns_label(namespace, path)
    else:
        yield Problem(path, "TypeInvalid", "this must be a string", "put it in quotes", shown(namespace), Stage.DECODE)


def _all_problems(stored: Stored, cluster: ClusterFacts, *, native: bool) -> list[Problem]:
    found = list(webhook.check(stored.job, stored.plugins, cluster, native=native))
    if not stored.job.tasks:
        return found
    said = {problem.path for problem in found}
    more = [*strict_checks.check(stored.job, stored.plugins), *_unknown_to(cluster, stored.job)]
    more += strict_checks.services(stored.job, stored.plugins, cluster.kubernetes_version)
    more += _missing_claims(stored.job, cluster)
    return [*found, *(problem for problem in more if problem.path not in said)]


def _local_problems(stored: Stored, cluster: ClusterFacts, *, native: bool) -> list[Problem]:
    """Look at each template by itself: with parts of the job left out, nothing can be said of it as a whole."""
    found = [
        problem
        for index, task in enumerate(stored.job.tasks or ())
        for problem in webhook.template(task, f"spec.tasks[{index}].template", native=native)
    ]
    return [*found, *_unknown_to(cluster, stored.job)]


def _unknown_to(cluster: ClusterFacts, job: Job) -> Iterator[Problem]:
    """Yield the fields that the cluster's version of Kubernetes does not know yet."""
    for index, task in enumerate(job.tasks or ()) if cluster.kubernetes_version else ():
        path = f"spec.tasks[{index}].template"
        yield from compatibility.unknown_fields(task.pod_template, cluster.kubernetes_version, path)


def _missing_claims(job: Job, cluster: ClusterFacts) -> Iterator[Problem]:
    if cluster.claims is None or isinstance(job.namespace, Leaf):
        return
    for index, volume in enumerate(job.volumes or ()):
        name = volume.volume_claim_name
        if name and (job.namespace, name) not in cluster.claims:
            reason = f"the namespace {job.namespace} has no claim of this name; the job would stay pending"
            path = f"spec.volumes[{index}].volumeClaimName"
            yield Problem(path, "NotFound", reason, "create it first", value=name, stage=Stage.CONTROLLER)
