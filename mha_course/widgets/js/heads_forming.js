// The HeadsForming: every head at every recorded step, a slider and a play button, one head enlarged.
//
// Traits: sentence, steps, step, layer, head, record (for each step: accuracy, best, heads). The payload holds the maps
// (steps, layers, heads, n, n) as uint16, so that the slider needs no answer. Parts: [data-control="step" | "play" |
// "sentence"], .mha-form-head, .mha-form-detail, svg.mha-form-curves, [data-fact="words"].

const PLAY_EVERY = 1200;

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-form", role: "group", "aria-label": "Heads while the model learns" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tip = tooltip(root);
  const steps = model.get("steps");
  const record = model.get("record");
  const [layers, heads] = [record[0].heads.length, record[0].heads[0].length];
  const last = steps[steps.length - 1];
  let theme = "light";
  let frame = null; // { tokens, n, maps }
  let timer = null;

  const play = plainButton({ label: "Play", name: "play", onClick: toggle });
  const steer = slider({ label: "step", name: "step", stops: steps, value: model.get("step"), onInput: (step) => { halt(); go(step); }, describe: (step) => `step ${step}` });
  const field = textField({ label: "sentence", value: model.get("sentence"), maxLength: 10000, onInput: (sentence) => answers.ask({ sentence }) });
  const notices = node("div", {});
  const words = node("p", { class: "mha-sub", "data-fact": "words" });
  const grid = formingGrid({ layers, heads, onPick: pick, onCell: point, onLeave: () => tip.hide() });
  const large = weightMap({ index: 0, large: true, onCell: pointLarge, onLeave: () => { large.light(-1, -1, false); tip.hide(); }, onPick: () => {}, onKey: walk });
  large.frame.tabIndex = 0;
  let lit = null;
  const title = node("div", { class: "mha-form-title" });
  const curves = svgNode("svg", { class: "mha-form-curves", role: "img", "aria-label": "Role scores by step" });
  const facts = node("p", { class: "mha-sub mha-form-facts" });
  root.append(
    node("div", { class: "mha-live-head" }, node("h3", { class: "mha-heading" }, "Heads while the model learns"), node("span", { class: "mha-sub" }, "2 layers × 8 heads, d_model 128")),
    node("div", { class: "mha-row" }, field.element),
    notices,
    node("div", { class: "mha-form-steer" }, play, steer.element),
    words,
    grid.element,
    node(
      "div",
      { class: "mha-section mha-form-below" },
      node("div", { class: "mha-form-detail mha-drawing" }, title, node("div", { class: "mha-note" }, "query ↓  key →"), large.element),
      node("figure", {}, node("figcaption", { class: "mha-label" }, "best head of each role, by step"), curves, facts),
    ),
    node("p", { class: "mha-note" }, "A label needs its role on both halves of 600 other sentences: 0.90 for a position, 0.10 above the best fixed distance " +
      "for a relation, 0.10 above “longest word” and three times chance for the rarest word. Relations to punctuation are left out. " +
      "The curve “dep” is what the best relation hits above its best fixed distance."),
    node("div", { class: "mha-computing" }, "computing"),
  );

  const at = () => steps.indexOf(model.get("step"));
  const chosen = () => [model.get("layer") - 1, model.get("head") - 1];

  function weightsOf(i, layer, head) {
    const size = frame.n * frame.n;
    const start = ((i * layers + layer) * heads + head) * size;
    return frame.maps.subarray(start, start + size);
  }

  function go(step) {
    if (step === model.get("step")) return;
    model.set("step", step);
    model.save_changes();
  }

  function toggle() {
    if (timer !== null) return void halt();
    if (at() === steps.length - 1) go(steps[0]);
    else go(steps[at() + 1]);
    if (reducedMotion()) return; // "Play" is "Next" then
    setText(play, "Pause");
    timer = setInterval(() => {
      if (at() >= steps.length - 1) return void halt();
      go(steps[at() + 1]);
      if (at() >= steps.length - 1) halt();
    }, PLAY_EVERY);
  }

  function halt() {
    clearInterval(timer);
    timer = null;
    setText(play, reducedMotion() ? "Next" : "Play");
  }

  function pick(layer, head) {
    model.set("layer", layer + 1);
    model.set("head", head + 1);
    model.save_changes();
  }

  function cellWords(layer, head, q, k) {
    const weight = weightInWords(weightsOf(at(), layer, head)[q * frame.n + k] / 65535);
    return [node("b", {}, `${frame.tokens[q]} → ${frame.tokens[k]}`), `  ${weight}  layer ${layer + 1}, head ${head + 1}`];
  }

  function point(layer, head, q, k) {
    if (!frame) return;
    tip.show(grid.map(layer, head).cellRect(q, k), ...cellWords(layer, head, q, k));
  }

  function pointLarge(q, k, by) {
    if (!frame) return;
    lit = [q, k];
    large.light(q, k, true, by === "keyboard");
    const parts = cellWords(...chosen(), q, k);
    tip.show(large.cellRect(q, k), ...parts);
    if (by === "keyboard") say(parts.map((part) => part.textContent || part).join(""));
  }

  function walk(event) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !frame || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const inside = (value) => Math.min(frame.n - 1, Math.max(0, value));
    pointLarge(...(lit ? [inside(lit[0] + step[0]), inside(lit[1] + step[1])] : [0, 0]), "keyboard");
  }

  function layout() {
    if (!frame || !frame.n) return;
    const width = widthOf(root, 838) - 40;
    const columns = width < 600 ? 4 : 8;
    root.style.setProperty("--mha-form-columns", columns);
    grid.place(frame.tokens, Math.floor((width - 12 * (columns - 1)) / columns));
    const family = getComputedStyle(root).fontFamily;
    const most = Math.min(400, width < 640 ? width : width * 0.54);
    const first = labelRoom(frame.tokens, 20, family);
    const cell = Math.max(8, Math.min(26, Math.floor((most - first.left) / frame.n)));
    const { left, top, angle } = labelRoom(frame.tokens, cell, family);
    large.element.style.padding = `${top}px 0 0 ${left}px`;
    large.place({ tokens: frame.tokens, cell, side: cell * frame.n, keyLabelsShown: cell >= 12, queryLabelsShown: cell >= 12, angle, hatchSource: null });
  }

  function draw() {
    if (!frame || !frame.n) return;
    const i = at();
    const [layer, head] = chosen();
    const now = record[i];
    grid.draw((l, h) => weightsOf(i, l, h), now.heads, theme);
    grid.choose(layer, head);
    large.draw(weightsOf(i, layer, head), 1, theme);
    large.name(`Layer ${layer + 1}, head ${head + 1} after ${steps[i]} steps`);
    large.describe("Attention map; arrow keys walk over the cells");
    const label = now.heads[layer][head];
    const found = roleOf(label);
    const base = label && label.kind === "syntactic" ? `, best fixed distance ${shareText(label.baseline)}` : "";
    title.replaceChildren(
      node("span", { class: "mha-label" }, `layer ${layer + 1}, head ${head + 1}`),
      node("span", { class: "mha-sub" }, found ? `  ${found.words}: ${shareText(label.score)}${base}` : "  no role yet"),
    );
    const right = Object.entries(now.accuracy).map(([part, share]) => `${part} ${shareText(share)}`).join(", ");
    const count = now.heads.flat().filter(Boolean).length;
    setText(words, `After ${withCommas(steps[i])} steps: ${count} of ${layers * heads} heads have a role. Right answers: ${right}.`);
    const lines = Object.keys(ROLE_LOOK).map((role) => ({
      role,
      points: record.map((one, k) => [steps[k], one.best[role].score - (role === "syntactic" ? one.best[role].baseline : 0)]),
    }));
    drawCurves(curves, { width: curveWidth(curves, 340), height: 200, steps: last, top: 1, lines, now: steps[i] });
    setText(facts, Object.entries(now.best).map(([role, one]) => `${role === "syntactic" ? one.name : ROLE_LOOK[role].words} ${shareText(one.score)}`).join(" · "));
    steer.set(steps[i]);
  }

  function onAnswer(header, payload) {
    const bytes = payload.buffer.slice(payload.byteOffset, payload.byteOffset + payload.byteLength);
    frame = { tokens: header.tokens, n: header.tokens.length, maps: new Uint16Array(bytes) };
    lit = null;
    const boxes = [];
    if (!frame.n) boxes.push(box("empty", "No sentence yet", "Write one, or take ", linkButton(header.example, () => { field.set(header.example); answers.ask({ sentence: header.example }); })));
    if (header.unknown.length) boxes.push(box("note", header.unknown.length === 1 ? "A word that the model doesn’t know" : "Words that the model doesn’t know", `${header.unknown_named}: read as <unk>.`));
    if (header.found > frame.n) boxes.push(box("note", `${header.found} tokens, ${header.most} are read`, "The rest is left out."));
    notices.replaceChildren(...boxes);
    for (const part of [grid.element, root.querySelector(".mha-form-below")]) show(part, frame.n > 0);
    layout();
    draw();
    return true;
  }

  const answers = connect(model, root, ["sentence"], onAnswer, () => field.set(model.get("sentence")));
  const moved = () => {
    draw();
    say(words.textContent);
  };
  for (const name of ["step", "layer", "head"]) model.on(`change:${name}`, moved);
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    roleVariables(root, theme);
    headVariables(root, theme);
    root.querySelectorAll(".mha-form-chip").forEach((chip, i) => paintChip(chip, i % heads, theme));
    draw();
  });
  const resized = new ResizeObserver(() => {
    layout();
    draw();
  });
  resized.observe(root);
  halt();
  answers.draw();
  return () => {
    halt();
    answers.stop();
    for (const name of ["step", "layer", "head"]) model.off(`change:${name}`, moved);
    stopTheme();
    resized.disconnect();
  };
}
