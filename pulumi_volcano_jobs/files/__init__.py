"""Read YAML files as kubectl does, and write YAML for kubectl."""
