"""Functions, operators and aggregates: what each takes and gives, and its SQL."""
