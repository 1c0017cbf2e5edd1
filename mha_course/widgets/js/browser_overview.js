// The picture of all heads: one canvas for the maps, one above it for what is lit, numbers of heads and layers around.
//
// browserOverview({ onPoint, onLeave, onPick, onKey }) -> { element, frame, place, draw, light, rect }
//   onPoint({ layer, head, q, k }) under the pointer, onPick(the same) on a click, onKey(event) when the picture has the focus.

function browserOverview({ onPoint, onLeave, onPick, onKey }) {
  const cells = node("canvas", { class: "mha-browse-cells", role: "img", "aria-label": "All heads" });
  const above = node("canvas", { class: "mha-browse-above", "aria-hidden": "true" });
  const names = node("div", { class: "mha-browse-names", "aria-hidden": "true" });
  const frame = node("div", { class: "mha-browse-all mha-drawing", role: "application", tabindex: 0 }, cells, above, names);
  let layout = null;
  let shown = null; // the frame of numbers that is drawn
  let ratio = 1;
  let named = "";

  const at = (event) => {
    if (!layout) return null;
    const bounds = frame.getBoundingClientRect();
    const scale = bounds.width / frame.offsetWidth || 1;
    return layout.find((event.clientX - bounds.left) / scale, (event.clientY - bounds.top) / scale);
  };
  frame.addEventListener("pointermove", (event) => {
    const found = at(event);
    if (found) onPoint(found);
    else onLeave();
  });
  frame.addEventListener("pointerleave", onLeave);
  frame.addEventListener("click", (event) => {
    const found = at(event);
    if (found) onPick(found);
  });
  frame.addEventListener("keydown", (event) => {
    if (event.target === frame) onKey(event);
  });

  function place(numbers, width, least, theme) {
    ratio = window.devicePixelRatio || 1;
    layout = browserLayout({ width, layers: numbers.layers, heads: numbers.heads, nQ: numbers.nQ, nK: numbers.nK, ratio, least });
    frame.style.width = `${layout.width}px`;
    frame.style.height = `${layout.height}px`;
    const key = JSON.stringify([layout.columns, layout.lines, layout.mapWidth, layout.mapHeight, numbers.layers, numbers.heads, theme]);
    if (key !== named) {
      named = key;
      name(numbers, theme);
    }
  }

  function name(numbers, theme) {
    const parts = [];
    for (let l = 0; l < numbers.layers; l += 1) {
      for (let line = 0; line < layout.lines; line += 1) {
        const first = line * layout.columns;
        const { x, y } = layout.place(l, first);
        const last = Math.min(numbers.heads, first + layout.columns);
        const label = node("span", { class: "mha-browse-layer" }, line === 0 ? `layer ${l + 1}` : "");
        label.style.top = `${y + layout.mapHeight / 2}px`;
        label.style.width = `${x - 6}px`;
        if (layout.lines > 1) label.append(node("small", {}, ` ${first + 1}–${last}`));
        parts.push(label);
      }
    }
    for (let h = 0; h < numbers.heads && layout.lines === 1; h += 1) {
      const chip = headChip(h, theme);
      chip.classList.add("mha-browse-chip");
      chip.style.left = `${layout.place(0, h).x + layout.mapWidth / 2}px`;
      parts.push(chip);
    }
    names.replaceChildren(...parts);
  }

  function draw(numbers, most, theme) {
    shown = numbers;
    const [wide, tall] = [Math.round(layout.width * ratio), Math.round(layout.height * ratio)];
    for (const canvas of [cells, above]) {
      if (canvas.width !== wide) canvas.width = wide;
      if (canvas.height !== tall) canvas.height = tall;
    }
    const pen = cells.getContext("2d");
    const image = pen.createImageData(wide, tall);
    const ramp = rampWords("seq", theme);
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(ramp[0]);
    const { layers, heads, nQ, nK, raw, top } = numbers;
    paintHeads({ pixels, wide, raw, layers, heads, nQ, nK, ratio, layout, ramp, factor: 255 / (top * most), least: DRAW_NOTHING * top });
    pen.putImageData(image, 0, 0);
    const hatch = numbers.allowed ? hatchPicture(numbers.allowed, nQ, nK, layout.mapWidth, layout.mapHeight, theme) : null;
    const [w, h] = [Math.round(layout.mapWidth * ratio), Math.round(layout.mapHeight * ratio)];
    pen.strokeStyle = colour("edge", theme);
    pen.lineWidth = 1;
    pen.beginPath();
    for (let l = 0; l < layers; l += 1) {
      for (let i = 0; i < heads; i += 1) {
        const { x, y } = layout.place(l, i);
        const [left, upper] = [Math.round(x * ratio), Math.round(y * ratio)];
        if (hatch) pen.drawImage(hatch, left, upper, w, h);
        pen.rect(left - 0.5, upper - 0.5, w + 1, h + 1);
      }
    }
    pen.stroke();
  }

  // lit: { q, k } or null, in every map; own: the head under the pointer or null; chosen: { layer, head }, ringed.
  function light(lit, own, chosen, theme) {
    if (!shown || !layout) return;
    const pen = above.getContext("2d");
    pen.clearRect(0, 0, above.width, above.height);
    const { layers, heads, nQ, nK } = shown;
    const [cellW, cellH] = [layout.mapWidth / nK, layout.mapHeight / nQ];
    if (lit) {
      pen.strokeStyle = colour("ink", theme);
      pen.lineWidth = Math.max(1, Math.round(ratio));
      pen.beginPath();
      for (let l = 0; l < layers; l += 1) {
        for (let h = 0; h < heads; h += 1) {
          const { x, y } = layout.place(l, h);
          // Ticks beside the map: the cells themselves stay free. Large rows have an outline as well.
          const across = Math.round((y + (lit.q + 0.5) * cellH) * ratio) + 0.5;
          for (const end of [x - 4, x + layout.mapWidth + 1]) stroke(pen, end, across / ratio, end + 3, across / ratio);
          if (cellH * ratio >= 2.4) outline(pen, x, y + lit.q * cellH, layout.mapWidth, cellH);
          if (lit.k >= 0) {
            const down = (Math.round((x + (lit.k + 0.5) * cellW) * ratio) + 0.5) / ratio;
            for (const end of [y - 4, y + layout.mapHeight + 1]) stroke(pen, down, end, down, end + 3);
          }
        }
      }
      pen.stroke();
    }
    ring(pen, chosen, colour("ink", theme), 2);
    if (own && (own.layer !== chosen.layer || own.head !== chosen.head)) ring(pen, own, colour("ink2", theme), 1);
  }

  function stroke(pen, x0, y0, x1, y1) {
    pen.moveTo(x0 * ratio, y0 * ratio);
    pen.lineTo(x1 * ratio, y1 * ratio);
  }

  function outline(pen, x, y, w, h) {
    const [left, upper] = [Math.round(x * ratio) - 0.5, Math.round(y * ratio) - 0.5];
    pen.rect(left, upper, Math.round(w * ratio) + 1, Math.max(2, Math.round(h * ratio)) + 1);
  }

  function ring(pen, { layer, head }, stroke, thick) {
    const { x, y } = layout.place(layer, head);
    const width = Math.max(1, Math.round(thick * ratio));
    const [left, upper] = [Math.round(x * ratio) - width / 2 - 1, Math.round(y * ratio) - width / 2 - 1];
    pen.strokeStyle = stroke;
    pen.lineWidth = width;
    pen.strokeRect(left, upper, Math.round(layout.mapWidth * ratio) + width + 2, Math.round(layout.mapHeight * ratio) + width + 2);
  }

  return {
    element: frame, frame, place, draw, light,
    get columns() { return layout ? layout.columns : 1; },
    get height() { return layout ? layout.height : 0; },
    describe(alt, keys) {
      cells.setAttribute("aria-label", alt);
      frame.setAttribute("aria-label", keys);
    },
    // Where a cell is on the page, for a tooltip; q and k left out: the whole map.
    rect(layer, head, q = null, k = null) {
      const bounds = frame.getBoundingClientRect();
      const scale = bounds.width / frame.offsetWidth || 1;
      const { x, y } = layout.place(layer, head);
      const [w, h] = [layout.mapWidth / (k === null ? 1 : shown.nK), layout.mapHeight / (q === null ? 1 : shown.nQ)];
      return {
        left: bounds.left + (x + (k === null ? 0 : k * w)) * scale,
        top: bounds.top + (y + (q === null ? 0 : q * h)) * scale,
        width: w * scale, height: h * scale,
      };
    },
  };
}
