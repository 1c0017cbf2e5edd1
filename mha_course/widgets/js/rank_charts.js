// Two charts of the LowRank picture: the divergence over d_k as bars, and singular values as dots on a log axis.
//
// divergenceBars(svg, { divergence, d_k, needed }, width, tips): a bar for each d_k with its number; the present one in ink.
// singularDots(svg, { values, rounding, limit, words }, width, tips): a dot for each singular value; what lies below
//   `rounding` times the largest stands on hatched ground: as good as 0. limit: how many can differ from 0, or null.
// Parts: [data-bar="1" ...], [data-dot="1" ...] (is-zero), [data-part="rounding" | "limit"].

const RANK_HEIGHT = 190;
const RANK_BOTTOM = 38;

function rankFrame(svg, width) {
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${RANK_HEIGHT}`);
  svg.style.height = `${RANK_HEIGHT}px`;
  const line = (x1, y1, x2, y2, name) => {
    const made = svgNode("line", { x1, y1, x2, y2, class: name });
    svg.append(made);
    return made;
  };
  return line;
}

function natsText(value) {
  if (value < 1e-12) return "0";
  return value >= 0.0095 ? value.toFixed(2) : "<0.01"; // there is no room for more; the tooltip has it
}

function divergenceBars(svg, { divergence, d_k: now, needed }, width, tips) {
  const line = rankFrame(svg, width);
  const [left, right, top, floor] = [4, 4, 20, RANK_HEIGHT - RANK_BOTTOM];
  const step = (width - left - right) / divergence.length;
  const high = Math.max(...divergence, 1e-9);
  divergence.forEach((value, i) => {
    const tall = (value / high) * (floor - top);
    const middle = left + (i + 0.5) * step;
    const bar = svgNode("rect", {
      x: middle - step * 0.34, y: floor - Math.max(tall, 1), width: step * 0.68, height: Math.max(tall, 1),
      class: `mha-rank-bar${i + 1 === now ? " is-now" : ""}`, "data-bar": i + 1,
    });
    tips.tip(bar, `d_k = ${i + 1}: ${value < 1e-12 ? "0" : value.toPrecision(3)} nats from the wanted map`);
    svg.append(bar);
    svgText(svg, middle, floor - Math.max(tall, 1) - 5, natsText(value), `mha-rank-tick${i + 1 === now ? " is-now" : ""}`);
    svgText(svg, middle, floor + 15, String(i + 1), `mha-rank-tick${i + 1 === now ? " is-now" : ""}`);
  });
  line(left, floor, width - right, floor, "mha-rank-axis");
  svgText(svg, width / 2, RANK_HEIGHT - 6, `d_k; exact from ${needed} on`, "mha-rank-tick");
}

function singularDots(svg, { values, rounding, limit, words }, width, tips) {
  const line = rankFrame(svg, width);
  const [left, right, top, floor] = [42, 6, 12, RANK_HEIGHT - RANK_BOTTOM];
  const largest = Math.max(...values, 1e-300);
  const [high, low] = [Math.max(1, Math.ceil(Math.log10(largest))), -17];
  const y = (value) => top + ((high - Math.max(low, Math.log10(Math.max(value, 1e-300)))) / (high - low)) * (floor - top);
  const step = (width - left - right) / values.length;
  const level = y(rounding * largest);
  const ground = hatched({ x: left, y: level, width: width - right - left, height: floor - level });
  ground.setAttribute("data-part", "rounding");
  svg.append(ground);
  for (const power of [0, -5, -10, -15]) {
    line(left, y(10 ** power), width - right, y(10 ** power), "mha-rank-grid");
    svgText(svg, left - 6, y(10 ** power) + 4, rankPower(power), "mha-rank-tick", "end");
  }
  line(left, top - 4, left, floor, "mha-rank-axis");
  line(left, floor, width - right, floor, "mha-rank-axis");
  if (limit !== null && limit < values.length) {
    line(left + limit * step, top - 4, left + limit * step, floor, "mha-rank-limit").setAttribute("data-part", "limit");
  }
  values.forEach((value, i) => {
    const zero = value <= rounding * largest;
    const middle = left + (i + 0.5) * step;
    line(middle, floor, middle, y(value), `mha-rank-stem${zero ? " is-zero" : ""}`);
    const dot = svgNode("circle", { cx: middle, cy: y(value), r: 4.5, class: `mha-rank-dot${zero ? " is-zero" : ""}`, "data-dot": i + 1 });
    tips.tip(dot, `singular value ${i + 1} of the ${words}: ${zero ? `as good as 0 (${value.toExponential(0)})` : value.toPrecision(3)}`);
    svg.append(dot);
    svgText(svg, middle, floor + 15, String(i + 1), "mha-rank-tick");
  });
  svgText(svg, (left + width - right) / 2, RANK_HEIGHT - 6, "its number; hatched: as good as 0", "mha-rank-tick");
}

function rankPower(exponent) {
  const digits = { "-": "⁻", 0: "⁰", 1: "¹", 5: "⁵" };
  return exponent === 0 ? "1" : `10${[...String(exponent)].map((one) => digits[one]).join("")}`;
}
