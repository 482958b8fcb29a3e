"""A job before it is made: defaults, validation, lint, limits and conflicts."""
