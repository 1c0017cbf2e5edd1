// GateDraws: sliders for log α and β, and the shares of draws that are exactly 0, between, exactly 1 as bars.
//
// Traits: log_alpha, beta, stops {log_alpha, beta}. The answer holds log_alpha, beta, shares (12: exactly 0, ten
// ranges, exactly 1), open, without_noise.
// Parts: [data-control="log_alpha" | "beta"], svg.mha-gate-chart with [data-bar="0"]..[data-bar="11"],
// [data-fact="open" | "zero" | "one" | "end"], .mha-gate-words.

const GATE_HEIGHT = 210;

function gateFact(name, words) {
  const number = node("span", { class: "mha-fact", "data-fact": name });
  return { box: node("div", { class: "mha-gate-fact" }, number, node("span", { class: "mha-sub" }, words)), number };
}

function gateShare(share) {
  if (share > 0.9995 && share < 1) return ">0.999";
  return share > 0 && share < 0.0005 ? "<0.001" : share.toFixed(3);
}

function gateSentence({ log_alpha: logAlpha, shares, without_noise: end }) {
  const between = shares.slice(1, -1).reduce((sum, share) => sum + share, 0);
  const ends = 1 - between;
  const lead = `${gateShare(ends)} of the draws are exactly 0 or exactly 1; only the others, ${gateShare(between)}, have a slope.`;
  if (end === 0) return `${lead} Without noise the gate is exactly 0: the head is gone.`;
  if (end === 1) return `${lead} Without noise the gate is exactly 1.`;
  return logAlpha === 0 ? `${lead} Both ends are as likely.` : lead;
}

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-gate", role: "group", "aria-label": "Draws of a gate" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const names = ["log_alpha", "beta"];
  const stops = model.get("stops");
  const minus = (value) => String(value).replace("-", MINUS);
  const labels = { log_alpha: "log α", beta: "temperature β" };
  let found = null;

  const controls = {};
  const sliders = node("div", { class: "mha-gate-controls" });
  for (const name of names) {
    const shown = new Map(stops[name].map((stop) => [minus(stop), stop]));
    controls[name] = slider({
      label: labels[name],
      name,
      stops: [...shown.keys()],
      value: minus(model.get(name)),
      onInput: (text) => answers.ask({ [name]: shown.get(text) }),
      describe: (text) => `${labels[name]} ${text}`,
    });
    sliders.append(controls[name].element);
  }
  const chart = svgNode("svg", { class: "mha-gate-chart", role: "img", "aria-label": "Shares of draws" });
  const facts = {};
  const factBox = node("div", { class: "mha-gate-facts" });
  for (const [name, words] of [["zero", "exactly 0"], ["one", "exactly 1"], ["open", "open: P(g ≠ 0), what is paid for"],
    ["end", "gate without noise"]]) {
    const fact = gateFact(name, words);
    facts[name] = fact.number;
    factBox.append(fact.box);
  }
  const words = node("p", { class: "mha-gate-words" });
  root.append(
    node("div", { class: "mha-gate-head" }, node("h3", { class: "mha-heading" }, "Draws of a gate"),
      node("span", { class: "mha-code" }, "hard concrete, γ = −0.1, ζ = 1.1")),
    sliders,
    node("hr", { class: "mha-rule" }),
    chart,
    factBox,
    words,
    node("div", { class: "mha-computing" }, "computing"),
  );

  function draw() {
    if (!found) return;
    const width = Math.max(260, widthOf(chart, 640));
    const [left, right, top, bottom] = [40, 6, 18, 44];
    const floor = GATE_HEIGHT - bottom;
    const y = (share) => floor - share * (floor - top);
    const slot = (width - left - right) / found.shares.length;
    const label = (x, at, text, anchor, name) => {
      const one = svgNode("text", { x, y: at, "text-anchor": anchor, class: name });
      one.textContent = text;
      chart.append(one);
    };
    chart.replaceChildren();
    chart.setAttribute("viewBox", `0 0 ${width} ${GATE_HEIGHT}`);
    chart.style.height = `${GATE_HEIGHT}px`;
    for (const level of [0, 0.5, 1]) {
      chart.append(svgNode("line", { x1: left, x2: width - right, y1: y(level), y2: y(level), class: level ? "mha-gate-line" : "mha-gate-axis" }));
      label(left - 6, y(level) + 4, String(level), "end", "mha-gate-tick");
    }
    found.shares.forEach((share, i) => {
      const end = i === 0 || i === found.shares.length - 1;
      const high = Math.max(share > 0 ? 1 : 0, y(0) - y(share));
      chart.append(svgNode("rect", { x: left + i * slot + 3, y: floor - high, width: Math.max(1, slot - 6), height: high,
        class: end ? "mha-gate-end" : "mha-gate-bar", "data-bar": i }));
      const place = left + (i + 0.5) * slot;
      if (end) label(place, floor - high - 5, gateShare(share), "middle", "mha-gate-number");
      if (end) label(place, floor + 16, i ? "= 1" : "= 0", "middle", "mha-gate-name");
      else if (i % 2 || slot > 36) label(place - slot / 2, floor + 16, ((i - 1) / 10).toFixed(1), "middle", "mha-gate-tick");
    });
    label((left + width - right) / 2, GATE_HEIGHT - 6, "gate: exactly 0, ten ranges between, exactly 1", "middle", "mha-gate-tick");
  }

  function onAnswer(header) {
    found = header;
    draw();
    setText(facts.zero, gateShare(header.shares[0]));
    setText(facts.one, gateShare(header.shares[header.shares.length - 1]));
    setText(facts.open, gateShare(header.open));
    setText(facts.end, header.without_noise === 0 || header.without_noise === 1 ? String(header.without_noise) : gateShare(header.without_noise));
    setText(words, gateSentence(header));
    chart.setAttribute("aria-label", model.get("alt"));
    say(gateSentence(header));
    return true;
  }

  const answers = connect(model, root, names, onAnswer, () => {
    for (const name of names) controls[name].set(minus(model.get(name)));
  });
  const stopTheme = watchTheme(root, (theme) => {
    root.style.setProperty("--mha-gate-fill", weightColour(0.65, theme));
    headVariables(root, theme);
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
