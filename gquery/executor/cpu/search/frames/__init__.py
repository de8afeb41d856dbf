"""What runs on a worker: one stage of a search, slice by slice."""
