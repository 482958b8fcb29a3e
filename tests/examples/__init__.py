"""Tests that run each example like a user."""
