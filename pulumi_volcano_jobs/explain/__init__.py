"""Explain a job as tables and as a graph."""
