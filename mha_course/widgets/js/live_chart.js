// Curves over training steps, each named at its end by a chip; used while a model learns and when it is replayed.
//
// drawCurves(svg, { width, height, steps, top, lines, now, tick }):
//   steps: end of the x axis; top: end of the y axis (it starts at 0); tick(value) -> text of a y label
//   lines: [{ points: [[step, value], ...], role: "previous" | "next" | "syntactic" | "rarest" | null }]
//   now: a step to mark by a level line of its own, or null. Returns { x(step), y(value), floor } in px of the picture.
// shareText(share) -> two decimals, rounded down; roleChip(role) -> HTML chip; ROLE_LOOK[role] = { key in PALETTE.role, mark, dash }.

const ROLE_LOOK = {
  previous: { key: "prev", mark: "−1", dash: null, words: "previous word" },
  next: { key: "next", mark: "+1", dash: "7 3", words: "next word" },
  syntactic: { key: "syn", mark: "dep", dash: "2 2.5", words: "syntactic" },
  rarest: { key: "rare", mark: "rare", dash: "8 2.5 2 2.5", words: "rarest word" },
};

// The roles' colours as --mha-role-previous, --mha-role-previous-edge, --mha-role-previous-ink, ... on the root.
function roleVariables(root, theme) {
  for (const [role, look] of Object.entries(ROLE_LOOK)) {
    const { fill, edge, text } = PALETTE.role[theme][look.key];
    root.style.setProperty(`--mha-role-${role}`, fill);
    root.style.setProperty(`--mha-role-${role}-edge`, edge);
    root.style.setProperty(`--mha-role-${role}-ink`, text);
  }
}

function roleChip(role, mark = null) {
  return node("span", { class: `mha-chip mha-role-chip is-${role}`, "aria-hidden": "true" }, mark || ROLE_LOOK[role].mark);
}

// The room for a chart. While JupyterLab changes its theme nothing has a width: then the last one holds.
function curveWidth(svg, otherwise) {
  const room = svg.parentNode.clientWidth;
  if (room) svg.dataset.room = String(room);
  return Math.max(220, Number(svg.dataset.room) || otherwise);
}

function drawCurves(svg, { width, height, steps, top, lines, now = null, tick = String, empty = "" }) {
  const [left, right, above, below] = [34, 44, 8, 36];
  const x = (step) => left + (step / steps) * (width - left - right);
  const y = (value) => above + (1 - Math.min(1, Math.max(0, value / top))) * (height - above - below);
  const floor = height - below;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.height = `${height}px`;
  svg.replaceChildren();
  const line = (x1, y1, x2, y2, name) => svg.append(svgNode("line", { x1, y1, x2, y2, class: name }));
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    if (share > 0) line(left, y(share * top), width - right, y(share * top), "mha-curve-grid");
    if (share === 0 || share === 0.5 || share === 1) {
      svgText(svg, left - 6, y(share * top) + 4, tick(share * top), "mha-curve-tick", "end");
    }
  }
  line(left, floor, width - right, floor, "mha-curve-axis");
  for (const step of stepTicks(steps)) svgText(svg, x(step), floor + 15, withCommas(step), "mha-curve-tick");
  svgText(svg, (left + width - right) / 2, height - 4, "step", "mha-curve-tick");
  if (now !== null) line(x(now), above, x(now), floor, "mha-curve-now");
  const ends = [];
  for (const { points, role } of lines) {
    if (!points.length) continue;
    const at = points.map(([step, value]) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    const curve = svgNode("polyline", { points: at, class: role ? `mha-curve is-${role}` : "mha-curve", "data-role": role });
    if (role && ROLE_LOOK[role].dash) curve.setAttribute("stroke-dasharray", ROLE_LOOK[role].dash);
    svg.append(curve);
    const [step, value] = points[points.length - 1];
    if (role) ends.push({ role, x: x(step), y: y(value) });
  }
  if (!ends.length && empty) svgText(svg, (left + width - right) / 2, (above + floor) / 2, empty, "mha-curve-empty");
  placeEnds(svg, ends, above + 8, floor - 8);
  return { x, y, floor };
}

// Chips at the ends of the curves, 17 px apart, in the order of the values.
function placeEnds(svg, ends, least, most) {
  ends.sort((a, b) => a.y - b.y);
  ends.forEach((end, i) => {
    end.at = Math.max(end.y, i ? ends[i - 1].at + 17 : least);
  });
  for (let i = ends.length - 1; i >= 0; i -= 1) {
    const limit = i === ends.length - 1 ? most : ends[i + 1].at - 17;
    ends[i].at = Math.min(ends[i].at, limit);
  }
  for (const end of ends) {
    const wide = end.role === "previous" || end.role === "next" ? 22 : 30;
    svg.append(svgNode("circle", { cx: end.x, cy: end.y, r: 3, class: `mha-curve-end is-${end.role}` }));
    svg.append(svgNode("line", { x1: end.x + 4, y1: end.y, x2: end.x + 9, y2: end.at, class: "mha-curve-lead" }));
    svg.append(svgNode("rect", { x: end.x + 9, y: end.at - 8, width: wide, height: 16, rx: 4, class: `mha-curve-chip is-${end.role}` }));
    svgText(svg, end.x + 9 + wide / 2, end.at + 3.5, ROLE_LOOK[end.role].mark, `mha-curve-mark is-${end.role}`);
  }
}

// Round steps, five or six of them, and none so near the end that it would touch.
function stepTicks(steps) {
  const rough = steps / 5;
  const size = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  const each = [1, 2, 5, 10].map((k) => k * size).find((k) => k >= rough) || 1;
  const found = [];
  for (let step = 0; step <= steps; step += each) found.push(step);
  return found;
}

// 0.996 is not 1.00.
function shareText(share) {
  return (Math.floor(share * 100 + 1e-9) / 100).toFixed(2);
}
