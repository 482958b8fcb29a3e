"""Presets for Pod templates: functions that add common settings for training, and that you can combine.

    template = presets.apply(pod, presets.shm("8Gi"), presets.nccl(debug="WARN"), presets.gpu_tolerations())

A template is a PodTemplateSpec of dicts and lists, with the field names of YAML. It may contain Outputs. A preset is
any function that accepts a template and returns another one. Presets add missing entries, which they identify by the
name of a variable or volume, the path of a mount, or the key of a label. An existing entry with other content raises
a `JobError`. An argument that is None has its default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from pulumi_volcano_jobs.core import bounds
from pulumi_volcano_jobs.core.calls import checked_call
from pulumi_volcano_jobs.core.errors import ErrorType, JobError, Problem, job_error, key_text, raise_if_any, value_text
from pulumi_volcano_jobs.core.leaf import Text, may_be_output
from pulumi_volcano_jobs.core.tree import without_none
from pulumi_volcano_jobs.kubernetes import quantity
from pulumi_volcano_jobs.kubernetes.manifest import JOB_NAME
from pulumi_volcano_jobs.kubernetes.template_types import PodTemplateSpecDict
from pulumi_volcano_jobs.presets.editor import Editor, Template, plain

Preset = Callable[[Mapping[str, Any]], Template]
"""A function that takes a Pod template and returns a new one."""
NcclDebug = Literal["VERSION", "WARN", "INFO", "TRACE"]
"""A value of `NCCL_DEBUG`."""
Unsatisfiable = Literal["ScheduleAnyway", "DoNotSchedule"]
"""The behavior of the scheduler if a Pod does not satisfy a topology spread constraint."""

EFA = "vpc.amazonaws.com/efa"
NVIDIA_GPU = "nvidia.com/gpu"
_SHM = "/dev/shm"  # noqa: S108  # the path of shared memory, not a temporary file
_MOST_WEIGHT = 100


@checked_call("presets.apply")
def apply(template: Mapping[str, Any], *presets: Preset | None) -> PodTemplateSpecDict:
    """Return a copy of a template to which the presets are applied in order. A preset that is None is skipped.

    Raises:
        JobError: with the problems of all presets.
    """
    raise_if_any(bounds.check_bounds(template, "template"))
    result: Any = plain(template)
    problems: list[Problem] = []
    for position, preset in enumerate(presets):
        if preset is None:
            continue
        try:
            result = _applied(preset, result, f"presets.apply[{position}]")
        except JobError as error:
            problems += error.problems
    raise_if_any(problems)
    applied: PodTemplateSpecDict = result
    return applied


def _applied(preset: Preset, template: Template, place: str) -> Template:
    result: Any = preset(template) if callable(preset) else preset
    if isinstance(result, Mapping):
        return dict(result)
    if preset is result or callable(result):
        reason = "must be a preset"
        hint = 'call the function, as in presets.shm("8Gi"), and pass each preset as a separate argument'
    else:
        reason, hint = f"the preset must return a template, not {type(result).__name__}", "return the template"
    raise job_error([Problem(place, "TypeInvalid", reason, hint)])


@checked_call("presets.shm")
def shm(size: Text, *, container: str | None = "") -> Preset:
    """Mount shared memory at /dev/shm.

    The default of container runtimes, 64 MiB, is too small for data loaders and NCCL. The memory limit of the container
    includes the files in it.

    Args:
        size: a quantity, such as `8Gi`.
        container: the name of the container; required if the template has several.
    """
    _check_quantity("shm", "size", size)

    def edit(pod: Editor) -> None:
        pod.add_volume("shm", {"emptyDir": {"medium": "Memory", "sizeLimit": size}})
        pod.container(container).mount(_SHM, "shm")

    return _preset("shm", edit)


@checked_call("presets.nccl")
def nccl(
    *,
    interface: Text | None = "",
    debug: NcclDebug | None = None,
    variables: Mapping[str, Text | None] | None = None,
    container: str | None = "",
) -> Preset:
    """Set variables of NCCL.

    Args:
        interface: the network interfaces to use (NCCL_SOCKET_IFNAME): prefixes such as `eth`, exact names after `=`
            such as `=eth0`, or interfaces to exclude after `^`.
        debug: the log level (NCCL_DEBUG).
        variables: other variables of NCCL, such as `{"NCCL_IB_HCA": "mlx5"}`.
        container: the name of the container; required if the template has several.
    """
    if debug is not None:
        _check_choice("nccl", "debug", debug, get_args(NcclDebug))
    named_variables = {"NCCL_SOCKET_IFNAME": interface or None, "NCCL_DEBUG": debug}
    all_variables = without_none({**named_variables, **_of_nccl(variables or {})})
    if not all_variables:
        reason, hint = "at least one variable must be set", 'set an argument such as interface="eth0"'
        raise _argument_error("nccl", "", "Required", reason, hint)

    def edit(pod: Editor) -> None:
        main = pod.container(container)
        for name, value in all_variables.items():
            main.set_env(name, value)

    return _preset("nccl", edit)


@checked_call("presets.rdma")
def rdma(resource: str, count: int | None = 1, *, container: str | None = "") -> Preset:
    """Request RDMA devices, and add the capability IPC_LOCK, because RDMA needs locked memory.

    Args:
        resource: the resource name of the cluster's device plugin, such as `rdma/hca_shared_devices_a`.
        count: the number of devices.
        container: the name of the container; required if the template has several.
    """
    if not isinstance(resource, str) or not all(resource.partition("/")):
        hint = "use a name that `kubectl describe node` lists, such as rdma/hca_shared_devices_a"
        raise _argument_error("rdma", "resource", "Invalid", "must be a resource name with a '/'", hint, resource)
    _check_count("rdma", "count", count)

    def edit(pod: Editor) -> None:
        main = pod.container(container)
        main.request(resource, str(count))
        main.add_capability("IPC_LOCK")

    return _preset("rdma", edit)


@checked_call("presets.efa")
def efa(devices: int | None = 1, *, huge_pages: Text | None = "", container: str | None = "") -> Preset:
    """Request AWS Elastic Fabric Adapters, and configure libfabric to use only these.

    Args:
        devices: the number of adapters; a p5.48xlarge has 32.
        huge_pages: memory in pages of 2 MiB, such as `5120Mi`, for images whose libfabric needs it. Kubernetes then
            also requires a request for memory or CPU.
        container: the name of the container; required if the template has several.
    """
    _check_count("efa", "devices", devices)
    if huge_pages:
        _check_quantity("efa", "huge_pages", huge_pages)

    def edit(pod: Editor) -> None:
        main = pod.container(container)
        main.request(EFA, str(devices))
        if huge_pages:
            main.request("hugepages-2Mi", huge_pages)
        main.set_env("FI_PROVIDER", "efa")

    return _preset("efa", edit)


@checked_call("presets.gpu_tolerations")
def gpu_tolerations(*keys: str | None) -> Preset:
    """Tolerate the taints of GPU nodes, which repel Pods without GPUs.

    Args:
        keys: the keys of the taints. The default is `nvidia.com/gpu`.
    """
    given_keys = [key for key in keys if key is not None]
    for key in given_keys:
        if not isinstance(key, str) or not key:
            reason = "each key must be a non-empty string, because an empty key tolerates all taints"
            error_type: ErrorType = "Invalid" if isinstance(key, str) else "TypeInvalid"
            raise _argument_error("gpu_tolerations", "keys", error_type, reason, 'use a key such as "amd.com/gpu"', key)
    entries = [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in given_keys or (NVIDIA_GPU,)]

    def edit(pod: Editor) -> None:
        for entry in entries:
            pod.add(("tolerations",), entry)

    return _preset("gpu_tolerations", edit)


@checked_call("presets.no_istio_sidecar")
def no_istio_sidecar() -> Preset:
    """Disable Istio's sidecar, which keeps a Pod running after its program ends."""

    def edit(pod: Editor) -> None:
        pod.set_label("sidecar.istio.io/inject", "false")

    return _preset("no_istio_sidecar", edit)


@checked_call("presets.topology_spread")
def topology_spread(
    job: Text, key: str, *, max_skew: int | None = 1, when_unsatisfiable: Unsatisfiable | None = "ScheduleAnyway"
) -> Preset:
    """Spread the Pods of a job over topology domains, such as zones.

    Args:
        job: the name of the job.
        key: the node label of the domains, such as `topology.kubernetes.io/zone`.
        max_skew: the maximum difference in the number of Pods between two domains.
        when_unsatisfiable: whether Pods remain pending (`DoNotSchedule`) if the constraint cannot be satisfied.
    """
    _check_count("topology_spread", "max_skew", max_skew)
    _check_choice("topology_spread", "when_unsatisfiable", when_unsatisfiable, get_args(Unsatisfiable))
    entry = {
        "maxSkew": max_skew,
        "topologyKey": key,
        "whenUnsatisfiable": when_unsatisfiable,
        "labelSelector": {"matchLabels": {JOB_NAME: job}},
    }

    def edit(pod: Editor) -> None:
        pod.add(("topologySpreadConstraints",), entry, ("topologyKey", "whenUnsatisfiable"))

    return _preset("topology_spread", edit)


@checked_call("presets.pod_affinity")
def pod_affinity(job: Text, key: str, *, required: bool | None = False) -> Preset:
    """Schedule the Pods of a job in one topology domain, such as a rack.

    Args:
        job: the name of the job.
        key: the node label of the domains, such as `topology.kubernetes.io/zone` or the label of your racks.
        required: whether Pods remain pending if the affinity cannot be satisfied.
    """
    term = {"labelSelector": {"matchLabels": {JOB_NAME: job}}, "topologyKey": key}
    preferred = {"weight": _MOST_WEIGHT, "podAffinityTerm": term}
    kind = "required" if required else "preferred"

    def edit(pod: Editor) -> None:
        place = ("affinity", "podAffinity", f"{kind}DuringSchedulingIgnoredDuringExecution")
        pod.add(place, term if required else preferred)

    return _preset("pod_affinity", edit)


def _preset(name: str, edit: Callable[[Editor], None]) -> Preset:
    def preset(template: Mapping[str, Any]) -> Template:
        editor = Editor(name, template)
        edit(editor)
        raise_if_any(editor.problems)
        return editor.template

    return preset


def _of_nccl(variables: Any) -> dict[str, Text | None]:
    if not isinstance(variables, Mapping):
        hint = 'use a mapping such as {"NCCL_IB_HCA": "mlx5"}'
        raise _argument_error("nccl", "variables", "TypeInvalid", "must be a mapping of names to values", hint)
    for name in variables:
        if not key_text(name).startswith("NCCL_"):
            raise _argument_error(
                "nccl", "variables", "Invalid", "must begin with NCCL_", "set other variables in the template", name
            )
    return dict(variables)


def _check_choice(preset: str, argument: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        reason = f"supported values: {', '.join(map(value_text, choices))}"
        raise _argument_error(preset, argument, "NotSupported", reason, value=value)


def _check_quantity(preset: str, argument: str, value: object) -> None:
    try:
        is_sound = may_be_output(value) or quantity.parse(value).nano > 0
    except ValueError:
        is_sound = False
    if not is_sound:
        raise _argument_error(preset, argument, "Invalid", "must be a positive quantity such as 8Gi", value=value)


def _check_count(preset: str, argument: str, value: object) -> None:
    reason = "must be a whole number of at least 1"
    if isinstance(value, bool) or not isinstance(value, int):
        raise _argument_error(preset, argument, "TypeInvalid", reason, value=value)
    if value < 1:
        raise _argument_error(preset, argument, "Invalid", reason, value=value)


def _argument_error(
    preset: str, argument: str, error_type: ErrorType, reason: str, hint: str = "", value: object = None
) -> JobError:
    path = f"presets.{preset}.{argument}".rstrip(".")
    # A preset function that was not called gets a template as its argument, which may contain secrets.
    return job_error(
        [Problem(path, error_type, reason, hint, value_text(value) if isinstance(value, (str, int, float)) else "")]
    )
