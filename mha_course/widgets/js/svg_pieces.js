// Small pieces of SVG that several pictures share: nodes, text, framed and hatched boxes, head chips.
//
// svgNode(tag, attributes) -> node          svgText(parent, x, y, text, className, anchor) -> <text>
// paintedCell(box, colour, paint, tip), framed(box), hatched(box) -> <rect> or <g> for box {x, y, width, height}
// headChip(parent, {chip, slot, on}, x, middle): the 16 px chip with a head's number, left edge at x
// Text is set as text content, never as markup. Colours come from the theme's custom properties.

const SVG_SPACE = "http://www.w3.org/2000/svg";

function svgNode(tag, attributes = {}) {
  const node = document.createElementNS(SVG_SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

function svgText(parent, x, y, text, className, anchor = "middle") {
  const node = svgNode("text", { x, y, class: className, "text-anchor": anchor });
  node.textContent = text;
  parent.append(node);
  return node;
}

function paintedCell(box, colour, paint, tip) {
  const node = svgNode("rect", box);
  node.style.fill = colour;
  if (tip) paint.tip(node, tip);
  return node;
}

function framed(box) {
  return svgNode("rect", { x: box.x, y: box.y, width: box.width, height: box.height, class: "mha-frame" });
}

// Lines at 45 degrees, 6 px apart, clipped by hand: a <pattern> would need an id that is unique on the page.
function hatched(box) {
  const group = svgNode("g", { class: "mha-hatch" });
  const { x, y, width, height } = box;
  for (let offset = 8.5; offset < width + height; offset += 8.5) {
    const x1 = Math.max(0, offset - height);
    const x2 = Math.min(width, offset);
    group.append(svgNode("line", { x1: x + x1, y1: y + offset - x1, x2: x + x2, y2: y + offset - x2 }));
  }
  return group;
}

function headChip(parent, group, x, middle) {
  const chip = svgNode("g", { class: "mha-svg-chip" });
  const box = svgNode("rect", { x, y: middle - 8, width: 16, height: 16, rx: 4 });
  box.style.fill = group.slot ? `var(--mha-head-${group.slot})` : "var(--mha-mute)";
  const number = svgText(chip, x + 8, middle + 4, group.chip, "mha-svg-chip-number");
  number.style.fill = group.slot ? `var(--mha-head-ink-${group.slot})` : "var(--mha-ink)";
  chip.prepend(box);
  parent.append(chip);
}
