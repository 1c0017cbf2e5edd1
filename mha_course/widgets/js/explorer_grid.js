// All heads side by side. How many go in a row follows from the room, the number of heads and of tokens.

const LEAST_LABELLED = 12; // px of a cell that carries a label
const MANY_HEADS = 16; // above it: small maps without labels

// Pure: sizes in px for n tokens and h heads in `width` px. room(cell) -> { left, top, right, angle }.
function gridLayout(width, h, n, room) {
  const narrow = width < 600;
  if (h > MANY_HEADS) {
    const wanted = h <= 64 ? 8 : 12;
    const columns = Math.min(h, narrow ? Math.ceil(wanted / 2) : wanted);
    const gap = narrow ? 6 : 8;
    const side = Math.floor((width - gap * (columns - 1) - 4) / columns);
    return { columns, gap, side, cell: side / n, labelled: false, left: 2, top: 2, angle: 60, small: true };
  }
  const most = Math.min(h, narrow ? 2 : 4);
  const least = h <= 8 ? Math.min(most, narrow ? 1 : 2) : most;
  // More rows, larger maps, until labels fit; rows as equal as can be.
  for (let rows = Math.ceil(h / most); Math.ceil(h / rows) >= least; rows += 1) {
    const columns = Math.ceil(h / rows);
    let cell = 20;
    let fit = null;
    // The room for labels depends a little on the cell, so it is found in two rounds.
    for (let round = 0; round < 2; round += 1) {
      const { left, top, right, angle } = room(cell);
      const gap = columns > 1 ? Math.max(narrow ? 18 : 30, columns === 2 ? right : 0) : 0;
      const share = Math.floor((width - left - right - gap * (columns - 1)) / columns);
      const side = Math.min(share, Math.max(40, 70 - 3 * n) * n, 420);
      cell = side / n;
      // A caption needs its width even below a map of one token.
      fit = { columns, gap, side, column: Math.min(share, Math.max(side, 134)), cell, labelled: true, left, top, angle, small: false };
    }
    if (fit.cell >= LEAST_LABELLED) return fit;
    if (columns === 1) break;
  }
  const gap = narrow ? 16 : 24;
  const side = Math.floor(Math.min((width - 4 - gap * (most - 1)) / most, 420));
  return { columns: most, gap, side, cell: side / n, labelled: false, left: 2, top: 4, angle: 60, small: false };
}

function explorerGrid(handlers) {
  const element = node("div", { class: "mha-grid mha-drawing" });
  const figures = [];
  let layoutKey = "";
  let layout = null;
  let hatchSource = null;
  let wording = null;

  function figure(i) {
    const map = weightMap({
      index: i,
      onCell: (q, k, by) => handlers.onCell(i, q, k, by),
      onLeave: handlers.onLeave,
      onPick: () => handlers.onPick(i),
      onKey: handlers.onKey,
    });
    map.frame.addEventListener("focus", () => handlers.onFocus(i));
    const chip = headChip(i, handlers.theme());
    const name = node("span", { class: "mha-head-name" });
    const spread = node("span", {
      class: "mha-head-spread", title: "how even the rows are: 0 = one key gets all the weight, 1 = all keys get the same (entropy / log n)",
    });
    const caption = node("figcaption", { class: "mha-caption" }, chip, name, spread);
    const whole = node("figure", { class: "mha-head", "data-head": i + 1 }, map.element, caption);
    return { whole, map, chip, name, spread };
  }

  // Sizes, labels and hatch; does nothing while the tokens, the heads and the room stay the same.
  function place(frame, width, theme, family) {
    const named = frame.header.names.length > 0;
    const key = JSON.stringify([frame.tokens, [...frame.unknown], frame.h, named, width, theme, frame.allowedKey, window.devicePixelRatio]);
    if (key === layoutKey) return;
    layoutKey = key;
    layout = gridLayout(width, frame.h, frame.n, (cell) => labelRoom(frame.tokens, cell, family));
    while (figures.length < frame.h) {
      figures.push(figure(figures.length));
    }
    for (const [i, each] of figures.entries()) {
      if (i >= frame.h) each.whole.remove();
      else if (!each.whole.isConnected || each.whole.parentNode !== element) element.append(each.whole);
    }
    const { columns, gap, side, cell, labelled, left, top, angle, small } = layout;
    element.style.gridTemplateColumns = `repeat(${columns}, ${layout.column || side}px)`;
    element.style.columnGap = `${gap}px`;
    element.style.rowGap = small ? "8px" : "14px";
    element.style.paddingLeft = `${left}px`;
    element.classList.toggle("mha-grid-small", small);
    element.classList.toggle("mha-grid-named", !small && side < 210 && frame.header.names.length > 0);
    hatchSource = hatchPicture(frame.allowed, frame.n, frame.n, side, side, theme);
    for (let i = 0; i < frame.h; i += 1) {
      const each = figures[i];
      each.map.element.style.paddingTop = `${top}px`;
      each.map.place({
        tokens: frame.tokens, unknown: frame.unknown, cell, side, angle, hatchSource,
        keyLabelsShown: labelled, queryLabelsShown: labelled && i % columns === 0,
      });
      paintChip(each.chip, i, theme);
    }
  }

  // The pixels at once. The words of many small maps may follow when the pixels are on screen.
  function draw(frame, top, theme) {
    for (let i = 0; i < frame.h; i += 1) figures[i].map.draw(frame.head(i), top, theme);
    clearTimeout(wording);
    if (frame.h > MANY_HEADS) wording = setTimeout(() => word(frame), 0);
    else word(frame);
  }

  function word(frame) {
    for (let i = 0; i < frame.h; i += 1) {
      const each = figures[i];
      setText(each.name, frame.name(i));
      each.name.title = frame.details(i);
      show(each.spread, frame.header.facts);
      setText(each.spread, `spread ${frame.spread[i].toFixed(2)}`);
      each.map.name(frame.alt(i));
      each.map.describe(`${frame.longName(i)}. Arrow keys move over the weights, Enter enlarges the map.`);
    }
  }

  // lit: { head, q, k, by }; pinned: index of the enlarged head or −1; tabStop: the map that Tab reaches.
  function light(frame, lit, pinned, tabStop) {
    for (let i = 0; i < frame.h; i += 1) {
      const { map, name } = figures[i];
      map.light(lit.q, lit.k, lit.head === i, lit.by === "keyboard");
      map.frame.classList.toggle("mha-pinned", pinned === i);
      name.classList.toggle("mha-lit", pinned === i || lit.head === i);
      map.frame.tabIndex = i === tabStop ? 0 : -1;
    }
  }

  return {
    element, place, draw, light,
    map: (i) => figures[i].map,
    get layout() { return layout; },
  };
}
