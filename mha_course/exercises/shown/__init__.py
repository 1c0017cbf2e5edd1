"""What a student sees besides verdicts: hints, solutions, puzzles, progress."""
