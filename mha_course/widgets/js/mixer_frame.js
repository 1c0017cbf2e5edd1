// The OutputMixer's frame of HTML: heading, token list, switches, the two pictures, and the lines of text.
//
// mixerFrame(root) -> its parts by name.  mixerSwitch(group, index, toggle) -> one head's switch with its chip.

function mixerFrame(root) {
  const head = node("div", { class: "mha-mix-head" });
  const facts = node("span", { class: "mha-mix-facts" });
  const label = node("label", { class: "mha-mix-token" }, "token ");
  const token = node("select", { class: "mha-select" });
  token.dataset.token = "true";
  token.dir = "auto";
  label.append(token);
  const side = node("div", { class: "mha-mix-side" });
  side.append(facts, label);
  head.append(node("h3", { class: "mha-heading" }, "W_O mixes the heads"), side);

  const row = node("div", { class: "mha-mix-row" });
  const switches = node("div", { class: "mha-mix-switches" });
  switches.setAttribute("role", "group");
  switches.setAttribute("aria-label", "heads");
  const buttons = node("div", { class: "mha-buttons" });
  const all = [["on", "all on"], ["one", "only one"], ["off", "all off"]].map(([key, words]) => {
    const button = node("button", { class: "mha-button" }, words);
    button.type = "button";
    button.dataset.all = key;
    if (key === "one") button.title = "one head alone; again for the next one";
    buttons.append(button);
    return button;
  });
  row.append(node("span", { class: "mha-mix-lead" }, "Heads"), switches, buttons);

  const body = node("div", { class: "mha-mix-body" });
  const matrices = svgNode("svg", { class: "mha-mix-matrices", role: "group", tabindex: "0" });
  const chartHead = node("div", { class: "mha-mix-head" });
  const legend = node("span", { class: "mha-mix-legend" });
  legend.append(node("span", { class: "mha-mix-legend-now" }), " output now", node("span", { class: "mha-mix-legend-whole" }),
    " output with all heads on");
  chartHead.append(node("h3", { class: "mha-heading" }, "The shares add up to the output"), legend);
  const chart = svgNode("svg", { class: "mha-mix-chart", role: "group", tabindex: "0" });
  chart.setAttribute("aria-label", "Stacked shares of every output feature. Arrow keys move over the features.");
  const read = node("p", { class: "mha-mix-read" });
  body.append(matrices, node("hr", { class: "mha-rule" }), chartHead, chart, read);

  const statement = node("p", { class: "mha-mix-statement" });
  statement.setAttribute("aria-live", "polite");
  const note = node("p", { class: "mha-note" });
  root.append(head, row, node("hr", { class: "mha-rule" }), body, statement, note);
  return { facts, token, switches, all, body, matrices, chart, read, statement, note };
}

function mixerSwitch(group, index, toggle) {
  const button = node("button", { class: "mha-mix-switch" });
  button.type = "button";
  button.setAttribute("role", "switch");
  button.setAttribute("aria-label", group.title);
  button.dataset.head = String(index + 1);
  const chip = node("span", { class: "mha-chip mha-own-chip" }, group.chip);
  if (group.slot) {
    chip.style.setProperty("--mha-own", `var(--mha-head-${group.slot})`);
    chip.style.setProperty("--mha-own-ink", `var(--mha-head-ink-${group.slot})`);
  }
  button.append(chip, node("span", { class: "mha-mix-switch-track" }), node("span", { class: "mha-mix-switch-word" }, "on"));
  button.addEventListener("click", toggle);
  return button;
}
