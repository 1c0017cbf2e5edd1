"""How the course models are trained: one command each, from fixed seeds."""
