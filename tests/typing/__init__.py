"""User code as type checkers see it."""
