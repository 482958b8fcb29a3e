"""`VolcanoQueue`: a Volcano Queue, validated as strictly as jobs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pulumi
from typing_extensions import Unpack

from pulumi_volcano_jobs.admission import queues
from pulumi_volcano_jobs.component import forwarding, name_registry
from pulumi_volcano_jobs.component.arguments import NO_ARGUMENTS, one_form
from pulumi_volcano_jobs.component.error_hooks import ErrorHooks, missing_controllers, missing_definitions
from pulumi_volcano_jobs.component.input_errors import as_input_errors, check_call
from pulumi_volcano_jobs.component.kubernetes_args import to_wire
from pulumi_volcano_jobs.component.kubernetes_object import KubernetesObject
from pulumi_volcano_jobs.component.lookup import NamedAttributes
from pulumi_volcano_jobs.component.outputs import Outputs
from pulumi_volcano_jobs.component.queue_args import VolcanoQueueArgs
from pulumi_volcano_jobs.component.resource_options import ignored_options
from pulumi_volcano_jobs.core import bounds
from pulumi_volcano_jobs.core.calls import checked_call
from pulumi_volcano_jobs.core.errors import Problem, raise_if_any
from pulumi_volcano_jobs.core.resource_types import VOLCANO_QUEUE
from pulumi_volcano_jobs.kubernetes import queue_schema
from pulumi_volcano_jobs.kubernetes.validation.resolved import TypePath
from pulumi_volcano_jobs.rendering import queue
from pulumi_volcano_jobs.spec.document import without_null_labels
from pulumi_volcano_jobs.spec.model_errors import in_python

TYPE = "VolcanoQueue"
# Volcano's webhooks reject jobs of a queue without state, and its controller sets the state after the queue is created.
# Not `=Open`: every edit of a closed queue would wait until the queue is opened.
_STATE = "jsonpath={.status.state}"
_TIMEOUT = "5m"


class BaseQueue(NamedAttributes, pulumi.ComponentResource):
    """The base of the VolcanoQueue components of Python programs and of other languages.

    The class body declares no attributes, because Pulumi would add them to the schema as outputs.
    """

    def __init__(self, resource_name: str, args: Any = None, opts: pulumi.ResourceOptions | None = None) -> None:
        """Validate and register a queue.

        Args:
            resource_name: the name of the resource, and of the queue unless `args` has a name.
            args: the fields of the queue. A field that is None is not set.
            opts: the Queue inherits `provider`, `protect`, `retain_on_delete`, `custom_timeouts` and `transforms`.

        Raises:
            pulumi.RunError: with every problem of the arguments; no resource has been registered then.
        """
        outputs = Outputs(resource_name, TYPE)
        with as_input_errors(resource_name, locate=self._with_hints, kind=TYPE):
            raise_if_any(check_call(resource_name, opts))
            raise_if_any(bounds.check_bounds(args))
            queue_args = outputs.lift(to_wire(args or {}, queue_schema.SPEC), typed=TypePath(queue_schema.SPEC))
            queue_args = without_null_labels(queue_args)
            if queue_args.get("name") is None:
                queue_args["name"] = resource_name
            with outputs.text_problems():
                manifest = queue.queue(queue_args)
            raise_if_any(name_registry.register_names(resource_name, [manifest], TYPE))
        super().__init__(VOLCANO_QUEUE, resource_name, {}, opts)
        for text in ignored_options(opts, "custom_timeouts"):
            pulumi.log.warn(text, self)
        for problem in queues.warnings(queue_args):
            pulumi.log.warn(str(problem), self)
        timeouts = opts.custom_timeouts if opts else None
        self.resource = KubernetesObject(
            resource_name,
            manifest,
            None,
            outputs,
            pulumi.ResourceOptions(
                parent=self,
                # The engine passes retain_on_delete to children, but mocks do not. Nothing passes custom_timeouts.
                retain_on_delete=opts.retain_on_delete if opts else None,
                custom_timeouts=timeouts or pulumi.CustomTimeouts(create=_TIMEOUT, update=_TIMEOUT),
                hooks=ErrorHooks(f"queue {resource_name}").binding(
                    missing_definitions(resource_name, "Queues"), missing_controllers(resource_name)
                ),
            ),
            wait_for=[_STATE],
        )
        name: str = manifest["metadata"]["name"]
        # Unknown in a preview until the queue exists, as the id is: in a preview, the provider sends known values to
        # the API server in a dry run, and Volcano's webhooks reject an object that names a missing queue.
        self.name = self.resource.id.apply(lambda _id: name)
        if manifest["spec"].get("extendClusters"):
            forwarding.register_queue(self.name, name)
        self.register_outputs({"name": self.name})

    def _with_hints(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return the problems of arguments with hints for the language of the program."""
        return [in_python(problem) for problem in problems]


class VolcanoQueue(BaseQueue):
    """A Volcano Queue (`scheduling.volcano.sh/v1beta1`). `queue=research.name` on a job selects it."""

    name: pulumi.Output[str]
    """The queue's name, unknown in a preview until the queue exists.

    A job or a queue that uses it is created after this queue is ready for jobs, and deleted before it.
    """
    resource: KubernetesObject
    """The Queue itself."""

    @checked_call(TYPE, skip=1)
    def __init__(
        self,
        resource_name: str,
        args: VolcanoQueueArgs = NO_ARGUMENTS,
        opts: pulumi.ResourceOptions | None = None,
        **fields: Unpack[VolcanoQueueArgs],
    ) -> None:
        """Register a queue.

        Args:
            resource_name: the name of the resource, and of the queue unless its `name` is set.
            args: the fields of the queue as one dictionary, instead of keyword arguments.
            opts: the Queue inherits `provider`, `protect`, `retain_on_delete`, `custom_timeouts` and `transforms`.
            fields: the fields of the queue. None means not given.

        Raises:
            pulumi.RunError: with every problem of the arguments; no resource has been registered then.
        """
        with as_input_errors(resource_name, kind=TYPE):
            one = one_form(resource_name, args, fields, TYPE)
        super().__init__(resource_name, one, opts)
