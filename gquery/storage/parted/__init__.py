"""A snapshot seen in two parts: the edges that a change is about, and the rest."""
