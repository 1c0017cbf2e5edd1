// A link to a cell of a lesson. JupyterLab opens the student's copy beside this notebook and scrolls to the cell.
// place: { file, cell, label, shows }, from lesson_places.py.
function lessonLink(model, place) {
  const link = document.createElement("a");
  link.className = "mha-lesson-link";
  link.textContent = place.label;
  link.dataset.cell = place.cell;
  if (place.shows) link.title = place.shows;
  const fragment = `#cell-id=${place.cell}`;
  link.setAttribute("href", place.file + fragment);
  const manager = model.widget_manager;
  const here = manager?.context?.path;
  const handler = manager?.rendermime?.linkHandler;
  if (handler && here !== undefined) {
    const folder = here.includes("/") ? here.slice(0, here.lastIndexOf("/") + 1) : "";
    handler.handleLink(link, folder + place.file, fragment);
  } else {
    // Elsewhere than in JupyterLab: beside this page, in a window of its own, so that nothing here is lost.
    link.target = "_blank";
    link.rel = "noopener";
  }
  return link;
}
