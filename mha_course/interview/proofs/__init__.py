"""Short functions that show by numbers what the cards claim; one module a topic."""
