"""Messages of a widget that must be heard while a cell runs."""

from __future__ import annotations

from ipywidgets import Widget


def heard_beside_cells(widget: Widget) -> None:
    """Have what the view sends handled on the thread that JupyterLab chose, whatever the kernel is doing.

    JupyterLab sends widgets' messages to a thread of their own. ipykernel (7.4) turns them back to where the
    widget was last written to: to the main thread, where they wait for the end of the cell. For a Stop button
    that is too late. Elsewhere, and without a kernel, this does nothing.
    """
    comm = getattr(widget, "comm", None)
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda data, chosen: chosen
