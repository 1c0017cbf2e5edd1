"""Variants of the layer: fewer key/value heads, rotary positions, caches, heads over several devices."""
