"""FrontEndCheck: does the browser draw widgets, and does Python answer them?"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from html import escape

from mha_course.widgets.base import CourseWidget

__all__ = ["FrontEndCheck"]

NOT_LIVE = (
    "No widget is running here. If you read this in JupyterLab, run the cell again (Shift+Enter); "
    "anywhere else, start the course with: python start.py"
)


class FrontEndCheck(CourseWidget):
    """One line that says how long the way from the browser to Python and back took, in milliseconds.

    Where no front end runs, a sentence stands in its place and says what to do.
    """

    js = ("front_end_check.js",)
    css = ("front_end_check.css",)
    root = "mha-front-end-box"

    def __init__(self, **settings: object) -> None:
        super().__init__(alt=NOT_LIVE, **settings)

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Nothing but a sign of life, and by whom."""
        return {"python": platform.python_version()}, b""

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        data["text/html"] = f"<p>{escape(NOT_LIVE)}</p>"
        return data, metadata
