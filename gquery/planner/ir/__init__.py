"""What the stages of planning hand on: data, and nothing of the rooms that make it."""
