"""Every example, as a user runs it."""
