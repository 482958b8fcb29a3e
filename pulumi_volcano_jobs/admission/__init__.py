"""Admission of a job before rendering: defaults, validation, lint, limits and conflicts."""
