"""Resource requests, limits and claims of containers and Pods."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pulumi_volcano_jobs.core.errors import ErrorType, Problem
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.suggestions import did_you_mean
from pulumi_volcano_jobs.kubernetes import quantity
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, duplicates, invalid, webhook_problem
from pulumi_volcano_jobs.kubernetes.validation.names import dns_label, is_qualified

COMPUTE = ("cpu", "memory", "ephemeral-storage")
HUGE_PAGES = "hugepages-"
_BYTES = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGTPE])(i?)B", re.IGNORECASE)
_ABBREVIATION = 3  # minimum length of an abbreviation, such as "mem" for memory
QUANTITY_RULE = "must be a quantity greater than or equal to 0, such as 500m, 2 or 4Gi"
NameRule = Callable[[str, str], Iterator[Problem]]


def check(container: ObjectField, claims: Collection[str] | None) -> Iterator[Problem]:
    """Yield invalid resources of a container.

    `claims` are the names of the Pod's resourceClaims; None if one of them is unresolved.
    """
    resources = container.child("resources")
    if resources:
        yield from _requests_and_limits(resources, _name)
        yield from _claims(resources, claims)


def check_pod(spec: ObjectField) -> Iterator[Problem]:
    """Yield invalid Pod-level resources."""
    yield from check_overhead(spec)
    resources = spec.child("resources")
    if not resources:
        return
    yield from _requests_and_limits(resources, _pod_name)
    if resources.has("claims"):
        yield resources.problem(
            "claims",
            "Forbidden",
            "claims may not be set for Resources at pod-level",
            "move them to resources.claims of a container",
            show=False,
        )
    yield from check_totals(spec)
    pod_limits = valid_amounts(resources, "limits")
    for container in spec.children("containers"):
        yield from _limits_above_pod(container.child("resources"), resources, pod_limits)


def check_overhead(spec: ObjectField) -> Iterator[Problem]:
    """Yield invalid names and amounts of the overhead of a Pod."""
    yield from _resource_list(spec, "overhead", _name)


def check_totals(spec: ObjectField, *, is_created: bool = False) -> Iterator[Problem]:
    """Yield Pod-level amounts that are less than the sum over the containers.

    If the Pod `is_created`, unlike in a template, the API server sets missing requests. It sets the requests of a
    container to its limits, and Pod-level requests to the sums over the containers.
    """
    resources = spec.child("resources")
    if resources is None:
        return
    requests, limits = valid_amounts(resources, "requests"), valid_amounts(resources, "limits")
    requested, limited = (
        _effective_totals(spec, partial(_requested, is_created=is_created)),
        _effective_totals(spec, _limits),
    )
    highest: dict[str, int] = {}
    for container in spec.children("containers"):
        for name, nano in _limits(container).items():
            highest[name] = max(nano, highest.get(name, 0))
    for name, maximum in requests.items():
        if requested.get(name, 0) > maximum:
            yield _exceeded(resources, "requests", name)
    for name, maximum in limits.items():
        # Kubernetes sets a missing request of a Pod, and compares it with the limit.
        is_default = is_created and name not in requests and not resources.is_unknown("requests")
        is_page = name.startswith(HUGE_PAGES)
        total = (limited if is_page else requested).get(name, 0)
        is_reported = highest.get(name, 0) > maximum
        if (is_page or is_default) and not is_reported and total > maximum:
            yield _exceeded(resources, "limits", name)


def _exceeded(resources: ObjectField, kind: str, name: str) -> Problem:
    value = _amount_in(resources, kind, name)
    summed = kind if name.startswith(HUGE_PAGES) else "requests"
    reason = f"must be greater than or equal to aggregate container {summed}"
    hint = f"raise it, or lower the {summed} of the containers"
    return webhook_problem(resources.at(kind, name), "Invalid", reason, value, hint)


def _effective_totals(spec: ObjectField, amounts_of: Callable[[ObjectField], Mapping[str, int]]) -> dict[str, int]:
    """Return the effective amounts of a Pod: the maximum of those during initialization and afterwards.

    A sidecar (an init container with restartPolicy Always) runs together with all later containers.
    """
    total: dict[str, int] = {}
    for container in spec.children("containers"):
        _add(total, amounts_of(container))
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.children("initContainers"):
        container_amounts = amounts_of(container)
        for name, nano in container_amounts.items():
            peak[name] = max(peak.get(name, 0), sidecars.get(name, 0) + nano)
        if container.text("restartPolicy") == "Always":
            _add(sidecars, container_amounts)
    _add(total, sidecars)
    return {name: max(total.get(name, 0), peak.get(name, 0)) for name in total.keys() | peak.keys()}


def _add(total: dict[str, int], amounts_to_add: Mapping[str, int]) -> None:
    for name, nano in amounts_to_add.items():
        total[name] = total.get(name, 0) + nano


def _limits(container: ObjectField) -> dict[str, int]:
    return valid_amounts(container.child("resources"), "limits")


def _limits_above_pod(
    container_resources: ObjectField | None, pod_resources: ObjectField, pod_limits: Mapping[str, int]
) -> Iterator[Problem]:
    """Yield limits of a container that exceed the Pod-level limits `pod_limits`."""
    for name, nano in valid_amounts(container_resources, "limits").items():
        if container_resources and name in pod_limits and nano > pod_limits[name]:
            reason = f"must be less than or equal to pod limits of {_amount_in(pod_resources, 'limits', name)}"
            limit = _amount_in(container_resources, "limits", name)
            yield webhook_problem(
                container_resources.at("limits", name), "Invalid", reason, limit, "lower it, or raise spec.resources"
            )


def _requested(container: ObjectField, *, is_created: bool) -> dict[str, int]:
    resources = container.child("resources")
    if not resources or resources.is_unknown("requests"):
        return {}
    requests = resources.child("requests")
    limits = valid_amounts(resources, "limits") if is_created else {}
    defaults = {name: nano for name, nano in limits.items() if not (requests and requests.has(name))}
    return defaults | valid_amounts(resources, "requests")


def _amount_in(resources: ObjectField | None, kind: str, name: str) -> Any:
    """Return an amount in its original form, or None."""
    declared = resources.child(kind) if resources else None
    return declared.fields.get(name) if declared else None


def valid_amounts(resources: ObjectField | None, kind: str) -> dict[str, int]:
    """Return the valid and resolved amounts of requests or limits, in units of 10^-9."""
    declared = resources.child(kind) if resources else None
    parsed_amounts = {name: parsed(text) for name, text in declared.fields.items()} if declared else {}
    return {name: nano for name, nano in parsed_amounts.items() if nano is not None and nano >= 0}


def check_quantity(
    field: ObjectField, key: str, hint: str = "", error_type: ErrorType = "Invalid"
) -> Iterator[Problem]:
    """Yield a Problem if a field is not a valid amount."""
    text = field.fields.get(key)
    nano = parsed(text)
    if field.has(key) and not field.is_unknown(key) and (nano is None or nano < 0):
        yield field.problem(key, error_type, QUANTITY_RULE, hint)


def parsed(text: Any) -> int | None:
    """Return an amount in units of 10^-9, or None if it is invalid or unresolved."""
    if isinstance(text, Leaf):
        return None
    try:
        return quantity.parse(text).nano
    except ValueError:
        return None


def _requests_and_limits(resources: ObjectField, rule: NameRule) -> Iterator[Problem]:
    for kind in ("requests", "limits"):
        yield from _resource_list(resources, kind, rule)
    yield from _requests(resources)
    yield from _pages_alone(resources)


def _resource_list(holder: ObjectField, kind: str, rule: NameRule) -> Iterator[Problem]:
    declared = holder.child(kind)
    for name, text in declared.fields.items() if declared else ():
        place = holder.at(kind, name)
        name_problems = list(rule(name, place))
        yield from name_problems or _amount(name, text, place)


def _name(name: str, place: str) -> Iterator[Problem]:
    """Yield a Problem if a container cannot request a resource of this name."""
    known = name in COMPUTE or name.startswith(HUGE_PAGES)
    if not is_qualified(name):
        yield webhook_problem(
            place,
            "Invalid",
            "must be a standard resource type or fully qualified",
            name,
            "use a name such as cpu, memory or nvidia.com/gpu",
        )
    elif "/" not in name and not known:
        reason = "must be a standard resource for containers"
        yield webhook_problem(place, "Invalid", reason, name, similar_resource(name, COMPUTE) or _with_domain(name))
    elif not is_native(name) and not is_extended(name):
        reason = "must not begin with 'requests.', and the domain must be no more than 244 characters"
        plain = name.removeprefix("requests.")
        yield webhook_problem(
            place, "Invalid", reason, name, f"write {plain}" if plain != name else "shorten the domain"
        )


def _pod_name(name: str, place: str) -> Iterator[Problem]:
    if not is_of_pods(name):
        reason = f"supported Pod-level resources: cpu, memory, {HUGE_PAGES}SIZE"
        # For the API server, a name without a domain is invalid, and a name with one is not supported.
        error_type: ErrorType = "NotSupported" if is_qualified(name) and "/" in name else "Invalid"
        yield webhook_problem(
            place,
            error_type,
            reason,
            name,
            similar_resource(name, ("cpu", "memory")) or "move it to the resources of a container",
        )


def similar_resource(name: str, names: Sequence[str]) -> str:
    """Return a hint with the resource of a similar name, or of an abbreviated one; otherwise an empty text."""
    abbreviated = [known for known in names if len(name) >= _ABBREVIATION and known.startswith(name.lower())]
    return did_you_mean(abbreviated[0] if abbreviated else name, names)


def _with_domain(name: str) -> str:
    return "add its domain, such as nvidia.com/gpu or amd.com/gpu" if "gpu" in name else "add its domain"


def is_native(name: str) -> bool:
    """Return whether a resource has no domain, or one that ends with kubernetes.io."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Return whether a resource is an extended resource, such as a device."""
    return not is_native(name) and not name.startswith("requests.") and is_qualified(f"requests.{name}")


def is_of_pods(name: str) -> bool:
    """Return whether a resource can be set for the whole Pod."""
    return name in ("cpu", "memory") or name.startswith(HUGE_PAGES)


def _is_integer_resource(name: str) -> bool:
    """Return whether amounts of a resource must be integers, and requests must equal limits."""
    return not is_native(name) or name.startswith(HUGE_PAGES)


def _amount(name: str, text: Any, place: str) -> Iterator[Problem]:
    if isinstance(text, Leaf):
        return
    nano = parsed(text)
    if nano is None or nano < 0:
        yield webhook_problem(place, "Invalid", QUANTITY_RULE, text, _bytes_hint(text))
    elif name.startswith(HUGE_PAGES):
        size = name.removeprefix(HUGE_PAGES)
        exact = parsed(size) or 0
        page = quantity.in_int64(size, 0) if exact > 0 and not exact % quantity.NANO else 0
        if not page or quantity.in_int64(text, 0) % page:
            yield webhook_problem(
                place, "Invalid", f"must be a positive integer multiple of the page size in {name}", text
            )
    elif not is_native(name) and quantity.in_int64(text, 3) % 1000:
        if nano % quantity.NANO:
            yield webhook_problem(place, "Invalid", "must be an integer", text, "use a whole number")
        else:
            rule = "must be an integer that fits into 64 bits in thousandths"
            yield invalid(place, str(text), rule, "use a smaller number")


def _bytes_hint(text: Any) -> str:
    """Return a hint for an amount with a unit of bytes, such as 8GB, otherwise an empty text."""
    match = _BYTES.fullmatch(text) if isinstance(text, str) else None
    if not match:
        return ""
    number, unit, is_binary = match[1], match[2].upper(), match[3]
    decimal = "k" if unit == "K" else unit
    return f"write {number}{unit}i" if is_binary else f"write {number}{unit}i, or {number}{decimal} for powers of 1,000"


def _requests(resources: ObjectField) -> Iterator[Problem]:
    if resources.is_unknown("limits"):
        return
    limits = valid_amounts(resources, "limits")
    for name, amount in valid_amounts(resources, "requests").items():
        place, is_integer = resources.at("requests", name), _is_integer_resource(name)
        request, limit = _amount_in(resources, "requests", name), _amount_in(resources, "limits", name)
        if name in limits and (amount > limits[name] or (is_integer and amount != limits[name])):
            reason = f"must be {'equal to' if is_integer else 'less than or equal to'} {name} limit of {limit}"
            hint = "set both to the same amount" if is_integer else "raise the limit, or lower the request"
            yield webhook_problem(place, "Invalid", reason, request, hint)
        elif is_integer and limit is None:
            reason = "Limit must be set for non overcommitable resources"
            yield webhook_problem(place, "Required", reason, request, f"set the limit to {request}")


def _pages_alone(resources: ObjectField) -> Iterator[Problem]:
    if resources.is_unknown("limits") or resources.is_unknown("requests"):
        return
    kinds = [child for child in (resources.child("limits"), resources.child("requests")) if child]
    names = [name for kind in kinds for name in kind.fields]
    if any(name.startswith(HUGE_PAGES) for name in names) and not {"cpu", "memory"} & set(names):
        yield webhook_problem(resources.path, "Forbidden", "HugePages require cpu or memory", hint="add memory")


def _claims(resources: ObjectField, known: Collection[str] | None) -> Iterator[Problem]:
    claims = resources.children("claims")
    for claim in claims:
        name, part = claim.text("name"), claim.text("request")
        if name and known is not None and name not in known:
            yield claim.problem(
                "name",
                "NotFound",
                "must be one of the names in pod.spec.resourceClaims",
                "add it to spec.resourceClaims",
            )
        elif not name:
            yield from claim.check_required("name", "set the name of an entry of spec.resourceClaims")
        if part:
            yield from dns_label(part, claim.at("request"))
    fully_claimed = {claim.text("name") for claim in claims if not claim.is_given("request")}
    yield from duplicates((claim.path, _claimed(claim, fully_claimed)) for claim in claims)


def _claimed(claim: ObjectField, fully_claimed: set[str]) -> str:
    """Return the key of a claim. It covers all requests of the claim if another entry of the list does."""
    name, part = claim.text("name"), claim.text("request")
    if not name or claim.is_unknown("request"):
        return ""
    return name if name in fully_claimed else f"{name}/{part}"
