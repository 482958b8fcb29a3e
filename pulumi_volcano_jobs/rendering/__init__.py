"""Rendering of jobs and queues to manifests."""
