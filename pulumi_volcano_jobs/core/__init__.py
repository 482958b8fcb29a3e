"""What everything else uses: problems, values that are not known yet, paths, text, bounds."""
