"""Conditions on the elements of paths, asked of each while paths are found."""
