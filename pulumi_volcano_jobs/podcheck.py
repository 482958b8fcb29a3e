"""Kubernetes' own rules for a Pod template, as far as they can be told without a cluster.

Volcano's validating webhook runs Kubernetes' validation over each template (contract section 5); a value that is not
known yet (a leaf) passes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs import paths, quantity
from pulumi_volcano_jobs.errors import Problem, Stage, shown
from pulumi_volcano_jobs.leaf import Leaf
from pulumi_volcano_jobs.model import DNS_LABEL, DNS_SUBDOMAIN, MAX_LABEL, MAX_SUBDOMAIN

MAX_PORT = 65535
MAX_PORT_NAME = 15
_LABEL = re.compile(DNS_LABEL)
_PORT_NAME = re.compile(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_KEY = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_PREFIX = re.compile(DNS_SUBDOMAIN)
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
# The last two operators need a feature gate; whether a cluster has it, we cannot know.
_OPERATORS = ("Exists", "Equal", "Lt", "Gt")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_MAX_SECONDS = 2**31 - 1
_CHOICES = {
    "restartPolicy": ("Always", "OnFailure", "Never"),
    "dnsPolicy": ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    "imagePullPolicy": ("Always", "IfNotPresent", "Never"),
    "protocol": ("TCP", "UDP", "SCTP"),
}
_COMPUTE = frozenset({"cpu", "memory", "ephemeral-storage"})
Wire = Mapping[str, Any]


def check(template: Wire, path: str) -> Iterator[Problem]:
    """Yield what Kubernetes would refuse in a PodTemplateSpec."""
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    yield from labels(metadata.get("labels"), f"{path}.metadata.labels", Stage.WEBHOOK)
    yield from keys(metadata.get("annotations"), f"{path}.metadata.annotations", Stage.WEBHOOK)
    yield from _spec(spec, f"{path}.spec")


def _spec(spec: Wire, path: str) -> Iterator[Problem]:
    if not spec.get("containers"):
        yield _fault(f"{path}.containers", "a Pod needs at least one container")
    for key in ("restartPolicy", "dnsPolicy"):
        yield from _choice(spec, key, path)
    for key in ("hostname", "subdomain"):
        if spec.get(key):
            yield from dns_label(spec[key], f"{path}.{key}")
    yield from _tolerations(spec.get("tolerations"), f"{path}.tolerations")
    yield from _deadline(spec, path)
    volumes = spec.get("volumes") or ()
    yield from _unique(volumes, "name", f"{path}.volumes")
    for index, volume in enumerate(volumes):
        yield from dns_label(volume.get("name"), f"{path}.volumes[{index}].name")
    known = {volume.get("name") for volume in volumes}
    seen: set[str] = set()
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            place = f"{path}.{kind}[{index}]"
            name = container.get("name")
            yield from dns_label(name, f"{place}.name")
            if isinstance(name, str) and name in seen:
                yield _fault(f"{place}.name", "two containers have this name", name)
            seen |= {name} if isinstance(name, str) else set()
            yield from _container(container, known, place)


def _tolerations(tolerations: Any, path: str) -> Iterator[Problem]:
    for index, toleration in enumerate(() if isinstance(tolerations, Leaf) else tolerations or ()):
        if not isinstance(toleration, Leaf):
            yield from _toleration(toleration, f"{path}[{index}]")


def _toleration(toleration: Wire, path: str) -> Iterator[Problem]:
    key, operator, effect = toleration.get("key"), toleration.get("operator"), toleration.get("effect")
    value = toleration.get("value")
    if isinstance(operator, str) and operator and operator not in _OPERATORS:
        reason = f"this must be one of {', '.join(_OPERATORS)}"
        yield _fault(f"{path}.operator", reason, operator, "Equal, the default, compares the value")
    elif isinstance(operator, str) and operator == "Exists" and isinstance(value, str) and value:
        reason = "with the operator Exists a toleration has no value"
        yield _fault(f"{path}.value", reason, value, "remove it, or set operator: Equal")
    elif not isinstance(operator, Leaf) and not isinstance(key, Leaf) and not key and operator != "Exists":
        reason = "a toleration without a key needs the operator Exists"
        yield _fault(path, reason, hint="name the taint's key, or set operator: Exists to tolerate all")
    if toleration.get("tolerationSeconds") is not None and not isinstance(effect, Leaf) and effect != "NoExecute":
        reason = "with tolerationSeconds the effect must be NoExecute: only that evicts Pods"
        yield _fault(f"{path}.effect", reason, effect or "", "set effect: NoExecute, or remove tolerationSeconds")
    elif isinstance(effect, str) and effect and effect not in _EFFECTS:
        reason = f"this must be one of {', '.join(_EFFECTS)}"
        yield _fault(f"{path}.effect", reason, effect, "leave it out to tolerate all of them")


def _deadline(spec: Wire, path: str) -> Iterator[Problem]:
    deadline = spec.get("activeDeadlineSeconds")
    if isinstance(deadline, int) and not 1 <= deadline <= _MAX_SECONDS:
        reason = f"this must be a number from 1 to {_MAX_SECONDS}"
        yield _fault(f"{path}.activeDeadlineSeconds", reason, deadline, "leave it out for no deadline")


def _container(container: Wire, volumes: set[Any], path: str) -> Iterator[Problem]:
    if not isinstance(container.get("image"), Leaf) and not container.get("image"):
        yield _fault(f"{path}.image", "a container needs an image")
    yield from _choice(container, "imagePullPolicy", path)
    yield from _ports(container.get("ports") or (), f"{path}.ports")
    for index, variable in enumerate(container.get("env") or ()):
        yield from _variable(variable, f"{path}.env[{index}]")
    yield from _mounts(container.get("volumeMounts") or (), volumes, f"{path}.volumeMounts")
    yield from _resources(container.get("resources"), f"{path}.resources")


def _ports(ports: Iterable[Wire], path: str) -> Iterator[Problem]:
    yield from _unique(ports, "name", path)
    for index, port in enumerate(ports):
        place, name = f"{path}[{index}]", port.get("name")
        for key in ("containerPort", "hostPort"):
            number = port.get(key)
            if isinstance(number, int) and not 1 <= number <= MAX_PORT and (key == "containerPort" or number):
                yield _fault(f"{place}.{key}", "a port is a number from 1 to 65535", number)
        if name and (len(name) > MAX_PORT_NAME or not _PORT_NAME.fullmatch(name)):
            reason = "a port's name is at most 15 lower-case letters, digits and '-', with at least one letter"
            yield _fault(f"{place}.name", reason, name)
        yield from _choice(port, "protocol", place)


def _variable(variable: Wire, path: str) -> Iterator[Problem]:
    name = variable.get("name")
    if name == "" or (isinstance(name, str) and "=" in name):
        yield _fault(f"{path}.name", "a variable's name is not empty and has no '='", name)
    if variable.get("valueFrom") is not None and (isinstance(variable.get("value"), Leaf) or variable.get("value")):
        yield _fault(path, "a variable has either a value or a valueFrom", name)


def _mounts(mounts: Iterable[Wire], volumes: set[Any], path: str) -> Iterator[Problem]:
    yield from _unique(mounts, "mountPath", path)
    for index, mount in enumerate(mounts):
        name = mount.get("name")
        if not mount.get("mountPath"):
            yield _fault(f"{path}[{index}].mountPath", "a mount needs a path")
        if not isinstance(name, Leaf) and name not in volumes:
            yield _fault(f"{path}[{index}].name", "the Pod has no volume of this name", name)


def _resources(resources: Any, path: str) -> Iterator[Problem]:
    if isinstance(resources, Leaf) or not resources:
        return
    amounts: dict[str, dict[str, int]] = {"requests": {}, "limits": {}}
    for kind, found in amounts.items():
        declared = resources.get(kind)
        for name, text in ({} if isinstance(declared, Leaf) or not declared else declared).items():
            place = paths.join(f"{path}.{kind}", name)
            nano = _amount(text)
            if nano is not None and nano >= 0:
                found[name] = nano
            elif not isinstance(text, Leaf):
                yield _fault(place, "this must be a quantity, at least 0, such as 500m, 2 or 4Gi", text)
    if isinstance(resources.get("limits"), Leaf):
        return
    limits, requests = amounts["limits"], amounts["requests"]
    for name, amount in requests.items():
        place = paths.join(f"{path}.requests", name)
        extended = name not in _COMPUTE
        if name in limits and (amount > limits[name] or (extended and amount != limits[name])):
            rule = "must equal" if extended else "must not exceed"
            yield _fault(place, f"the request {rule} the limit")
        elif extended and name not in (resources.get("limits") or {}):
            yield _fault(place, "a device's limit must be set, and equal the request")


def _amount(text: Any) -> int | None:
    if isinstance(text, Leaf):
        return None
    try:
        return quantity.parse(text).nano
    except ValueError:
        return None


def labels(given: Any, path: str, stage: Stage) -> Iterator[Problem]:
    """Yield labels whose keys or values Kubernetes refuses."""
    yield from keys(given, path, stage)
    for key, value in given.items() if isinstance(given, Mapping) else ():
        if isinstance(value, str) and (len(value) > MAX_LABEL or not _LABEL_VALUE.fullmatch(value)):
            reason = (
                "a label's value is at most 63 letters, digits, '-', '_' and '.', beginning and ending with the former"
            )
            yield Problem(paths.join(path, key), reason, value=repr(value), stage=stage)


def keys(given: Any, path: str, stage: Stage) -> Iterator[Problem]:
    """Yield keys of labels or annotations that Kubernetes refuses."""
    for key in given if isinstance(given, Mapping) else ():
        # Kubernetes, too, takes capitals in the prefix of an annotation's key and of no label's.
        text = key.lower() if path.endswith(".annotations") else key
        prefix, slash, name = text.rpartition("/")
        sound = len(name) <= MAX_LABEL and _KEY.fullmatch(name)
        if not sound or (slash and not (len(prefix) <= MAX_SUBDOMAIN and _PREFIX.fullmatch(prefix))):
            reason = (
                "a key is at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit,"
                " perhaps behind a DNS name and a '/'"
            )
            yield Problem(paths.join(path, key), reason, "for example example.org/team", repr(key), stage)


def _choice(holder: Wire, key: str, path: str) -> Iterator[Problem]:
    value = holder.get(key)
    if isinstance(value, str) and value and value not in _CHOICES[key]:
        yield _fault(f"{path}.{key}", f"this must be one of {', '.join(_CHOICES[key])}", value)


def _unique(entries: Iterable[Wire], key: str, path: str) -> Iterator[Problem]:
    values = [entry.get(key) for entry in entries]
    counted = Counter(value for value in values if isinstance(value, str) and value)
    seen: set[str] = set()
    for index, value in enumerate(values):
        if isinstance(value, str) and counted[value] > 1 and value in seen:
            yield _fault(f"{path}[{index}].{key}", "this stands here twice", value)
        if isinstance(value, str):
            seen.add(value)


def dns_label(value: Any, path: str) -> Iterator[Problem]:
    """Yield a Problem if a value is no DNS label."""
    if isinstance(value, str) and (len(value) > MAX_LABEL or not _LABEL.fullmatch(value)):
        reason = (
            "this must be at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit"
        )
        yield _fault(path, reason, value)


def _fault(path: str, reason: str, value: Any = "", hint: str = "") -> Problem:
    return Problem(path, reason, hint, shown(value) if value != "" else "", Stage.WEBHOOK)
