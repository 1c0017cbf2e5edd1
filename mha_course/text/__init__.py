"""From a sentence to tokens and ids."""
