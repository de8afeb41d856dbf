"""What is decided before the data is looked at, one idea a file."""
