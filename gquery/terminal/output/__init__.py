"""What the terminal shows: tables, pictures, progress."""
