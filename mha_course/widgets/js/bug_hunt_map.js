// One small map of a finding: shades from 0 to a common end, hatched where a mask forbids, "nan" where there is no number.
//
// huntMap(table, who, max, theme, tips) -> element. table: { title, values (null = nan), rows, columns, row_labels,
// column_labels, blocked: [[row, column]] }; who: whose it is.
// Parts: figure.mha-hunt-map[data-who] > svg[role=img], cells [data-tip].

function huntMap(table, who, max, theme, tips) {
  const columns = table.column_labels.length;
  const cell = 26;
  const [left, top] = [18, 18];
  const [width, height] = [left + columns * cell + 1, top + table.row_labels.length * cell + 1];
  const svg = svgNode("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", tabindex: 0, "aria-label": mapInWords(table, who) });
  const blocked = new Set(table.blocked.map(([r, c]) => `${r},${c}`));
  const [rowWord, columnWord] = [table.rows.replace(" ↓", ""), table.columns.replace(" →", "")];
  table.values.forEach((row, r) => row.forEach((value, c) => {
    const box = { x: left + c * cell, y: top + r * cell, width: cell - 1, height: cell - 1 };
    const hidden = blocked.has(`${r},${c}`);
    const fill = value === null || value / max < 0.004 ? colour("surface", theme) : weightColour(value / max, theme);
    const said = value === null ? "nan" : weightInWords(value);
    svg.append(paintedCell(box, fill, tips, `${rowWord} ${table.row_labels[r]}, ${columnWord} ${table.column_labels[c]}: ${said}${hidden ? ", blocked by the mask" : ""}`));
    if (hidden && value !== null) svg.append(hatchOver(box));
    if (value === null) svgText(svg, box.x + box.width / 2, box.y + box.height / 2 + 4, "nan", "mha-hunt-nan");
  }));
  svg.append(svgNode("rect", { x: left - 0.5, y: top - 0.5, width: columns * cell, height: height - top, class: "mha-matrix-frame" }));
  table.row_labels.forEach((text, r) => svgText(svg, left - 6, top + (r + 0.5) * cell + 4, text, "mha-matrix-label", "end"));
  table.column_labels.forEach((text, c) => svgText(svg, left + (c + 0.5) * cell, top - 6, text, "mha-matrix-label"));
  tips.roam(svg);
  return node(
    "figure",
    { class: "mha-hunt-map", "data-who": who },
    node("figcaption", { class: "mha-label" }, who),
    node("div", { class: "mha-hunt-axes mha-note" }, node("span", {}, table.rows), node("span", {}, table.columns)),
    svg,
  );
}

// The mask forbids a cell whatever stands in it, so the lines go over the shade.
function hatchOver(box) {
  const lines = hatched(box);
  lines.setAttribute("pointer-events", "none");
  return lines;
}

function mapInWords(table, who) {
  const numbers = table.values.flat();
  const missing = numbers.filter((value) => value === null).length;
  const most = Math.max(0, ...numbers.filter((value) => value !== null));
  const nan = missing ? `, ${missing} of ${numbers.length} cells are nan` : "";
  return `${table.title}, ${who}: ${table.row_labels.length} by ${table.column_labels.length}, largest ${weightInWords(most)}${nan}. Arrow keys walk through it.`;
}
