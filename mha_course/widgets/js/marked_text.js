// Text with words between `backticks` as nodes: those words in code type, everything set as text.
function markedText(text) {
  return text.split(/`([^`\n]+)`/).map((part, i) => (i % 2 ? node("code", { class: "mha-marked" }, part) : part));
}

// A verdict in words: a heading in its colour and what stands below. kind: "ok" or "warn".
function verdictBox(kind, heading, ...parts) {
  return node(
    "div",
    { class: `mha-box mha-verdict-${kind}` + (kind === "warn" ? " mha-box-warn" : ""), "data-verdict": kind },
    node("div", { class: "mha-box-heading" }, (kind === "ok" ? "✓ " : "⚠ ") + heading),
    ...parts,
  );
}

function markedLine(text, kind = "") {
  return node("p", { class: "mha-verdict-line" + (kind ? ` is-${kind}` : ""), dir: "auto" }, ...markedText(text));
}
