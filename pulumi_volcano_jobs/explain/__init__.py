"""Explain a job: the origin of each field, as tables and as a graph."""
