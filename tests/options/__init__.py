"""What plugins can do beyond Volcano's, plugin by plugin."""
