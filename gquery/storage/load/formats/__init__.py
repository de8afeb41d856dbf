"""The formats that are read, one a file."""
