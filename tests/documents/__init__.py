"""Examples of Volcano's guides."""
