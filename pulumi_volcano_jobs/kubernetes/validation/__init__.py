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
    "check_claim",
    "check_claim_feature_gates",
    "check_created_pods",
    "check_feature_gates",
    "check_native_template",
    "check_template",
    "dns_label",
    "is_data_key",
    "is_subdomain",
    "labels",
    "object_meta",
]

check_template = pods.check
check_claim = claims.of_job
check_created_pods = api_server.check
check_native_template = relaxations.check
check_feature_gates = gates.check
check_claim_feature_gates = gates.check_claim
