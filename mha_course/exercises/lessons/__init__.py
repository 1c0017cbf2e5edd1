"""The exercises, lesson by lesson: prompts, references, inputs, hints."""
