"""Host names, DNS settings and host aliases of a Pod."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.dns import MAX_SUBDOMAIN
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, webhook_problem
from pulumi_volcano_jobs.kubernetes.validation.names import dns_label, subdomain

_MAX_SERVERS, _MAX_SEARCHES, _MAX_SEARCH_TEXT, _MAX_HOSTNAME = 3, 32, 2048, 64
_PART = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
# Unlike a host name, a search domain may have underscores.
_DOMAIN = re.compile(rf"{_PART}(\.{_PART})*")


def check(spec: ObjectField) -> Iterator[Problem]:
    """Yield invalid host names, DNS settings and host aliases of a Pod."""
    for key in ("hostname", "subdomain"):
        if spec.text(key):
            yield from dns_label(spec.text(key), spec.at(key))
    yield from _override(spec)
    yield from _dns(spec)
    for alias in spec.children("hostAliases"):
        yield from _address(alias.fields.get("ip", ""), alias.at("ip"))
        for path, name in alias.items("hostnames"):
            yield from subdomain(name, path)


def _override(spec: ObjectField) -> Iterator[Problem]:
    key = "hostnameOverride"
    if not spec.has(key):
        return
    for conflicting_key in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.is_true(conflicting_key):
            yield spec.problem(
                key,
                "Forbidden",
                f"may not be specified when {conflicting_key} is true",
                f"remove it, or {conflicting_key}",
            )
    if len(spec.text(key)) > _MAX_HOSTNAME:
        yield spec.problem(key, "TooLong", f"may not be more than {_MAX_HOSTNAME} characters")
    else:
        yield from subdomain(spec.fields.get(key), spec.at(key))


def _dns(spec: ObjectField) -> Iterator[Problem]:
    config = spec.child("dnsConfig") or ObjectField({}, spec.at("dnsConfig"))
    known = not spec.is_unknown("dnsConfig")
    if spec.text("dnsPolicy") == "None" and known and not config.is_given("nameservers"):
        reason = "must provide at least one DNS nameserver when `dnsPolicy` is None"
        yield config.problem("nameservers", "Required", reason, "add a nameserver, or remove dnsPolicy", show=False)
    servers, searches = config.items("nameservers"), config.items("searches")
    yield from config.check_max_items("nameservers", _MAX_SERVERS, "nameservers", "Invalid")
    for path, server in servers:
        yield from _address(server, path)
    yield from config.check_max_items("searches", _MAX_SEARCHES, "search paths", "Invalid")
    length = len(" ".join(text for _, text in searches))
    if length > _MAX_SEARCH_TEXT:
        reason = f"must not have more than {_MAX_SEARCH_TEXT} characters (including spaces) in the search list"
        yield webhook_problem(config.at("searches"), "Invalid", reason, length, "remove some of the domains")
    for path, search in searches:
        name = search.removesuffix(".")
        if search != "." and (len(name) > MAX_SUBDOMAIN or not _DOMAIN.fullmatch(name)):
            yield webhook_problem(
                path,
                "Invalid",
                "must be a domain of no more than 253 lower case letters, digits, '-', '_' and '.'",
                search,
            )
    for option in config.children("options"):
        yield from option.check_required("name", "set an option such as ndots")


def _address(value: object, path: str) -> Iterator[Problem]:
    if not isinstance(value, str):
        return
    try:
        address = ipaddress.ip_address(value)
        is_valid = "%" not in value and not (isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped)
    except ValueError:
        is_valid = False
    if not is_valid:
        yield webhook_problem(
            path,
            "Invalid",
            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            value,
            "use an IP address instead of a host name",
        )
