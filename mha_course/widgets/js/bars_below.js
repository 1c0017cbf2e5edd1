// Bars hanging below the words: one weight each, on a fixed axis from 0 to 1, with its number.

const BAR_AXIS = 92; // px for a weight of 1

function barsBelow({ values, x, top, width, step, chosen, tint, theme }) {
  const parts = [];
  const line = (y, stroke) => svgNode("line", { x1: 0, x2: width, y1: y, y2: y, stroke, "stroke-width": 1 });
  const bar = Math.max(3, Math.min(18, step * 0.6));
  const everyNumber = step >= 19;
  values.forEach((value, i) => {
    const length = value * BAR_AXIS;
    if (value >= 0.004) {
      parts.push(svgNode("rect", { x: x[i] - bar / 2, y: top, width: bar, height: Math.max(1, length), fill: tint, "data-bar": i }));
    }
    // Where columns are narrow, only weights that matter carry their number.
    if (!everyNumber && value < 0.1 && i !== chosen) return;
    const text = svgNode("text", {
      x: x[i], y: top + length + 13, "text-anchor": "middle", "font-size": 11,
      "font-weight": i === chosen ? 700 : 400, fill: colour(i === chosen ? "ink" : "ink2", theme),
    }, barNumber(value));
    parts.push(text);
  });
  parts.push(line(top, colour("edge", theme)), line(top + BAR_AXIS + 20, colour("line", theme)));
  parts.push(svgNode("text", { x: 0, y: top + BAR_AXIS + 15, "font-size": 11, fill: colour("ink3", theme) }, "weight 1"));
  return { parts, height: BAR_AXIS + 24 };
}

// ".58", "0" for nothing, "1" for all.
function barNumber(value) {
  const text = value.toFixed(2);
  if (value === 0) return "0";
  if (text === "1.00") return "1";
  if (text === "0.00") return "0";
  return text.slice(1);
}
