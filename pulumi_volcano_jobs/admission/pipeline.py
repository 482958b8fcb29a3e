"""Run all checks of a job.

Strict mode collects every problem. Lenient mode raises the problems of Volcano's first stage that rejects the job, and
returns all other problems as warnings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from pulumi_volcano_jobs.admission.defaults import DefaultedJob, apply_defaults, replaced_zeros
from pulumi_volcano_jobs.admission.plugin_paths import relocate_plugin_problem
from pulumi_volcano_jobs.core.errors import (
    Problem,
    RejectionStage,
    as_warning,
    job_error,
    not_following,
    raise_if_any,
)
from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.kubernetes import images
from pulumi_volcano_jobs.kubernetes.container_lists import containers_in
from pulumi_volcano_jobs.kubernetes.validation.field import webhook_problem
from pulumi_volcano_jobs.plugins import MpiPlugin, Plugin
from pulumi_volcano_jobs.spec import placeholders
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from pulumi_volcano_jobs.spec.model import Job
from pulumi_volcano_jobs.spec.options import RenderOptions
from pulumi_volcano_jobs.spec.parse import parse_valid_parts


class AdmissionResult(NamedTuple):
    """A job with its defaults, and its problems."""

    defaulted: DefaultedJob
    problems: tuple[Problem, ...]

    @property
    def is_renderable(self) -> bool:
        """Whether plugins can render Pods for more checks: the job is well-formed and below all limits."""
        job = self.defaulted.job
        has_containers = all(containers_in(task.pod_spec) for task in job.tasks or ())
        return (
            has_containers
            and not any(limits.check_pod_count(job))
            and not any(
                problem.stage <= RejectionStage.SCHEMA or problem.path.startswith(("spec.plugins", "plugin_options"))
                for problem in self.problems
                if not problem.warning
            )
        )


def admit(
    job: Job | Mapping[str, Any],
    cluster: ClusterFacts,
    namespace: Any,
    earlier: Sequence[Problem],
    options: RenderOptions,
    *,
    strict: bool,
) -> AdmissionResult:
    """Return a job with its defaults and its problems.

    Args:
        job: the job, or its document in either form.
        cluster: facts about the cluster.
        namespace: the namespace of a job that does not set one.
        earlier: problems that are already known.
        options: the options of the job.
        strict: whether to collect all problems as errors.

    Raises:
        JobError: if no part of the job is valid. Without `strict`, also for the problems of Volcano's first stage that
            rejects the job.
    """
    model, malformed = (job, [*job.warnings]) if isinstance(job, Job) else parse_valid_parts(job)
    malformed = [*earlier, *not_following(malformed, earlier)]
    if model is None or not strict:
        raise_if_any(malformed)
    if model is None:
        raise job_error(malformed)
    if not is_given(model.namespace):
        model = model.with_(namespace=namespace)
        malformed += metadata.namespace(namespace)
    found = placeholders.find(job.to_manifest() if isinstance(job, Job) else job)

    def relocate(problem: Problem) -> Problem:
        return placeholders.explained(relocate_plugin_problem(problem, model, options), found)

    defaulted = apply_defaults(model, options, strict=strict, volcano_version=cluster.volcano_version)
    wrong = [
        *defaulted.problems,
        *images.check_registry(options.get("image_registry", ""), "image_registry"),
        *unknown_fields.check(model),
        *replaced_zeros(model),
        *limits.check_pod_count(defaulted.job),
        *metadata.check(defaulted.job),
    ]
    problems = [*malformed, *not_following([relocate(item) for item in wrong], malformed)]
    native = options.get("managed_by") == "volcano"
    missing = [
        *compatibility.check(defaulted.job, defaulted.plugins, cluster.volcano_version, strict=strict, native=native)
    ]
    if not strict:
        _raise_first_stage(defaulted, cluster, problems, missing, relocate, native=native)
    is_whole = all(problem.stage > RejectionStage.SCHEMA for problem in malformed)
    run_checks = _all_problems if is_whole else _local_problems
    check_problems = run_checks(defaulted, cluster, native=native)
    check_problems += not_following(missing, check_problems)
    if native:
        check_problems += [
            *controllers.problems(defaulted.job, defaulted.plugins),
            *controllers.warnings(defaulted.job, defaulted.plugins),
        ]
    problems += not_following([relocate(problem) for problem in check_problems], problems)
    problems += not_following([*found.values()], problems)
    return AdmissionResult(defaulted, tuple(problems if strict else map(as_warning, problems)))


def _raise_first_stage(
    defaulted: DefaultedJob,
    cluster: ClusterFacts,
    problems: Sequence[Problem],
    missing: Iterable[Problem],
    relocate: Callable[[Problem], Problem],
    *,
    native: bool,
) -> None:
    """Raise the problems of Volcano's first stage that rejects the job. Volcano runs its stages in this order."""
    raise_if_any(problem for problem in problems if problem.stage <= RejectionStage.SCHEMA)
    webhook_problems = _of_webhook(defaulted.job, defaulted.plugins, cluster, native=native)
    earlier = [problem for problem in problems if problem.stage < RejectionStage.STRICT]
    raise_if_any([*earlier, *map(relocate, webhook_problems)])
    raise_if_any(volumes.missing_claims(defaulted.job, cluster))
    raise_if_any(map(relocate, missing))
    if native:
        # Volcano would run the job without these settings.
        raise_if_any(problem for plugin in defaulted.plugins for problem in plugin.not_native())


def _all_problems(defaulted: DefaultedJob, cluster: ClusterFacts, *, native: bool) -> list[Problem]:
    problems = list(_of_webhook(defaulted.job, defaulted.plugins, cluster, native=native))
    if not defaulted.job.tasks:
        return problems
    reported_paths = {problem.path for problem in problems}
    strict_problems = [*_strict(defaulted.job, defaulted.plugins)]
    strict_problems += scheduling.priorities(defaulted.job, cluster)
    strict_problems += scheduling.waiting_gang(defaulted.job, native=native)
    strict_problems += compatibility.unknown_to_kubernetes(defaulted.job, cluster.kubernetes_version)
    strict_problems += metadata.check_services(defaulted.job, defaulted.plugins, cluster.kubernetes_version)
    strict_problems += volumes.missing_claims(defaulted.job, cluster)
    return [*problems, *(problem for problem in strict_problems if problem.path not in reported_paths)]


def _local_problems(defaulted: DefaultedJob, cluster: ClusterFacts, *, native: bool) -> list[Problem]:
    """Return the problems of each template. The job as a whole cannot be checked, because parts of it are invalid."""
    problems = [
        problem
        for index, task in enumerate(defaulted.job.tasks or ())
        for problem in templates.check(task, f"spec.tasks[{index}].template", native=native)
    ]
    return [*problems, *compatibility.unknown_to_kubernetes(defaulted.job, cluster.kubernetes_version)]


def _of_webhook(job: Job, plugins: Sequence[Plugin], cluster: ClusterFacts, *, native: bool) -> Iterator[Problem]:
    """Yield the problems for which Volcano's webhook rejects a job with its defaults (contract section 5).

    Args:
        job: the job.
        plugins: its plugins.
        cluster: facts about the cluster.
        native: whether Volcano receives the Job itself, and not only a PodGroup.
    """
    if not job.tasks:
        yield webhook_problem("spec.tasks", "Required", "must have at least one task")
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
    if not any(limits.check_pod_count(job)):
        yield from lint.check(job, plugins)
