"""The native table function: the C extension, and what it calls in Python."""
