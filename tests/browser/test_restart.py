"""A widget whose kernel was restarted says so, and is well again when its cell has run again."""

from __future__ import annotations

from tests.browser.lab import Chromium, LabPage, LabServer


def test_a_widget_without_its_kernel_says_what_to_do(server: LabServer, lab: LabPage) -> None:
    cells = ["from mha_course import widgets", "widgets.ShapeTracer(b=2, n=5, d_model=12, h=3)"]
    lab.open(server.write_notebook("restart.ipynb", cells))
    lab.run_all()
    silent = lab.page.locator(".mha-silent")
    n = lab.page.get_by_role("slider", name="n", exact=True)
    n.focus()
    lab.page.keyboard.press("ArrowRight")
    shape = lab.page.get_by_text("x.shape == (2, 6, 12)")
    shape.wait_for()
    lab.page.wait_for_timeout(7000)
    assert silent.count() == 0

    lab.menu("Kernel", "Restart Kernel…")
    lab.page.locator(".jp-Dialog button", has_text="Restart").first.click()
    lab.page.wait_for_selector("#jp-main-statusbar >> text=/\\| Idle/")
    lab.page.wait_for_timeout(2000)
    n.focus()
    lab.page.keyboard.press("ArrowRight")
    silent.wait_for(timeout=15_000)
    assert "run the cells from the top again" in silent.inner_text()

    lab.run_all()
    assert silent.count() == 0
    n.focus()
    lab.page.keyboard.press("ArrowRight")
    shape.wait_for()


def test_kernels_end_with_their_test_and_no_others(server: LabServer, chromium: Chromium) -> None:
    earlier = server.kernels()
    page = chromium.page(server)
    page.open(server.write_notebook("ending.ipynb", ["1 + 1"]))
    page.run_all()
    begun = server.kernels() - earlier
    assert len(begun) == 1
    server.end_kernels(but=begun | earlier)
    assert server.kernels() == begun | earlier
    page.page.context.close()
    server.end_kernels(but=earlier)
    assert server.kernels() == earlier
