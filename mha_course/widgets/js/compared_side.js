// One of the two heads of a HeadsCompared: choice of layer and head, numbers, the large map, marks of a shuffle.
//
// comparedSide({ name, label, onChoose, onCell, onLeave, onKey }) -> { element, map, offer, place, draw, light, told }
// Marks: a diamond where a row looks if it keeps its distance, a ring where it looks if it keeps its word.

const MOST_CHOICES = 16;

function comparedSide({ name, label, onChoose, onCell, onLeave, onKey }) {
  const chip = node("span", { class: "mha-chip mha-chip-large", "aria-hidden": "true" });
  const title = node("h4", { class: "mha-heading" });
  const choices = node("div", { class: "mha-row mha-compare-choices" });
  const numbers = node("p", { class: "mha-sub" });
  const map = weightMap({ index: 0, large: true, onCell, onLeave, onPick: () => {}, onKey });
  map.frame.tabIndex = 0;
  const marks = svgNode("svg", { class: "mha-compare-marks", "aria-hidden": "true" });
  map.frame.append(marks);
  const line = node("p", { class: "mha-compare-line" });
  const element = node(
    "section", { class: `mha-compare-side is-${name}`, "aria-label": label },
    choices, node("div", { class: "mha-compare-title" }, chip, title), numbers,
    node("div", { class: "mha-drawing" }, map.element), line,
  );
  let controls = null;
  let offered = "";
  let cell = 0;

  // Layer and head to choose from; chosen: [layer, head], from 1.
  function offer(layers, heads, chosen) {
    if (offered !== `${layers} ${heads}`) {
      offered = `${layers} ${heads}`;
      controls = [["layer", layers], ["head", heads]].map(([what, count], at) => {
        const stops = Array.from({ length: count }, (_, i) => i + 1);
        const own = `${name}-${what}`;
        const change = (value) => onChoose(at, value);
        if (count > MOST_CHOICES) return slider({ label: what, name: own, stops, value: chosen[at], onInput: change });
        return segmented({ label: what, name: own, value: chosen[at], onChange: change, options: stops.map((i) => ({ value: i, label: String(i), title: `${label}: ${what} ${i}` })) });
      });
      choices.replaceChildren(...controls.map((control) => control.element));
    }
    controls.forEach((control, at) => control.set(chosen[at]));
  }

  function place(frame, unknown, width, theme, family) {
    const { nQ, nK, queries, keys } = frame;
    const around = (size) => ({ left: labelRoom(queries, size, family).left, ...pick(labelRoom(keys, size, family)) });
    const pick = ({ top, right, angle }) => ({ top, right: Math.min(right, 50), angle });
    const fits = (space) => Math.min(30, (width - space.left - space.right) / nK);
    let space = around(fits(around(16)));
    cell = fits(space);
    const labelled = cell >= 11;
    if (!labelled) {
      space = { left: 2, top: 4, angle: 60 };
      cell = Math.min(30, (width - 4) / nK);
    }
    cell = Math.max(2, Math.floor(cell * 4) / 4);
    map.element.style.padding = `${space.top}px 0 0 ${space.left}px`;
    map.place({
      tokens: queries, keyTokens: keys, unknown, cell, side: cell * nQ, angle: space.angle, keyLabelsShown: labelled, queryLabelsShown: labelled,
      hatchSource: frame.allowed ? hatchPicture(frame.allowed, nQ, nK, cell * nK, cell * nQ, theme) : null,
    });
  }

  // marksOf: { place, word } of this head, one key place a row or −1; null without a shuffle.
  function draw(frame, [layer, head], marksOf, theme) {
    map.draw(frame.head(layer, head), 1, theme);
    map.name(`Attention map of ${frame.name(layer, head)}, ${frame.numbers(layer, head)}`);
    map.describe(`${label}: ${frame.name(layer, head)}. Arrow keys walk over the cells.`);
    setText(chip, String(head + 1));
    paintChip(chip, head, theme);
    setText(title, `Layer ${layer + 1}, head ${head + 1}`);
    setText(numbers, frame.numbers(layer, head));
    marks.setAttribute("width", frame.nK * cell);
    marks.setAttribute("height", frame.nQ * cell);
    marks.replaceChildren(...(marksOf && cell >= 7 ? shapes(frame, layer, head, marksOf, theme) : []));
  }

  function shapes(frame, layer, head, { place: places, word: words }, theme) {
    const parts = [];
    const radius = Math.min(6, cell * 0.3);
    const middle = (i) => (i + 0.5) * cell;
    for (let q = 0; q < frame.nQ; q += 1) {
      const ink = (k) => ({ fill: "none", "stroke-width": 1.6, stroke: textOn(weightColour(frame.weight(layer, head, q, k), theme)) });
      if (places[q] >= 0) {
        const [x, y] = [middle(places[q]), middle(q)];
        const d = `M ${x} ${y - radius} L ${x + radius} ${y} L ${x} ${y + radius} L ${x - radius} ${y} Z`;
        parts.push(svgNode("path", { ...ink(places[q]), d, "data-mark": "place" }));
      }
      if (words[q] >= 0) parts.push(svgNode("circle", { ...ink(words[q]), cx: middle(words[q]), cy: middle(q), r: radius * 0.85, "data-mark": "word" }));
    }
    return parts;
  }

  return {
    element, map, offer, place, draw,
    light: (q, k, own, byKeyboard) => map.light(q, k, own, byKeyboard),
    told(...parts) { line.replaceChildren(...parts); },
  };
}
