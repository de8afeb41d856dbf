"""Expressions bound: names to columns, operators and functions to calls with a known type."""
