"""How long a test waits. Tests must pass on a machine that is ten times slower, so a wait has a deadline of minutes."""

DEADLINE = 600
"""Seconds after which a state that a test waits for, or the end of a process, no longer comes."""
CPU_SECONDS = 300
"""Seconds of CPU time after which work that must be bounded counts as unbounded."""
