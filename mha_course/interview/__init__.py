"""The interview: cards with a question, a full answer, and evidence that runs."""
