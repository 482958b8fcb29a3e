"""The typed Job: its fields, document form, names and options, and facts about the cluster and Volcano."""
