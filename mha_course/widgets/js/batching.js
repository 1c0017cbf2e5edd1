// The BatchingTimeline: the same requests served one batch at a time and with seats that change hands.
//
// Traits: seats, spread, gap (ms), draw, stops { seats, spread, gap }. All times, texts and the finding come in the answer.
// Parts: [data-control="seats" | "spread" | "gap" | "draw"], svg.mha-batch-chart, table.mha-cost-table tr[data-way]
// td[data-cell="speed" | "wait" | "working" | "kept" | "done"], [data-fact="words" | "told"].

const BATCH_COLUMNS = [
  ["speed", "tokens a second"], ["wait", "mean wait"], ["working", "seats at work"], ["kept", "seat time for nobody"], ["done", "all done after"],
];
// The shares of the scale that blocks have in the still picture, too.
const BATCH_SHADES = { writing: 70 / 255, reading: 170 / 255 };

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-batch", role: "group", "aria-label": "Seats of a batch over time" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tips = cellTips(root, say);
  const names = ["seats", "spread", "gap"];
  const stops = model.get("stops");
  let theme = "light";
  let found = null;

  const made = {
    seats: ["seats", (value) => `${value} ${value === 1 ? "seat" : "seats"}`],
    spread: ["longest / shortest", (value) => `the longest answer ${value} times the shortest`],
    gap: ["ms between arrivals", (value) => (value ? `one request every ${value} milliseconds` : "all requests at the start")],
  };
  const sliders = Object.fromEntries(names.map((name) => [name, slider({
    label: made[name][0], name, describe: made[name][1], stops: stops[name], value: model.get(name), onInput: (value) => answers.ask({ [name]: value }),
  })]));
  const again = plainButton({ label: "another order", name: "draw", title: "the same lengths in another order", onClick: () => answers.ask({ draw: model.get("draw") + 1 }) });
  const chart = svgNode("svg", { class: "mha-batch-chart", role: "img", tabindex: 0 });
  tips.roam(chart);
  const key = node("p", { class: "mha-note mha-batch-key" },
    ...[["reading", "the prompt is read"], ["writing", "tokens are written"], ["kept", "done, but computed all the same"]].map(([doing, text]) =>
      node("span", { class: "mha-batch-entry" }, node("span", { class: `mha-batch-swatch is-${doing}`, "aria-hidden": "true" }), text)));
  const body = node("tbody", {});
  const table = node("table", { class: "mha-cost-table" },
    node("caption", { class: "mha-sr" }, "Both ways in numbers"),
    node("thead", {}, node("tr", {}, ...["", ...BATCH_COLUMNS.map(([, text]) => text)].map((text) => node("th", { scope: "col" }, text)))), body);
  const words = node("p", { "data-fact": "words" });
  const told = node("p", { class: "mha-note", "data-fact": "told" });
  root.append(
    node("div", { class: "mha-row mha-row-spread" }, node("h3", { class: "mha-heading" }, "Who sits in the batch"), again),
    node("div", { class: "mha-batch-sliders" }, ...names.map((name) => sliders[name].element)),
    node("div", { class: "mha-section mha-drawing" }, node("div", {}, chart), key, node("div", { class: "mha-cost-scroll" }, table)),
    words, told,
    node("div", { class: "mha-computing" }, "computing"),
  );

  function draw() {
    if (!found) return;
    tips.clear();
    const shades = Object.fromEntries(Object.entries(BATCH_SHADES).map(([doing, share]) => [doing, weightColour(share, theme)]));
    for (const [doing, shade] of Object.entries(shades)) root.style.setProperty(`--mha-batch-${doing}`, shade);
    drawBatching(chart, found, Math.max(280, widthOf(chart.parentNode, 838)), shades, tips.tip);
  }

  function follow() {
    for (const name of names) sliders[name].set(model.get(name));
  }

  function onAnswer(header) {
    found = header;
    follow();
    draw();
    chart.setAttribute("aria-label", model.get("alt"));
    body.replaceChildren(...header.ways.map(({ way, name, facts }) => node("tr", { "data-way": way }, node("th", { scope: "row" }, name),
      ...BATCH_COLUMNS.map(([cell]) => node("td", { "data-cell": cell }, facts[cell])))));
    setText(words, header.words);
    setText(told, header.told);
    say(header.words);
    return true;
  }

  const answers = connect(model, root, [...names, "draw"], onAnswer, follow);
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    draw();
  });
  const resized = new ResizeObserver(draw);
  resized.observe(root);
  answers.draw();
  return () => {
    answers.stop();
    stopTheme();
    resized.disconnect();
  };
}
