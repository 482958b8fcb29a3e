"""Benchmarks. They print figures and never fail."""
