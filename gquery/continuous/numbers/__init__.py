"""How many matches a pattern has, followed from version to version: of all of it, or of each of its branches."""
