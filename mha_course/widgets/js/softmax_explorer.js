// The SoftmaxExplorer: one row of scores under sliders, a factor c, and the weights softmax(c * scores) as bars.
//
// Traits: scores (list of numbers), factor, labels, start (the scores to go back to), limit (sliders go from -limit to
// limit), factors (stops of the factor). Everything is computed here (softmax_math.js), Python learns it on release.
// Parts: input[type=range][data-score="0"]..., [data-bar="0"]..., [data-weight="0"]... (two decimals),
// [data-factor] the factor's slider, button[data-add="1"], button[data-reset],
// [data-fact="sum" | "largest" | "spread" | "gradient"], .mha-soft-words.

function softNode(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function softRow(model, index, changed, sent) {
  const row = softNode("div", "mha-soft-row");
  const label = softNode("span", "mha-soft-label", shortWord(model.get("labels")[index], 14));
  label.dir = "auto";
  label.title = model.get("labels")[index];
  const slider = softNode("input", "mha-range");
  slider.type = "range";
  slider.min = String(-model.get("limit"));
  slider.max = String(model.get("limit"));
  slider.step = "0.1";
  slider.dataset.score = String(index);
  slider.setAttribute("aria-label", `score of ${model.get("labels")[index]}`);
  const score = softNode("span", "mha-soft-number");
  const scaled = softNode("span", "mha-soft-number mha-soft-scaled");
  const track = softNode("div", "mha-soft-track");
  const bar = softNode("div", "mha-soft-bar");
  bar.dataset.bar = String(index);
  track.append(bar);
  const weight = softNode("span", "mha-soft-number mha-soft-weight");
  weight.dataset.weight = String(index);
  slider.addEventListener("input", () => changed(index, Number(slider.value)));
  slider.addEventListener("change", sent);
  // Arrow keys belong to the slider, not to the notebook.
  slider.addEventListener("keydown", (event) => event.stopPropagation());
  row.append(label, slider, score, scaled, track, weight);
  return { row, slider, score, scaled, bar, weight };
}

function softFact(name, words) {
  const box = softNode("div", "mha-soft-fact");
  const number = softNode("span", "mha-fact");
  number.dataset.fact = name;
  box.append(number, softNode("span", "mha-label", words));
  return { box, number };
}

function softWidth(c) {
  // c = 1/sqrt(d_k) for a whole d_k: then the factor is one that a head really uses.
  const d = 1 / (c * c);
  return c > 0 && c < 1 && Math.abs(d - Math.round(d)) < 1e-6 * d ? Math.round(d) : null;
}

function softSentence(labels, scores, c, found) {
  const n = scores.length;
  const width = softWidth(c);
  const lead = width ? `c = ${plainNumber(c)} = 1/√${width}: the factor of a head with d_k = ${width}. ` : `c = ${plainNumber(c)}. `;
  if (n === 1) return lead + "One score alone always gets weight 1.";
  if (c === 0) return lead + `All scores count the same: every weight is 1/${n}, and moving a score changes nothing.`;
  if (found.largest > 0.99) return lead + `Nearly one-hot: “${labels[found.winner]}” takes almost everything, and hardly any gradient is left.`;
  if (found.spread > 0.98) return lead + "Nearly even: the row is close to a plain average.";
  const ordered = [...found.scaled].sort((a, b) => b - a);
  const gap = ordered[0] - ordered[1];
  return lead + `The largest weight is ${plainNumber(Math.exp(gap))} times the next one: e to the power of their distance, ${numberText(gap, 2)}.`;
}

function renderSoftmaxExplorer(model, root, theme) {
  root.classList.add("mha-soft");
  let scores = [...model.get("scores")];
  let c = model.get("factor");
  const limit = model.get("limit");
  const head = softNode("div", "mha-soft-head");
  head.append(softNode("h3", "mha-heading", "Softmax of one row"), softNode("span", "mha-code", "softmax(c * scores)"));
  const names = softNode("div", "mha-soft-row mha-soft-names");
  for (const [kind, text] of [["mha-soft-label", ""], ["", "score s"], ["mha-soft-number", "s"], ["mha-soft-number", "c · s"],
    ["mha-soft-axis", ""], ["mha-soft-number", "weight"]]) names.append(softNode("span", kind, text));
  names.children[4].append(softNode("span", "", "0"), softNode("span", "", "0.5"), softNode("span", "", "1"));
  names.setAttribute("aria-hidden", "true");

  const send = () => {
    model.set("scores", scores);
    model.set("factor", c);
    model.save_changes();
  };
  const rows = scores.map((_, i) => softRow(model, i, (at, value) => { scores[at] = value; draw(); }, send));
  const list = softNode("div", "mha-soft-rows");
  list.append(names, ...rows.map((row) => row.row));

  const controls = softNode("div", "mha-soft-controls");
  const stops = softStops(model.get("factors"), c);
  const factor = theme.stopSlider({
    label: "factor c",
    stops,
    value: c,
    format: (value) => plainNumber(value),
    onChange: (value) => { c = value; draw(); send(); },
  });
  factor.node.dataset.factor = "true";
  const more = softNode("button", "mha-button", "add 1 to every score");
  more.type = "button";
  more.dataset.add = "1";
  const back = softNode("button", "mha-button", "back to the start");
  back.type = "button";
  back.dataset.reset = "true";
  const buttons = softNode("div", "mha-buttons");
  buttons.append(more, back);
  controls.append(factor.node, buttons);
  more.addEventListener("click", () => { scores = scores.map((s) => Math.min(limit, s + 1)); draw(); send(); });
  back.addEventListener("click", () => {
    scores = [...model.get("start")];
    c = model.get("start_factor");
    factor.set(c);
    draw();
    send();
  });

  const facts = softNode("div", "mha-soft-facts");
  const shown = {};
  for (const [name, words] of [["sum", "sum of the weights"], ["largest", "largest weight"],
    ["spread", "entropy / log n"], ["gradient", "gradient size ‖diag(a) − a aᵀ‖"]]) {
    const fact = softFact(name, words);
    shown[name] = fact.number;
    facts.append(fact.box);
  }
  const words = softNode("p", "mha-soft-words");
  words.setAttribute("role", "status");
  root.append(head, list, controls, softNode("hr", "mha-rule"), facts, words);

  function draw() {
    const found = softmaxReadout(scores, c);
    rows.forEach((row, i) => {
      row.slider.value = String(scores[i]);
      row.slider.setAttribute("aria-valuetext", `${numberText(scores[i], 1)}, weight ${found.weights[i].toFixed(2)}`);
      row.slider.style.setProperty("--mha-filled", `${(50 * (scores[i] + limit)) / limit}%`);
      row.score.textContent = numberText(scores[i], 1);
      row.scaled.textContent = numberText(found.scaled[i], 2);
      row.bar.style.width = `${found.weights[i] * 100}%`;
      row.weight.textContent = found.weights[i].toFixed(2);
    });
    shown.sum.textContent = found.sum.toFixed(2);
    shown.largest.textContent = found.largest.toFixed(2);
    shown.spread.textContent = found.spread.toFixed(2);
    shown.gradient.textContent = found.gradient.toFixed(3);
    words.textContent = softSentence(model.get("labels"), scores, c, found);
    more.disabled = Math.max(...scores) + 1 > limit;
  }
  const pull = () => {
    scores = [...model.get("scores")];
    c = model.get("factor");
    factor.set(c);
    draw();
  };
  model.on("change:scores", pull);
  model.on("change:factor", pull);
  draw();
  return () => {
    model.off("change:scores", pull);
    model.off("change:factor", pull);
  };
}

function softStops(factors, c) {
  return [...new Set([...factors, c])].sort((a, b) => a - b);
}
