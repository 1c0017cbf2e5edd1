// The ShapeTracer's frame of HTML: sliders, strip of tabs, buttons, and the panel.
//
// shapeFrameNodes(root, theme, model) -> its parts by name; parts.dispose() lets go of the sliders' listeners.
// shapeChoice(content, data, label, onClick) -> a small button that can be pressed in (aria-pressed).

function shapeNode(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function shapeChoice(content, data, label, onClick) {
  const button = shapeNode("button", "mha-choice");
  button.type = "button";
  Object.assign(button.dataset, Object.fromEntries(Object.entries(data).map(([key, value]) => [key, String(value)])));
  button.setAttribute("aria-label", label);
  button.append(content);
  if (onClick) button.addEventListener("click", onClick);
  return button;
}

function shapeTab(name, index, id) {
  const tab = shapeNode("button", "mha-step");
  tab.type = "button";
  tab.id = `${id}-${index}`;
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", `${id}-panel`);
  tab.dataset.step = name;
  const head = shapeNode("span", "mha-step-head");
  head.append(shapeNode("span", "mha-step-number", String(index + 1)), name);
  const picture = svgNode("svg", { "aria-hidden": "true" });
  tab.append(head, picture, shapeNode("span", "mha-step-line mha-note"), shapeNode("span", "mha-step-line mha-step-shape"),
    shapeNode("span", "mha-step-line mha-step-shape"));
  return tab;
}

function shapeButtons() {
  const group = shapeNode("div", "mha-buttons");
  const [back, next, play] = [["back", "‹ back"], ["next", "next ›"], ["play", "play"]].map(([go, words]) => {
    const button = shapeNode("button", "mha-button", words);
    button.type = "button";
    button.dataset.go = go;
    group.append(button);
    return button;
  });
  return { group, back, next, play };
}

function shapeSliders(theme, model, moved) {
  const box = shapeNode("div", "mha-shape-sizes");
  const names = ["b", "n", "d_model", "h"];
  const sliders = names.map((name) => {
    const slider = theme.stopSlider({
      label: name,
      stops: model.get("choices")[name],
      value: model.get(name),
      onChange: (value) => {
        model.set(name, value);
        model.save_changes();
      },
    });
    slider.node.dataset.size = name;
    box.append(slider.node);
    return slider;
  });
  const refresh = () => {
    names.forEach((name, i) => sliders[i].setStops(model.get("choices")[name], model.get(name)));
    moved.textContent = model.get("moved");
    moved.hidden = !model.get("moved");
  };
  for (const name of [...names, "choices", "moved"]) model.on(`change:${name}`, refresh);
  refresh();
  const dispose = () => {
    for (const name of [...names, "choices", "moved"]) model.off(`change:${name}`, refresh);
  };
  return { box, dispose };
}

function shapeFrameNodes(root, theme, model) {
  const id = `mha-shape-${Math.random().toString(36).slice(2)}`;
  const lead = shapeNode("p", "mha-lead");
  const moved = shapeNode("p", "mha-moved");
  moved.setAttribute("role", "status");
  const sliders = shapeSliders(theme, model, moved);
  const strip = shapeNode("div", "mha-steps");
  strip.setAttribute("role", "tablist");
  strip.setAttribute("aria-label", "steps of the layer");
  const tabs = model.get("frame").steps.map((entry, i) => shapeTab(entry.name, i, id));
  strip.append(...tabs);
  const buttons = shapeButtons();
  const where = shapeNode("span", "mha-label");
  const go = shapeNode("div", "mha-shape-go");
  go.append(buttons.group, where);

  const panel = shapeNode("section", "mha-shape-panel");
  panel.id = `${id}-panel`;
  panel.setAttribute("role", "tabpanel");
  const head = shapeNode("div", "mha-shape-panel-head");
  const title = shapeNode("h3", "mha-heading");
  const code = shapeNode("code", "mha-code");
  head.append(title, code);
  const choose = shapeNode("div", "mha-shape-choose");
  const tokenBox = shapeNode("label", "mha-label", "token ");
  const token = shapeNode("select", "mha-select");
  token.dataset.token = "true";
  token.dir = "auto";
  tokenBox.append(token);
  const heads = shapeNode("div", "");
  heads.setAttribute("role", "group");
  heads.setAttribute("aria-label", "head");
  const which = shapeNode("div", "");
  which.setAttribute("role", "group");
  which.setAttribute("aria-label", "projection");
  for (const part of ["q", "k", "v"]) which.append(shapeChoice(part, { part }, `projection ${part}`));
  choose.append(tokenBox, heads, which);
  const body = shapeNode("div", "mha-shape-body");
  const words = shapeNode("p", "mha-shape-words");
  words.setAttribute("aria-live", "polite");
  const note = shapeNode("p", "mha-note");
  panel.append(head, choose, body, words);
  root.append(shapeNode("h3", "mha-heading", "Shapes through the layer"), lead, sliders.box, moved, strip, go,
    shapeNode("hr", "mha-rule"), panel, note);
  return { lead, tabs, where, panel, title, code, token, heads, which, body, words, note,
    back: buttons.back, next: buttons.next, play: buttons.play, dispose: sliders.dispose };
}
