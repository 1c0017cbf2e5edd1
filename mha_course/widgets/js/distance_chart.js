// How far a variant is from the plain layer over its distance t: two lines on axes that count powers of ten.
//
// drawDistanceChart(svg, { stops, output, gradient, t, rounding, distance }, width, tips): stops begin with 0, which stands apart at
// the left. What lies below `rounding` is hatched ground: there two sums in another order differ as much.
// Parts: [data-line="output" | "gradient"], [data-point] (the present t), [data-part="rounding"].

const DISTANCE_HEIGHT = 216;
const DISTANCE_LEFT = 46;
const DISTANCE_RIGHT = 74;
const DISTANCE_LOW = -16.5;

function powerText(exponent) {
  const digits = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
  return exponent === 0 ? "1" : `10${[...String(exponent)].map((one) => digits[one]).join("")}`;
}

function distanceText(value) {
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(value) + 1e-9);
  if (exponent >= -2) return String(Number(value.toPrecision(3)));
  const lead = Number((value / 10 ** exponent).toPrecision(3));
  return lead === 1 ? powerText(exponent) : `${lead}·${powerText(exponent)}`;
}

function drawDistanceChart(svg, found, width, tips) {
  const { stops, t, rounding } = found;
  const [top, bottom] = [10, 42];
  const floor = DISTANCE_HEIGHT - bottom;
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${DISTANCE_HEIGHT}`);
  svg.style.height = `${DISTANCE_HEIGHT}px`;
  const high = Math.max(1, ...[...found.output, ...found.gradient].map((v) => Math.ceil(Math.log10(Math.max(v, 1e-300)))));
  const lowest = Math.log10(stops.find((one) => one > 0));
  const first = DISTANCE_LEFT + 40; // 0 stands left of it, beyond a break
  const x = (one) => (one === 0 ? DISTANCE_LEFT + 10 : first + ((Math.log10(one) - lowest) / -lowest) * (width - DISTANCE_RIGHT - first));
  const y = (value) => top + ((high - Math.max(DISTANCE_LOW, Math.log10(Math.max(value, 1e-300)))) / (high - DISTANCE_LOW)) * (floor - top);
  const line = (x1, y1, x2, y2, name) => svg.append(svgNode("line", { x1, y1, x2, y2, class: name }));

  const ground = hatched({ x: DISTANCE_LEFT, y: y(rounding), width: width - DISTANCE_RIGHT - DISTANCE_LEFT + 8, height: floor - y(rounding) });
  ground.setAttribute("data-part", "rounding");
  svg.append(ground);
  svgText(svg, width - DISTANCE_RIGHT, y(rounding) + 15, "rounding, as good as 0", "mha-near-said", "end");
  for (let power = high - (high % 4); power > DISTANCE_LOW; power -= 4) {
    line(DISTANCE_LEFT, y(10 ** power), width - DISTANCE_RIGHT + 8, y(10 ** power), "mha-near-grid");
    svgText(svg, DISTANCE_LEFT - 6, y(10 ** power) + 4, powerText(power), "mha-near-tick", "end");
  }
  line(DISTANCE_LEFT, top - 4, DISTANCE_LEFT, floor, "mha-near-axis");
  line(DISTANCE_LEFT, floor, DISTANCE_LEFT + 20, floor, "mha-near-axis");
  line(first - 12, floor, width - DISTANCE_RIGHT + 8, floor, "mha-near-axis");
  for (const at of [DISTANCE_LEFT + 20, first - 12]) line(at - 3, floor + 4, at + 3, floor - 4, "mha-near-axis");
  svgText(svg, x(0), floor + 16, "0", "mha-near-tick");
  for (let power = Math.ceil(lowest); power <= 0; power += 2) svgText(svg, x(10 ** power), floor + 16, powerText(power), "mha-near-tick");
  svgText(svg, (DISTANCE_LEFT + width - DISTANCE_RIGHT) / 2, DISTANCE_HEIGHT - 8, found.distance, "mha-near-tick");

  const now = stops.indexOf(t);
  line(x(t), top, x(t), floor, "mha-near-now");
  const ends = [];
  for (const [name, words] of [["gradient", "gradients"], ["output", "outputs"]]) {
    const points = stops.map((one, i) => [x(one), y(found[name][i])]);
    svg.append(svgNode("polyline", { class: `mha-near-line is-${name}`, "data-line": name, points: points.map((p) => p.join(",")).join(" ") }));
    points.forEach(([px, py], i) => {
      const dot = svgNode("circle", { cx: px, cy: py, r: i === now ? 5.5 : 3, class: `mha-near-dot is-${name}${i === now ? " is-now" : ""}`, "data-point": i === now ? name : null });
      tips.tip(dot, `t = ${distanceText(stops[i])}: largest difference of ${words} ${distanceText(found[name][i])}`);
      svg.append(dot);
    });
    ends.push([points.at(-1)[1], words, name]);
  }
  // Names at the ends of the lines, moved apart where they would touch.
  ends.sort((a, b) => a[0] - b[0]);
  if (ends[1][0] - ends[0][0] < 15) {
    const middle = (ends[0][0] + ends[1][0]) / 2;
    [ends[0][0], ends[1][0]] = [middle - 7.5, middle + 7.5];
  }
  for (const [at, words, name] of ends) svgText(svg, width - DISTANCE_RIGHT + 12, at + 4, words, `mha-near-name is-${name}`, "start");
}
