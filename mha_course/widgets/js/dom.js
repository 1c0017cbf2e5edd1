// Making elements. Text goes in as text, never as markup, so that a token like <img ...> stays a token.

const SVG = "http://www.w3.org/2000/svg";

// node("p", { class: "mha-note", title: "…" }, "text", child, [more children])
function node(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svgNode(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Change an element's text only when it differs: an untouched label costs no layout.
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function show(element, visible) {
  element.hidden = !visible;
}

// The width that an element has, or had last: while JupyterLab changes its theme nothing has any.
const lastWidths = new WeakMap();
function widthOf(element, atFirst) {
  if (element.clientWidth) lastWidths.set(element, element.clientWidth);
  return lastWidths.get(element) || atFirst;
}

let idCounter = 0;
function freshId(prefix) {
  idCounter += 1;
  return `mha-${prefix}-${Date.now().toString(36)}-${idCounter}`;
}

// One polite live region a widget: say(text) is read out by a screen reader. Fast changes are merged,
// so that holding an arrow key does not queue up fifty sentences.
function liveRegion(root) {
  const region = node("div", { class: "mha-sr", "aria-live": "polite", role: "status" });
  root.append(region);
  let timer = null;
  return (text) => {
    clearTimeout(timer);
    timer = setTimeout(() => setText(region, text), 120);
  };
}

// Keys pressed inside a widget belong to it: the notebook would take "1" for "make this a heading" and the
// arrow keys for its cells. Ctrl+S, Shift+Enter and their like still reach JupyterLab.
function keepKeys(root) {
  root.addEventListener("keydown", (event) => {
    const forNotebook = event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === "Enter");
    if (!forNotebook) event.stopPropagation();
  });
}

// A box with a heading and a sentence. kind: "empty", "warn", "note". The parts are strings or nodes.
function box(kind, heading, ...parts) {
  const mark = kind === "warn" ? "⚠ " : "";
  return node(
    "div",
    { class: `mha-box mha-box-${kind}`, role: kind === "warn" ? "alert" : null },
    node("div", { class: "mha-box-heading" }, mark + heading),
    node("div", { class: "mha-box-text" }, ...parts),
  );
}

function linkButton(text, onClick) {
  return node("button", { class: "mha-link", type: "button", onclick: onClick }, text);
}

// "1,234,567"; a true minus for negative numbers.
function withCommas(value) {
  return String(Math.abs(Math.round(value))).replace(/\B(?=(\d{3})+$)/g, ",").replace(/^/, value < 0 ? "−" : "");
}

// Weights in words: two decimals, "<0.01" for what would round to nothing.
function weightInWords(weight) {
  if (weight > 0 && weight < 0.005) return "<0.01";
  return weight.toFixed(2);
}
