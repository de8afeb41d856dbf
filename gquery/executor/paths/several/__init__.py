"""Paths of which several are asked for by their number: listed length by length, or one by one as deviations."""
