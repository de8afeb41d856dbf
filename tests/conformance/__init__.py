"""gquery against published counts and against the openCypher TCK."""
