// One head of a HeadBrowser enlarged: its map with labels, the sentence with arcs (or two sentences), its numbers.
//
// browserZoom({ theme, onCell, onLeave, onKey, onQuery, onClose }) -> { element, list, map, place, draw, words }

function browserZoom(handlers) {
  const chip = headChip(0, handlers.theme());
  chip.classList.add("mha-chip-large");
  const title = node("h4", { class: "mha-heading" });
  const close = plainButton({ label: "All heads", name: "all", title: "Esc", onClick: handlers.onClose });
  const numbers = node("p", { class: "mha-sub mha-browse-numbers" });
  const map = weightMap({
    index: 0, large: true, onCell: handlers.onCell, onLeave: handlers.onLeave, onPick: handlers.onPick, onKey: handlers.onKey,
  });
  map.frame.tabIndex = 0;
  map.frame.classList.add("mha-enlarged");
  const line = node("p", { class: "mha-browse-line" });
  const arcs = sentenceArcs({ onQuery: handlers.onQuery });
  const pair = pairArcs({ onQuery: handlers.onQuery });
  const foot = node("p", { class: "mha-note" });
  const left = node("div", { class: "mha-browse-map mha-drawing" }, map.element);
  const element = node(
    "section", { class: "mha-browse-zoom", "aria-label": "One head enlarged" },
    node("div", { class: "mha-browse-title" }, chip, title, close),
    numbers,
    node("div", { class: "mha-browse-halves" }, left,
      node("div", { class: "mha-browse-row mha-drawing" }, line, arcs.element, pair.element, foot)),
  );
  const pairs = node("ol", { class: "mha-browse-pairs" });
  const list = node("div", { class: "mha-browse-list" }, node("div", { class: "mha-label" }, "largest weights of this head"), pairs);
  let layoutKey = "";
  let room = 400;

  function place(frame, width, theme, family) {
    const halves = width >= 640 && frame.nK <= 14 && frame.nQ <= 14;
    element.classList.toggle("is-halved", halves);
    const key = JSON.stringify([frame.queries, frame.header.keys, frame.header.kind, width, theme, window.devicePixelRatio]);
    if (key === layoutKey) return;
    layoutKey = key;
    const { nQ, nK, queries, keys } = frame;
    const around = (cell) => {
      const left = labelRoom(queries, cell, family).left;
      const { top, right, angle } = labelRoom(keys, cell, family);
      return { left, top, right, angle };
    };
    const first = around(18);
    const [wide, most] = halves ? [350, 34] : [width, 30];
    const fits = (space) => Math.min(most, (wide - space.left - Math.max(4, Math.min(space.right, 60))) / nK, 780 / nQ);
    let space = around(fits(first));
    let cell = fits(space);
    const labelled = cell >= 4;
    if (!labelled) {
      space = { left: 2, top: 4, right: 0, angle: 60 };
      cell = Math.min(most, (wide - 6) / nK, 780 / nQ);
    }
    cell = cell > 4 ? Math.floor(cell * 2) / 2 : cell;
    const side = cell * nQ;
    const mapWidth = space.left + cell * nK + Math.min(space.right, 60);
    left.style.width = halves ? `${mapWidth}px` : "";
    room = Math.floor(halves ? width - mapWidth - 28 : width);
    map.element.style.padding = `${space.top}px 0 0 ${space.left}px`;
    map.place({
      tokens: queries, keyTokens: keys, cell, side, angle: space.angle, keyLabelsShown: labelled, queryLabelsShown: labelled,
      hatchSource: frame.allowed ? hatchPicture(frame.allowed, nQ, nK, cell * nK, side, theme) : null,
    });
    // Under 12 px a cell only every second word, or third, has room for its name; the lit one always has it.
    const step = cell >= 11.5 ? 1 : Math.ceil(12 / cell);
    for (const kind of [".mha-key", ".mha-query"]) {
      map.element.querySelectorAll(kind).forEach((label, i) => label.classList.toggle("mha-thin", i % step !== 0));
    }
  }

  function draw(frame, layer, head, most, theme) {
    map.draw(frame.head(layer, head), most, theme);
    map.frame.dataset.head = String(head + 1);
    map.frame.dataset.layer = String(layer + 1);
    map.name(`Attention map of ${frame.name(layer, head)}: ${frame.nQ} queries (rows) by ${frame.nK} keys (columns), ${frame.numbers(layer, head)}`);
    map.describe(`${frame.name(layer, head)}, enlarged. Arrow keys walk over the cells, number keys change the head, Page Up and Page Down the layer, Escape goes back to all heads.`);
    setText(chip, String(head + 1));
    paintChip(chip, head, theme);
    setText(title, `Layer ${layer + 1}, head ${head + 1}`);
    setText(numbers, frame.numbers(layer, head));
    pairs.replaceChildren(...largest(frame, layer, head, 8).map(([q, k]) => node("li", {}, node(
      "button", { class: "mha-browse-pair", type: "button", "data-query": q, "data-key": k, onclick: () => handlers.onCell(q, k, "list") },
      node("bdi", {}, shortToken(frame.queries[q])), " → ", node("bdi", {}, shortToken(frame.keys[k])), node("span", {}, frame.inWords(layer, head, q, k)),
    ))));
  }

  // The cells with the largest weights of a head, one a query.
  function largest(frame, layer, head, most) {
    return frame.queries
      .map((_, q) => [q, frame.strongest(layer, head, q)[0]])
      .filter(([q, k]) => k !== undefined && frame.weight(layer, head, q, k) >= 0.05)
      .sort((a, b) => frame.weight(layer, head, ...b) - frame.weight(layer, head, ...a))
      .slice(0, most);
  }

  // lit: { q, k, by }; k = −1 takes the strongest key of the row.
  function words(frame, layer, head, lit, theme, family) {
    const q = Math.min(frame.nQ - 1, Math.max(0, lit.q));
    const strongest = frame.strongest(layer, head, q)[0];
    const k = lit.k >= 0 && lit.k < frame.nK ? lit.k : strongest === undefined ? -1 : strongest;
    map.light(q, k, true, lit.by === "keyboard");
    const query = node("bdi", {}, frame.told(frame.queries[q]));
    const none = frame.rowSum(layer, head, q) < 0.5;
    if (k < 0 || none) line.replaceChildren(node("b", {}, query), " looks nowhere: no key is allowed, or the row holds no weight.");
    else line.replaceChildren(node("b", {}, query, " → ", node("bdi", {}, frame.told(frame.keys[k]))), "  ", frame.inWords(layer, head, q, k));
    const alt = frame.rowInWords(layer, head, q);
    arcs.element.style.display = frame.square ? "" : "none"; // an svg doesn't heed `hidden`
    pair.element.style.display = frame.square ? "none" : "";
    if (frame.square) {
      arcs.draw({ tokens: frame.queries, weights: frame.head(layer, head), q, k, width: room, headIndex: head, theme, family, alt });
    } else {
      pair.draw({
        queries: frame.queries, keys: frame.keys, weight: (from, to) => frame.weight(layer, head, from, to), q, k, width: room,
        tint: headColour(head, theme), theme, family, alt,
      });
    }
    setText(foot, `Colour: the lit query. Grey: the others, from 0.15 on. Bars: the row’s weights, which sum to ${frame.rowSum(layer, head, q).toFixed(2)}.`);
    return alt;
  }
  return { element, list, map, place, draw, words };
}
