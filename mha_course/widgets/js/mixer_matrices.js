// The upper half of the OutputMixer: concat of one token, W_O in bands, each head's share, and its size.
//
// drawMixerMatrices(svg, width, view, paint) fills the svg and returns its height in px.
//   view.groups   one entry a head (and one for heads beyond those drawn, and one for the bias):
//                 {title, chip, slot, on, values: [d_v] | null, band: [d_v][columns] | null, share: [columns],
//                  size, names: [d_v] | null}
//   view.columns  how many output features are drawn      view.featureNames  list of strings or null
//   view.scale, view.scaleW   the number at the end of the colour scale for values and for W_O
//   view.text     {concat, wo, shares, size}: the small lines under the four headings
//   paint.diverging(v) -> colour for v in -1..1;  paint.tip(node, text) gives a cell its tooltip
// Parts: [data-part="concat" | "w_o" | "share" | "size"] each with data-head="1"...; switched off: [data-off="true"].

const MIXER_GAP = 5;

function drawMixerMatrices(svg, width, view, paint) {
  svg.replaceChildren();
  const stacked = width < 620;
  const named = view.groups.some((group) => group.names);
  const nameRoom = named ? 66 : 0;
  const left = 92 + nameRoom;
  const top = 44 + (view.featureNames ? 74 : 0);
  const woWidth = stacked
    ? Math.max(96, width - left - 66 - 10)
    : Math.max(150, Math.min(330, (width - left - 292) / 2));
  const cell = woWidth / view.columns;
  const rows = Math.max(1, ...view.groups.map((group) => (group.band ? group.band.length : 1)));
  const bandHeight = Math.max(rows * (named ? 17 : Math.min(14, Math.max(6, 56 / rows))), 34);
  const woX = left + 14 + 52;
  let y = top;
  const layout = view.groups.map((group) => {
    const place = { group, y, height: group.band ? bandHeight : 34 };
    y += place.height + MIXER_GAP;
    return place;
  });
  const bottom = y;

  mixerHeading(svg, left + 7, 14, "concat", view.text.concat, "middle");
  if (stacked) mixerHeading(svg, woX, 14, "W_O", view.text.wo.split(", ")[0], "start");
  else mixerHeading(svg, woX + woWidth / 2, 14, "W_O", view.text.wo, "middle");
  if (view.featureNames) mixerColumnNames(svg, woX, top - 6, cell, view);
  for (const place of layout) mixerBand(svg, place, { left, woX, woWidth, cell, nameRoom }, view, paint);
  const middle = (top + bottom) / 2;
  svgText(svg, left + 33, middle, "·", "mha-mix-sign");

  const shareX = stacked ? 44 : woX + woWidth + 78;
  const shareTop = stacked ? bottom + 66 + (view.featureNames ? 74 : 0) : top;
  const sizeX = shareX + woWidth + 22;
  if (stacked) svgText(svg, 12, shareTop - 40, "=", "mha-mix-sign");
  else svgText(svg, woX + woWidth + 36, middle, "=", "mha-mix-sign");
  const headY = stacked ? bottom + 36 : 14;
  mixerHeading(svg, stacked ? shareX : shareX + woWidth / 2, headY,
    stacked || woWidth > 220 ? "each head’s share of the output" : "each head’s share",
    view.text.shares, stacked ? "start" : "middle");
  if (!stacked) mixerHeading(svg, sizeX, headY, "size", view.text.size, "start");
  if (view.featureNames) mixerColumnNames(svg, shareX, shareTop - 6, cell, view);
  const longest = Math.max(1e-12, ...view.groups.map((group) => group.fullSize));
  let shareBottom = shareTop;
  layout.forEach((place, i) => {
    const rowY = stacked ? shareTop + i * 46 : place.y + place.height / 2 - 13;
    const frame = { x: shareX, y: rowY, width: woWidth, height: 26, cell };
    mixerShare(svg, place.group, frame, view, paint, stacked);
    const room = Math.max(20, Math.min(110, width - sizeX - 46));
    mixerSize(svg, place.group, { x: sizeX, y: rowY + 13, room }, longest);
    if (i + 1 < layout.length) {
      const next = stacked ? rowY + 36 : (place.y + place.height + layout[i + 1].y) / 2;
      svgText(svg, shareX + woWidth / 2, next, "+", "mha-mix-plus");
    }
    shareBottom = rowY + 32;
  });
  const foot = Math.max(bottom, shareBottom) + 14;
  mixerScale(svg, { x: stacked ? shareX : woX, y: foot, width: Math.min(woWidth, 230) }, view, paint);
  if (stacked) mixerLegend(svg, shareX, foot + 34, view, 0, 22);
  else if (shareX + 340 < width) mixerLegend(svg, shareX, foot + 6, view, 240, 0);
  else mixerLegend(svg, shareX, foot + 6, view, 0, 20);
  return foot + (stacked ? 70 : 34);
}

function mixerHeading(svg, x, y, title, note, anchor) {
  svgText(svg, x, y, title, "mha-mix-title", anchor);
  svgText(svg, x, y + 16, note, "mha-mix-note", anchor);
}

function mixerColumnNames(svg, x, y, cell, view) {
  view.featureNames.slice(0, view.columns).forEach((name, i) => {
    const label = svgText(svg, 0, 0, shortWord(name, 14), "mha-mix-tick", "start");
    label.setAttribute("transform", `translate(${x + (i + 0.5) * cell + 3} ${y}) rotate(-50)`);
  });
}

function headStrip(svg, group, x, y, height) {
  const strip = svgNode("rect", { x, y, width: 4, height, class: "mha-mix-strip" });
  strip.style.fill = group.slot ? `var(--mha-head-${group.slot})` : "var(--mha-mute)";
  if (!group.on) strip.style.opacity = "0.35";
  svg.append(strip);
}

function mixerBand(svg, place, at, view, paint) {
  const { group, y, height } = place;
  const centre = y + height / 2;
  svgChip(svg, group, 0, centre);
  svgText(svg, 24, centre + 4, group.on ? group.title : "off", "mha-mix-label", "start");
  if (!group.band) {
    svgText(svg, at.woX, centre + 4, group.missing, "mha-mix-note", "start");
    return;
  }
  headStrip(svg, group, at.left - 8, y, height);
  headStrip(svg, group, at.woX - 8, y, height);
  const rowHeight = height / group.band.length;
  if (group.names) {
    group.names.slice(0, group.band.length).forEach((name, r) => {
      svgText(svg, at.left - 12, y + (r + 0.5) * rowHeight + 4, shortWord(name, 11), "mha-mix-tick", "end");
    });
  }
  const concat = svgNode("g", { "data-part": "concat", "data-head": group.key, "data-off": String(!group.on) });
  const wo = svgNode("g", { "data-part": "w_o", "data-head": group.key, "data-off": String(!group.on) });
  if (group.on) {
    group.band.forEach((row, r) => {
      const value = group.values[r];
      const name = group.names ? `${group.title}, ${group.names[r]}` : `${group.title}, value ${r}`;
      const box = { x: at.left, y: y + r * rowHeight, width: 14, height: rowHeight };
      concat.append(paintedCell(box, paint.diverging(value / view.scale), paint, `${name}  ${numberText(value, 2)}`));
      row.forEach((weight, c) => {
        const cellBox = { x: at.woX + c * at.cell, y: y + r * rowHeight, width: at.cell, height: rowHeight };
        const tip = `W_O: ${name} → ${view.featureName(c)}  ${numberText(weight, 2)}`;
        wo.append(paintedCell(cellBox, paint.diverging(weight / view.scaleW), paint, tip));
      });
    });
  } else {
    concat.append(hatched({ x: at.left, y, width: 14, height }));
    wo.append(hatched({ x: at.woX, y, width: at.woWidth, height }));
  }
  concat.append(framed({ x: at.left, y, width: 14, height }));
  wo.append(framed({ x: at.woX, y, width: at.woWidth, height }));
  svg.append(concat, wo);
}

function mixerShare(svg, group, box, view, paint, withChip) {
  if (withChip) svgChip(svg, group, 8, box.y + 13);
  headStrip(svg, group, box.x - 8, box.y, box.height);
  const part = svgNode("g", { "data-part": "share", "data-head": group.key, "data-off": String(!group.on) });
  if (group.on) {
    group.share.slice(0, view.columns).forEach((value, c) => {
      const cellBox = { x: box.x + c * box.cell, y: box.y, width: box.cell, height: box.height };
      const tip = `${group.title} → ${view.featureName(c)}  ${numberText(value, 2)}`;
      part.append(paintedCell(cellBox, paint.diverging(value / view.scale), paint, tip));
    });
  } else {
    part.append(hatched(box));
  }
  part.append(framed(box));
  svg.append(part);
}

function mixerSize(svg, group, at, longest) {
  const part = svgNode("g", { "data-part": "size", "data-head": group.key });
  const length = group.on ? (group.size / longest) * at.room : 0;
  if (length > 0) {
    const bar = svgNode("rect", { x: at.x, y: at.y - 6, width: length, height: 12 });
    bar.style.fill = group.slot ? `var(--mha-head-${group.slot})` : "var(--mha-mute)";
    part.append(bar);
  }
  svgText(part, at.x + length + 6, at.y + 4, group.on ? numberText(group.size, 2) : "0", "mha-mix-label", "start");
  svg.append(part);
}

function mixerScale(svg, at, view, paint) {
  const steps = 64;
  for (let i = 0; i < steps; i++) {
    const box = { x: at.x + (i * at.width) / steps, y: at.y, width: at.width / steps + 0.5, height: 10 };
    svg.append(paintedCell(box, paint.diverging((2 * (i + 0.5)) / steps - 1), null, ""));
  }
  svg.append(framed({ x: at.x, y: at.y, width: at.width, height: 10 }));
  const zero = svgNode("line", { x1: at.x + at.width / 2, x2: at.x + at.width / 2, y1: at.y - 3, y2: at.y + 13 });
  zero.setAttribute("class", "mha-mix-zero");
  svg.append(zero);
  svgText(svg, at.x - 6, at.y + 9, MINUS + plainNumber(view.scale), "mha-mix-tick", "end");
  svgText(svg, at.x + at.width + 6, at.y + 9, "+" + plainNumber(view.scale), "mha-mix-tick", "start");
}

function mixerLegend(svg, x, y, view, right, down) {
  const words = `W_O: ${MINUS}${plainNumber(view.scaleW)} to +${plainNumber(view.scaleW)} on the same colours`;
  svgText(svg, x, y + 3, words, "mha-mix-tick", "start");
  const start = x + right;
  const box = { x: start, y: y + down - 7, width: 20, height: 11 };
  svg.append(hatched(box), framed(box));
  svgText(svg, start + 26, y + down + 3, "switched off", "mha-mix-tick", "start");
}
