"""Jobs on a real API server."""
