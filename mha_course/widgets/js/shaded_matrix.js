// A matrix in shades, drawn as SVG: orange below zero and blue above, or weights from the ground to blue.
//
// shadedMatrix(svg, spec, tips) draws spec = { values, cell, theme, max, signed, numbers, rowChips, columnChips, block,
//   rowTexts, columnTexts, tip } anew:
//   values    rows of numbers; max the size of the strongest shade; signed whether the scale has two arms
//   cell      side of a cell in px; tall its height, if another; numbers whether they are written where all fit
//   rowChips, columnChips   heads, from 0, named by chips beside rows and above (blocks of) columns; block columns a chip
//   rowTexts, columnTexts   names in words in place of chips
//   tip(r, c, value)        what a cell answers to pointer and arrow keys
// The picture is as wide as it needs to be: svg.dataset.width says how wide that is.

const MATRIX_CHIP = 22;

function shadedMatrix(svg, spec, tips) {
  const { values, cell, theme, max, signed } = spec;
  const tall = spec.tall || cell;
  const [rows, columns] = [values.length, values[0].length];
  const block = spec.block || 1;
  const longest = Math.max(0, ...(spec.rowTexts || []).map((text) => String(text).length));
  const left = spec.rowChips ? MATRIX_CHIP : spec.rowTexts ? 7 * longest + 8 : 1;
  const top = spec.columnChips ? MATRIX_CHIP : spec.columnTexts ? 18 : 1;
  const [width, height] = [left + columns * cell + 1, top + rows * tall + 1];
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.width = `${width}px`;
  svg.style.height = `${height}px`;
  svg.dataset.width = String(width);
  const gap = cell >= 8 ? 1 : 0;
  // All numbers or none: an empty cell would be read as 0.
  const written = spec.numbers && values.flat().every((value) => 6.3 * matrixNumber(value).length + 4 <= cell);
  values.forEach((row, r) => row.forEach((value, c) => {
    const fill = signed ? signedColour(value, max, theme) : Math.abs(value) < 0.004 ? colour("surface", theme) : weightColour(value / max, theme);
    const [x, y] = [left + c * cell, top + r * tall];
    svg.append(paintedCell({ x, y, width: cell - gap, height: tall - gap }, fill, tips, spec.tip ? spec.tip(r, c, value) : null));
    if (!written) return;
    const text = svgText(svg, x + cell / 2, y + tall / 2 + 4, matrixNumber(value), "mha-matrix-number");
    text.style.fill = textOn(fill);
  }));
  for (let c = block; block > 1 && c < columns; c += block) {
    const x = left + c * cell - gap / 2;
    svg.append(svgNode("line", { x1: x, y1: top - 1, x2: x, y2: top + rows * tall, class: "mha-matrix-rule" }));
  }
  svg.append(svgNode("rect", { x: left - 0.5, y: top - 0.5, width: columns * cell - gap + 1, height: rows * tall - gap + 1, class: "mha-matrix-frame" }));
  for (const head of spec.rowChips || []) svgChip(svg, matrixChip(head), 0, top + (head + 0.5) * tall);
  for (const head of spec.columnChips || []) svgChip(svg, matrixChip(head), left + (head + 0.5) * cell * block - 8, 10);
  (spec.rowTexts || []).forEach((text, r) => svgText(svg, left - 6, top + (r + 0.5) * tall + 4, text, "mha-matrix-label", "end"));
  (spec.columnTexts || []).forEach((text, c) => svgText(svg, left + (c + 0.5) * cell, top - 6, text, "mha-matrix-label"));
}

function matrixChip(head) {
  return { chip: String(head + 1), slot: (head % 12) + 1 };
}

// Two decimals at most, and none that say nothing: 0, 1, 0.87, −1.2.
function matrixNumber(value) {
  if (Math.abs(value) < 0.005) return "0";
  const text = numberText(value, Math.abs(value) < 0.995 ? 2 : 1);
  return text.endsWith(".0") ? text.slice(0, -2) : text;
}

// The scale of a matrix: its two ends, and the shades between. kind: "weights", "signed", or "above" for the upper arm alone.
function matrixScale(max, kind, theme) {
  const shade = { weights: (i) => weightColour(i / 12, theme), signed: (i) => signedColour(i - 6, 6, theme), above: (i) => signedColour(i, 12, theme) }[kind];
  const bar = node("span", { class: "mha-matrix-scale" });
  bar.style.background = `linear-gradient(to right, ${Array.from({ length: 13 }, (_, i) => shade(i)).join(", ")})`;
  const end = max === 1 ? "1" : numberText(max, max < 0.095 ? 3 : max < 0.995 ? 2 : 1);
  return node("span", { class: "mha-note mha-matrix-legend" }, kind === "signed" ? MINUS + end : "0", bar, end);
}
