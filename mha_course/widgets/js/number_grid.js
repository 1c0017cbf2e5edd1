// A small matrix with its numbers in view: a CSS grid of cells, coloured by the head that owns each column.
//
// numberGrid(spec) -> <div class="mha-grid" role="img" aria-label=...>
//   spec.rows       list of rows of cells: {text, head} with head from 0, or null; lit fills the cell with the head's
//                   colour; strength 0..1 tints its ground; bar 0..1 draws a bar; fill and tip paint it without a
//                   number; gap stands for what is left out; blank is an empty place
//   spec.rowLabels  list of strings, or null       spec.columnLabels  list of strings, or null
//   spec.columnWords  true where column labels are words: they lean    spec.short  lower rows, for tinted cells
//   spec.label      what a screen reader says for the whole matrix
//   spec.width      width of a cell in px (24 without it)    spec.first  width of the first column, if it differs
//   spec.litRow     index of the lit row, or null
//   spec.onRow      function(row); where given, row labels are buttons (data-row="0" ...)
// numberRow(values), gapCell() and bandedRow(...) are what the panels build rows from.
// Classes: mha-grid (is-short, has-words), mha-grid-cell (is-lit, is-owned, is-gap, is-blank, is-painted),
// mha-grid-row-label, mha-grid-column-label, mha-grid-bar. Cells that a head owns carry data-head="1"...

function gapCell() {
  return { text: "…", head: null, gap: true };
}

function numberRow(values, options = {}) {
  const places = options.places ?? 2;
  return values.map((value, i) => ({
    text: numberText(value, places),
    head: options.head ?? null,
    lit: Boolean(options.lit),
    column: i,
  }));
}

// Joins one list of cells a head into one row, with "…" where something was left out.
function bandedRow(groups, drawn, whole, cellOf) {
  const row = [];
  groups.forEach((group, head) => {
    group.forEach((value, feature) => row.push(cellOf(value, head, feature)));
    if (drawn.features < whole.features) row.push(gapCell());
  });
  if (drawn.heads < whole.heads && drawn.features >= whole.features) row.push(gapCell());
  return row;
}

function numberGrid(spec) {
  const root = document.createElement("div");
  root.className = "mha-grid" + (spec.short ? " is-short" : "") + (spec.columnWords ? " has-words" : "");
  const columns = Math.max(...spec.rows.map((row) => row.length));
  const sizes = spec.rowLabels ? ["max-content"] : [];
  for (let c = 0; c < columns; c++) {
    const narrow = spec.rows.every((row) => !row[c] || row[c].gap || row[c].blank);
    // A little give, for narrow windows.
    const width = (c === 0 && spec.first) || spec.width || 24;
    sizes.push(narrow ? "14px" : `minmax(${width - 5}px, ${width}px)`);
  }
  root.style.gridTemplateColumns = sizes.join(" ");
  if (spec.columnLabels) {
    if (spec.rowLabels) root.append(gridLabel("", "mha-grid-corner"));
    for (const label of spec.columnLabels) root.append(gridLabel(label, "mha-grid-column-label"));
  }
  spec.rows.forEach((row, r) => {
    if (spec.rowLabels) root.append(rowLabel(spec, r));
    row.forEach((cell) => root.append(gridCell(cell, r === spec.litRow)));
  });
  root.setAttribute("role", spec.onRow ? "group" : "img");
  root.setAttribute("aria-label", spec.label);
  return root;
}

function gridLabel(text, kind) {
  const node = document.createElement("span");
  node.className = kind;
  const inner = document.createElement("span");
  inner.dir = "auto";
  inner.textContent = shortWord(text);
  inner.title = text;
  node.append(inner);
  node.setAttribute("aria-hidden", "true");
  return node;
}

function rowLabel(spec, r) {
  const text = spec.rowLabels[r];
  const node = document.createElement(spec.onRow ? "button" : "span");
  node.className = "mha-grid-row-label" + (r === spec.litRow ? " is-lit" : "");
  node.dir = "auto";
  node.textContent = shortWord(text, 24);
  node.title = text;
  if (spec.onRow) {
    node.type = "button";
    node.dataset.row = String(r);
    node.setAttribute("aria-pressed", String(r === spec.litRow));
    node.setAttribute("aria-label", `follow ${text}`);
    node.addEventListener("click", () => spec.onRow(r));
  } else {
    node.setAttribute("aria-hidden", "true");
  }
  return node;
}

function gridCell(cell, inLitRow) {
  const node = document.createElement("span");
  node.className = "mha-grid-cell";
  node.setAttribute("aria-hidden", "true");
  if (cell.blank || cell.gap) {
    node.classList.add(cell.gap ? "is-gap" : "is-blank");
    node.textContent = cell.text;
    return node;
  }
  if (cell.fill) {
    node.classList.add("is-painted");
    node.style.background = cell.fill;
    cell.paint.tip(node, cell.tip);
    return node;
  }
  if (cell.head !== null && cell.head !== undefined) {
    const slot = (cell.head % 12) + 1;
    node.classList.add("is-owned");
    node.style.setProperty("--mha-own", `var(--mha-head-${slot})`);
    node.style.setProperty("--mha-own-ink", `var(--mha-head-ink-${slot})`);
    node.dataset.head = String(cell.head + 1);
  }
  if (cell.lit || inLitRow) node.classList.add("is-lit");
  if (cell.bar !== undefined) {
    node.classList.add("is-bar");
    const bar = document.createElement("span");
    bar.className = "mha-grid-bar";
    bar.style.height = `${Math.max(0, Math.min(1, cell.bar)) * 100}%`;
    node.append(bar);
    return node;
  }
  node.textContent = cell.text;
  if (cell.strength !== undefined) node.style.setProperty("--mha-tint", `${(40 * cell.strength).toFixed(1)}%`);
  return node;
}
