"""From the syntax tree to segments: names, labels, types and properties resolved."""
