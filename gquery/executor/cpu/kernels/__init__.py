"""The compiled functions."""
