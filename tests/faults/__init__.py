"""Cancelling, time and memory limits, and what is left behind after them."""
