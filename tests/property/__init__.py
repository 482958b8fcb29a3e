"""Properties of all jobs."""
