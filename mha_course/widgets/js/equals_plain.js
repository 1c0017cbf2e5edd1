// EqualsPlain: a slider for the distance t from the plain layer, what is apart over all t, the numbers that t moves,
// every head's map above the plain head's, and what both cost.
//
// Traits: t, option, variant, told { title, formula, distance, equal, option [name, words] | null, options, bill }. The answer holds
// all numbers. Parts: [data-control="t" | "option"], [data-fact="output" | "gradient" | "words"], svg.mha-near-chart,
// svg[data-moving], svg[data-map="variant-1" | "plain-1" ...], table.mha-cost-table.

function nearFact(name, words) {
  const number = node("span", { class: "mha-fact", "data-fact": name });
  return { box: node("div", { class: "mha-near-fact" }, number, node("span", { class: "mha-sub" }, words)), number };
}

function billTable(name) {
  const [head, body] = [node("thead", {}), node("tbody", {})];
  const element = node("div", { class: "mha-cost-scroll" },
    node("table", { class: "mha-cost-table" }, node("caption", { class: "mha-sr" }, "What the variant costs beside plain heads"), head, body));
  function draw(bill) {
    head.replaceChildren(
      node("tr", { class: "mha-near-sizes" }, node("td", {}), ...bill.map((one) => node("th", { scope: "colgroup", colspan: 3 }, one.sizes))),
      node("tr", {}, node("td", {}), ...bill.flatMap(() => ["plain", name, "ratio"].map((word) => node("th", { scope: "col" }, word)))),
    );
    body.replaceChildren(...bill[0].rows.map((row, i) => node("tr", { "data-row": row.key }, node("th", { scope: "row" }, row.name),
      ...bill.flatMap(({ rows }, size) => ["plain", "variant", "ratio"].map((key) =>
        node("td", { "data-cell": `${key}-${size}`, title: rows[i].exact, class: key === "ratio" ? "mha-near-ratio" : null }, rows[i][key]))))));
  }
  return { element, draw };
}

function render({ model, el }) {
  const told = model.get("told");
  const root = node("div", { class: "mha-widget mha-near", role: "group", "aria-label": told.title });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tips = cellTips(root, say);
  let found = null;
  let theme = "light";

  const stopsNow = () => model.get("answer").stops.map(distanceText);
  const distance = slider({
    label: "distance t", name: "t", stops: stopsNow(), value: distanceText(model.get("t")), describe: (text) => `t = ${text}`,
    onInput: (text) => answers.ask({ t: found.stops[stopsNow().indexOf(text)] }),
  });
  const option = told.option && slider({
    label: told.option[0], name: "option", stops: told.options, value: model.get("option"), describe: (value) => `${value} ${told.option[1]}`,
    onInput: (value) => answers.ask({ option: value }),
  });
  const facts = { output: nearFact("output", "largest difference of an output"), gradient: nearFact("gradient", "largest difference of a gradient") };
  const chart = svgNode("svg", { class: "mha-near-chart", role: "img", tabindex: 0, "aria-label": "Largest difference over the distance t" });
  const moving = node("div", { class: "mha-near-moving" });
  const maps = node("div", { class: "mha-near-maps" });
  const legend = node("div", { class: "mha-near-legend" });
  const words = node("p", { class: "mha-near-words", "data-fact": "words" });
  const table = billTable(model.get("variant"));
  tips.roam(chart);
  root.append(
    node("div", { class: "mha-near-head" }, node("h3", { class: "mha-heading" }, told.title), node("span", { class: "mha-code" }, told.formula)),
    node("div", { class: told.option ? "mha-near-sliders has-two" : "mha-near-sliders" }, distance.element, option && option.element),
    words,
    node("div", { class: "mha-section mha-drawing mha-near-body" },
      node("div", { class: "mha-near-left" }, node("div", { class: "mha-near-facts" }, facts.output.box, facts.gradient.box), chart),
      node("div", { class: "mha-near-right" }, moving, node("p", { class: "mha-note" }, told.equal))),
    node("div", { class: "mha-section mha-drawing" }, legend, maps),
    node("div", { class: "mha-section" }, table.element, node("p", { class: "mha-note mha-near-bill" }, told.bill)),
    node("div", { class: "mha-computing" }, "computing"),
  );

  function drawMoving() {
    const room = Math.max(240, widthOf(moving, 380));
    const boxes = found.moving.map((one) => {
      const svg = svgNode("svg", { class: "mha-near-matrix", role: "img", tabindex: 0, "data-moving": one.name, "aria-label": matrixInWords(one) });
      const [rows, columns] = [one.values.length, one.values[0].length];
      const each = found.moving.length > 1 && room > 300 ? room / found.moving.length - 18 : room;
      const cell = Math.max(8, Math.min(36, Math.floor((each - 26) / columns), Math.floor(230 / rows)));
      const max = Math.max(1, ...one.values.flat().map(Math.abs));
      const tokens = one.rows === "token";
      const heads = Array.from({ length: found.maps.length }, (_, i) => i);
      shadedMatrix(svg, {
        values: one.values, cell, tall: Math.max(cell, 20), theme, max, signed: true, numbers: true, block: one.block, columnChips: heads,
        rowChips: tokens ? null : heads, rowTexts: tokens ? one.values.map((_, r) => String(r + 1)) : null,
        tip: (r, c, value) => `${one.rows} ${r + 1}, ${one.block > 1 ? `feature ${c + 1}` : `head ${c + 1}`}: ${numberText(value, 3)}`,
      }, tips);
      tips.roam(svg);
      const scale = matrixScale(max, one.values.flat().some((v) => v < 0) ? "signed" : "above", theme);
      return node("div", { class: "mha-near-one" }, node("div", { class: "mha-label" }, one.name), svg, scale);
    });
    moving.replaceChildren(...boxes);
  }

  function matrixInWords(one) {
    const numbers = one.values.flat();
    return `${one.name}: ${one.values.length} by ${one.values[0].length} numbers from ${numberText(Math.min(...numbers), 2)} to ${numberText(Math.max(...numbers), 2)}; arrow keys walk over them`;
  }

  function drawMaps() {
    const [h, n] = [found.maps.length, found.maps[0].length];
    const numbers = [...found.maps, ...found.plain_maps].flat(2);
    const signed = numbers.some((v) => v < -0.0005);
    const max = signed || numbers.some((v) => v > 1.0005) ? Math.max(...numbers.map(Math.abs)) : 1;
    const room = widthOf(maps, 838);
    const across = room < 640 && h > 4 ? 4 : h;
    const cell = Math.max(5, Math.min(18, Math.floor((room - 100 - across * 14) / across / n)));
    legend.replaceChildren(node("span", { class: "mha-label" }, "what the values are summed with"), node("span", { class: "mha-note" }, "query ↓  key →"), matrixScale(max, signed ? "signed" : "weights", theme));
    const rows = [[model.get("variant"), "variant", found.maps], ["plain", "plain", found.plain_maps]].map(([label, key, all]) =>
      node("div", { class: "mha-near-strip" }, node("span", { class: "mha-label" }, label), ...all.map((values, i) => {
        const svg = svgNode("svg", { role: "img", tabindex: 0, "data-map": `${key}-${i + 1}`, "aria-label": `${key === "plain" ? "plain head" : "head"} ${i + 1}, map of ${n} queries and ${n} keys; arrow keys walk over the cells` });
        shadedMatrix(svg, { values, cell, theme, max, signed, tip: (q, k, value) => `${q + 1} → ${k + 1}  ${numberText(value, 3)}  ${key === "plain" ? "plain head" : "head"} ${i + 1}` }, tips);
        tips.roam(svg);
        return node("div", { class: "mha-near-map" }, headBadge(i), svg);
      })));
    maps.replaceChildren(...rows);
  }

  // Who walks in a picture stays in it: pictures made anew take the focus of those of the same place.
  function draw() {
    if (!found) return;
    const focused = document.activeElement;
    const key = focused && root.contains(focused) && (focused.dataset.map || focused.dataset.moving);
    tips.clear();
    drawDistanceChart(chart, { ...found, distance: told.distance }, Math.max(280, widthOf(chart.parentNode, 400)), tips);
    drawMoving();
    drawMaps();
    if (key) [...root.querySelectorAll("[data-map], [data-moving]")].find((one) => (one.dataset.map || one.dataset.moving) === key)?.focus();
  }

  function follow() {
    distance.setStops(stopsNow(), distanceText(model.get("t")));
    if (option) option.set(model.get("option"));
  }

  function onAnswer(header) {
    found = header;
    follow();
    draw();
    for (const name of ["output", "gradient"]) setText(facts[name].number, header.now[name]);
    setText(words, header.words);
    table.draw(header.bill);
    chart.setAttribute("aria-label", model.get("alt"));
    say(header.words);
    return true;
  }

  const answers = connect(model, root, ["t", "option"], onAnswer, follow);
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    headVariables(root, now);
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
