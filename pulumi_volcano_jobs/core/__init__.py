"""Problems, values that are not known yet, paths, text and bounds, for all packages."""
