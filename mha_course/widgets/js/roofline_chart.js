// The roof of a machine on two logarithmic axes, and a named point for each stage.
//
// drawRoofline(svg, found, width, tip): found is the widget's answer: x, y { range, ticks [[value, text]] }, machine,
// rows [{ stage, name, intensity, attainable, bound, texts, most }]. tip(element, text): the tooltip of a point.
// Parts: .mha-roof-point[data-stage] (data-bound), .mha-roof-name[data-stage], [data-part="roof" | "ridge"].

const ROOF_HEIGHT = 330;
const ROOF_LINE = 16; // px from one label to the next
const ROOF_REACH = 18; // px from a point to its label
const ROOF_NEAR = 34; // px: points closer than that share one list of labels
const ROOF_LETTER = 6.7; // px, a generous letter

function drawRoofline(svg, { x: xs, y: ys, machine, rows }, width, tip) {
  const [left, right, top, bottom] = [52, 24, 8, 44];
  const floor = ROOF_HEIGHT - bottom;
  svg.setAttribute("viewBox", `0 0 ${width} ${ROOF_HEIGHT}`);
  svg.style.height = `${ROOF_HEIGHT}px`;
  svg.replaceChildren();
  const share = (value, [low, high]) => Math.log(value / low) / Math.log(high / low);
  const x = (value) => left + share(value, xs.range) * (width - left - right);
  const y = (value) => floor - share(value, ys.range) * (floor - top);
  const line = (x1, y1, x2, y2, name, part) => svg.append(svgNode("line", { x1, y1, x2, y2, class: name, "data-part": part }));

  for (const [value, text] of ys.ticks) {
    if (y(value) < floor - 1) line(left, y(value), width - right, y(value), "mha-roof-grid");
    svgText(svg, left - 7, y(value) + 4, text, "mha-roof-tick", "end");
  }
  let clear = -Infinity;
  for (const [value, text] of xs.ticks) {
    const half = (ROOF_LETTER * text.length) / 2;
    if (x(value) - half < clear) continue; // no room beside the one before
    clear = x(value) + half + 8;
    svgText(svg, x(value), floor + 16, text, "mha-roof-tick");
  }
  svgText(svg, (left + width - right) / 2, ROOF_HEIGHT - 6, "arithmetic intensity, FLOP/byte", "mha-roof-tick");
  const axis = svgText(svg, 0, 0, "FLOP/s", "mha-roof-tick");
  axis.setAttribute("transform", `translate(10 ${(top + floor) / 2}) rotate(-90)`);
  line(left, top, left, floor, "mha-roof-axis");
  line(left, floor, width - right, floor, "mha-roof-axis");

  const corner = x(machine.ridge);
  const level = y(machine.peak);
  const first = Math.max(xs.range[0], ys.range[0] / machine.bandwidth);
  const begin = [x(first), y(first * machine.bandwidth)];
  const roofAt = (px) => (px >= corner ? level : level + ((corner - px) * (begin[1] - level)) / (corner - begin[0]));
  line(corner, level, corner, floor, "mha-roof-ridge", "ridge");
  svg.append(svgNode("polyline", { points: `${begin} ${corner},${level} ${width - right},${level}`, class: "mha-roof-line", "data-part": "roof" }));
  const slope = Math.atan2(begin[1] - level, corner - begin[0]);
  const reach = (ROOF_LETTER * machine.bandwidth_text.length * Math.cos(slope)) / 2 + 8;
  // Along the slope where no point stands, the middle first.
  const onSlope = rows.filter((row) => row.intensity !== undefined).map((row) => x(row.intensity));
  const places = [0.5, 0.62, 0.38, 0.74, 0.26].map((share) => begin[0] + share * (corner - begin[0]));
  const middle = places.find((place) => onSlope.every((px) => Math.abs(px - place) > reach)) || places[0];
  const along = svgText(svg, 0, -8, machine.bandwidth_text, "mha-roof-said");
  along.setAttribute("transform", `translate(${middle} ${roofAt(middle)}) rotate(${(-slope * 180) / Math.PI})`);
  svgText(svg, width - right, level - 9, machine.peak_text, "mha-roof-said", "end");
  const half = (ROOF_LETTER * machine.ridge_text.length) / 2;
  const at = Math.min(Math.max(corner, left + half + 4), width - right - half);
  const beside = at + half + 12 < width - right - ROOF_LETTER * machine.peak_text.length;
  svgText(svg, at, level - (beside ? 9 : 25), machine.ridge_text, "mha-roof-said");

  const points = rows.filter((row) => row.intensity !== undefined).map((row) => {
    const text = `${row.name}  ${row.texts.intensity}`;
    return { row, text, x: x(row.intensity), y: y(row.attainable), width: ROOF_LETTER * text.length };
  });
  const spots = rooflinePlaces(points, roofAt, width - 4, floor);
  const [leads, names, dots] = ["mha-roof-leads", "mha-roof-names", "mha-roof-dots"].map((name) => svgNode("g", { class: name }));
  points.forEach(({ row, text, x: px, y: py }, i) => {
    const [tx, ty] = spots[i];
    leads.append(svgNode("line", { x1: px, y1: py, x2: tx - 3, y2: ty, class: "mha-roof-lead", "data-stage": row.stage }));
    svgText(names, tx, ty + 4, text, "mha-roof-name", "start").dataset.stage = row.stage;
    const dot = svgNode("circle", { cx: px, cy: py, r: 5, class: `mha-roof-point is-${row.bound}`, "data-stage": row.stage, "data-bound": row.bound });
    tip(dot, `${row.name}: ${row.texts.intensity} FLOP/byte, at most ${row.most}`);
    dots.append(dot);
  });
  svg.append(leads, names, dots);
}

// Where each label begins and has its middle, so that none covers another or the roof: points that stand close share a
// list below and to the right of them; lists further left make way downwards.
function rooflinePlaces(points, roofAt, right, floor) {
  const order = points.map((_, i) => i).sort((a, b) => points[a].x - points[b].x || points[b].y - points[a].y);
  const groups = [];
  for (const i of order) {
    const last = groups[groups.length - 1];
    if (last && points[i].x - points[last[last.length - 1]].x < ROOF_NEAR) last.push(i);
    else groups.push([i]);
  }
  const places = [];
  const taken = [];
  for (const group of groups.reverse()) {
    const wide = Math.max(...group.map((i) => points[i].width));
    const start = Math.min(Math.max(...group.map((i) => points[i].x)) + ROOF_REACH, right - wide);
    const first = Math.min(start, ...group.map((i) => points[i].x));
    const tall = ROOF_LINE * group.length;
    let top = Math.max(Math.min(...group.map((i) => points[i].y)) + 7, roofAt(start) + 8);
    for (const box of taken) {
      if (box.from < start + wide + 8 && first < box.to && box.top < top + tall && top < box.end) top = box.end;
    }
    top = Math.min(top, floor - tall - 4);
    taken.push({ from: first, to: start + wide, top, end: top + tall });
    taken.sort((a, b) => a.top - b.top);
    [...group].reverse().forEach((i, at) => {
      places[i] = [start, top + ROOF_LINE * (at + 0.5)];
    });
  }
  return places;
}
