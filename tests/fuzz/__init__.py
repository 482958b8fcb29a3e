"""What is no job, and almost one."""
