"""Properties that have few values, as numbers: rows are counted by them, or grouped."""
