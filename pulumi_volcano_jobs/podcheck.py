"""Kubernetes' own rules for a Pod template, as far as they can be told without a cluster.

Volcano's validating webhook runs Kubernetes' validation over each template (contract section 5); a value that is not
known yet (a leaf) passes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs import paths, quantity
from pulumi_volcano_jobs.errors import Problem, Stage, shown
from pulumi_volcano_jobs.leaf import Leaf
from pulumi_volcano_jobs.model import DNS_LABEL, MAX_LABEL

MAX_PORT = 65535
MAX_PORT_NAME = 15
_LABEL = re.compile(DNS_LABEL)
_PORT_NAME = re.compile(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
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
    yield from _labels(metadata.get("labels") or {}, f"{path}.metadata.labels")
    yield from _spec(spec, f"{path}.spec")


def _spec(spec: Wire, path: str) -> Iterator[Problem]:
    if not spec.get("containers"):
        yield _fault(f"{path}.containers", "a Pod needs at least one container")
    for key in ("restartPolicy", "dnsPolicy"):
        yield from _choice(spec, key, path)
    for key in ("hostname", "subdomain"):
        if spec.get(key):
            yield from dns_label(spec[key], f"{path}.{key}")
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


def repeated(template: Wire, path: str) -> Iterator[Problem]:
    """Yield a warning for each variable and port that a container has twice: the last one counts, as in Kubernetes."""
    spec = template.get("spec") or {}
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            place = f"{path}.spec.{kind}[{index}]"
            yield from _overwritten(container.get("env") or (), f"{place}.env", _variable_key)
            yield from _overwritten(container.get("ports") or (), f"{place}.ports", _port_key)


def _overwritten(entries: Iterable[Wire], path: str, key: Callable[[Wire], str]) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, entry in enumerate(entries):
        name = key(entry)
        if name and name in seen:
            reason = f"{name} stands here twice, and this one counts (first in {path}[{seen[name]}])"
            yield Problem(f"{path}[{index}]", reason, "remove one", warning=True)
        seen[name] = index


def _variable_key(variable: Wire) -> str:
    return f"the variable {variable['name']}" if variable.get("name") else ""


def _port_key(port: Wire) -> str:
    return f"the port {port['containerPort']}/{port.get('protocol', 'TCP')}" if "containerPort" in port else ""


def _labels(labels: Wire, path: str) -> Iterator[Problem]:
    for key, value in labels.items():
        if isinstance(value, str) and (len(value) > MAX_LABEL or not _LABEL_VALUE.fullmatch(value)):
            reason = (
                "a label's value is at most 63 letters, digits, '-', '_' and '.', beginning and ending with the former"
            )
            yield _fault(paths.join(path, key), reason, value)


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


def _fault(path: str, reason: str, value: Any = "") -> Problem:
    return Problem(path, reason, value=shown(value) if value != "" else "", stage=Stage.WEBHOOK)
