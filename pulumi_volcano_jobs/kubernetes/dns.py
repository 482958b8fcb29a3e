"""The names of DNS as Kubernetes has them: patterns and lengths."""

from __future__ import annotations

DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
MAX_LABEL = 63
MAX_SUBDOMAIN = 253
DNS_SUBDOMAIN = rf"{DNS_LABEL}(\.{DNS_LABEL})*"
