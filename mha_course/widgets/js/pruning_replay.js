// The PruningReplay: a slider over recorded prices, the heads that survive, and right answers against heads kept.
//
// Traits: price, seed, part, weights, alt, record { prices, seeds, measures, by, whole (labels by seed), right, runs, series }.
// The record holds all there is, so that the slider needs no answer. Parts: [data-control="price" | "run" | "weights" | "part" |
// "close"], [data-fact="words"], button.mha-role-cell, svg.mha-kept-chart, tr[data-by].

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-pruning", role: "group", "aria-label": "Pruning, price by price" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const record = model.get("record");
  const { prices, seeds, measures } = record;
  const [layers, heads] = [record.whole[seeds[0]].length, record.whole[seeds[0]][0].length];
  const count = layers * heads;
  const tips = cellTips(root, say);
  let theme = "light";
  let close = false;

  const set = (changes) => {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  };
  const price = slider({ label: "price λ of an open head", name: "price", stops: prices, value: model.get("price"), onInput: (value) => set({ price: value }), describe: (value) => `price ${value}` });
  const run = segmented({ label: "training run", name: "run", options: seeds.map((seed) => ({ value: seed, label: String(seed + 1), title: `seed ${seed}` })), value: model.get("seed"), onChange: (seed) => set({ seed }) });
  const weights = segmented({
    label: "the model’s weights", name: "weights", value: model.get("weights"), onChange: (value) => set({ weights: value }),
    options: [{ value: "learn", label: "go on learning" }, { value: "stay", label: "stay as they are" }],
  });
  const part = segmented({ label: "right answers in", name: "part", options: measures.map((value) => ({ value, label: value === "worst" ? "worst part" : value })), value: model.get("part"), onChange: (value) => set({ part: value }) });
  const closer = switchControl({ label: "", text: "close-up from 0.9", name: "close", value: close, onChange: (on) => { close = on; draw(); } });
  const source = node("span", { class: "mha-sub" });
  const words = node("p", { class: "mha-pruning-words", "data-fact": "words" });
  const grid = survivorGrid({ layers, heads, root });
  const table = survivorTable();
  const svg = svgNode("svg", { class: "mha-kept-chart", role: "img", "aria-label": "Right answers against heads kept" });
  const frame = node("div", { class: "mha-kept-frame", tabindex: 0, role: "group", "aria-label": "Right answers against heads kept; arrow keys go from point to point" }, svg);
  tips.roam(frame);
  const chart = keptChart({ svg, tips, onPick: (value) => set({ price: value }) });
  const kept = node("th", { scope: "col" }, "");
  const keys = {};
  const body = node("tbody", {});
  for (const by of record.by) {
    const value = node("td", { "data-cell": "right" });
    keys[by] = value;
    body.append(node("tr", { "data-by": by }, node("th", { scope: "row" }, keptKey(by), KEPT_LOOK[by].words), value));
  }
  const note = node("p", { class: "mha-note mha-pruning-note" });
  root.append(
    node("div", { class: "mha-row mha-row-spread mha-pruning-head" }, node("h3", { class: "mha-heading" }, "Pruning, price by price"), source),
    node("div", { class: "mha-row" }, price.element),
    node("div", { class: "mha-row" }, run.element, weights.element),
    words,
    node("div", { class: "mha-section mha-pruning-body" },
      node("div", { class: "mha-drawing" }, node("div", { class: "mha-label" }, "the heads that survive"), node("div", { class: "mha-pruning-grid" }, grid.element),
        node("p", { class: "mha-note mha-pruning-note" }, "Colour and mark: the head’s role, measured again without the others. Paler: its gate is under 1. ", node("span", { class: "mha-hatch-key", "aria-hidden": "true" }), "hatched: gone, with the mark of what it did."),
        table.element),
      node("div", { class: "mha-drawing" }, part.element, frame, closer.element,
        node("table", { class: "mha-kept-keys" }, node("thead", {}, node("tr", {}, node("th", { scope: "col" }, "heads chosen"), kept)), body), note)),
  );

  const now = () => record.runs[`${model.get("seed")}|${priceKey(model.get("price"))}|${model.get("weights")}`];
  // Python writes 0.1, as JavaScript does; whole numbers it writes with a point.
  const priceKey = (value) => (Number.isInteger(value) ? value.toFixed(1) : String(value));

  function told(by, series, measure, kept) {
    const { points, orders } = series[by];
    if (by === "gates") {
      const own = points.find((point) => point.price === model.get("price"));
      return own.right[measure].toFixed(3);
    }
    const exact = points.find((point) => point.kept === kept);
    if (exact) {
      const range = exact.low ? ` (${exact.low[measure].toFixed(3)} to ${exact.high[measure].toFixed(3)}, ${orders} orders)` : "";
      return exact.right[measure].toFixed(3) + range;
    }
    const beside = [points.filter((point) => point.kept > kept).pop(), points.find((point) => point.kept < kept)].filter(Boolean);
    return beside.map((point) => `${point.right[measure].toFixed(3)} with ${point.kept}`).join(", ") || "not recorded";
  }

  function draw() {
    const found = now();
    const seed = model.get("seed");
    const shown = { gates: found.gates, labels: found.labels, before: record.whole[seed], theme };
    const measure = measures.indexOf(model.get("part"));
    const series = record.series[`${seed}|${model.get("weights")}`];
    const own = series.gates.points.find((point) => point.price === model.get("price"));
    grid.place(Math.min(414, widthOf(root, 838) - 40));
    grid.draw(shown);
    table.draw(shown);
    setText(words, found.told);
    setText(source, `${layers} layers × ${heads} heads, recorded, seed=${seed}`);
    setText(kept, `right answers with ${found.kept} of ${count} heads`);
    for (const by of record.by) setText(keys[by], told(by, series, measure, found.kept));
    const whole = series.importance.points.length ? series.importance.points[0].right[measure] : null;
    tips.redraw(frame, () => chart.draw({
      width: Math.max(220, widthOf(frame, 396)), height: 230, count, low: close ? 0.9 : 0, series, measure,
      now: { kept: found.kept, right: own.right[measure] }, limit: whole === null ? null : whole - 0.02, theme,
    }));
    svg.setAttribute("aria-label", model.get("alt"));
    setText(note, model.get("weights") === "learn"
      ? "Gates: the weights learn along with them. Other rules: the heads go first, then the weights learn as long as they do with gates; recorded with 8, 6 and 4 heads, one random order."
      : `No weight moves: gates learn alone, other rules remove heads and that is all. Random: mean and range of ${series.random.orders} orders.`);
    note.append(" Level line: 2 points below the whole model.");
  }

  const moved = () => {
    price.set(model.get("price"));
    run.set(model.get("seed"));
    weights.set(model.get("weights"));
    part.set(model.get("part"));
    draw();
    say(words.textContent);
  };
  const named = () => svg.setAttribute("aria-label", model.get("alt"));
  for (const name of ["price", "seed", "part", "weights"]) model.on(`change:${name}`, moved);
  model.on("change:alt", named);
  const stopTheme = watchTheme(root, (next) => {
    theme = next;
    markVariables(root, theme);
    headVariables(root, theme);
    draw();
  });
  const resized = new ResizeObserver(() => draw());
  resized.observe(root);
  return () => {
    for (const name of ["price", "seed", "part", "weights"]) model.off(`change:${name}`, moved);
    model.off("change:alt", named);
    stopTheme();
    resized.disconnect();
  };
}
