"""One module's rules each."""
