"""The state of a job in a cluster: its tasks, gang and queue, and the reasons why it waits or failed."""
