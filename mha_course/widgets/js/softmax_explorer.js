// The SoftmaxExplorer: one row of scores under sliders, a factor c, and the weights softmax(c * scores) as bars.
//
// Traits: scores (list of numbers), factor, labels, start (the scores to go back to), limit (sliders go from -limit to
// limit), factors (stops of the factor). Everything is computed here (softmax_math.js), Python learns it on release.
// Parts: input[type=range][data-score="0"]..., [data-bar="0"]..., [data-weight="0"]... (two decimals),
// [data-factor] the factor's slider, button[data-add="1"], button[data-reset],
// [data-fact="sum" | "largest" | "spread" | "gradient"], .mha-soft-words.

function softRow(model, index, changed, sent) {
  const row = node("div", { class: "mha-soft-row" });
  const label = node("span", { class: "mha-soft-label" }, shortWord(model.get("labels")[index], 14));
  label.dir = "auto";
  label.title = model.get("labels")[index];
  const handle = node("input", { class: "mha-range" });
  handle.type = "range";
  handle.min = String(-model.get("limit"));
  handle.max = String(model.get("limit"));
  handle.step = "0.1";
  handle.dataset.score = String(index);
  handle.setAttribute("aria-label", `score of ${model.get("labels")[index]}`);
  const score = node("span", { class: "mha-soft-number" });
  const scaled = node("span", { class: "mha-soft-number mha-soft-scaled" });
  const track = node("div", { class: "mha-soft-track" });
  const bar = node("div", { class: "mha-soft-bar" });
  bar.dataset.bar = String(index);
  track.append(bar);
  const weight = node("span", { class: "mha-soft-number mha-soft-weight" });
  weight.dataset.weight = String(index);
  handle.addEventListener("input", () => changed(index, Number(handle.value)));
  handle.addEventListener("change", sent);
  // Arrow keys belong to the slider, not to the notebook.
  handle.addEventListener("keydown", (event) => event.stopPropagation());
  row.append(label, handle, score, scaled, track, weight);
  return { row, handle, score, scaled, bar, weight };
}

function softFact(name, words, formula) {
  const box = node("div", { class: "mha-soft-fact" });
  const number = node("span", { class: "mha-fact" });
  number.dataset.fact = name;
  box.append(number, node("span", { class: "mha-sub" }, words));
  if (formula) box.append(node("span", { class: "mha-note" }, formula));
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
  const lead = width ? `c = ${plainNumber(c)} = 1/√${width}: the factor of a head with ${width} features (d_k = ${width}). ` : `c = ${plainNumber(c)}. `;
  if (n === 1) return lead + "One score alone always gets weight 1.";
  if (c === 0) return lead + `All scores count the same: every weight is 1/${n}, and moving a score changes nothing.`;
  if (found.largest > 0.99) return lead + `“${labels[found.winner]}” takes almost everything, and a small change of the scores does hardly anything.`;
  if (found.spread > 0.98) return lead + "Nearly even: the row is close to a plain average.";
  const ordered = [...found.scaled].sort((a, b) => b - a);
  const gap = ordered[0] - ordered[1];
  if (gap < 5e-4) return lead + "The two largest scores are equal, and so are their weights.";
  return lead + `The largest weight is ${plainNumber(Math.exp(gap))} times the next one: e to the power of their distance, ${numberText(gap, 2)}.`;
}

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-soft", role: "group", "aria-label": "Softmax of one row" });
  el.append(root);
  let scores = [...model.get("scores")];
  let c = model.get("factor");
  const limit = model.get("limit");
  const head = node("div", { class: "mha-soft-head" });
  head.append(node("h3", { class: "mha-heading" }, "Softmax of one row"), node("span", { class: "mha-code" }, "softmax(c * scores)"));
  const names = node("div", { class: "mha-soft-row mha-soft-names" });
  for (const [kind, text] of [["mha-soft-label", ""], ["", "score s"], ["mha-soft-number", "s"], ["mha-soft-number", "c · s"],
    ["mha-soft-axis", ""], ["mha-soft-number", "weight"]]) names.append(node("span", { class: kind }, text));
  names.children[4].append(node("span", {}, "0"), node("span", {}, "0.5"), node("span", {}, "1"));
  names.setAttribute("aria-hidden", "true");

  const send = () => {
    model.set("scores", [...scores]);
    model.set("factor", c);
    model.save_changes();
  };
  const rows = scores.map((_, i) => softRow(model, i, (at, value) => { scores[at] = value; draw(); }, send));
  const list = node("div", { class: "mha-soft-rows" });
  list.append(names, ...rows.map((row) => row.row));

  const controls = node("div", { class: "mha-soft-controls" });
  let stops = softStops(model.get("factors"), c);
  const factor = slider({
    label: "factor c",
    stops: stops.map(softFactor),
    value: softFactor(c),
    onInput: (shown) => { c = stops[stops.map(softFactor).indexOf(shown)]; draw(); send(); },
    describe: (shown) => `factor ${shown}`,
  });
  factor.element.dataset.factor = "true";
  const more = node("button", { class: "mha-button" }, "add 1 to every score");
  more.type = "button";
  more.dataset.add = "1";
  const back = node("button", { class: "mha-button" }, "back to the start");
  back.type = "button";
  back.dataset.reset = "true";
  const buttons = node("div", { class: "mha-buttons" });
  buttons.append(more, back);
  controls.append(factor.element, buttons);
  more.addEventListener("click", () => { scores = scores.map((s) => Math.min(limit, s + 1)); draw(); send(); });
  back.addEventListener("click", () => {
    scores = [...model.get("start")];
    c = model.get("start_factor");
    factor.set(softFactor(c));
    draw();
    send();
  });

  const facts = node("div", { class: "mha-soft-facts" });
  const shown = {};
  for (const [name, words, formula] of [["sum", "sum of the weights"], ["largest", "largest weight"],
    ["spread", "how even (1 = all alike)", "entropy / log n"],
    ["gradient", "how much a change of the scores would do", "‖diag(a) − a aᵀ‖, size of the gradient"]]) {
    const fact = softFact(name, words, formula);
    shown[name] = fact.number;
    facts.append(fact.box);
  }
  const words = node("p", { class: "mha-soft-words" });
  root.append(head, list, controls, node("hr", { class: "mha-rule" }), facts, words);

  function draw() {
    const found = softmaxReadout(scores, c);
    rows.forEach((row, i) => {
      row.handle.value = String(scores[i]);
      row.handle.setAttribute("aria-valuetext", `${numberText(scores[i], 1)}, weight ${found.weights[i].toFixed(2)}`);
      row.handle.style.setProperty("--mha-filled", `${(50 * (scores[i] + limit)) / limit}%`);
      row.score.textContent = numberText(scores[i], 1);
      row.scaled.textContent = numberText(found.scaled[i], 2);
      row.bar.style.width = `${found.weights[i] * 100}%`;
      row.weight.textContent = found.weights[i].toFixed(2);
    });
    shown.sum.textContent = found.sum.toFixed(2);
    shown.largest.textContent = found.largest.toFixed(2);
    shown.spread.textContent = found.spread.toFixed(2);
    shown.gradient.textContent = found.gradient.toFixed(3);
    setText(words, softSentence(model.get("labels"), scores, c, found));
    more.disabled = Math.max(...scores) + 1 > limit;
  }
  const pull = () => {
    scores = [...model.get("scores")];
    c = model.get("factor");
    stops = softStops(model.get("factors"), c);
    factor.setStops(stops.map(softFactor), softFactor(c));
    draw();
  };
  model.on("change:scores", pull);
  model.on("change:factor", pull);
  const stopTheme = watchTheme(root, (theme) => {
    // Deep enough to be read against the surface in both themes, and the colour that weights have in the maps.
    root.style.setProperty("--mha-weight", weightColour(0.65, theme));
  });
  draw();
  return () => {
    stopTheme();
    model.off("change:scores", pull);
    model.off("change:factor", pull);
  };
}

// 1/16 says more than 0.0625, and takes less room.
function softFactor(c) {
  const over = Math.round(1 / c);
  return c > 0 && c < 1 && over <= 64 && Math.abs(c * over - 1) < 1e-9 ? `1/${over}` : plainNumber(c);
}

function softStops(factors, c) {
  return [...new Set([...factors, c])].sort((a, b) => a - b);
}
