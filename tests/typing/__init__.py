"""Type checks of user code."""
