// The ShapeTracer: the layer's eight steps as a strip, sliders for the sizes, and a panel that opens the lit step.
//
// Traits: answer (see shape_frame.py; with it choices, the sliders' stops, and moved, a notice), the settings b, n,
// d_model, h, and what only the view needs: step (1 to 8), token, head (from 0) and part ("q", "k" or "v") of the panel.
// Parts: [role=slider][data-control="b" | "n" | "d_model" | "h"], [role=tab][data-step="split"]...,
// button[data-go="back" | "next" | "play"], [role=tabpanel][data-step], select[data-token], button[data-head="1"],
// button[data-part="q"]. Keys on the strip: ← → Home End; in the panel arrows walk over the tinted cells.

const SHAPE_PANELS = {
  x: panelX,
  project: panelProject,
  split: panelSplit,
  scores: panelScores,
  weights: panelWeights,
  heads: panelHeads,
  concat: panelConcat,
  output: panelOutput,
};
const SHAPE_SIZES = ["b", "n", "d_model", "h"];
const SHAPE_PLACES = ["step", "token", "head", "part"];
const SHAPE_PLAY_MS = 1200;
const SHAPE_CHOOSES_HEAD = ["split", "project", "scores", "weights", "heads"];

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-shape", role: "group", "aria-label": "Shapes through the layer" });
  el.append(root);
  const say = liveRegion(root);
  const tips = cellTips(root, say);
  let theme = currentTheme();
  const paint = { diverging: (value) => signedColour(value, 1, theme), tip: tips.tip };
  const link = connect(model, root, SHAPE_SIZES, drawAll, () => parts && parts.refreshSliders());
  let parts = null;
  parts = shapeFrameNodes(root, model, (changes) => link.ask(changes));
  tips.roam(parts.body);
  let timer = null;

  const send = (changes) => {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  };
  const frame = () => model.get("answer");
  const panelState = () => ({
    token: Math.min(model.get("token"), frame().drawn.tokens - 1),
    head: Math.min(model.get("head"), frame().drawn.heads - 1),
    part: model.get("part"),
  });
  const act = {
    token: (token) => {
      send({ token });
      drawPanel();
      const label = parts.panel.querySelector(`[data-row="${token}"]`);
      if (label) label.focus();
    },
  };

  function go(step, focus) {
    const count = frame().steps.length;
    const next = Math.max(1, Math.min(count, step));
    if (next !== model.get("step")) send({ step: next });
    drawStrip();
    drawPanel();
    if (focus) parts.tabs[next - 1].focus();
  }

  function stop() {
    if (timer !== null) clearInterval(timer);
    timer = null;
    parts.play.textContent = "play";
    parts.play.setAttribute("aria-pressed", "false");
  }

  function play() {
    if (timer !== null) return stop();
    if (model.get("step") >= frame().steps.length) go(1);
    parts.play.textContent = "stop";
    parts.play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => {
      if (!root.isConnected || model.get("step") >= frame().steps.length) return stop();
      go(model.get("step") + 1);
    }, SHAPE_PLAY_MS);
    return undefined;
  }

  parts.back.addEventListener("click", () => { stop(); go(model.get("step") - 1); });
  parts.next.addEventListener("click", () => { stop(); go(model.get("step") + 1); });
  parts.play.addEventListener("click", play);
  parts.tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => { stop(); go(i + 1); });
    tab.addEventListener("keydown", (event) => {
      const moves = { ArrowRight: i + 2, ArrowDown: i + 2, ArrowLeft: i, ArrowUp: i, Home: 1, End: parts.tabs.length };
      if (!(event.key in moves)) return;
      event.preventDefault();
      // JupyterLab would take the arrows to move between cells.
      event.stopPropagation();
      stop();
      go(moves[event.key], true);
    });
  });

  function drawStrip() {
    const now = frame();
    const step = model.get("step");
    parts.lead.textContent = "One cell, one number. Colour: the head it belongs to; strength: the size of the number. "
      + `Shown: the first of b = ${now.b} sentence${now.b === 1 ? "" : "s"}.`;
    parts.tabs.forEach((tab, i) => {
      const entry = now.steps[i];
      const lit = i + 1 === step;
      tab.classList.toggle("is-lit", lit);
      tab.setAttribute("aria-selected", String(lit));
      tab.tabIndex = lit ? 0 : -1;
      tab.setAttribute("aria-label", `step ${i + 1}, ${entry.name}: ${entry.formula}, shape ${entry.symbols} = ${entry.shape}`);
      const [formula, symbols, shape] = tab.querySelectorAll(".mha-step-line");
      formula.textContent = entry.formula;
      symbols.textContent = entry.symbols;
      shape.textContent = entry.shape;
    });
    parts.where.textContent = `Step ${step} of ${now.steps.length}. The arrow keys ← → move through the layer.`;
    parts.back.disabled = step === 1;
    parts.next.disabled = step === now.steps.length;
  }

  function drawThumbs() {
    const now = frame();
    parts.tabs.forEach((tab, i) => drawShapeThumb(tab.querySelector("svg"), now.steps[i].name, now));
    parts.note.textContent = now.note;
    parts.note.hidden = !now.note;
  }

  function drawPanel() {
    const now = frame();
    const step = model.get("step");
    const entry = now.steps[step - 1];
    const state = panelState();
    const made = SHAPE_PANELS[entry.name](now, state, act, paint);
    parts.panel.dataset.step = entry.name;
    parts.panel.setAttribute("aria-labelledby", parts.tabs[step - 1].id);
    parts.title.textContent = `${step} · ${made.title}`;
    parts.code.textContent = entry.code.replace("x @ w_q", `x @ w_${state.part}`);
    tips.clear();
    parts.body.replaceChildren(...made.body);
    parts.body.tabIndex = parts.body.querySelector("[data-tip]") ? 0 : -1;
    parts.words.textContent = made.words;
    drawChoosers(now, entry.name, state);
  }

  function drawChoosers(now, name, state) {
    const stamp = now.tokens.join("\u0000");
    if (parts.token.dataset.stamp !== stamp) {
      parts.token.replaceChildren(...now.tokens.map((word, t) => {
        const option = document.createElement("option");
        option.value = String(t);
        option.textContent = `${t} · ${word}`;
        return option;
      }));
      parts.token.dataset.stamp = stamp;
    }
    parts.token.value = String(state.token);
    const heads = SHAPE_CHOOSES_HEAD.includes(name) ? now.drawn.heads : 0;
    parts.heads.hidden = heads < 2;
    if (parts.heads.children.length !== heads + 1) {
      const chips = Array.from({ length: heads }, (_, head) => shapeChoice(headBadge(head), { head: head + 1 }, `head ${head + 1}`, () => {
        send({ head });
        drawPanel();
      }));
      parts.heads.replaceChildren(node("span", { class: "mha-label" }, "head"), ...chips);
    }
    [...parts.heads.querySelectorAll("button")].forEach((button, head) => {
      button.setAttribute("aria-pressed", String(head === state.head));
    });
    parts.which.hidden = name !== "project";
    [...parts.which.querySelectorAll("button")].forEach((button) => {
      button.setAttribute("aria-pressed", String(button.dataset.part === state.part));
    });
  }
  [...parts.which.querySelectorAll("button")].forEach((button) => {
    button.addEventListener("click", () => { send({ part: button.dataset.part }); drawPanel(); });
  });
  parts.token.addEventListener("change", () => { send({ token: Number(parts.token.value) }); drawPanel(); });

  function drawAll() {
    if (!parts) return;
    parts.refreshSliders();
    setText(parts.moved, frame().moved);
    parts.moved.hidden = !frame().moved;
    drawStrip();
    drawThumbs();
    drawPanel();
  }

  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const onMotion = () => { stop(); parts.play.hidden = still.matches; };
  still.addEventListener("change", onMotion);
  onMotion();
  const onPlace = () => { drawStrip(); drawPanel(); };
  for (const name of SHAPE_PLACES) model.on(`change:${name}`, onPlace);
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    headVariables(root, theme);
    drawPanel();
  });
  link.draw();
  return () => {
    stop();
    stopTheme();
    link.stop();
    still.removeEventListener("change", onMotion);
    for (const name of SHAPE_PLACES) model.off(`change:${name}`, onPlace);
  };
}
