"""Presets for Pod templates: what training needs of a Pod beside its program, as functions that compose.

    template = presets.apply(pod, presets.shm("8Gi"), presets.nccl(debug="WARN"), presets.gpu_tolerations())

A template is a PodTemplateSpec as YAML spells it, in dicts and lists; Outputs in it pass as they are. A preset takes
one and gives another, so a function of your own is one too. It adds what is not there yet (by the name of a variable or
volume, the path of a mount, the key of a label); what is there and different is a `JobError` that names both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from pulumi_volcano_jobs.core import bounds
from pulumi_volcano_jobs.core.errors import ErrorType, JobError, Problem, job_error, key_text, raise_if_any, value_text
from pulumi_volcano_jobs.core.leaf import Text, may_be_output
from pulumi_volcano_jobs.kubernetes import quantity
from pulumi_volcano_jobs.kubernetes.manifest import JOB_NAME
from pulumi_volcano_jobs.presets.editor import Editor, Template, plain

Preset = Callable[[Mapping[str, Any]], Template]
NcclDebug = Literal["VERSION", "WARN", "INFO", "TRACE"]
Unsatisfiable = Literal["ScheduleAnyway", "DoNotSchedule"]

EFA = "vpc.amazonaws.com/efa"
NVIDIA_GPU = "nvidia.com/gpu"
_SHM = "/dev/shm"  # noqa: S108  # where programs look for shared memory, not a file of ours
_MOST_WEIGHT = 100


def apply(template: Mapping[str, Any], *presets: Preset) -> Template:
    """Give a template with presets on it, one after the other; the one given stays as it is.

    Raises:
        JobError: with what all presets find in their way.
    """
    raise_if_any(bounds.check_bounds(template, "template"))
    result: Template = plain(template)
    problems: list[Problem] = []
    for position, preset in enumerate(presets):
        try:
            result = _applied(preset, result, f"presets.apply[{position}]")
        except JobError as error:
            problems += error.problems
    raise_if_any(problems)
    return result


def _applied(preset: Preset, template: Template, place: str) -> Template:
    result: Any = preset(template) if callable(preset) else preset
    if isinstance(result, Mapping):
        return dict(result)
    if preset is result or callable(result):
        reason, hint = "this is no preset", 'call it, as in presets.shm("8Gi"), and give several one by one'
    else:
        reason, hint = f"this preset gives no template, but a {type(result).__name__}", "let it return the template"
    raise job_error([Problem(place, "TypeInvalid", reason, hint)])


def shm(size: Text, *, container: str = "") -> Preset:
    """Mount memory of this size at /dev/shm; container runtimes give 64 MiB, too little for data loaders and NCCL.

    What is in it counts against the container's memory limit.

    Args:
        size: a quantity, such as `8Gi`.
        container: the container's name; needed if the template has several.
    """
    _check_quantity("shm", "size", size)

    def edit(pod: Editor) -> None:
        pod.add_volume("shm", {"emptyDir": {"medium": "Memory", "sizeLimit": size}})
        pod.container(container).mount(_SHM, "shm")

    return _preset("shm", edit)


def nccl(
    *,
    interface: Text = "",
    debug: NcclDebug | None = None,
    variables: Mapping[str, Text] | None = None,
    container: str = "",
) -> Preset:
    """Set NCCL's variables.

    Args:
        interface: the network interfaces to use (NCCL_SOCKET_IFNAME): prefixes such as `eth`, exact names behind a `=`
            such as `=eth0`, or what not to use behind a `^`.
        debug: what NCCL logs (NCCL_DEBUG).
        variables: others, such as `{"NCCL_IB_HCA": "mlx5"}`.
        container: the container's name; needed if the template has several.
    """
    if debug is not None:
        _check_choice("nccl", "debug", debug, get_args(NcclDebug))
    named_variables = {"NCCL_SOCKET_IFNAME": interface or None, "NCCL_DEBUG": debug}
    all_variables = {name: value for name, value in named_variables.items() if value is not None} | _of_nccl(
        variables or {}
    )
    if not all_variables:
        raise _argument_error("nccl", "", "Required", "this sets nothing", 'for example interface="eth0"')

    def edit(pod: Editor) -> None:
        main = pod.container(container)
        for name, value in all_variables.items():
            main.set_env(name, value)

    return _preset("nccl", edit)


def rdma(resource: str, count: int = 1, *, container: str = "") -> Preset:
    """Request RDMA devices, and let the container lock the memory that these read and write (IPC_LOCK).

    Args:
        resource: the resource as the cluster's device plugin calls it, such as `rdma/hca_shared_devices_a`.
        count: how many of them.
        container: the container's name; needed if the template has several.
    """
    if not isinstance(resource, str) or not all(resource.partition("/")):
        hint = "`kubectl describe node` lists them, such as rdma/hca_shared_devices_a"
        raise _argument_error("rdma", "resource", "Invalid", "a device's name has a '/'", hint, resource)
    _check_count("rdma", "count", count)

    def edit(pod: Editor) -> None:
        main = pod.container(container)
        main.request(resource, str(count))
        main.add_capability("IPC_LOCK")

    return _preset("rdma", edit)


def efa(devices: int = 1, *, huge_pages: Text = "", container: str = "") -> Preset:
    """Request AWS Elastic Fabric Adapters, and let libfabric use them and nothing else.

    Args:
        devices: how many of the instance's; a p5.48xlarge has 32.
        huge_pages: memory in pages of 2 MiB, such as `5120Mi`, for images whose libfabric asks for it; Kubernetes then
            wants a request for memory or CPU too.
        container: the container's name; needed if the template has several.
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


def gpu_tolerations(*keys: str) -> Preset:
    """Tolerate the taints that keep Pods without GPUs from nodes that have them.

    Args:
        keys: the taints' keys; `nvidia.com/gpu` if there are none.
    """
    for key in keys:
        if not isinstance(key, str) or not key:
            reason = "each key must be a string, and not empty: without a key all taints are tolerated"
            error_type: ErrorType = "Invalid" if isinstance(key, str) else "TypeInvalid"
            raise _argument_error("gpu_tolerations", "keys", error_type, reason, 'for example "amd.com/gpu"', key)
    entries = [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in keys or (NVIDIA_GPU,)]

    def edit(pod: Editor) -> None:
        for entry in entries:
            pod.add(("tolerations",), entry)

    return _preset("gpu_tolerations", edit)


def no_istio_sidecar() -> Preset:
    """Keep Istio from adding its sidecar, which keeps a Pod running whose program has ended."""

    def edit(pod: Editor) -> None:
        pod.set_label("sidecar.istio.io/inject", "false")

    return _preset("no_istio_sidecar", edit)


def topology_spread(
    job: Text, key: str, *, max_skew: int = 1, when_unsatisfiable: Unsatisfiable = "ScheduleAnyway"
) -> Preset:
    """Spread the Pods of a job over what a label of nodes tells apart.

    Args:
        job: the job's name.
        key: the label, such as `topology.kubernetes.io/zone`.
        max_skew: by how many Pods the fullest may differ from the emptiest.
        when_unsatisfiable: whether Pods wait (`DoNotSchedule`) where it cannot be.
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


def pod_affinity(job: Text, key: str, *, required: bool = False) -> Preset:
    """Keep the Pods of a job together where a label of nodes is the same, such as in one rack.

    Args:
        job: the job's name.
        key: the label, such as `topology.kubernetes.io/zone`, or what your racks have.
        required: whether Pods wait where it cannot be.
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


def _of_nccl(variables: Any) -> dict[str, Text]:
    if not isinstance(variables, Mapping):
        hint = 'for example {"NCCL_IB_HCA": "mlx5"}'
        raise _argument_error("nccl", "variables", "TypeInvalid", "must be a mapping of names and values", hint)
    for name in variables:
        if not key_text(name).startswith("NCCL_"):
            raise _argument_error(
                "nccl", "variables", "Invalid", "NCCL's variables begin with NCCL_", "set others in the template", name
            )
    return dict(variables)


def _check_choice(preset: str, argument: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise _argument_error(preset, argument, "NotSupported", f"must be one of {', '.join(choices)}", value=value)


def _check_quantity(preset: str, argument: str, value: object) -> None:
    try:
        is_sound = may_be_output(value) or quantity.parse(value).nano > 0
    except ValueError:
        is_sound = False
    if not is_sound:
        raise _argument_error(preset, argument, "Invalid", "must be a quantity above 0, such as 8Gi", value=value)


def _check_count(preset: str, argument: str, value: object) -> None:
    reason = "must be a whole number, at least 1"
    if isinstance(value, bool) or not isinstance(value, int):
        raise _argument_error(preset, argument, "TypeInvalid", reason, value=value)
    if value < 1:
        raise _argument_error(preset, argument, "Invalid", reason, value=value)


def _argument_error(
    preset: str, argument: str, error_type: ErrorType, reason: str, hint: str = "", value: object = None
) -> JobError:
    path = f"presets.{preset}.{argument}".rstrip(".")
    # A preset that was not called is given a template, in which there may be secrets.
    return job_error(
        [Problem(path, error_type, reason, hint, value_text(value) if isinstance(value, (str, int, float)) else "")]
    )
