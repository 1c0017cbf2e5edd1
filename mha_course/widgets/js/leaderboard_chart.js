// Learning curves of the leaderboard on a log axis: recorded ones with the range over their seeds, and over them the one trained here.
//
// boardChart({ svg, tips }) -> { draw({ width, height, steps, curves, live, level, unit, name, faint }) }
//   curves: [{ look, name, points: [[step, mean, low, high]], dots }], dots: all points are ends, one a seed; faint: [[[step, mean], ...], ...], drawn in grey behind;
//   live: { points: [[step, number]], letter, name } or null; level: a number to mark by a dashed line, or null;
//   unit: what a number is called; name(value) -> its text.
// Parts: g[data-curve], g[data-curve="live"], .mha-board-point[data-tip].

const BOARD_LEVELS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

function boardChart({ svg, tips }) {
  function draw({ width, height, steps, curves, live, level, unit, name, faint = [] }) {
    const [left, right, above, below] = [40, 56 + (curves.some(({ dots }) => dots) ? 22 * curves.length - 24 : 0), 10, 36];
    const floor = height - below;
    const numbers = [
      ...faint.flat().map(([, value]) => value), ...curves.flatMap(({ points }) => points.flatMap(([, , low, high]) => [low, high])),
      ...(live ? live.points.map(([, value]) => value) : []), ...(level === null ? [] : [level]),
    ].filter((value) => value > 0);
    const [least, most] = numbers.length ? [0.92 * Math.min(...numbers), 1.06 * Math.max(...numbers)] : [0.1, 10];
    const x = (step) => left + (step / steps) * (width - left - right);
    const y = (value) => above + (1 - (Math.log(Math.max(value, least)) - Math.log(least)) / (Math.log(most) - Math.log(least))) * (floor - above);
    const at = (points) => points.map(([step, value]) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.style.height = `${height}px`;
    svg.replaceChildren();
    const line = (x1, y1, x2, y2, kind) => svg.append(svgNode("line", { x1, y1, x2, y2, class: kind }));
    for (const value of BOARD_LEVELS.filter((one) => one >= least && one <= most)) {
      line(left, y(value), width - right, y(value), "mha-curve-grid");
      svgText(svg, left - 6, y(value) + 4, String(value), "mha-curve-tick", "end");
    }
    line(left, floor, width - right, floor, "mha-curve-axis");
    for (const step of stepTicks(steps)) svgText(svg, x(step), floor + 15, withCommas(step), "mha-curve-tick");
    svgText(svg, (left + width - right) / 2, height - 4, "step", "mha-curve-tick");
    if (level !== null) {
      line(left, y(level), width - right, y(level), "mha-board-level");
      svgText(svg, left + 4, y(level) - 5, String(level), "mha-curve-tick", "start");
    }
    for (const points of faint) svg.append(svgNode("polyline", { points: at(points), class: "mha-board-faint" }));
    const ends = [];
    for (const [i, { look, name: of, points, dots }] of curves.entries()) {
      const group = svgNode("g", { "data-curve": look.letter });
      const band = svgNode("polygon", { class: "mha-board-seeds", points: `${at(points.map(([step, , low]) => [step, low]))} ${at([...points].reverse().map(([step, , , high]) => [step, high]))}` });
      const curve = svgNode("polyline", { points: at(points), class: "mha-curve", "stroke-dasharray": look.dash });
      band.style.fill = curve.style.stroke = boardColour(look);
      if (!dots) group.append(band, curve);
      // Dots of one row stand beside those of the next, behind the last step.
      const aside = dots ? 22 * (i + 1) - 6 : 0;
      for (const [step, mean, low, high] of points) {
        const point = svgNode("circle", { cx: x(step) + aside, cy: y(mean), r: dots ? 4.5 : 3, class: dots ? "mha-board-point" : "mha-board-point is-hidden" });
        point.style.fill = boardColour(look);
        tips.tip(point, `${of}, step ${withCommas(step)}: ${unit} ${name(mean)}${high > low ? ` (${name(low)} to ${name(high)})` : ""}`);
        group.append(point);
      }
      svg.append(group);
      const last = points[points.length - 1];
      if (dots) chip({ x: x(last[0]) + aside - 9, at: y(Math.max(...points.map(([, value]) => value))) - 16, look, letter: look.letter });
      else if (last) ends.push({ x: x(last[0]), y: y(last[1]), look, letter: look.letter });
    }
    if (live && live.points.length) {
      const group = svgNode("g", { "data-curve": "live" });
      group.append(svgNode("polyline", { points: at(live.points), class: "mha-board-live" }));
      for (const [step, value] of live.points) {
        const point = svgNode("circle", { cx: x(step), cy: y(value), r: 3.5, class: "mha-board-point is-live" });
        tips.tip(point, `${live.name}, trained here, step ${withCommas(step)}: ${unit} ${name(value)}`);
        group.append(point);
      }
      svg.append(group);
      const [step, value] = live.points[live.points.length - 1];
      if (curves.some(({ dots }) => dots)) svgText(svg, x(step) - 6, y(value) - 10, "here", "mha-board-here", "end");
      else ends.push({ x: x(step), y: y(value), look: null, letter: "here" });
    }
    place(ends, above + 8, floor - 8);
  }

  // Chips at the ends, 18 px apart, in the order of the values. A curve that is under way has its name beside its last point.
  function place(ends, least, most) {
    ends.sort((a, b) => a.y - b.y);
    ends.forEach((end, i) => {
      end.at = Math.max(end.y, i ? ends[i - 1].at + 18 : least);
    });
    for (let i = ends.length - 1; i >= 0; i -= 1) ends[i].at = Math.min(ends[i].at, i === ends.length - 1 ? most : ends[i + 1].at - 18);
    for (const end of ends) {
      svg.append(svgNode("line", { x1: end.x + 5, y1: end.y, x2: end.x + 12, y2: end.at, class: "mha-curve-lead" }));
      if (!end.look) {
        svgText(svg, end.x + 14, end.at + 4, end.letter, "mha-board-here", "start");
        continue;
      }
      chip({ ...end, x: end.x + 12 });
    }
  }

  function chip({ x, at, look, letter }) {
    const box = svgNode("rect", { x, y: at - 8, width: 18, height: 16, rx: 4 });
    box.style.fill = boardColour(look);
    svg.append(box);
    const text = svgText(svg, x + 9, at + 4, letter, "mha-board-letter");
    text.style.fill = look.slot === null ? "var(--mha-surface)" : `var(--mha-head-ink-${look.slot + 1})`;
  }

  return { draw };
}
