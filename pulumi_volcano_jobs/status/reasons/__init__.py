"""The reasons why a job waits or failed: a module for each part of a cluster that can be the cause."""
