"""Text files: bytes, lines, fields, values."""
