"""What outlives a query and is shared by threads."""
