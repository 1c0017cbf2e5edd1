// The lower half of the OutputMixer: for each output feature the heads' shares stacked up, and where they end.
//
// drawMixerChart(svg, width, view) fills the svg and returns its height; view is the one of mixer_matrices.js, plus
//   view.now [columns]   output with the heads that are on        view.whole [columns]   output with all heads on
//   view.picked          the feature that is looked at (column index) or null
// Parts: g[data-feature="0"] a column each; rect[data-head] the segments; .mha-now the line; .mha-whole the ring.
// mixerTicks(low, high) -> round tick values that enclose both.  mixerSentence(view, c) -> one feature in words.

function mixerTicks(low, high) {
  const span = Math.max(high - low, 1e-9);
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => span / s <= 6) || 10 * power;
  const ticks = [];
  for (let k = Math.floor(low / step); k <= Math.ceil(high / step); k++) ticks.push(k * step);
  return ticks;
}

function stackOf(groups, column) {
  let up = 0;
  let down = 0;
  const segments = [];
  for (const group of groups) {
    const value = group.on ? group.share[column] : 0;
    if (value === 0) continue;
    if (value > 0) segments.push({ group, value, from: up, to: (up += value) });
    else segments.push({ group, value, from: down, to: (down += value) });
  }
  return { segments, up, down };
}

function drawMixerChart(svg, width, view) {
  svg.replaceChildren();
  const named = Boolean(view.featureNames);
  const plot = { left: 56, right: width - 4, top: 10, height: 204 };
  let low = 0;
  let high = 0;
  const everyone = view.groups.map((group) => ({ ...group, on: true }));
  for (let c = 0; c < view.columns; c++) {
    const stack = stackOf(everyone, c);
    low = Math.min(low, stack.down, view.whole[c], view.now[c]);
    high = Math.max(high, stack.up, view.whole[c], view.now[c]);
  }
  const ticks = mixerTicks(low, high);
  const bottom = ticks[0];
  const top = ticks[ticks.length - 1];
  const yOf = (value) => plot.top + ((top - value) / (top - bottom || 1)) * plot.height;
  for (const tick of ticks) {
    const isZero = Math.abs(tick) < 1e-12;
    const y = yOf(tick);
    svg.append(svgNode("line", { x1: plot.left, x2: plot.right, y1: y, y2: y, class: isZero ? "mha-axis" : "mha-gridline" }));
    const text = (tick < 0 && !isZero ? MINUS : "") + plainNumber(Math.abs(tick));
    svgText(svg, plot.left - 8, y + 4, text, "mha-mix-tick", "end");
  }
  const turned = svgText(svg, 0, 0, "value", "mha-mix-tick");
  turned.setAttribute("transform", `translate(12 ${plot.top + plot.height / 2}) rotate(-90)`);

  const slot = (plot.right - plot.left) / view.columns;
  const bar = Math.min(32, slot * 0.66);
  for (let c = 0; c < view.columns; c++) {
    const centre = plot.left + (c + 0.5) * slot;
    const column = svgNode("g", { "data-feature": c });
    if (view.picked === c) {
      const ground = { x: centre - slot / 2 + 1, y: plot.top, width: slot - 2, height: plot.height, class: "mha-picked", rx: 4 };
      column.append(svgNode("rect", ground));
    }
    for (const segment of stackOf(view.groups, c).segments) mixerSegment(column, segment, { centre, bar, yOf, now: yOf(view.now[c]) });
    const now = yOf(view.now[c]);
    column.append(svgNode("line", { x1: centre - bar / 2 - 4, x2: centre + bar / 2 + 4, y1: now, y2: now, class: "mha-now" }));
    const ring = { cx: centre + bar / 2 + Math.min(4, slot * 0.12), cy: yOf(view.whole[c]), r: slot < 16 ? 2.5 : 4, class: "mha-whole" };
    column.append(svgNode("circle", ring));
    // The whole column answers to the pointer, not only its thin parts.
    column.append(svgNode("rect", { x: centre - slot / 2, y: plot.top, width: slot, height: plot.height + 22, class: "mha-hit" }));
    svg.append(column);
    if (named && slot >= 76) {
      svgText(svg, centre, plot.top + plot.height + 18, shortWord(view.featureNames[c], Math.floor(slot / 6.6)), "mha-mix-tick");
    } else if (named) {
      const label = svgText(svg, 0, 0, shortWord(view.featureNames[c], 12), "mha-mix-tick", "end");
      label.setAttribute("transform", `translate(${centre + 4} ${plot.top + plot.height + 16}) rotate(-40)`);
    } else if (slot >= 17 || c % Math.ceil(17 / slot) === 0) {
      svgText(svg, centre, plot.top + plot.height + 18, String(c), "mha-mix-tick");
    }
  }
  const leaning = named && (plot.right - plot.left) / view.columns < 76;
  const foot = plot.top + plot.height + (leaning ? 66 : 36);
  svgText(svg, (plot.left + plot.right) / 2, foot, "output feature", "mha-mix-tick");
  return foot + 10;
}

function mixerSegment(column, segment, at) {
  const { group } = segment;
  const y1 = Math.min(at.yOf(segment.from), at.yOf(segment.to));
  const height = Math.abs(at.yOf(segment.from) - at.yOf(segment.to));
  const place = { x: at.centre - at.bar / 2, y: y1, width: at.bar, height, class: "mha-segment", "data-head": group.key };
  const box = svgNode("rect", place);
  box.style.fill = group.slot ? `var(--mha-head-${group.slot})` : "var(--mha-mute)";
  column.append(box);
  if (height < 14 || at.bar < 12) return;
  // The line of the output may cross the segment: the number moves to the larger part, or stays away.
  const crossed = at.now > y1 + 1 && at.now < y1 + height - 1;
  const [from, to] = !crossed ? [y1, y1 + height] : at.now - y1 > height / 2 ? [y1, at.now] : [at.now, y1 + height];
  if (to - from < 14) return;
  const number = svgText(column, at.centre, (from + to) / 2 + 4, group.chip, "mha-svg-chip-number");
  number.style.fill = group.slot ? `var(--mha-head-ink-${group.slot})` : "var(--mha-ink)";
}

function mixerSentence(view, c) {
  const parts = view.groups
    .filter((group) => group.on)
    .map((group) => `${group.title} ${numberText(group.share[c], 2)}`);
  const sum = parts.length ? parts.join(", ") : "no head is on";
  const whole = numberText(view.whole[c], 2);
  return `${view.featureName(c)}: ${sum}. Output now ${numberText(view.now[c], 2)}, with all heads on ${whole}.`;
}
