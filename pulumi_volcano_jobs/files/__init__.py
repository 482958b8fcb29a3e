"""YAML files: read as kubectl reads them, and written for kubectl."""
