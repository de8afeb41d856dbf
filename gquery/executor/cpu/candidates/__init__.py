"""Candidate sets and the candidate graph on the CPU."""
