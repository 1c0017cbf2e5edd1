"""Readers: what an unknown answer did, read from what it computes."""
