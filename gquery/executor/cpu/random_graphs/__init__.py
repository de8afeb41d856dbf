"""Random graphs that are like a given one in what the null models of motifs keep."""
