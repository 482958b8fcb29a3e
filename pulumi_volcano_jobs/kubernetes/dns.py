"""Patterns and maximum lengths of DNS names in Kubernetes."""

from __future__ import annotations

DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
MAX_LABEL = 63
MAX_SUBDOMAIN = 253
DNS_SUBDOMAIN = rf"{DNS_LABEL}(\.{DNS_LABEL})*"
