"""Benchmarks: figures to look at, not tests."""
