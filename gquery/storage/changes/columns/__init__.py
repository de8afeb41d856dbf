"""Tables that are made of pieces of others, with other values here and there."""
