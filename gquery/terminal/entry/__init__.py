"""What helps while a query is typed: colours, completion, what is meant."""
