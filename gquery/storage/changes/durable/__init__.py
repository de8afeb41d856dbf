"""What is written of changes, and read again."""
