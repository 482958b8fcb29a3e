"""The Job that users write: fields, document, names and options, and facts of the cluster and of Volcano."""
