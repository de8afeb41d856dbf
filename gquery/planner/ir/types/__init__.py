"""Types of values: what several have in common, what outside values are, which texts are times."""
