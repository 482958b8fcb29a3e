"""The base of the VolcanoJob components of Python programs and of other languages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pulumi

from pulumi_volcano_jobs.admission import controllers, references
from pulumi_volcano_jobs.component import name_registry, stack_config
from pulumi_volcano_jobs.component.arguments import JobInput
from pulumi_volcano_jobs.component.composed import ComposedJob
from pulumi_volcano_jobs.component.composer import KEYS, Build, Composer
from pulumi_volcano_jobs.component.input_errors import as_input_errors, check_call, text_in_file
from pulumi_volcano_jobs.component.job_args import JobOptions
from pulumi_volcano_jobs.component.job_options import pop_options, render_options
from pulumi_volcano_jobs.component.kubernetes_object import KubernetesObject
from pulumi_volcano_jobs.component.lookup import IndexedItems, NamedAttributes, NamedItems
from pulumi_volcano_jobs.component.native import NativeJob
from pulumi_volcano_jobs.component.outputs import Outputs
from pulumi_volcano_jobs.component.plugin_components import PluginComponent, TaskComponent
from pulumi_volcano_jobs.component.resource_options import ignored_options
from pulumi_volcano_jobs.core import bounds, paths
from pulumi_volcano_jobs.core.errors import Problem, raise_if_any, without_ignored
from pulumi_volcano_jobs.core.phrases import PYTHON, Spelling, spelled
from pulumi_volcano_jobs.core.resource_types import VOLCANO_JOB
from pulumi_volcano_jobs.kubernetes.manifest import ObjectRef
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.rendering.renderer import Rendered, render
from pulumi_volcano_jobs.spec import job_defaults
from pulumi_volcano_jobs.spec.cluster import ClusterFacts
from pulumi_volcano_jobs.spec.document import without_null_labels
from pulumi_volcano_jobs.spec.model_errors import in_python
from pulumi_volcano_jobs.spec.options import ManagedBy

_SHARED = "job_defaults"
_COMPOSERS: Mapping[ManagedBy, type[Composer]] = {kind.mode: kind for kind in (ComposedJob, NativeJob)}


class BaseJob(NamedAttributes, pulumi.ComponentResource):
    """A job whose Pods Pulumi manages, or one that Volcano's controllers manage.

    The class body declares no attributes, because Pulumi would add them to the schema as outputs.
    """

    def __init__(
        self,
        resource_name: str,
        args: Any,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Validate and render the job, then register its children.

        Args:
            resource_name: the name of the resource, and of the job unless `args` has a name.
            args: the fields and options of the job, or a `JobInput`.
            opts: every child inherits `provider` and `transforms`, and depends on the resources in `depends_on`.

        Raises:
            pulumi.RunError: with every problem of the arguments; no resource has been registered then.
        """
        outputs = Outputs(resource_name)
        job_input = args if isinstance(args, JobInput) else None
        source, locate = (job_input.source, job_input.located) if job_input else ("", self._with_hints)
        with as_input_errors(resource_name):
            raise_if_any(check_call(resource_name, opts))
        with as_input_errors(resource_name, source, locate):
            if job_input:
                rendered, options = _render(
                    resource_name, job_input.data, outputs, job_input.problems, job_input.neighbors
                )
            else:
                rendered, options = _render(resource_name, without_null_labels(args), outputs)
            composer = _COMPOSERS[options.get("managed_by") or "pulumi"]
            ignored = composer.ignored_fields(rendered.job)
            if options.get("unsupported") == "error":
                raise_if_any(controllers.unsupported_problems(ignored))
            raise_if_any(name_registry.register_names(resource_name, [*composer.manifests(rendered), *rendered.pods]))
        super().__init__(VOLCANO_JOB, resource_name, {}, opts)
        for text in ignored_options(opts):
            self._warn(text)

        reported: set[Problem] = set()

        def report(warnings: Iterable[Problem]) -> None:
            for problem in without_ignored(locate(warnings), options.get("ignore_warnings") or ()):
                if problem not in reported:
                    reported.add(problem)
                    self._warn(text_in_file(problem, source))

        reference_warnings = _of_references(rendered, job_input) if job_input else ()
        report([*rendered.warnings, *reference_warnings, *composer.warnings(rendered)])
        for plugin in rendered.plugins:
            outputs.check_plugin(plugin, report)
        if ignored and options.get("unsupported", "warn") == "warn":
            self._warn(controllers.unsupported_warning(ignored))
        self._compose(composer, resource_name, rendered, options, outputs)

    def _with_hints(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return the problems of arguments that are not from a file, with hints for the language of the program."""
        return [in_python(problem) for problem in problems]

    def _spelling(self) -> Spelling:
        """Return how the language of the program writes options."""
        return PYTHON

    def _warn(self, text: str) -> None:
        pulumi.log.warn(spelled(text, self._spelling()), self)

    def _compose(
        self, composer: type[Composer], resource_name: str, rendered: Rendered, options: JobOptions, outputs: Outputs
    ) -> None:
        context = JobContext(rendered.job, KEYS)
        self._job_name = context.name
        self.namespace = pulumi.Output.from_input(outputs.lower(rendered.job.namespace))
        build = Build(self, resource_name, rendered, options, outputs, context, self.namespace)
        composition = composer(build).compose()
        where = f"the job {context.name}"
        self.plugins: Mapping[str, PluginComponent] = NamedItems("plugin", composition.plugins.items(), where)
        self.tasks: Mapping[str, TaskComponent] = NamedItems("task", composition.tasks.items(), where)
        self.objects: Sequence[KubernetesObject] = IndexedItems("object", composition.objects, where)
        self.pods: Sequence[KubernetesObject] = IndexedItems("Pod", composition.pods, where)
        self.name = composition.name
        self.pod_names = composition.pod_names
        self.pod_group_name = composition.pod_group_name
        self.hosts = composition.hosts
        self.register_outputs(
            {
                "name": self.name,
                "namespace": self.namespace,
                "pod_names": self.pod_names,
                "pod_group_name": self.pod_group_name,
                "hosts": self.hosts,
            },
        )


def _render(
    resource_name: str,
    data: Any,
    outputs: Outputs,
    earlier: Sequence[Problem] = (),
    neighbors: Sequence[Mapping[str, Any]] = (),
) -> tuple[Rendered, JobOptions]:
    """Render the arguments of a job with the shared defaults; return also the options of the component."""
    raise_if_any(bounds.check_bounds(data))
    args: dict[str, Any] = outputs.lift(data)
    defaults, problems = _job_defaults(args.pop(_SHARED, None))
    mode_is_shared = args.get("managed_by") is None
    args = job_defaults.apply(args, defaults)
    options, wrong = pop_options(args, mode_is_shared=mode_is_shared)
    if args.get("name") is None and not {"metadata", "spec"} & args.keys():
        args["name"] = resource_name
    with outputs.text_problems():
        rendered = render(
            args,
            namespace=defaults.get("namespace", "default"),
            keys=KEYS,
            earlier=[*earlier, *problems, *wrong],
            cluster=ClusterFacts(
                kubernetes_version=options.get("kubernetes_version") or "",
                volcano_version=options.get("volcano_version") or "",
            ).with_objects(neighbors),
            **render_options(options),
        )
    return rendered, options


def _of_references(rendered: Rendered, job_input: JobInput) -> Iterator[Problem]:
    """Yield the warnings about references to other objects of the file. The program may create other objects."""
    defined = references.DefinedObjects(job_input.neighbors)
    for problem in references.check(rendered.job, map(ObjectRef.of, rendered.objects), defined):
        if not job_input.is_of_program(problem):
            yield problem


def _job_defaults(program_defaults: Any) -> tuple[dict[str, Any], list[Problem]]:
    """Merge the defaults of the program over the configuration of the stack; return also the problems of both."""
    configured, problems = stack_config.job_defaults()
    if program_defaults is None:
        return configured, problems
    valid_defaults, wrong = job_defaults.validate(
        program_defaults, lambda name: paths.join(_SHARED, *([name] if name else []))
    )
    return job_defaults.merge(valid_defaults, configured), [*problems, *wrong]
