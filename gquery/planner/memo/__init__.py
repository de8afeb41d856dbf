"""What planning keeps for the next query."""
