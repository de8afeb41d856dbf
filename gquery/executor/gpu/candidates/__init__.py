"""Candidate sets and candidate edges on the device."""
