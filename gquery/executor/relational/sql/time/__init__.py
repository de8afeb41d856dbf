"""Dates, times and durations in SQL."""
