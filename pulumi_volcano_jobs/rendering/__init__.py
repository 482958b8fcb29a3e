"""Render a job to manifests, and a queue to its manifest."""
