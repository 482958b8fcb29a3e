"""The guides' examples."""
