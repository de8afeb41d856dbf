"""Broken and odd input: an answer or an error of our own, and soon."""
