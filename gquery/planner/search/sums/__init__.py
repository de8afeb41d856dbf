"""What is summed out: the tree of the sums, what ties vertices together, inclusion and exclusion, strategies."""
