"""Network motifs: which small connected patterns a graph has more often than chance would have it."""
