"""BertViz inside a lesson: its own two views, mended to work offline and with any text (see `views`)."""
