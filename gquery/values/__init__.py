"""Values on their way in and out: parameters, nodes and rows of an answer, files."""
