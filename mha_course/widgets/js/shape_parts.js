// The ShapeTracer's frame of HTML: sliders, strip of tabs, buttons, and the panel.
//
// shapeFrameNodes(root, model, ask) -> its parts by name; ask({ n: 5 }) is what a moved slider calls.
// shapeChoice(content, data, label, onClick) -> a small button that can be pressed in (aria-pressed).

function shapeChoice(content, data, label, onClick) {
  const button = node("button", { class: "mha-choice" });
  button.type = "button";
  Object.assign(button.dataset, Object.fromEntries(Object.entries(data).map(([key, value]) => [key, String(value)])));
  button.setAttribute("aria-label", label);
  button.append(content);
  if (onClick) button.addEventListener("click", onClick);
  return button;
}

function shapeTab(name, index, id) {
  const tab = node("button", { class: "mha-step" });
  tab.type = "button";
  tab.id = `${id}-${index}`;
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", `${id}-panel`);
  tab.dataset.step = name;
  const head = node("span", { class: "mha-step-head" });
  head.append(node("span", { class: "mha-step-number" }, String(index + 1)), name);
  const picture = svgNode("svg", { "aria-hidden": "true" });
  tab.append(head, picture, node("span", { class: "mha-step-line mha-note" }), node("span", { class: "mha-step-line mha-step-shape" }),
    node("span", { class: "mha-step-line mha-step-shape" }));
  return tab;
}

function shapeButtons() {
  const group = node("div", { class: "mha-buttons" });
  const [back, next, play] = [["back", "‹ back"], ["next", "next ›"], ["play", "play"]].map(([go, words]) => {
    const button = node("button", { class: "mha-button" }, words);
    button.type = "button";
    button.dataset.go = go;
    if (go === "next") button.classList.add("is-main");
    group.append(button);
    return button;
  });
  return { group, back, next, play };
}

function shapeSliders(model, ask) {
  const words = { b: "sentences", n: "tokens", d_model: "features", h: "heads" };
  const element = node("div", { class: "mha-shape-sizes" });
  const sliders = Object.entries(words).map(([name, word]) => {
    const one = slider({
      label: name,
      code: true,
      stops: [model.get(name)],
      value: model.get(name),
      onInput: (value) => ask({ [name]: value }),
      describe: (value) => `${value} ${word}`,
    });
    element.append(one.element);
    return [name, one];
  });
  const refresh = () => {
    const choices = model.get("answer").choices;
    for (const [name, one] of sliders) one.setStops(choices[name], model.get(name));
  };
  return { element, refresh };
}

function shapeFrameNodes(root, model, ask) {
  const id = freshId("shape");
  const lead = node("p", { class: "mha-sub" });
  const moved = node("p", { class: "mha-moved" });
  moved.setAttribute("role", "status");
  const sliders = shapeSliders(model, ask);
  const strip = node("div", { class: "mha-steps" });
  strip.setAttribute("role", "tablist");
  strip.setAttribute("aria-label", "steps of the layer");
  const tabs = model.get("answer").steps.map((entry, i) => shapeTab(entry.name, i, id));
  strip.append(...tabs);
  const buttons = shapeButtons();
  const where = node("span", { class: "mha-sub" });
  const go = node("div", { class: "mha-shape-go" });
  go.append(buttons.group, where);

  const panel = node("section", { class: "mha-shape-panel" });
  panel.id = `${id}-panel`;
  panel.setAttribute("role", "tabpanel");
  const head = node("div", { class: "mha-shape-panel-head" });
  const title = node("h3", { class: "mha-heading" });
  const code = node("code", { class: "mha-code" });
  head.append(title, code);
  const choose = node("div", { class: "mha-shape-choose" });
  const tokenBox = node("label", { class: "mha-label" }, "token ");
  const token = node("select", { class: "mha-select" });
  token.dataset.token = "true";
  token.dir = "auto";
  tokenBox.append(token);
  const heads = node("div", { class: "" });
  heads.setAttribute("role", "group");
  heads.setAttribute("aria-label", "head");
  const which = node("div", { class: "" });
  which.setAttribute("role", "group");
  which.setAttribute("aria-label", "projection");
  for (const part of ["q", "k", "v"]) which.append(shapeChoice(part, { part }, `projection ${part}`));
  choose.append(tokenBox, heads, which);
  const body = node("div", { class: "mha-shape-body", role: "group", "aria-label": "numbers of this step" });
  const words = node("p", { class: "mha-shape-words" });
  words.setAttribute("aria-live", "polite");
  const note = node("p", { class: "mha-note" });
  panel.append(head, choose, body, words);
  root.append(node("h3", { class: "mha-heading" }, "Shapes through the layer"), lead, sliders.element, moved, strip, go,
    node("hr", { class: "mha-rule" }), panel, note);
  return { lead, tabs, where, panel, title, code, token, heads, which, body, words, note,
    back: buttons.back, next: buttons.next, play: buttons.play, moved, refreshSliders: sliders.refresh };
}
