"""The tests of gquery."""
