// Layers × heads as a grid of cells: colour and mark for the role, a cut corner for the second one.
//
// headMapGrid({ chart, onPick, onStand, onLeave }) -> { element, draw(thresholds), choose(i), place(width), cell(i) }
//   i counts heads layer after layer, from 0. onStand(i, cell, by): pointer or focus stands on a cell.
//   For a map that is not about thresholds: rolesOf(i, drawn), linesOf(i, drawn) say what a head is called and all about it,
//   where drawn is what draw() was called with; does: what Enter does, in words; null: nothing.
// The grid is one stop of Tab; arrow keys, Home and End move in it, Enter or Space choose. Parts:
// [role=grid], button.mha-role-cell[data-layer][data-head][data-role], its .mha-role-corner[data-role].

const WIDEST_CELL = 52;
const NARROWEST_CELL = 22;

function headMapGrid({
  chart, onPick, onStand, onLeave, does = "chooses a head",
  rolesOf = (i, thresholds) => rolesPassed(chart, thresholds, i), linesOf = (i, thresholds) => headLines(chart, thresholds, i),
}) {
  const { layers, heads } = chart;
  const top = node(
    "div", { class: "mha-role-row mha-role-top", role: "row" },
    node("span", { class: "mha-role-axis", role: "columnheader" }, "head"),
    ...Array.from({ length: heads }, (_, h) => node("span", { class: "mha-role-number", role: "columnheader" }, String(h + 1))),
  );
  const cells = [];
  const rows = Array.from({ length: layers }, (_, layer) => {
    const row = node("div", { class: "mha-role-row", role: "row" }, node("span", { class: "mha-role-axis", role: "rowheader", "aria-label": `layer ${layer + 1}` }, `L${layer + 1}`));
    for (let head = 0; head < heads; head += 1) {
      const i = layer * heads + head;
      const mark = node("span", { class: "mha-role-text", "aria-hidden": "true" });
      const corner = node("span", { class: "mha-role-corner", "aria-hidden": "true" });
      const cell = node(
        "button",
        { class: "mha-role-cell", type: "button", role: "gridcell", tabindex: -1, "data-layer": layer + 1, "data-head": head + 1 },
        mark, corner,
      );
      cell.addEventListener("click", () => onPick(i));
      cell.addEventListener("pointerenter", () => onStand(i, cell, "pointer"));
      cell.addEventListener("pointerleave", () => onLeave());
      cell.addEventListener("focus", () => {
        stop(i);
        name(i);
        if (cell.matches(":focus-visible")) onStand(i, cell, "keyboard");
      });
      cell.addEventListener("blur", () => onLeave());
      cell.addEventListener("keydown", (event) => walk(event, layer, head));
      cells.push({ cell, mark, corner });
      row.append(cell);
    }
    return row;
  });
  const element = node("div", { class: "mha-role-grid", role: "grid", "aria-label": `${layers} layers of ${heads} heads; arrow keys move${does ? `, Enter ${does}` : ""}` }, top, ...rows);

  // A cell's name holds all its roles; made when it is asked for, since a moving threshold changes it all the time.
  function name(i) {
    cells[i].cell.setAttribute("aria-label", `${headWords(chart, i)}. ${linesOf(i, latest).join(". ")}`);
  }

  let latest = {};
  let naming = null;
  function stop(i) {
    cells.forEach(({ cell }, j) => { cell.tabIndex = j === i ? 0 : -1; });
  }

  stop(0);

  function walk(event, layer, head) {
    if (event.altKey || event.metaKey) return;
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -heads], End: [0, heads], PageUp: [-layers, 0], PageDown: [layers, 0] };
    const move = moves[event.key];
    if (event.key === "Escape") return void onLeave();
    if (!move || event.ctrlKey) return;
    event.preventDefault();
    event.stopPropagation();
    const inside = (value, count) => Math.min(count - 1, Math.max(0, value));
    cells[inside(layer + move[0], layers) * heads + inside(head + move[1], heads)].cell.focus();
  }

  return {
    element,
    cell: (i) => cells[i].cell,
    // Cells are square and never so small that a mark would not fit; then the grid is scrolled sideways.
    place(width) {
      const narrow = (width - 38) / heads < 30;
      const room = Math.floor((width - (narrow ? 24 : 38)) / heads) - (narrow ? 2 : 3);
      const side = Math.max(NARROWEST_CELL, Math.min(WIDEST_CELL, room));
      element.style.setProperty("--mha-role-side", `${side}px`);
      element.classList.toggle("is-small", side < 34);
      element.classList.toggle("is-narrow", narrow);
    },
    draw(thresholds) {
      latest = thresholds;
      clearTimeout(naming);
      naming = setTimeout(() => cells.forEach((_, i) => name(i)), 150);
      cells.forEach(({ cell, mark, corner }, i) => {
        const [first, second] = rolesOf(i, thresholds);
        cell.dataset.role = first ? first.role : "none";
        setText(mark, first ? ROLE_MARKS[first.role].mark : "");
        corner.dataset.role = second ? second.role : "";
        show(corner, Boolean(second));
      });
    },
    choose(i) {
      cells.forEach(({ cell }, j) => cell.setAttribute("aria-selected", String(j === i)));
      if (!element.contains(document.activeElement)) stop(i);
    },
  };
}
