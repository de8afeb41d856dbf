"""Lists and maps as SQL: what they are asked as a whole, their items, and what is among them."""
