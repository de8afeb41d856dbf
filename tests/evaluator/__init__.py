"""An evaluator of plain Python, written from openCypher's documents and not from the engine: the judge of the soak."""
