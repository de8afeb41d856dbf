"""Which vertices are alike: symmetry, automorphisms, and what filters asked of each."""
