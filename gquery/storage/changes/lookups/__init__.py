"""From tables of users to a batch."""
