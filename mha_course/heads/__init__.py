"""What trained heads do: roles, with the baselines that make a score mean something."""
