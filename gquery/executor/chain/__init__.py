"""Rows from clause to clause: what a match joins them with, and what is multiplied or counted."""
