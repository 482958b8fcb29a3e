"""Kubernetes schemas, quantities and manifests, and the validation of Pods and claims."""
