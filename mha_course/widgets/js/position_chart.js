// The score of every distance from the target: β · κ(m) as dots on a line, the target and its nearest rival named.
//
// drawPositionChart(svg, { kernel, beta, gap, rival }, width): kernel holds κ(0) .. κ(n − 1). The curve is even, so
// one side says it all. Parts: [data-part="target"], [data-part="rival"], [data-part="gap"].

const CHART_HEIGHT = 190;
const CHART_LEFT = 44;

function drawPositionChart(svg, { kernel, beta, gap, rival }, width) {
  const [right, top, bottom] = [14, 20, 40];
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${CHART_HEIGHT}`);
  svg.style.height = `${CHART_HEIGHT}px`;
  const scores = kernel.map((value) => beta * value);
  const high = Math.max(scores[0], 1e-9);
  const low = Math.min(0, ...scores);
  const x = (m) => CHART_LEFT + (m / (kernel.length - 1)) * (width - CHART_LEFT - right);
  const y = (score) => top + ((high - score) / (high - low)) * (CHART_HEIGHT - top - bottom);
  const line = (x1, y1, x2, y2, name, part) => svg.append(svgNode("line", { x1, y1, x2, y2, class: name, "data-part": part }));

  const floor = CHART_HEIGHT - bottom;
  line(CHART_LEFT, top - 6, CHART_LEFT, floor, "mha-pos-axis");
  line(CHART_LEFT, y(0), width - right, y(0), "mha-pos-zero");
  positionTick(svg, CHART_LEFT - 6, y(high) + 4, scoreText(high), "end");
  if (Math.abs(y(0) - y(high)) > 16) positionTick(svg, CHART_LEFT - 6, y(0) + 4, "0", "end");
  const every = [1, 2, 4, 5, 8, 10, 16].find((step) => (kernel.length - 1) / step <= 8) || 16;
  for (let m = 0; m < kernel.length; m += every) positionTick(svg, x(m), floor + 16, String(m), "middle");
  positionTick(svg, (CHART_LEFT + width - right) / 2, CHART_HEIGHT - 6, "distance from the target", "middle", "mha-pos-name");

  svg.append(svgNode("polyline", { class: "mha-pos-line", points: scores.map((s, m) => `${x(m)},${y(s)}`).join(" ") }));
  if (kernel.length <= 24) {
    scores.forEach((s, m) => svg.append(svgNode("circle", { cx: x(m), cy: y(s), r: 2.5, class: "mha-pos-dot" })));
  }
  // The level of the nearest rival, and how far the target stands above it.
  const level = y(scores[rival]);
  line(x(0), level, x(rival), level, "mha-pos-level", "gap");
  svg.append(svgNode("circle", { cx: x(0), cy: y(scores[0]), r: 5, class: "mha-pos-target", "data-part": "target" }));
  svg.append(svgNode("circle", { cx: x(rival), cy: level, r: 5, class: "mha-pos-rival", "data-part": "rival" }));
  const words = `gap ${gapText(gap)} · β`;
  // Beside the rival, where the curve leaves room: above it at the left edge, else to its left.
  const toTheLeft = x(rival) > width - 130;
  positionTick(svg, x(rival) + (toTheLeft ? -10 : 10), Math.max(12, level - 8), words, toTheLeft ? "end" : "start", "mha-pos-gap");
}

function positionTick(svg, x, y, text, anchor, name = "mha-pos-tick") {
  const label = svgNode("text", { x, y, class: name, "text-anchor": anchor });
  label.textContent = text;
  svg.append(label);
}

function scoreText(score) {
  return score >= 100 ? String(Math.round(score)) : numberText(score, 1);
}

function gapText(gap) {
  return gap < 0.0005 ? "<0.001" : gap.toFixed(3);
}
