"""Kubernetes' validation of Pod templates and claims, without a cluster.

Volcano's validating webhook runs Kubernetes' validation on each template (contract section 5). An unresolved Output (a
leaf) is always valid. If a rule depends on an option of the API server or of the webhook, the default of the API server
of Kubernetes 1.36 applies.
"""

from __future__ import annotations

from pulumi_volcano_jobs.kubernetes.validation import api_server, claims, gates, kubelet, pods, relaxations
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
    "check_kubelet",
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
check_kubelet = kubelet.check
check_claim_feature_gates = gates.check_claim
