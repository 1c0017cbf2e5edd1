// The LiveTraining: a button that starts and stops, a progress bar, what is right so far, and the roles of heads.
//
// Traits: order, steps, parts, all_parts. The answer: state, step, seconds, drawn, sentences, losses, looks, accuracy,
// roles, trouble. Parts: button[data-control="run"], [role=progressbar], [data-fact="words"], [data-accuracy=...],
// svg.mha-live-loss, svg.mha-live-heads, tr[data-role=...]; the root carries data-state.

function liveWords(found, steps) {
  const { losses } = found;
  const last = losses.length ? `, loss ${numberText(losses[losses.length - 1][1], 2)}` : "";
  return runWords(found, steps, "Start trains a new model from random weights.", last);
}

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-live", role: "group", "aria-label": "Training, live" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const steps = model.get("steps");
  const asked = model.get("parts");
  let found = null;
  let told = "";

  const run = runControls({ root, name: "Training", start: "Start", steps, onOrder: (order) => answers.ask({ order }) });
  const meters = accuracyMeters(model.get("all_parts"), asked);
  const table = roleTable();
  const loss = svgNode("svg", { class: "mha-live-loss", role: "img", "aria-label": "Loss by step" });
  const heads = svgNode("svg", { class: "mha-live-heads", role: "img", "aria-label": "Role scores by step" });
  const measured = node("p", { class: "mha-note" });
  const missing = model.get("all_parts").filter((part) => !asked.includes(part));
  root.append(
    node(
      "div",
      { class: "mha-live-head" },
      node("h3", { class: "mha-heading" }, missing.length ? `Training, live: without ${missing.join(" and ")}` : "Training, live"),
      node("span", { class: "mha-sub" }, "2 layers × 8 heads, d_model 128, one processor core"),
    ),
    run.element,
    node("div", { class: "mha-section mha-drawing" }, node("div", { class: "mha-label" }, "right answers, by part of the gloss"), meters.element),
    node(
      "div",
      { class: "mha-section mha-live-charts mha-drawing" },
      node("figure", {}, node("figcaption", { class: "mha-label" }, "loss"), loss),
      node("figure", {}, node("figcaption", { class: "mha-label" }, "share of words whose largest weight hits the target"), heads),
    ),
    table.element,
    measured,
    node("div", { class: "mha-computing" }, "computing"),
  );

  function paint(next) {
    found = next;
    run.paint(found, liveWords(found, steps));
    meters.show(found.accuracy);
    table.show(found.roles);
    setText(
      measured,
      `Held-out sentences: ${found.measured_on}, half of them to pick a head, half to score it. The chart shows of a relation ` +
        "what its head hits above the best fixed distance. ✓: 0.90 for a position; for a relation 0.10 above that distance; for the rarest " +
        "word 0.10 above “longest word” and three times chance.",
    );
    charts();
    announce();
  }

  function charts() {
    if (!found) return;
    const top = Math.max(1, ...found.losses.map((pair) => pair[1]));
    const at = (svg) => curveWidth(svg, 390);
    drawCurves(loss, {
      width: at(loss), height: 190, steps, top: Math.ceil(top), lines: [{ points: found.losses, role: null }],
      tick: (value) => numberText(value, value % 1 ? 1 : 0), empty: found.losses.length ? "" : "no step yet",
    });
    const lines = Object.keys(ROLE_LOOK).map((role, i) => ({
      role,
      points: found.looks.filter((look) => look[i + 1] !== null).map((look) => [look[0], look[i + 1]]),
    }));
    drawCurves(heads, { width: at(heads), height: 190, steps, top: 1, lines, tick: (value) => String(value), empty: "no step yet" });
    heads.setAttribute("aria-label", model.get("alt"));
  }

  // Read out: a new state, and a role that has begun to hold.
  function announce() {
    const held = Object.entries(found.roles).filter(([, one]) => one.since).map(([role]) => ROLE_LOOK[role].words);
    const now = `${found.state}|${held.join()}`;
    if (now === told) return;
    told = now;
    say(held.length ? `${found.state}; roles held: ${held.join(", ")}` : found.state);
  }

  const answers = connect(model, root, [], (header) => {
    run.heard();
    paint(header);
    return true;
  });
  const stopTheme = watchTheme(root, (theme) => {
    roleVariables(root, theme);
    charts();
  });
  const resized = new ResizeObserver(() => charts());
  resized.observe(root);
  answers.draw();
  return () => {
    run.stop();
    answers.stop();
    stopTheme();
    resized.disconnect();
  };
}
