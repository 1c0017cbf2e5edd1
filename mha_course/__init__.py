"""Multi-head attention, built step by step: the tested package behind the lessons.

Importing the package itself loads nothing heavy; each lesson imports the modules it needs.
"""

__version__ = "0.1.0"
