// The HeadsCompared: two heads on one sentence, with arcs above and below it, and the sentence shuffled.
//
// Traits: sentence, shuffle, count, left, right, reads, example. The answer holds maps (as a HeadBrowser's kinds), order, words,
// marks, here (counts of this order), over (counts over many sentences), unknown, notices, refused.
// Parts: [data-control="sentence" | "shuffle" | "written" | "count" | "left-layer" …], .mha-compare-side.is-left, svg.mha-arcs,
// .mha-compare-table, [data-fact="order"].

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-compare", role: "group", "aria-label": "Two heads compared" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tip = tooltip(root);
  let theme = "light";
  let family = "";
  let header = null;
  let frame = null;
  let unknown = new Set();
  let lit = { q: 1, k: -1, side: null, by: "pointer" };

  const reads = model.get("reads");
  const field = textField({
    label: "sentence", value: model.get("sentence"), maxLength: 2000, rest: 300, placeholder: "a sentence",
    onInput: (sentence) => { lit = { q: 1, k: -1, side: null, by: "pointer" }; answers.ask({ sentence, shuffle: 0 }); },
  });
  const again = plainButton({ label: "Shuffle the words", name: "shuffle", onClick: () => answers.ask({ shuffle: model.get("shuffle") + 1 }) });
  const written = plainButton({ label: "As written", name: "written", onClick: () => answers.ask({ shuffle: 0 }) });
  const count = plainButton({ label: "Count over many shuffles", name: "count", onClick: () => answers.ask({ count: true }) });
  const notices = node("div", {});
  const order = node("p", { class: "mha-sub", "data-fact": "order" });
  const arcs = bothArcs({ onQuery: (q) => { lit = { q, k: -1, side: null, by: "pointer" }; light(); } });
  const above = node("span", { class: "mha-note" });
  const below = node("span", { class: "mha-note" });
  const sides = ["left", "right"].map((name) => comparedSide({
    name, label: name === "left" ? "Left head" : "Right head",
    onChoose: (at, value) => {
      const next = [...model.get(name)];
      next[at] = value;
      model.set(name, next);
      model.save_changes();
    },
    onCell: (q, k, by) => point(name, q, k, by),
    onLeave: () => { tip.hide(); lit = { ...lit, side: null, by: "pointer" }; light(); },
    onKey: (event) => walk(event, name),
  }));
  const table = followTable();
  const tableNote = node("p", { class: "mha-note" });
  const counts = node("div", { class: "mha-section" }, table.element, tableNote);
  const body = node(
    "div", {},
    node("div", { class: "mha-section mha-drawing mha-compare-arcs" }, above, arcs.element, below),
    node("div", { class: "mha-section mha-compare-sides" }, ...sides.map((side) => side.element)),
  );
  const note = node("p", { class: "mha-note mha-compare-note" });
  root.append(
    node("div", { class: "mha-row mha-row-spread" }, node("h3", { class: "mha-heading" }, "Two heads compared"),
      node("span", { class: "mha-sub" }, node("b", {}, "query"), " ↓ ", node("b", {}, "key"), " → · darker is more, white 0, darkest 1")),
    ...(reads ? [node("div", { class: "mha-row" }, field.element), node("div", { class: "mha-row mha-compare-buttons" }, again, written, count)] : []),
    notices, order, body, counts, note, node("div", { class: "mha-computing" }, "computing"),
  );

  const chosen = (name) => {
    const [layer, head] = model.get(name);
    return [Math.min(frame.layers, Math.max(1, layer)) - 1, Math.min(frame.heads, Math.max(1, head)) - 1];
  };
  const word = (tokens, i) => node("bdi", {}, frame.told(tokens[i]));

  function layout() {
    if (!frame) return;
    family = getComputedStyle(root).fontFamily;
    const width = Math.max(160, Math.floor(widthOf(root, 838) - 40));
    const stacked = width < 620;
    root.classList.toggle("is-stacked", stacked);
    for (const side of sides) side.place(frame, unknown, stacked ? width : Math.floor((width - 28) / 2), theme, family);
    arcs.width = width;
  }

  function draw() {
    if (!frame) return;
    sides.forEach((side, i) => {
      const name = i ? "right" : "left";
      const [layer, head] = chosen(name);
      side.offer(frame.layers, frame.heads, [layer + 1, head + 1]);
      const marks = header.marks && { place: header.marks.place[layer][head], word: header.marks.word[layer][head] };
      side.draw(frame, [layer, head], marks, theme);
      setText(i ? below : above, `${i ? "below" : "above"} the words: layer ${layer + 1}, head ${head + 1}`);
    });
    for (const each of [arcs.element, above, below]) each.style.display = frame.square ? "" : "none";
    const shuffled = header.order !== null;
    written.disabled = !shuffled;
    setText(order, shuffled ? "Shuffled. ◇ where a row looks if it keeps its distance, ○ if it keeps its word; rows without marks can’t tell the two apart." : "");
    show(order, shuffled);
    counted();
    const hatched = frame.header.masked ? "Hatched: not allowed." : "";
    setText(note, [hatched, frame.header.note].filter(Boolean).join(" "));
    light();
  }

  function counted() {
    const groups = [];
    const both = (found) => ["left", "right"].map((name) => {
      const [layer, head] = chosen(name);
      return { name: `layer ${layer + 1}, head ${head + 1}`, found, at: [layer, head] };
    });
    if (header.order !== null) groups.push({ title: "this sentence in this order", judged: false, heads: both(header.here) });
    if (header.over) {
      const many = header.over.same ? `this sentence in ${header.over.sentences} orders` : `${header.over.sentences} sentences, each shuffled once`;
      groups.push({ title: many, judged: true, heads: both(header.over.model) });
      if (header.over.control) groups.push({ title: `${many}, untrained weights`, judged: true, heads: both(header.over.control) });
    }
    show(counts, groups.length > 0);
    table.show(groups);
    setText(tableNote, "The line in a bar is what looking anywhere gives. Words can tell that did not look at themselves, and whose new neighbour at the old distance is another word. " +
      (holdOn() ? "These untrained heads hold on to words too: by chance each pair of words has a score, and it stays wherever the two stand." : ""));
    count.disabled = model.get("count");
  }

  const holdOn = () => header.over && header.over.control && ["left", "right"].every((name) => {
    const [layer, head] = chosen(name);
    return header.over.control.verdict[layer][head] === "word";
  });

  function light() {
    if (!frame) return;
    const q = Math.min(frame.nQ - 1, Math.max(0, lit.q));
    sides.forEach((side, i) => {
      const name = i ? "right" : "left";
      const own = lit.side === name;
      const [layer, head] = chosen(name);
      const strongest = frame.strongest(layer, head, q)[0];
      const k = own && lit.k >= 0 ? lit.k : strongest === undefined ? -1 : strongest;
      side.light(q, k, true, own && lit.by === "keyboard");
      side.told(...sentence(layer, head, q, k));
    });
    if (!frame.square) return;
    arcs.draw({
      tokens: frame.queries, unknown, q, width: arcs.width, theme, family,
      heads: ["left", "right"].map((name) => ({ weights: frame.head(...chosen(name)), tint: headColour(chosen(name)[1], theme) })),
      alt: ["left", "right"].map((name) => frame.rowInWords(...chosen(name), q)).join(". "),
    });
  }

  // "owl → quiet 0.83" and, after a shuffle, where the word looked before.
  function sentence(layer, head, q, k) {
    if (k < 0) return [word(frame.queries, q), " looks nowhere"];
    const parts = [node("b", {}, word(frame.queries, q), " → ", word(frame.keys, k)), ` ${frame.inWords(layer, head, q, k)}`, away(k - q)];
    if (header.order === null) return parts;
    const before = header.marks.before[layer][head][q];
    return [...parts, node("br"), node("span", { class: "mha-sub" }, "before: → ", word(header.words, before), away(before - header.order[q]))];
  }

  function away(distance) {
    if (!frame.square) return "";
    if (distance === 0) return ", itself";
    return `, ${Math.abs(distance)} to the ${(distance < 0) === !readsRightToLeft(frame.queries) ? "left" : "right"}`;
  }

  function point(side, q, k, by) {
    if (!frame) return;
    lit = { q, k, side, by };
    const [layer, head] = chosen(side);
    const parts = weightLine(frame.queries[q], frame.keys[k], frame.inWords(layer, head, q, k), frame.name(layer, head), frame.told);
    tip.show(sides[side === "left" ? 0 : 1].map.cellRect(q, k), ...parts);
    if (by === "keyboard") say(parts.map((part) => part.textContent || part).join(""));
    light();
  }

  function walk(event, side) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !frame || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const within = (value, n) => Math.min(n - 1, Math.max(0, value));
    const k = lit.side === side && lit.k >= 0 ? lit.k : frame.strongest(...chosen(side), within(lit.q, frame.nQ))[0] || 0;
    point(side, within(lit.q + step[0], frame.nQ), within(k + step[1], frame.nK), "keyboard");
  }

  function onAnswer(next, payload) {
    const boxes = next.notices.map(([heading, text]) => box("note", heading, text));
    if (next.refused) boxes.push(box("warn", "These words could not be compared", next.refused));
    else if (!next.maps) {
      boxes.push(box("empty", "No sentence yet", "Write one, or take ", linkButton(model.get("example"), () => { field.set(model.get("example")); answers.ask({ sentence: model.get("example") }); })));
    }
    if (next.unknown.length) {
      const words = [...new Set(next.unknown.map((i) => next.maps && next.maps.queries[i]))].filter(Boolean);
      boxes.push(box("note", words.length === 1 ? "A word that the model doesn’t know" : "Words that the model doesn’t know", `${words.join(", ")}: read as <unk>, underlined with dots.`));
    }
    notices.replaceChildren(...boxes);
    show(body, Boolean(next.maps));
    for (const button of [again, count]) button.disabled = !next.maps || next.maps.queries.length < 3;
    if (!next.maps) {
      frame = null;
      for (const each of [counts, order]) show(each, false);
      return true;
    }
    const moved = header && frame && next.order !== header.order;
    header = next;
    unknown = new Set(next.unknown);
    frame = browserFrame(next.maps, payload);
    layout();
    draw();
    if (moved && next.order) say(`Shuffled: ${frame.queries.join(" ")}`);
    return true;
  }

  const answers = connect(model, root, ["sentence", "shuffle", "count"], onAnswer, () => field.set(model.get("sentence")));
  const moved = () => draw();
  for (const name of ["left", "right"]) model.on(`change:${name}`, moved);
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    layout();
    draw();
  });
  let seen = 0;
  const resized = new ResizeObserver(() => {
    if (root.clientWidth === seen) return;
    seen = root.clientWidth;
    layout();
    draw();
  });
  answers.draw();
  resized.observe(root);
  return () => {
    answers.stop();
    for (const name of ["left", "right"]) model.off(`change:${name}`, moved);
    stopTheme();
    resized.disconnect();
  };
}
