"""The compiled functions that sum matches out: how many there are, without listing them."""
