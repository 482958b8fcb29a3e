"""A job judged as a whole: every problem at once, whoever would find it, or in Volcano's order without strictness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pulumi_volcano_jobs.admission import (
    compatibility,
    controllers,
    limits,
    lint,
    metadata,
    policies,
    queues,
    scheduling,
    tasks,
    templates,
    unknown_fields,
    volumes,
)
from pulumi_volcano_jobs.admission.defaults import Stored, store
from pulumi_volcano_jobs.admission.plugin_paths import plugin_place
from pulumi_volcano_jobs.core.errors import Problem, Stage, job_error, not_following, raise_if_any
from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.kubernetes import images
from pulumi_volcano_jobs.kubernetes.validation.field import rejected
from pulumi_volcano_jobs.plugins import MpiPlugin, Plugin
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
        malformed += metadata.namespace(namespace)
    stored = store(model, choices, strict=strict, volcano_version=cluster.volcano_version)
    wrong = [
        *stored.problems,
        *images.problems(choices.get("image_registry", ""), "image_registry"),
        *unknown_fields.check(model),
        *limits.pods(stored.job),
        *metadata.check(stored.job),
    ]
    refused = [problem for problem in wrong if strict or problem.stage < Stage.STRICT]
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
        asked = _of_webhook(stored.job, stored.plugins, cluster, native=native)
        raise_if_any([*problems, *(plugin_place(problem, model, choices) for problem in asked)])
        raise_if_any(volumes.missing_claims(stored.job, cluster))
        raise_if_any(plugin_place(problem, model, choices) for problem in missing)
        if native:
            # No fall-back of Volcano's: it would do something else.
            raise_if_any(problem for plugin in stored.plugins for problem in plugin.not_native())
    return Examined(stored, tuple(problems))


def _all_problems(stored: Stored, cluster: ClusterFacts, *, native: bool) -> list[Problem]:
    found = list(_of_webhook(stored.job, stored.plugins, cluster, native=native))
    if not stored.job.tasks:
        return found
    said = {problem.path for problem in found}
    more = [*_strict(stored.job, stored.plugins)]
    more += compatibility.unknown_to_kubernetes(stored.job, cluster.kubernetes_version)
    more += metadata.services(stored.job, stored.plugins, cluster.kubernetes_version)
    more += volumes.missing_claims(stored.job, cluster)
    return [*found, *(problem for problem in more if problem.path not in said)]


def _local_problems(stored: Stored, cluster: ClusterFacts, *, native: bool) -> list[Problem]:
    """Look at each template by itself: with parts of the job left out, nothing can be said of it as a whole."""
    found = [
        problem
        for index, task in enumerate(stored.job.tasks or ())
        for problem in templates.check(task, f"spec.tasks[{index}].template", native=native)
    ]
    return [*found, *compatibility.unknown_to_kubernetes(stored.job, cluster.kubernetes_version)]


def _of_webhook(job: Job, plugins: Sequence[Plugin], cluster: ClusterFacts, *, native: bool) -> Iterator[Problem]:
    """Yield the problems for which Volcano's webhook rejects a job with its defaults (contract section 5).

    Args:
        job: the job.
        plugins: its plugins.
        cluster: facts of the cluster.
        native: whether Volcano gets the Job itself, and not only its PodGroup.
    """
    if not job.tasks:
        yield rejected("spec.tasks", "Required", "a job needs at least one task")
        return
    for plugin in plugins:
        if isinstance(plugin, MpiPlugin):
            yield from plugin.missing_master(job)
    yield from scheduling.gang(job, job.tasks)
    yield from tasks.unique_names(job.tasks)
    yield from scheduling.tiers(job.network_topology, "spec.networkTopology")
    yield from policies.check(job.policies or (), "spec.policies")
    yield from volumes.check(job.volumes or ())
    yield from queues.of_job(job, cluster)
    yield from tasks.dependencies(job.tasks)
    for index, task in enumerate(job.tasks):
        path = f"spec.tasks[{index}]"
        yield from scheduling.gang_of_task(task, path)
        yield from tasks.pod_name(job, task, index)
        yield from templates.check(task, f"{path}.template", native=native)
        yield from policies.check(task.policies or (), f"{path}.policies")
        yield from scheduling.whole_cpus(task, path)
        yield from scheduling.partitions(task, path)


def _strict(job: Job, plugins: Sequence[Plugin]) -> Iterator[Problem]:
    """Yield the problems of a job that the webhook accepts, and its warnings."""
    used = {plugin.name for plugin in plugins}
    for plugin in plugins:
        yield from plugin.validate(job)
    yield from metadata.label(job, used)
    yield from queues.label(job)
    for index, task in enumerate(job.tasks or ()):
        yield from templates.check_pods(job, task, f"spec.tasks[{index}].template")
        yield from tasks.last_pod_name(job, task, index)
    yield from volumes.check_strict(job.volumes or ())
    yield from metadata.head_service(job, used)
    # For some warnings, plugins compute values that grow with the number of Pods.
    if not any(limits.pods(job)):
        yield from lint.check(job, plugins)
