"""Admission of a job before it is rendered: defaults, validation, lint, limits and conflicts."""
