// Right answers against heads kept: one line for each way to choose the heads, the present point ringed.
//
// keptChart({ svg, tips, onPick }) -> { draw({ width, height, count, low, series, measure, words, now, limit, theme }) }
//   count: all heads, at the left; low: where the y axis begins, its end is 1; measure: which of a point's numbers;
//   series: { gates: { points: [{ kept, right: [...], low, high, price }], orders }, importance, confidence, random }
//   now: { kept, right } to ring; limit: a level to mark, or null. onPick(price): a point of the gates was clicked.
// keptKey(by) -> svg with the line and mark of a series. KEPT_LOOK[by] = { slot: head colour, dash, mark, words }.
// Parts: g[data-by], .mha-kept-point[data-tip].

const KEPT_LOOK = {
  gates: { slot: 0, dash: null, mark: "circle", words: "learned gates" },
  importance: { slot: 1, dash: "7 3", mark: "square", words: "by importance" },
  confidence: { slot: 2, dash: "2 2.5", mark: "up", words: "by confidence" },
  random: { slot: 3, dash: "8 2.5 2 2.5", mark: "diamond", words: "at random" },
};

function keptMark(kind, x, y, size) {
  const r = size / 2;
  if (kind === "circle") return svgNode("circle", { cx: x, cy: y, r });
  const shapes = {
    square: [[-r, -r], [r, -r], [r, r], [-r, r]],
    up: [[0, -r * 1.2], [r * 1.1, r * 0.9], [-r * 1.1, r * 0.9]],
    diamond: [[0, -r * 1.25], [r * 1.25, 0], [0, r * 1.25], [-r * 1.25, 0]],
  };
  return svgNode("polygon", { points: shapes[kind].map(([dx, dy]) => `${(x + dx).toFixed(1)},${(y + dy).toFixed(1)}`).join(" ") });
}

function keptKey(by) {
  const { slot, dash, mark } = KEPT_LOOK[by];
  const svg = svgNode("svg", { class: "mha-kept-key", viewBox: "0 0 40 14", "aria-hidden": "true" });
  const line = svgNode("line", { x1: 1, y1: 7, x2: 39, y2: 7, class: "mha-kept-line", "stroke-dasharray": dash });
  line.style.stroke = `var(--mha-head-${slot + 1})`;
  const point = keptMark(mark, 20, 7, 8);
  point.style.fill = `var(--mha-head-${slot + 1})`;
  point.setAttribute("class", "mha-kept-mark");
  svg.append(line, point);
  return svg;
}

function keptChart({ svg, tips, onPick }) {
  function draw({ width, height, count, low, series, measure, now, limit, theme }) {
    const [left, right, above, below] = [40, 12, 10, 38];
    const floor = height - below;
    const x = (kept) => left + ((count - kept) / count) * (width - left - right);
    const y = (share) => above + ((1 - share) / (1 - low)) * (floor - above);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.style.height = `${height}px`;
    svg.replaceChildren();
    const line = (parent, x1, y1, x2, y2, name) => parent.append(svgNode("line", { x1, y1, x2, y2, class: name }));
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      const share = low + part * (1 - low);
      if (part) line(svg, left, y(share), width - right, y(share), "mha-kept-grid");
      if (part === 0 || part === 0.5 || part === 1) svgText(svg, left - 6, y(share) + 4, plainNumber(share), "mha-kept-tick", "end");
    }
    line(svg, left, floor, width - right, floor, "mha-kept-axis");
    for (let kept = count; kept >= 0; kept -= count % 4 === 0 ? count / 4 : 1) svgText(svg, x(kept), floor + 16, String(kept), "mha-kept-tick");
    svgText(svg, (left + width - right) / 2, height - 4, "heads kept", "mha-kept-tick");
    // What lies below the axis is cut off by a picture of its own.
    const sides = { x: left - 10, y: 0, width: width - left - right + 20, height: floor };
    const inner = svgNode("svg", { ...sides, viewBox: Object.values(sides).join(" ") });
    svg.append(inner);
    if (limit !== null) line(inner, left, y(limit), width - right, y(limit), "mha-kept-limit");
    if (now) line(inner, x(now.kept), 2, x(now.kept), floor, "mha-kept-now");
    for (const [by, { points }] of Object.entries(series).reverse()) {
      const { slot, dash, mark, words } = KEPT_LOOK[by];
      const tint = headColour(slot, theme);
      const group = svgNode("g", { "data-by": by });
      inner.append(group);
      const at = (point, name) => `${x(point.kept).toFixed(1)},${y(point[name][measure]).toFixed(1)}`;
      if (points.length && points[0].low) {
        const band = svgNode("polygon", { class: "mha-kept-band", points: [...points.map((p) => at(p, "high")), ...[...points].reverse().map((p) => at(p, "low"))].join(" ") });
        band.style.fill = tint;
        group.append(band);
      }
      const curve = svgNode("polyline", { class: "mha-kept-line", points: points.map((p) => at(p, "right")).join(" "), "stroke-dasharray": dash });
      curve.style.stroke = tint;
      group.append(curve);
      for (const point of points) {
        if (point.right[measure] < low) continue;
        const dot = keptMark(mark, x(point.kept), y(point.right[measure]), by === "gates" ? 9 : 7);
        dot.style.fill = tint;
        dot.setAttribute("class", `mha-kept-point${point.price === undefined ? "" : " is-pickable"}`);
        const price = point.price === undefined ? "" : `, price ${point.price}`;
        const spread = point.low && point.low[measure] < point.high[measure];
        const range = spread ? `, ${point.low[measure].toFixed(3)} to ${point.high[measure].toFixed(3)}` : "";
        tips.tip(dot, `${words}${price}: ${point.kept} heads, ${point.right[measure].toFixed(3)}${range}`);
        if (point.price !== undefined) dot.addEventListener("click", () => onPick(point.price));
        group.append(dot);
      }
    }
    if (now && now.right >= low) inner.append(svgNode("circle", { cx: x(now.kept), cy: y(now.right), r: 9, class: "mha-kept-ring" }));
  }

  return { draw };
}
