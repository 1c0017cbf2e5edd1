// One head enlarged: its map with gaps between the cells, the sentence with arcs, and bars.

function explorerDetail(handlers) {
  const chip = headChip(0, handlers.theme());
  chip.classList.add("mha-chip-large");
  const title = node("h4", { class: "mha-heading" });
  const hint = node("span", { class: "mha-sub" });
  const close = plainButton({ label: "let go", name: "unpin", title: "Esc", onClick: handlers.onClose });
  const map = weightMap({
    index: 0, large: true,
    onCell: (q, k, by) => handlers.onCell(q, k, by),
    onLeave: handlers.onLeave,
    onPick: () => {},
    onKey: handlers.onKey,
  });
  map.frame.tabIndex = 0;
  map.frame.classList.add("mha-enlarged");
  const roles = node("p", { class: "mha-note mha-roles" });
  const line = node("h4", { class: "mha-heading mha-detail-line" });
  const sub = node("p", { class: "mha-sub" });
  const arcs = sentenceArcs({ onQuery: handlers.onQuery });
  const foot = node("p", { class: "mha-note" });
  const left = node(
    "div", { class: "mha-detail-map" },
    node("div", { class: "mha-detail-heading" }, chip, title, hint, close),
    roles,
    map.element,
  );
  const right = node("div", { class: "mha-detail-arcs mha-drawing" }, line, sub, arcs.element, foot);
  const element = node("section", { class: "mha-section mha-detail", "aria-label": "One head enlarged" }, left, right);
  let layoutKey = "";
  let arcsWidth = 400;
  let hatchSource = null;

  function place(frame, width, theme, family) {
    const key = JSON.stringify([frame.tokens, [...frame.unknown], width, theme, frame.allowedKey, window.devicePixelRatio]);
    if (key === layoutKey) return;
    layoutKey = key;
    const sideBySide = width >= 640 && frame.n <= 14;
    element.classList.toggle("mha-side-by-side", sideBySide);
    const largest = sideBySide ? 36 : Math.max(24, 44 - 2 * frame.n);
    let cell = sideBySide ? Math.min(largest, 272 / frame.n) : Math.min(largest, Math.max(560, 12 * frame.n) / frame.n);
    let room = labelRoom(frame.tokens, cell, family);
    const available = (sideBySide ? 350 : width) - room.left - (sideBySide ? 0 : room.right) - 4;
    cell = Math.min(largest, available / frame.n);
    const labelled = cell >= LEAST_LABELLED - 0.5;
    room = labelRoom(frame.tokens, cell, family);
    const side = Math.floor(cell * frame.n);
    cell = side / frame.n;
    const space = labelled ? room : { left: 2, top: 4, right: 0, angle: 60 };
    map.element.style.padding = `${space.top}px 0 0 ${space.left}px`;
    hatchSource = hatchPicture(frame.allowed, frame.n, frame.n, side, side, theme);
    map.place({
      tokens: frame.tokens, unknown: frame.unknown, cell, side, angle: space.angle, hatchSource,
      keyLabelsShown: labelled, queryLabelsShown: labelled,
    });
    const mapWidth = Math.max(space.left + side + Math.min(space.right, 40), 230);
    left.style.width = sideBySide ? `${mapWidth}px` : "";
    arcsWidth = Math.floor(sideBySide ? width - mapWidth - 28 : width);
  }

  function draw(frame, i, top, theme) {
    map.draw(frame.head(i), top, theme);
    map.frame.dataset.head = String(i + 1);
    map.name(frame.alt(i));
    map.describe(`${frame.longName(i)}, enlarged. Arrow keys move, number keys change the head, Escape lets go.`);
    setText(chip, String(i + 1));
    paintChip(chip, i, theme);
    setText(title, frame.title(i));
    show(roles, frame.details(i) !== "");
    setText(roles, frame.details(i));
    const last = Math.min(9, frame.h);
    setText(hint, last > 1 ? `pinned · press 1–${last} to change` : "pinned");
  }

  // What depends on the lit query: the sentences, the arcs, the bars.
  function words(frame, i, lit, theme, family) {
    const q = Math.min(Math.max(0, lit.q), frame.n - 1);
    const k = lit.k >= 0 && lit.k < frame.n ? lit.k : frame.strongest(i, q);
    const query = frame.word(q);
    const key = frame.word(k);
    map.light(q, k, true, lit.by === "keyboard");
    line.replaceChildren(
      node("bdi", {}, query), " → ", node("bdi", {}, key), "  ", frame.inWords(i, q, k),
    );
    sub.replaceChildren(
      "Where the query ", node("b", {}, node("bdi", {}, query)),
      frame.rowSum(i, q) > 0.5 ? " looks. Grey: the other queries, weights ≥ 0.15." : " looks: nowhere, no key is allowed.",
    );
    arcs.draw({
      tokens: frame.tokens, unknown: frame.unknown, weights: frame.head(i), q, k, width: arcsWidth, headIndex: i, theme, family,
      alt: frame.rowAlt(i, q),
    });
    const sum = frame.rowSum(i, q);
    const whole = frame.complete || sum > 0.995
      ? `they sum to ${sum.toFixed(2)}.`
      : `those shown sum to ${sum.toFixed(2)}, the rest is on tokens that are not shown.`;
    setText(foot, `Bars: the row’s weights; ${whole} Arrow keys move the query, Esc lets go.`);
  }
  return { element, map, place, draw, words };
}
