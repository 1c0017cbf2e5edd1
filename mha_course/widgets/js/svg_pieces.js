// Small pieces of SVG that several pictures share: text, framed and hatched boxes, head chips.
//
// svgText(parent, x, y, text, className, anchor) -> <text>
// paintedCell(box, colour, paint, tip), framed(box), hatched(box) -> <rect> or <g> for box {x, y, width, height}
// svgChip(parent, {chip, slot}, x, middle): the 16 px chip with a head's number, left edge at x
// headBadge(head): the same as an HTML element, head from 0
// headVariables(root, theme): the heads' colours as --mha-head-1, --mha-head-ink-1, ... on the root
// Text is set as text content, never as markup. Colours come from the theme's custom properties.

function svgText(parent, x, y, text, className, anchor = "middle") {
  const label = svgNode("text", { x, y, class: className, "text-anchor": anchor });
  label.textContent = text;
  parent.append(label);
  return label;
}

function paintedCell(box, colour, paint, tip) {
  const cell = svgNode("rect", box);
  cell.style.fill = colour;
  if (tip) paint.tip(cell, tip);
  return cell;
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

function svgChip(parent, group, x, middle) {
  const chip = svgNode("g", { class: "mha-svg-chip" });
  const box = svgNode("rect", { x, y: middle - 8, width: 16, height: 16, rx: 4 });
  box.style.fill = group.slot ? `var(--mha-head-${group.slot})` : "var(--mha-mute)";
  const number = svgText(chip, x + 8, middle + 4, group.chip, "mha-svg-chip-number");
  number.style.fill = group.slot ? `var(--mha-head-ink-${group.slot})` : "var(--mha-ink)";
  chip.prepend(box);
  parent.append(chip);
}

function headBadge(head) {
  const badge = node("span", { class: "mha-chip mha-own-chip" }, String(head + 1));
  badge.style.setProperty("--mha-own", `var(--mha-head-${(head % 12) + 1})`);
  badge.style.setProperty("--mha-own-ink", `var(--mha-head-ink-${(head % 12) + 1})`);
  return badge;
}

function headVariables(root, theme) {
  for (let i = 0; i < 12; i++) {
    root.style.setProperty(`--mha-head-${i + 1}`, headColour(i, theme));
    root.style.setProperty(`--mha-head-ink-${i + 1}`, textOn(headColour(i, theme)));
  }
}

// A minus sign as wide as a plus, and no sign on what is rounded to zero.
const MINUS = "\u2212";

function numberText(value, places) {
  if (!Number.isFinite(value)) return value < 0 ? MINUS + "∞" : "∞";
  const text = Math.abs(value).toFixed(places);
  return (value < 0 && Number(text) !== 0 ? MINUS : "") + text;
}

function plainNumber(value) {
  return String(Number(value.toPrecision(3)));
}

function shortWord(text, limit = 12) {
  const points = Array.from(String(text));
  return points.length > limit ? points.slice(0, limit - 1).join("") + "…" : String(text);
}
