"""Tests on the real Pulumi engine and Kubernetes provider."""
