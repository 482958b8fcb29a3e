"""What a job becomes: who sets which field, as tables and as a graph."""
