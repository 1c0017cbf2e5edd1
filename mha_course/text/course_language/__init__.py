"""The course language: English-like sentences of a known grammar, and their gloss in an invented one."""
