"""Generated documents that are not jobs, or almost jobs."""
