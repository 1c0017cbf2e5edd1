// The PositionHead: a head set by hand from the sinusoids. Sliders for offset, sharpness, width and length; the map,
// the scores by distance from the target, and how surely the target is found.
//
// Traits: offset, beta, d_k, n, d_model, stops {offset, beta, d_k, n}. The answer holds kernel, gap, rival, least,
// queries, confidence, enough (null: no sharpness is), the payload n × n weights as uint16.
// Parts: [data-control="offset" | "beta" | "d_k" | "n"], canvas.mha-cells, [data-fact="least" | "gap" |
// "confidence" | "enough"], .mha-pos-words, svg.mha-pos-chart.

const MAP_SIDE = 336;

function positionFact(name, words) {
  const number = node("span", { class: "mha-fact", "data-fact": name });
  return { box: node("div", { class: "mha-pos-fact" }, number, node("span", { class: "mha-sub" }, words)), number };
}

function placesAway(k) {
  if (k === 0) return "its own position";
  const places = Math.abs(k) === 1 ? "the position" : `the position ${Math.abs(k)} places`;
  return `${places} ${k < 0 ? "before" : "after"}${Math.abs(k) === 1 ? " it" : ""}`;
}

function positionSentence(found) {
  const { n, offset, beta, least, queries, rival, d_k: width, enough } = found;
  const count = Math.abs(offset);
  const edge = count ? ` ${count === 1 ? "Query" : "Queries"} ${edgeQueries(n, offset)} ${count === 1 ? "has" : "have"} no such position: the weight goes elsewhere.` : "";
  if (beta === 0) return `β = 0: every score is 0, and every weight is 1/${n}.`;
  const all = `Each of ${queries} queries gives ${placesAway(offset)} at least ${leastText(least)}.`;
  if (least < 0.99 && rival > 1) {
    return `${all} Its nearest rival is ${rival} places away: there the ${width === 2 ? "only frequency has" : `${width / 2} frequencies have`} nearly come round to where ${width === 2 ? "it" : "they"} started.${edge}`;
  }
  if (least < 0.99 && enough !== null) {
    return `${all} From β = ${enoughText(enough)} on it is surely 0.99.${edge}`;
  }
  return all + edge;
}

function edgeQueries(n, offset) {
  const count = Math.abs(offset);
  if (offset < 0) return count === 1 ? "0" : `0 to ${count - 1}`;
  return count === 1 ? String(n - 1) : `${n - count} to ${n - 1}`;
}

function leastText(weight) {
  if (weight > 0.9995 && weight < 1) return "more than 0.999";
  return weight < 0.0005 ? "less than 0.001" : weight.toFixed(3);
}

// Rounded up: what is said to be enough is enough.
function enoughText(beta) {
  if (beta === null) return "none";
  return beta >= 1000 ? withCommas(Math.ceil(beta)) : numberText(Math.ceil(beta * 10) / 10, 1);
}

function shortText(weight) {
  return leastText(weight).replace("more than ", ">").replace("less than ", "<");
}

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-pos", role: "group", "aria-label": "A head set by hand from positions" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tip = tooltip(root);
  const names = ["offset", "beta", "d_k", "n"];
  const stops = model.get("stops");
  const minus = (k) => String(k).replace("-", "−");
  let theme = "light";
  let found = null;
  let weights = null;
  let lit = null;

  const controls = {};
  const sliders = node("div", { class: "mha-pos-controls" });
  const made = {
    offset: ["offset k", (k) => (k === 0 ? "its own position" : `${Math.abs(k)} ${k < 0 ? "back" : "ahead"}`)],
    beta: ["sharpness β", (b) => `sharpness ${b}`],
    d_k: ["width d_k", (d) => `${d} columns, ${d / 2} frequencies`],
    n: ["positions n", (n) => `${n} positions`],
  };
  for (const name of names) {
    const shown = new Map(stops[name].map((stop) => [minus(stop), stop]));
    controls[name] = slider({
      label: made[name][0],
      name,
      stops: [...shown.keys()],
      value: minus(model.get(name)),
      onInput: (text) => answers.ask({ [name]: shown.get(text) }),
      describe: (text) => made[name][1](shown.get(text)),
    });
    sliders.append(controls[name].element);
  }

  const map = weightMap({
    index: 0,
    onCell: (q, k, by) => light(q, k, by === "keyboard"),
    onLeave: () => light(-1, -1, false),
    onPick: () => {},
    onKey: walk,
  });
  map.frame.tabIndex = 0;
  map.frame.removeAttribute("data-head");
  const dots = svgNode("svg", { class: "mha-pos-targets", "aria-hidden": "true" });
  map.frame.append(dots);
  const [down, along] = [node("div", { class: "mha-pos-down" }), node("div", { class: "mha-pos-along" })];
  const mapBox = node("div", { class: "mha-pos-map" }, along, down, map.element);
  const chart = svgNode("svg", { class: "mha-pos-chart", role: "img", "aria-label": "Score by distance from the target" });
  const facts = {};
  const factBox = node("div", { class: "mha-pos-facts" });
  for (const [name, words] of [["least", "least weight on a target"], ["gap", "gap: κ(0) − κ of the nearest rival"],
    ["confidence", "confidence: mean of the rows’ largest weights"], ["enough", "a β that surely gives 0.99"]]) {
    const fact = positionFact(name, words);
    facts[name] = fact.number;
    factBox.append(fact.box);
  }
  const words = node("p", { class: "mha-pos-words" });
  const side = node("div", { class: "mha-pos-side" }, node("h4", { class: "mha-label" }, "score β · κ(m), for a key m places from the target"), chart, factBox);
  root.append(
    node("div", { class: "mha-pos-head" }, node("h3", { class: "mha-heading" }, "A head that looks at a position"),
      node("span", { class: "mha-code" }, "softmax( β · κ(query + k − key) )")),
    sliders,
    node("hr", { class: "mha-rule" }),
    node("div", { class: "mha-pos-body mha-drawing" }, node("div", {}, node("div", { class: "mha-note mha-pos-axes" }, "query ↓  key →   ○ target"), mapBox), side),
    words,
    node("div", { class: "mha-computing" }, "computing"),
  );

  function light(q, k, byKeyboard) {
    lit = q >= 0 ? [q, k] : null;
    map.light(q, k, true, byKeyboard);
    if (!lit || !weights) return void tip.hide();
    const weight = weightInWords(weights[q * found.n + k] / 65535);
    tip.show(map.cellRect(q, k), node("b", {}, `${q} → ${k}`), `  ${weight}`);
    if (byKeyboard) say(`query ${q}, key ${k}: ${weight}`);
  }

  function walk(event) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Escape") return void light(-1, -1, false);
    if (!step || !found || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const at = (value) => Math.min(found.n - 1, Math.max(0, value));
    light(...(lit ? [at(lit[0] + step[0]), at(lit[1] + step[1])] : [0, 0]), true);
  }

  function numbers(box, n, cell, across) {
    const every = [1, 2, 4, 8].find((step) => step * cell >= (across ? 20 : 14)) || 16;
    box.replaceChildren();
    for (let p = 0; p < n; p += every) {
      const label = node("span", { class: "mha-pos-place" }, String(p));
      label.style[across ? "left" : "top"] = `${(p + 0.5) * cell}px`;
      box.append(label);
    }
  }

  function draw() {
    if (!found) return;
    const { n, offset } = found;
    // In a narrow window the map takes what is left beside the padding and the numbers of its rows.
    const room = Math.min(MAP_SIDE, widthOf(root, 838) - 70);
    const cell = Math.max(3, Math.floor(room / n));
    const side = cell * n;
    map.place({ tokens: Array.from({ length: n }, () => ""), cell, side, keyLabelsShown: false, queryLabelsShown: false, angle: 0, hatchSource: null });
    map.draw(weights, 1, theme);
    numbers(along, n, cell, true);
    numbers(down, n, cell, false);
    dots.setAttribute("viewBox", `0 0 ${side} ${side}`);
    dots.replaceChildren();
    for (let q = Math.max(0, -offset); q < n - Math.max(0, offset); q += 1) {
      const light = weights[q * n + q + offset] / 65535 > (theme === "light" ? 0.5 : 0.6);
      dots.append(svgNode("circle", { cx: (q + offset + 0.5) * cell, cy: (q + 0.5) * cell, r: Math.min(5, cell / 4), class: light ? "is-over-strong" : null }));
    }
    drawPositionChart(chart, found, Math.max(220, widthOf(chart, 400)));
  }

  function onAnswer(header, payload) {
    found = header;
    weights = new Uint16Array(payload.buffer.slice(payload.byteOffset, payload.byteOffset + payload.byteLength));
    draw();
    setText(facts.least, shortText(header.least));
    setText(facts.gap, gapText(header.gap));
    setText(facts.confidence, shortText(header.confidence));
    setText(facts.enough, enoughText(header.enough));
    setText(words, positionSentence(header));
    map.name(model.get("alt"));
    map.describe("Attention map; arrow keys walk over the cells");
    chart.setAttribute("aria-label", `Score by distance from the target: ${numberText(header.beta * header.kernel[0], 1)} on it, ` +
      `${numberText(header.beta * header.kernel[header.rival], 1)} at the nearest rival, ${header.rival} places away`);
    if (lit) light(Math.min(lit[0], header.n - 1), Math.min(lit[1], header.n - 1), false);
    say(positionSentence(header));
    return true;
  }

  const answers = connect(model, root, names, onAnswer, () => {
    for (const name of names) controls[name].set(minus(model.get(name)));
  });
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    draw();
  });
  const resized = new ResizeObserver(() => draw());
  resized.observe(root);
  answers.draw();
  return () => {
    answers.stop();
    stopTheme();
    resized.disconnect();
  };
}
