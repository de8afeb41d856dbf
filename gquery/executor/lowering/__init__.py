"""What every backend is told, and what is done for all of them."""
