// The LiveTraining: a button that starts and stops, a progress bar, what is right so far, and the roles of heads.
//
// Traits: order, steps, parts, all_parts. The answer: state, step, seconds, drawn, sentences, losses, looks, accuracy,
// roles, trouble. Parts: button[data-control="run"], [role=progressbar], [data-fact="words"], [data-accuracy=...],
// svg.mha-live-loss, svg.mha-live-heads, tr[data-role=...]; the root carries data-state.

const LIVE_BUTTON = {
  new: ["Start", "start"], starting: ["Stop", "stop"], running: ["Stop", "stop"], stopping: ["Stopping", null],
  stopped: ["Go on", "start"], finished: ["Finished", null], failed: ["Start again", "start"],
};

// A training at work reports every second or so. After this long without a word its kernel may be gone.
const QUIET_AFTER = 20000;

function liveWords(found, steps) {
  const { state, step, seconds, drawn, sentences } = found;
  const stood = `step ${withCommas(step)} of ${withCommas(steps)}`;
  if (state === "new") return "Nothing runs yet. Start trains a new model from random weights.";
  if (state === "failed") return `It ended with an error: ${found.trouble}`;
  if (step === 0 && state !== "stopped") {
    return drawn ? `drawing sentences: ${withCommas(drawn)} of ${withCommas(sentences)}` : "starting";
  }
  const last = found.losses.length ? `, loss ${numberText(found.losses[found.losses.length - 1][1], 2)}` : "";
  const words = `${stood}, ${Math.round(seconds)} s${last}`;
  if (state === "stopped") return `Stopped at ${words}. Go on, or run the cell again, and it continues from there.`;
  return state === "finished" ? `Finished: ${words}.` : words;
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

  const button = node("button", { class: "mha-button mha-live-button", type: "button", "data-control": "run", onclick: press }, "Start");
  const fill = node("div", { class: "mha-live-fill" });
  const bar = node("div", {
    class: "mha-live-bar", role: "progressbar", "aria-label": "Training", "aria-valuemin": 0, "aria-valuemax": steps, "aria-valuenow": 0,
  }, fill);
  const words = node("div", { class: "mha-live-words", "data-fact": "words" });
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
    node("div", { class: "mha-live-run" }, button, node("div", { class: "mha-live-progress" }, bar, words)),
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

  function press() {
    const [, order] = LIVE_BUTTON[found ? found.state : "new"];
    if (!order) return;
    if (order === "stop") paint({ ...found, state: "stopping" });
    answers.ask({ order });
  }

  function paint(next) {
    found = next;
    const { state, step, drawn, sentences } = found;
    const [label, order] = LIVE_BUTTON[state];
    root.dataset.state = state;
    setText(button, label);
    button.disabled = order === null;
    button.classList.toggle("is-main", order === "start");
    const share = step > 0 || state === "new" ? step / steps : 0;
    fill.style.width = `${100 * share}%`;
    bar.setAttribute("aria-valuenow", String(step));
    bar.setAttribute("aria-valuetext", step || !drawn ? `step ${step} of ${steps}` : `${drawn} of ${sentences} sentences drawn`);
    setText(words, liveWords(found, steps));
    words.classList.toggle("is-trouble", state === "failed");
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

  // A restarted kernel takes the training with it, and nothing comes that would say so.
  const quiet = node("p", { class: "mha-box mha-box-warn mha-live-quiet", role: "status" });
  let heard = performance.now();
  const listening = setInterval(() => {
    const seconds = Math.round((performance.now() - heard) / 1000);
    const atWork = found && ["starting", "running", "stopping"].includes(found.state);
    if (!atWork || 1000 * seconds < QUIET_AFTER) return void quiet.remove();
    setText(quiet, `Nothing heard from the training for ${seconds} s. If the kernel was restarted, run the cells from the top again.`);
    if (!quiet.isConnected) root.append(quiet);
  }, 5000);

  const answers = connect(model, root, [], (header) => {
    heard = performance.now();
    quiet.remove();
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
    clearInterval(listening);
    answers.stop();
    stopTheme();
    resized.disconnect();
  };
}
