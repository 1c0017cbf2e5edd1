"""Entries of the glossary, their texts, and how they are shown."""
