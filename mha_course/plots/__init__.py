"""Still pictures of the course: each function returns a Picture with an alternative text."""

from mha_course.plots.bars import bars
from mha_course.plots.blocks import blocks
from mha_course.plots.head_grid import head_grid
from mha_course.plots.head_meeting import head_meeting
from mha_course.plots.heatmap import heatmap
from mha_course.plots.layer_map import layer_map
from mha_course.plots.lines import lines
from mha_course.plots.matrices import matrices, matrix
from mha_course.plots.patch_attention import patch_attention
from mha_course.plots.picture import Picture
from mha_course.plots.points import points
from mha_course.plots.role_map import role_map
from mha_course.plots.roofline import roofline
from mha_course.plots.scatter import scatter
from mha_course.plots.seat_timeline import seat_timeline
from mha_course.plots.split_picture import split_picture

__all__ = [
    "Picture",
    "bars",
    "blocks",
    "head_grid",
    "head_meeting",
    "heatmap",
    "layer_map",
    "lines",
    "matrices",
    "matrix",
    "patch_attention",
    "points",
    "role_map",
    "roofline",
    "scatter",
    "seat_timeline",
    "split_picture",
]
