// One head as a heatmap: a canvas of cells, hatching above it, labels, a ring on the lit row and cell.
//
// weightMap({ index, large, onCell, onLeave, onPick, onKey }) -> { element, frame, place, draw, light, ... }
//   onCell(q, k, by) when the pointer or the keyboard stands on a cell, by = "pointer" or "keyboard";
//   onLeave(by), onPick() on a click or Enter, onKey(event) for keys the map doesn't use itself.
// The small map's canvas has exactly n_k × n_q pixels, one a weight, and is stretched without smoothing.

const DRAW_NOTHING = 0.004;

function weightMap({ index, large = false, onCell, onLeave, onPick, onKey }) {
  const cells = node("canvas", { class: "mha-cells", role: "img", "aria-label": "Attention weights" });
  const hatch = node("canvas", { class: "mha-hatch", "aria-hidden": "true", hidden: true });
  const rowRing = node("div", { class: "mha-row-ring", hidden: true });
  const cellRing = node("div", { class: "mha-cell-ring", hidden: true });
  const keys = node("div", { class: "mha-keys", "aria-hidden": "true" });
  const queries = node("div", { class: "mha-queries", "aria-hidden": "true" });
  const pointer = node("span", { class: "mha-row-pointer", "aria-hidden": "true", hidden: true }, "›");
  const frame = node(
    "div",
    { class: "mha-frame", role: "application", tabindex: -1, "data-head": index + 1 },
    cells, hatch, rowRing, cellRing, keys, queries, pointer,
  );
  const element = node("div", { class: large ? "mha-map mha-map-large" : "mha-map" }, frame);
  let size = { n: 0, nK: 0, cell: 0, side: 0 };
  let image = null;
  let labelled = "";

  // Size, labels and hatch. Cheap when nothing changed: labels are built only for new tokens or sizes.
  // unknown: places of tokens to be marked as not known. side: the height; with keyTokens of their own (n_q × n_k
  // weights) the width is that of n_k cells.
  function place({ tokens, keyTokens = tokens, unknown = NONE_UNKNOWN, cell, side, keyLabelsShown, queryLabelsShown, angle, hatchSource }) {
    const [n, nK] = [tokens.length, keyTokens.length];
    size = { n, nK, cell, side };
    frame.style.height = `${side}px`;
    frame.style.width = keyTokens === tokens ? `${side}px` : `${cell * nK}px`;
    const names = [...tokens, "", ...(keyTokens === tokens ? [] : keyTokens)].join("\u0000");
    const key = `${keyLabelsShown}${queryLabelsShown}${cell}${angle}${[...unknown]}\u0000${names}`;
    if (key !== labelled) {
      labelled = key;
      keyLabels(keys, keyLabelsShown ? keyTokens : [], cell, angle, unknown);
      queryLabels(queries, queryLabelsShown ? tokens : [], cell, unknown);
    }
    hatch.hidden = !hatchSource;
    if (hatchSource) {
      hatch.width = hatchSource.width;
      hatch.height = hatchSource.height;
      hatch.getContext("2d").drawImage(hatchSource, 0, 0);
    }
  }

  // weights: Uint16Array of n_q × n_k, 65535 = 1. top: the weight of the darkest shade.
  function draw(weights, top, theme) {
    if (large) drawLarge(weights, top, theme);
    else drawSmall(weights, top, theme);
  }

  function drawSmall(weights, top, theme) {
    const { n, nK } = size;
    const pen = cells.getContext("2d");
    if (cells.width !== nK || cells.height !== n || !image) {
      cells.width = nK;
      cells.height = n;
      image = pen.createImageData(nK, n);
    }
    const words = new Uint32Array(image.data.buffer);
    const ramp = rampWords("seq", theme);
    const factor = 255 / (65535 * top);
    const least = DRAW_NOTHING * 65535;
    for (let i = 0; i < words.length; i += 1) {
      const w = weights[i];
      words[i] = ramp[w < least ? 0 : Math.min(255, (w * factor + 0.5) | 0)];
    }
    pen.putImageData(image, 0, 0);
  }

  // Each cell as a rectangle with a gap of 1 px in the surface colour, sharp at any zoom.
  function drawLarge(weights, top, theme) {
    const { n, nK, cell, side } = size;
    const ratio = window.devicePixelRatio || 1;
    const tall = Math.max(1, Math.round(side * ratio));
    const wide = nK === n ? tall : Math.max(1, Math.round(nK * cell * ratio));
    if (cells.width !== wide || cells.height !== tall) {
      cells.width = wide;
      cells.height = tall;
    }
    const pen = cells.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = colour("surface", theme);
    pen.fillRect(0, 0, wide, tall);
    const gap = cell >= 8 ? Math.max(1, Math.round(ratio)) : 0;
    const edge = (i) => Math.round(i * cell * ratio);
    for (let q = 0; q < n; q += 1) {
      for (let k = 0; k < nK; k += 1) {
        const w = weights[q * nK + k] / 65535;
        if (w < DRAW_NOTHING) continue;
        pen.fillStyle = weightColour(w / top, theme);
        const [x, y] = [edge(k), edge(q)];
        pen.fillRect(x, y, edge(k + 1) - x - gap, edge(q + 1) - y - gap);
      }
    }
  }

  // q: the row lit in every map, or −1. own: this map holds the lit cell k.
  function light(q, k, own, byKeyboard) {
    const { cell, n, side } = size;
    const lit = q >= 0 && q < n;
    rowRing.hidden = !lit || cell < 3;
    if (!rowRing.hidden) {
      rowRing.style.transform = `translateY(${q * cell}px)`;
      rowRing.style.height = `${cell}px`;
    }
    pointer.hidden = !lit || queries.firstChild !== null || cell < 6;
    if (!pointer.hidden) pointer.style.top = `${(q + 0.5) * cell}px`;
    const ring = lit && own && k >= 0;
    cellRing.hidden = !ring;
    if (ring) {
      const room = Math.max(cell, 6);
      cellRing.style.width = cellRing.style.height = `${room}px`;
      const shift = (room - cell) / 2;
      cellRing.style.transform = `translate(${k * cell - shift}px, ${q * cell - shift}px)`;
    }
    cellRing.classList.toggle("mha-by-keyboard", Boolean(byKeyboard));
    frame.classList.toggle("mha-own", Boolean(own && lit));
    lightLabel(queries, lit ? q : -1);
    lightLabel(keys, ring ? k : -1);
    size.side = side;
  }

  function cellAt(event) {
    const bounds = cells.getBoundingClientRect();
    const at = (offset, length, n) => Math.min(n - 1, Math.max(0, Math.floor((offset / length) * n)));
    return [
      at(event.clientY - bounds.top, bounds.height, size.n),
      at(event.clientX - bounds.left, bounds.width, size.nK),
    ];
  }

  cells.addEventListener("pointermove", (event) => onCell(...cellAt(event), "pointer"));
  hatch.addEventListener("pointermove", (event) => onCell(...cellAt(event), "pointer"));
  frame.addEventListener("pointerleave", () => onLeave("pointer"));
  frame.addEventListener("click", (event) => {
    onCell(...cellAt(event), "pointer");
    onPick();
  });
  frame.addEventListener("keydown", onKey);
  frame.addEventListener("blur", () => onLeave("keyboard"));

  return {
    element, frame, cells, place, draw, light,
    name(text) { cells.setAttribute("aria-label", text); },
    describe(text) { frame.setAttribute("aria-label", text); },
    // Where cell (q, k) is on the page, for a tooltip.
    cellRect(q, k) {
      const bounds = cells.getBoundingClientRect();
      const step = bounds.width / Math.max(1, size.nK);
      return { left: bounds.left + k * step, top: bounds.top + q * step, width: step, height: step };
    },
  };
}
