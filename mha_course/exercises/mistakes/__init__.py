"""Known mistakes: real functions that make them, and the workbench on which they are built."""
