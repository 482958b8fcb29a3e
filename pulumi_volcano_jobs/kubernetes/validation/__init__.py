"""Kubernetes' own rules for a Pod template, as far as they can be told without a cluster.

Volcano's validating webhook runs Kubernetes' validation over each template (contract section 5); a value that is not
known yet (a leaf) passes. Where a rule depends on a switch of the API server or of the webhook, we take what the API
server of Kubernetes 1.36 takes by default.
"""

from __future__ import annotations

from pulumi_volcano_jobs.kubernetes.validation import api_server, claims, gates, pods, relaxations
from pulumi_volcano_jobs.kubernetes.validation.names import (
    dns_label,
    is_data_key,
    is_subdomain,
    labels,
    object_meta,
)

__all__ = [
    "check",
    "claim",
    "dns_label",
    "gated",
    "gated_claim",
    "is_data_key",
    "is_subdomain",
    "labels",
    "native",
    "object_meta",
    "once_made",
]

check = pods.check
claim = claims.of_job
once_made = api_server.check
native = relaxations.check
gated = gates.check
gated_claim = gates.claim
