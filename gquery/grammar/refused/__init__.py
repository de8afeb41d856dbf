"""What is said of a text that is no query: where it broke, the likely mistake, what gquery has not learned yet."""
