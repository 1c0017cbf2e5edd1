// The strip of the ShapeTracer: eight small pictures of the layer's stages, drawn from one real run.
//
// drawShapeThumb(svg, name, frame) fills a 96 x 120 svg for the step of that name. One cell is one number; its
// colour is the head that it belongs to, its strength the size of the number (weights: from 0 to 1). In the last
// step each cell is striped by the heads' shares of that number.
// Parts: g[data-stage="q" | "k" | "v" | "x" | "head" | ...] with data-head="1"... where a head owns it.

const THUMB = { width: 96, height: 120, cell: 6.4, gap: 6 };

function largest(rows) {
  let top = 0;
  for (const row of rows) for (const value of row) top = Math.max(top, Math.abs(value));
  return top || 1;
}

function headFill(head) {
  return `var(--mha-head-${(head % 12) + 1})`;
}

function thumbCells(svg, rows, at, attributes, fill, strength) {
  const group = svgNode("g", attributes);
  rows.forEach((row, r) => {
    row.forEach((value, c) => {
      const size = at.cell - Math.min(1, at.cell * 0.14);
      const node = svgNode("rect", { x: at.x + c * at.cell, y: at.y + r * at.cell, width: size, height: size });
      node.style.fill = fill;
      node.style.fillOpacity = strength(value).toFixed(3);
      group.append(node);
    });
  });
  svg.append(group);
}

function thumbDots(svg, x, y) {
  svgText(svg, x, y + 2, "…", "mha-thumb-dots");
}

// One (n, d_model) matrix whose columns belong to heads: bands side by side, "…" where features are left out.
function thumbBands(svg, heads, frame, middle, height, attributes) {
  const { drawn } = frame;
  const cutFeatures = drawn.features < frame.d_k;
  const cutHeads = drawn.heads < frame.h;
  const gap = cutFeatures ? 5 : 0;
  const columns = drawn.heads * drawn.features;
  const room = THUMB.width - 18 - drawn.heads * gap - (cutHeads ? 6 : 0);
  const cell = Math.min(THUMB.cell, room / columns, height / drawn.tokens);
  const width = columns * cell + drawn.heads * gap + (cutHeads ? 6 : 0);
  const y = middle - (cell * drawn.tokens) / 2;
  let x = (THUMB.width - width) / 2 + 4;
  heads.forEach((rows, head) => {
    const top = largest(rows);
    const strength = (value) => 0.5 + 0.5 * (Math.abs(value) / top);
    thumbCells(svg, rows, { x, y, cell }, { ...attributes, "data-head": head + 1 }, headFill(head), strength);
    x += drawn.features * cell + gap;
    if (cutFeatures) thumbDots(svg, x - 3, middle);
  });
  if (cutHeads) thumbDots(svg, x + 3, middle);
}

// One small matrix a head, one below the other.
function thumbStack(svg, stacks, frame, strengthOf, edged = false) {
  const { drawn } = frame;
  const more = drawn.heads < frame.h;
  const room = THUMB.height - (more ? 12 : 0);
  const each = (room - (drawn.heads - 1) * THUMB.gap) / drawn.heads;
  const cell = Math.min(THUMB.cell, each / drawn.tokens, 72 / stacks[0][0].length);
  const step = cell * drawn.tokens + Math.min(THUMB.gap + 2, each);
  let y = (room - (step * drawn.heads - THUMB.gap)) / 2;
  stacks.forEach((rows, head) => {
    const x = (THUMB.width - rows[0].length * cell) / 2;
    const middle = y + (cell * drawn.tokens) / 2;
    // Which head it is stands beside it: in the step before, the same rows are q, k and v.
    if (step >= 17) svgChip(svg, { chip: String(head + 1), slot: (head % 12) + 1 }, x - 22, middle);
    else if (step >= 11) svgText(svg, x - 10, middle + 4, String(head + 1), "mha-thumb-letter");
    if (edged) {
      const size = { width: rows[0].length * cell, height: rows.length * cell };
      svg.append(svgNode("rect", { x: x - 1, y: y - 1, width: size.width + 1, height: size.height + 1, class: "mha-thumb-edge" }));
    }
    thumbCells(svg, rows, { x, y, cell }, { "data-stage": "head", "data-head": head + 1 }, headFill(head), strengthOf(rows));
    y += step;
  });
  if (more) thumbDots(svg, THUMB.width / 2, THUMB.height - 6);
}

function thumbPlain(svg, rows, frame) {
  const cut = rows[0].length < frame.d_model;
  const cell = Math.min(THUMB.cell, (THUMB.width - 18 - (cut ? 8 : 0)) / rows[0].length, 90 / rows.length);
  const at = { x: (THUMB.width - rows[0].length * cell - (cut ? 8 : 0)) / 2, y: THUMB.height / 2 - (cell * rows.length) / 2, cell };
  return { at, cut };
}

function thumbX(svg, frame) {
  const { at, cut } = thumbPlain(svg, frame.x, frame);
  const top = largest(frame.x);
  thumbCells(svg, frame.x, at, { "data-stage": "x" }, "var(--mha-edge)", (value) => 0.4 + 0.6 * (Math.abs(value) / top));
  if (cut) thumbDots(svg, at.x + frame.x[0].length * at.cell + 5, THUMB.height / 2);
}

// Every number of the output is a sum over heads: the stripes of a cell are as thick as the shares are large.
function thumbOutput(svg, frame) {
  const { at, cut } = thumbPlain(svg, frame.output, frame);
  const group = svgNode("g", { "data-stage": "output" });
  frame.shares.forEach((token, r) => {
    for (let c = 0; c < frame.drawn.columns; c++) {
      const parts = token.map((share) => Math.abs(share[c]));
      const whole = parts.reduce((sum, part) => sum + part, 0) || 1;
      const size = at.cell - Math.min(1, at.cell * 0.14);
      let y = at.y + r * at.cell;
      parts.forEach((part, head) => {
        const height = (part / whole) * size;
        if (height <= 0) return;
        const node = svgNode("rect", { x: at.x + c * at.cell, y, width: size, height });
        node.style.fill = head < frame.drawn.heads ? headFill(head) : "var(--mha-mute)";
        node.style.fillOpacity = "0.85";
        group.append(node);
        y += height;
      });
    }
  });
  svg.append(group);
  if (cut) thumbDots(svg, at.x + frame.drawn.columns * at.cell + 5, THUMB.height / 2);
}

function drawShapeThumb(svg, name, frame) {
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${THUMB.width} ${THUMB.height}`);
  const bySize = (rows) => {
    const top = largest(rows);
    return (value) => 0.5 + 0.5 * (Math.abs(value) / top);
  };
  const byRank = (rows) => {
    const flat = rows.flat();
    const low = Math.min(...flat);
    const span = Math.max(...flat) - low || 1;
    return (value) => 0.25 + 0.75 * ((value - low) / span);
  };
  if (name === "x") thumbX(svg, frame);
  else if (name === "project") {
    ["q", "k", "v"].forEach((stage, i) => {
      const middle = 18 + i * 42;
      thumbBands(svg, frame[stage], frame, middle, 33, { "data-stage": stage });
      svgText(svg, 5, middle + 4, stage, "mha-thumb-letter");
    });
  } else if (name === "split") thumbStack(svg, frame.q, frame, bySize);
  else if (name === "scores") thumbStack(svg, frame.scores, frame, byRank);
  else if (name === "weights") thumbStack(svg, frame.weights, frame, () => (value) => 0.06 + 0.94 * value, true);
  else if (name === "heads") thumbStack(svg, frame.heads, frame, bySize);
  else if (name === "concat") thumbBands(svg, frame.heads, frame, 60, 90, { "data-stage": "concat" });
  else thumbOutput(svg, frame);
}
