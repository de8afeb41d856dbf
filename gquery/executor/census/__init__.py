"""What a census of motifs is made of, whatever counts: graphs, their layout, random graphs' links, counts."""
