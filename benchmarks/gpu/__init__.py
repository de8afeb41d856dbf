"""What a card takes: on the device, and from the text of a query to its answer."""
