// The GatesLive: a button that starts and stops, the heads fading as their gates close, and how many are open.
//
// Traits: order, steps, price, prices, seed, settle, heads (each head's role with all heads there, or null). The answer: state, step,
// seconds, drawn, sentences, loss, open [[step, expected number of open gates, heads whose gate is not 0]], gates, whole, left, labels, trouble.
// Parts: button[data-control="run"], [role=progressbar], [data-fact="words" | "left"], button.mha-role-cell, svg.mha-gates-open,
// .mha-gloss-meters, .mha-survivors; the root carries data-state.

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-gates", role: "group", "aria-label": "Gates, learned live" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const steps = model.get("steps");
  const before = model.get("heads");
  const [layers, heads] = [before.length, before[0].length];
  const count = layers * heads;
  let found = null;
  let theme = "light";
  let told = "";

  const run = runControls({ root, name: "Learning", start: "Learn the gates", steps, onOrder: (order) => answers.ask({ order }) });
  // The order goes along empty, or the last one would be given once more.
  const price = slider({
    label: "price λ of an open head", name: "price", stops: model.get("prices"), value: model.get("price"),
    onInput: (value) => answers.ask({ price: value, order: "" }), describe: (value) => `price ${value}`,
  });
  const grid = survivorGrid({ layers, heads, root, numbers: true });
  const open = svgNode("svg", { class: "mha-gates-open", role: "img", "aria-label": "Open gates by step" });
  const left = node("p", { class: "mha-sub", "data-fact": "left" });
  const table = survivorTable();
  const meters = glossMeters({ against: false });
  const measured = node("p", { class: "mha-note" });
  root.append(
    node("div", { class: "mha-live-head" },
      node("h3", { class: "mha-heading" }, "Which heads are worth their price?"),
      node("span", { class: "mha-sub" }, `training run ${model.get("seed") + 1} (seed=${model.get("seed")}), one processor core`)),
    node("div", { class: "mha-row" }, price.element),
    run.element,
    node("div", { class: "mha-section mha-gates-body mha-drawing" },
      node("div", {}, node("div", { class: "mha-label" }, "the gate of every head: 1 open, 0 gone"), node("div", { class: "mha-gates-grid" }, grid.element),
        node("p", { class: "mha-note" }, "Colour and mark: the head’s role. The paler, the smaller its gate. ", node("span", { class: "mha-hatch-key", "aria-hidden": "true" }), "hatched: the gate is exactly 0."),
        table.element, left),
      node("div", {}, node("figure", {}, node("figcaption", { class: "mha-label" }, `heads that are open, of ${count}`), open), node("p", { class: "mha-note" }, phases()),
        node("div", { class: "mha-label mha-gates-right" }, "right answers, by part of the gloss"), meters.element, measured)),
    node("div", { class: "mha-computing" }, "computing"),
  );

  function phases() {
    const [ramp, settle] = [model.get("ramp"), model.get("settle")];
    const rising = ramp ? `The price rises over the first ${withCommas(ramp)} steps. ` : "";
    return `Line: the expected number, every gate’s chance of not being 0 summed. Dots: gates that are not 0 without noise. ${rising}${settle ? `From step ${withCommas(steps - settle)} on only the weights learn.` : ""}`;
  }

  function paint(next) {
    found = next;
    const last = found.open.length ? found.open[found.open.length - 1] : null;
    const more = last ? `, loss ${numberText(found.loss, 3)}, ${last[2]} of ${count} heads open` : "";
    const measuring = found.state === "running" && found.step === steps;
    const words = runWords(found, steps, "The button learns one gate a head, on a copy of the trained model.", more);
    const atWork = ["starting", "running", "stopping"].includes(found.state);
    price.set(model.get("price"));
    price.element.inert = atWork; // a price is for the whole of a run
    price.element.classList.toggle("is-resting", atWork);
    run.paint(found, measuring ? `${words}; measuring what is left` : words);
    drawAll();
    announce();
  }

  function gates() {
    return found.gates || before.map((row) => row.map(() => 1));
  }

  function drawAll() {
    if (!found) return;
    const shown = { gates: gates(), labels: found.labels || before, before, theme };
    grid.place(Math.min(414, widthOf(root, 838) - 40));
    grid.draw(shown);
    table.draw(shown);
    const gone = shown.gates.flat().filter((gate) => gate === 0).length;
    const whole = found.whole;
    show(meters.element, Boolean(whole));
    if (whole) meters.draw({ whole, left: found.left || whole, random: null, off: found.left ? new Array(gone) : [] });
    setText(left, found.left
      ? `${count - gone} of ${count} heads ${count - gone === 1 ? "is" : "are"} left. Roles were measured anew, without the others.`
      : "Roles as they were with all heads; they are measured anew at the end.");
    setText(measured, !whole
      ? `They are counted on ${found.measured_on} held-out sentences: before, and when the closed heads are gone.`
      : found.left
        ? `${found.measured_on} held-out sentences. Bar: without the closed heads. Tick: all heads. Change: percentage points.`
        : `${found.measured_on} held-out sentences, all heads on. They are counted again when the closed heads are gone.`);
    curves();
  }

  function curves() {
    const width = curveWidth(open, 390);
    const expected = found.open.map(([step, number]) => [step, number]);
    const { x, y, floor } = drawCurves(open, {
      width, height: 190, steps, top: count, lines: [{ points: expected, role: null }], tick: (value) => String(Math.round(value)),
      now: model.get("settle") && found.step ? steps - model.get("settle") : null, empty: expected.length ? "" : "no step yet",
    });
    open.setAttribute("aria-label", model.get("alt"));
    if (!expected.length) return;
    // Below the curves while many heads are open, above them when few are.
    const many = expected[expected.length - 1][1] > count / 2;
    if (model.get("settle")) svgText(open, x(steps - model.get("settle")) - 6, many ? floor - 6 : y(count) + 12, "from here gates stand still", "mha-curve-tick", "end");
    const kept = found.open.map(([step, , number]) => `${x(step).toFixed(1)},${y(number).toFixed(1)}`).join(" ");
    open.append(svgNode("polyline", { points: kept, class: "mha-curve-second" }));
    const [step, number, there] = found.open[found.open.length - 1];
    const apart = y(number) - y(there);
    const [low, high] = apart >= 0 ? [number, there] : [there, number];
    const room = Math.max(0, 13 - Math.abs(apart)) / 2;
    svgText(open, x(step) + 6, Math.min(floor - 2, y(low) + 4 + room), low === there ? String(there) : numberText(low, 1), "mha-curve-name", "start");
    svgText(open, x(step) + 6, Math.min(floor - 15, y(high) + 4 - room), high === there ? String(there) : numberText(high, 1), "mha-curve-name", "start");
  }

  // Read out: a new state, and every fourth head that goes.
  function announce() {
    const there = gates().flat().filter((gate) => gate > 0).length;
    const now = `${found.state}|${Math.floor(there / 4)}`;
    if (now === told) return;
    told = now;
    say(found.state === "new" ? "nothing runs yet" : `${found.state}; ${there} of ${count} heads open`);
  }

  const answers = connect(model, root, [], (header) => {
    run.heard();
    paint(header);
    return true;
  });
  const stopTheme = watchTheme(root, (next) => {
    theme = next;
    roleVariables(root, theme);
    markVariables(root, theme);
    drawAll();
  });
  const resized = new ResizeObserver(() => drawAll());
  resized.observe(root);
  answers.draw();
  return () => {
    run.stop();
    answers.stop();
    stopTheme();
    resized.disconnect();
  };
}
