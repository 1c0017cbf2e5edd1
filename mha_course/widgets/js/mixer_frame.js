// The OutputMixer's frame of HTML: heading, token list, switches, the two pictures, and the lines of text.
//
// mixerFrame(root) -> its parts by name.  mixerSwitch(group, index, toggle) -> one head's switch with its chip.

function mixerNode(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function mixerFrame(root) {
  root.classList.add("mha-mix");
  const head = mixerNode("div", "mha-mix-head");
  const facts = mixerNode("span", "mha-mix-facts");
  const label = mixerNode("label", "mha-mix-token", "token ");
  const token = mixerNode("select", "mha-select");
  token.dataset.token = "true";
  token.dir = "auto";
  label.append(token);
  const side = mixerNode("div", "mha-mix-side");
  side.append(facts, label);
  head.append(mixerNode("h3", "mha-heading", "W_O mixes the heads"), side);

  const row = mixerNode("div", "mha-mix-row");
  const switches = mixerNode("div", "mha-mix-switches");
  switches.setAttribute("role", "group");
  switches.setAttribute("aria-label", "heads");
  const buttons = mixerNode("div", "mha-buttons");
  const all = [["on", "all on"], ["one", "only one"], ["off", "all off"]].map(([key, words]) => {
    const button = mixerNode("button", "mha-button", words);
    button.type = "button";
    button.dataset.all = key;
    if (key === "one") button.title = "one head alone; again for the next one";
    buttons.append(button);
    return button;
  });
  row.append(mixerNode("span", "mha-mix-lead", "Heads"), switches, buttons);

  const body = mixerNode("div", "mha-mix-body");
  const matrices = svgNode("svg", { class: "mha-mix-matrices", role: "img" });
  const chartHead = mixerNode("div", "mha-mix-head");
  const legend = mixerNode("span", "mha-mix-legend");
  legend.append(mixerNode("span", "mha-mix-legend-now"), " output now", mixerNode("span", "mha-mix-legend-whole"),
    " output with all heads on");
  chartHead.append(mixerNode("h3", "mha-heading", "The shares add up to the output"), legend);
  const chart = svgNode("svg", { class: "mha-mix-chart", role: "group", tabindex: "0" });
  chart.setAttribute("aria-label", "Stacked shares of every output feature. Arrow keys move over the features.");
  const read = mixerNode("p", "mha-mix-read");
  read.setAttribute("role", "status");
  body.append(matrices, mixerNode("hr", "mha-rule"), chartHead, chart, read);

  const statement = mixerNode("p", "mha-mix-statement");
  statement.setAttribute("aria-live", "polite");
  const note = mixerNode("p", "mha-note");
  root.append(head, row, mixerNode("hr", "mha-rule"), body, statement, note);
  return { facts, token, switches, all, body, matrices, chart, read, statement, note };
}

function mixerSwitch(group, index, toggle) {
  const button = mixerNode("button", "mha-switch");
  button.type = "button";
  button.setAttribute("role", "switch");
  button.setAttribute("aria-label", group.title);
  button.dataset.head = String(index + 1);
  const chip = mixerNode("span", "mha-chip", group.chip);
  if (group.slot) {
    chip.style.setProperty("--mha-own", `var(--mha-head-${group.slot})`);
    chip.style.setProperty("--mha-own-ink", `var(--mha-head-ink-${group.slot})`);
  }
  button.append(chip, mixerNode("span", "mha-switch-track"), mixerNode("span", "mha-switch-word", "on"));
  button.addEventListener("click", toggle);
  return button;
}
