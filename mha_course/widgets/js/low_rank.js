// LowRank: a wanted pattern, the nearest map of a head of width d_k, the difference; the divergence for every d_k, and the
// singular values of the scores and of the map.
//
// Traits: pattern, d_k, patterns [[name, words]]. Parts: [data-control="pattern" | "d_k"], svg[data-map="wanted" | "nearest" |
// "difference"], svg[data-chart="divergence" | "scores" | "map"], [data-fact="divergence" | "scores" | "map" | "needed" | "words"].

function rankFact(name, words) {
  const number = node("span", { class: "mha-fact", "data-fact": name });
  return { box: node("div", { class: "mha-rank-fact" }, number, node("span", { class: "mha-sub" }, words)), number };
}

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-rank", role: "group", "aria-label": "Patterns that a head of width d_k can show" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tips = cellTips(root, say);
  let found = null;
  let theme = "light";

  const pattern = segmented({
    label: "wanted", name: "pattern", value: model.get("pattern"), onChange: (value) => answers.ask({ pattern: value }),
    options: model.get("patterns").map(([name, words]) => ({ value: name, label: name, title: words })),
  });
  const width = slider({
    label: "d_k", name: "d_k", code: true, stops: Array.from({ length: 8 }, (_, i) => i + 1), value: model.get("d_k"),
    describe: (value) => `${value} ${value === 1 ? "feature" : "features"} a query and a key`, onInput: (value) => answers.ask({ d_k: value }),
  });
  const facts = {
    divergence: rankFact("divergence", "nats from the wanted map"),
    scores: rankFact("scores", "rank of the scores, at most d_k"),
    map: rankFact("map", "rank of the map, after the softmax"),
    enough: rankFact("enough", "d_k to miss less than 0.01 nats"),
    needed: rankFact("needed", "d_k to meet it exactly"),
  };
  const picture = (name, title, attribute) => {
    const svg = svgNode("svg", { role: "img", tabindex: 0, [attribute]: name, "aria-label": title });
    tips.roam(svg);
    const scale = node("div", { class: "mha-rank-scale" });
    return { svg, scale, box: node("figure", { class: "mha-rank-one" }, node("div", { class: "mha-label" }, title), svg, scale) };
  };
  const maps = { wanted: picture("wanted", "wanted", "data-map"), nearest: picture("nearest", "nearest", "data-map"), difference: picture("difference", "nearest − wanted", "data-map") };
  const charts = {
    divergence: picture("divergence", "what is missed, in nats", "data-chart"),
    scores: picture("scores", "singular values of the scores", "data-chart"),
    map: picture("map", "singular values of the map", "data-chart"),
  };
  const words = node("p", { class: "mha-rank-words", "data-fact": "words" });
  const remark = node("p", { class: "mha-rank-remark", "data-fact": "remark" });
  const boxes = (all) => Object.values(all).map((one) => one.box);
  root.append(
    node("div", { class: "mha-rank-head" }, node("h3", { class: "mha-heading" }, "What a head of width d_k can look like"),
      node("span", { class: "mha-code" }, "softmax( Q Kᵀ / √d_k )")),
    node("div", { class: "mha-rank-controls" }, pattern.element, width.element),
    words, remark,
    node("div", { class: "mha-section mha-drawing" }, node("div", { class: "mha-rank-facts" }, ...boxes(facts)),
      node("div", { class: "mha-note mha-rank-axes" }, "query ↓  key →"), node("div", { class: "mha-rank-row" }, ...boxes(maps))),
    node("div", { class: "mha-section mha-drawing" }, node("div", { class: "mha-rank-row" }, ...boxes(charts)),
      node("p", { class: "mha-note mha-rank-how" }, "Scores with the mean of each row taken off, which no softmax sees: so they have the least rank of all scores with these weights. " +
        "Nearness: Kullback-Leibler divergence, mean over rows; queries and keys are free, so the width is the only limit.")),
    node("div", { class: "mha-computing" }, "computing"),
  );

  function drawMap(which, values, max, signed) {
    const inner = widthOf(root, 838) - 40; // without the padding
    const across = inner > 620 ? 3 : inner > 420 ? 2 : 1; // as in the style sheet
    const cell = Math.max(10, Math.min(28, Math.floor((inner / across - 42) / found.n)));
    const places = Array.from({ length: found.n }, (_, i) => String(i + 1));
    shadedMatrix(maps[which].svg, {
      values, cell, theme, max, signed, rowTexts: places, columnTexts: places,
      tip: (q, k, value) => `${q + 1} → ${k + 1}  ${signed ? numberText(value, 4) : weightInWords(value)}  ${which}`,
    }, tips);
    maps[which].scale.replaceChildren(matrixScale(max, signed ? "signed" : "weights", theme));
  }

  function draw() {
    if (!found) return;
    tips.clear();
    drawMap("wanted", found.wanted, 1, false);
    drawMap("nearest", found.nearest, 1, false);
    const apart = found.nearest.map((row, q) => row.map((value, k) => value - found.wanted[q][k]));
    const max = Math.max(...apart.flat().map(Math.abs));
    // What can't be seen as a difference isn't blown up into one.
    drawMap("difference", apart, Math.max(max, 0.05), true);
    const wide = (name) => Math.max(200, Math.min(420, widthOf(charts[name].box, 260)));
    divergenceBars(charts.divergence.svg, found, wide("divergence"), tips);
    singularDots(charts.scores.svg, { values: found.scores, rounding: found.rounding, limit: found.d_k, words: "scores" }, wide("scores"), tips);
    singularDots(charts.map.svg, { values: found.map, rounding: found.rounding, limit: null, words: "map" }, wide("map"), tips);
  }

  function follow() {
    pattern.set(model.get("pattern"));
    width.set(model.get("d_k"));
  }

  function onAnswer(header) {
    found = header;
    follow();
    draw();
    setText(facts.divergence.number, header.now);
    setText(facts.scores.number, String(header.ranks.scores));
    setText(facts.map.number, String(header.ranks.map));
    setText(facts.enough.number, String(header.enough));
    setText(facts.needed.number, String(header.needed));
    setText(words, header.words);
    setText(remark, header.remark);
    maps.nearest.svg.setAttribute("aria-label", model.get("alt"));
    say(header.words);
    return true;
  }

  const answers = connect(model, root, ["pattern", "d_k"], onAnswer, follow);
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    draw();
  });
  let drawnAt = 0;
  const resized = new ResizeObserver(() => {
    if (root.clientWidth === drawnAt) return;
    drawnAt = root.clientWidth;
    draw();
  });
  resized.observe(root);
  answers.draw();
  return () => {
    answers.stop();
    stopTheme();
    resized.disconnect();
  };
}
