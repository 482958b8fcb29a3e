"""Foundations of all packages: problems, values that are not known yet, paths, text and bounds."""
