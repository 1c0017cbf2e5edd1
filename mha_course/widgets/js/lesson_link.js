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
    link.addEventListener("click", () => landOnCell(folder + place.file, place.cell));
  } else {
    // Elsewhere than in JupyterLab: beside this page, in a window of its own, so that nothing here is lost.
    link.target = "_blank";
    link.rel = "noopener";
  }
  return link;
}

// JupyterLab scrolls before a lesson has been drawn, and then stays at its top or beside the cell. So the cell
// is brought into sight until it stays there, at most for `PATIENCE` ms. Whatever the reader does ends it.
const LANDING = { EVERY: 250, PATIENCE: 120_000, UNTIL_OPEN: 20_000, STEADY: 4 };
let landings = 0;

async function landOnCell(path, id) {
  const mine = ++landings;
  const began = Date.now();
  let over = false;
  const end = () => { over = true; };
  const acts = ["pointerdown", "wheel", "keydown", "touchstart"];
  // The press that follows the link is still under way.
  setTimeout(() => acts.forEach((act) => document.addEventListener(act, end, { capture: true, passive: true })), 0);
  const cells = await cellsOnDisk(path);
  const index = cells.findIndex((cell) => cell.id === id);
  let steady = 0;
  while (!over && index >= 0 && mine === landings && Date.now() - began < LANDING.PATIENCE && steady < LANDING.STEADY) {
    await new Promise((resolve) => setTimeout(resolve, LANDING.EVERY));
    const panel = panelOf(path);
    if (!panel && Date.now() - began > LANDING.UNTIL_OPEN) break;
    const cell = panel && cellOnPage(panel, index, [cells[index].source].flat().join(""));
    if (over || !cell) continue;
    if (settled(panel, cell)) {
      steady += 1;
    } else {
      steady = 0;
      cell.scrollIntoView({ block: "start" });
    }
    // The active cell carries a bar, and Run → Run All Above Selected Cell means it.
    if (steady === 1) cell.focus({ preventScroll: true });
  }
  acts.forEach((act) => document.removeEventListener(act, end, { capture: true }));
}

// The cells of the copy as it was saved; none where it can't be read.
async function cellsOnDisk(path) {
  try {
    const { baseUrl, token } = JSON.parse(document.getElementById("jupyter-config-data").textContent);
    const local = path.replace(/^[A-Za-z]+:/, "").split("/").map(encodeURIComponent).join("/");
    const answer = await fetch(`${baseUrl}api/contents/${local}?type=notebook&content=1`, token ? { headers: { Authorization: `token ${token}` } } : {});
    return (await answer.json()).content.cells;
  } catch {
    return [];
  }
}

// The notebook of that path, when it is in front. A tab's title tells the path, whatever the language around it.
function panelOf(path) {
  const tab = [...document.querySelectorAll(".lm-TabBar-tab[data-id]")].find((each) =>
    each.title.split("\n").some((line) => line.endsWith(path) && !/[\w/]$/.test(line.slice(0, -path.length))));
  const panel = tab && document.getElementById(tab.dataset.id);
  return panel?.offsetParent ? panel : null;
}

// The cell at that place; where the reader has moved cells since the last save, the one with that text.
function cellOnPage(panel, index, source) {
  const letters = (text) => text.replace(/[^\p{L}\p{N}]/gu, "");
  const line = letters(source.split("\n").reduce((longest, one) => (one.length > longest.length ? one : longest), "").slice(0, 60));
  const cells = [...panel.querySelectorAll(".jp-Cell[data-windowed-list-index]")];
  const there = cells.find((cell) => cell.dataset.windowedListIndex === String(index));
  const says = (cell) => letters(cell.textContent).includes(line);
  if (!line || (there && says(there))) return there;
  const same = cells.filter(says);
  return same.length === 1 ? same[0] : there;
}

// At the top of the window, or as near to it as the end of the notebook allows.
function settled(panel, cell) {
  const outer = panel.querySelector(".jp-WindowedPanel-outer") || panel;
  const [box, own] = [outer.getBoundingClientRect(), cell.getBoundingClientRect()];
  const atEnd = outer.scrollTop + outer.clientHeight >= outer.scrollHeight - 2;
  const below = own.top - box.top;
  return own.height > 0 && below >= -4 && (below < box.height / 3 || (atEnd && own.top < box.bottom));
}
