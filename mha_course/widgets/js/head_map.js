// The HeadMap: layers × heads coloured by role, thresholds under sliders, and the chosen head on a sentence.
//
// Traits: chart (roles, scores, rows of bars), thresholds { role: share }, layer, head (from 1), mode ("best", "worst",
// "stay", "own"), example, sentence, special, shuffle. Thresholds move without Python. An answer holds the maps of all
// heads for one sentence (layers, heads, n, n) as uint16, what each row kept (layers, heads, n)
// as uint16, and of a masked model the allowed cells (n, n) as bytes.
// Parts: .mha-role-grid, .mha-strips, .mha-scores, [data-control=…] of every control, [data-fact="title" | "rank" | "shuffle"].

function render({ model, el }) {
  const chart = model.get("chart");
  const root = node("div", { class: "mha-widget mha-headmap", role: "group", "aria-label": chart.title });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tips = cellTips(root, say);
  const spot = tooltip(root);
  let theme = currentTheme();
  let frame = null;
  let width = 0;

  const thresholds = () => model.get("thresholds");
  const chosen = () => (model.get("layer") - 1) * chart.heads + model.get("head") - 1;
  const rowsOf = (i) => chart.rows[i];

  const grid = headMapGrid({ chart, onPick: pick, onStand: stand, onLeave: () => spot.hide() });
  const strips = headMapThresholds({ chart, onMove: move, onPick: pick, onStand: stand, onLeave: () => spot.hide() });
  const reset = plainButton({ label: "thresholds as they were", name: "reset", onClick: putBack });
  const title = node("h3", { class: "mha-heading mha-head-title" });
  const chips = node("span", { class: "mha-head-chips" });
  const about = node("span", { class: "mha-sub mha-head-about" });
  const picker = headMapPicker({ model, chart, ask: (changes) => answers.ask(changes) });
  const sentence = headMapSentence({ root, say });
  const bars = headMapBars({ tips, heading: "Share of words whose largest weight is on the right word", empty: "Nothing was asked of this head." });
  const measures = headMapBars({ tips, heading: "Where its weight lies, mean over words", counted: false });
  const summary = headMapSummary({ chart, onPick: pick });
  const harder = node("p", { class: "mha-sub mha-harder" });
  const note = node("p", { class: "mha-note mha-headmap-note" });
  const below = node(
    "div", { class: "mha-headmap-detail" },
    node("div", { class: "mha-headmap-left mha-drawing" }, sentence.left, measures.element),
    node("div", { class: "mha-headmap-right" }, sentence.right, bars.element, harder),
  );
  const gridHolder = node("div", { class: "mha-headmap-scroll" }, grid.element);
  root.append(
    node("div", { class: "mha-headmap-head" }, node("h3", { class: "mha-heading" }, chart.title), node("span", { class: "mha-sub" }, chart.measured)),
    node(
      "div", { class: "mha-headmap-top" },
      node(
        "div", { class: "mha-headmap-map" }, gridHolder,
        node("p", { class: "mha-note" }, "A corner shows a second role. No mark: no role passes its threshold. Click a head, or Tab to the map: arrow keys move, Enter chooses."),
        reset,
        // Of a small map there is room to say it all at once.
        chart.layers <= 3 ? summary.element : node("details", { class: "mha-summary-more" }, node("summary", {}, "the heads of each role as a list"), summary.element),
      ),
      strips.element,
    ),
    node(
      "div", { class: "mha-section" },
      node("div", { class: "mha-head-line" }, title, chips, about),
      picker.element,
      node("div", { class: "mha-computing" }, "computing"),
      below,
      note,
    ),
  );

  function stand(i, element, by) {
    const only = typeof by === "object" ? [roleLine(by, i, thresholds())] : headLines(chart, thresholds(), i);
    const lines = only.flatMap((line, at) => (at ? ["\n", line] : [line]));
    spot.show(element.getBoundingClientRect(), node("b", {}, headName(chart, i)), "  ", ...lines);
  }

  function pick(i) {
    spot.hide();
    if (i === chosen()) return;
    answers.ask({ layer: Math.floor(i / chart.heads) + 1, head: (i % chart.heads) + 1 });
  }

  let saving = null;
  function move(role, value) {
    model.set("thresholds", { ...thresholds(), [role]: value });
    // Python hears of it when the hand rests; the map follows at once.
    clearTimeout(saving);
    saving = setTimeout(() => model.save_changes(), 80);
  }

  function putBack() {
    model.set("thresholds", Object.fromEntries(chart.roles.map((role) => [role.role, role.threshold])));
    model.save_changes();
    say("thresholds as they were");
  }

  // The question whose right words the answer names, as long as it is about the chosen head.
  function question(i) {
    return frame && frame.at === i ? rowsOf(i).find((row) => row.name === frame.question) || null : null;
  }

  let drawnDetail = ""; // what the part below was last drawn for
  function drawMap() {
    const now = thresholds();
    grid.draw(now);
    strips.draw(now);
    summary.draw(now);
    reset.hidden = chart.roles.every((role) => Math.abs(now[role.role] - role.threshold) < 1e-9);
    drawDetail();
  }

  function drawDetail() {
    const i = chosen();
    const passed = rolesPassed(chart, thresholds(), i);
    setText(about, headAbout(chart, thresholds(), i));
    // While a threshold moves, little of this changes: it is drawn anew only when something does.
    const passes = (row) => {
      const role = chart.roles.find((each) => each.role === row.role);
      if (!role) return false;
      return (role.unit === "points" ? row.gain : row.score) >= thresholds()[row.role] - 1e-9;
    };
    const state = `${i} ${passed.map((role) => role.role)} ${rowsOf(i).map(passes)}`;
    if (state === drawnDetail) return;
    drawnDetail = state;
    grid.choose(i);
    strips.choose(i);
    setText(title, headName(chart, i));
    chips.replaceChildren(...passed.map((role) => {
      const of = role.names && role.names[i] ? `: ${role.names[i]}` : "";
      return markChip(role.role, `${ROLE_MARKS[role.role].mark} ${role.words}${of}`);
    }));
    bars.draw(rowsOf(i).filter((row) => row.kind === "share"), passes, headWords(chart, i));
    const others = rowsOf(i).filter((row) => row.kind !== "share");
    show(measures.element, others.length > 0);
    if (others.length) measures.draw(others, passes, headWords(chart, i));
    const role = passed[0] ? passed[0].role : null;
    if (frame && frame.n && width) sentence.draw(i, headName(chart, i), question(i), roleTint(role, theme), theme);
    picker.about(i);
    const beaten = rowsOf(i).filter((row) => row.tougher && row.kind === "share" && passes(row) && row.tougher.score >= row.score - 0.005);
    show(harder, beaten.length > 0);
    if (beaten.length) {
      const listed = beaten.flatMap((row, at) => [at ? ", " : "", shareWords(row.tougher.score), " on ", node("b", {}, row.words)]);
      harder.replaceChildren(`A tougher baseline, ${beaten[0].tougher.rule}, reaches `, ...listed, ": there it does as well as this head.");
    }
    setText(note, `${frame ? frame.note : ""} ${chart.note}`.trim());
  }

  function layout() {
    const wide = width >= 640;
    // While JupyterLab changes its theme nothing has a width: then the last one holds.
    if (gridHolder.clientWidth) grid.place(gridHolder.clientWidth - 8);
    strips.place();
    // A long sentence needs a larger map, so that its cells can be labelled: then the arcs stand above it.
    const wanted = frame ? Math.max(330, 18 * frame.n + 90) : 330;
    const long = wide && wanted > 380;
    below.classList.toggle("is-long", long);
    const mapRoom = long ? Math.min(wanted, Math.round(width * 0.6)) : wide ? Math.min(330, Math.round(width * 0.4)) : Math.min(width, Math.max(420, wanted));
    root.style.setProperty("--mha-headmap-left", `${mapRoom}px`);
    sentence.place(mapRoom, wide && !long ? width - mapRoom - 24 : width);
  }

  function onAnswer(header, payload) {
    const n = header.tokens.length;
    const bytes = payload.buffer.slice(payload.byteOffset, payload.byteOffset + payload.byteLength);
    const numbers = new Uint16Array(bytes);
    const total = chart.layers * chart.heads;
    frame = {
      tokens: header.tokens, n, unknown: new Set(header.unknown), targets: header.targets, note: header.note, question: header.question,
      at: (header.at[0] - 1) * chart.heads + header.at[1] - 1,
      weights: (i) => numbers.subarray(i * n * n, (i + 1) * n * n),
      allowed: header.masked ? new Uint8Array(bytes, 2 * total * n * (n + 1), n * n) : null,
      kept: (i, q) => numbers[total * n * n + i * n + q] / 65535,
    };
    picker.settle(header);
    show(below, n > 0);
    sentence.set(frame);
    if (width === 0) return false;
    layout();
    drawnDetail = "";
    drawDetail();
    return true;
  }

  const answers = connect(model, root, ["layer", "head", "mode", "example", "step", "sentence", "special", "shuffle"], onAnswer, () => { picker.follow(); drawDetail(); });
  const told = () => {
    const i = chosen();
    say(`${headWords(chart, i)}. ${headLines(chart, thresholds(), i).join(". ")}`);
  };
  model.on("change:thresholds", drawMap);
  model.on("change:head", told);
  model.on("change:layer", told);
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    markVariables(root, theme);
    drawnDetail = "";
    if (width) layout();
    drawMap();
  });
  const watcher = new ResizeObserver(() => {
    const style = getComputedStyle(root);
    const inner = Math.floor(root.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
    if (inner <= 0 || inner === width) return;
    const first = width === 0;
    width = inner;
    drawnDetail = "";
    layout();
    drawMap();
    if (first && frame) markDrawn(root, model.get("answer"));
  });
  watcher.observe(root);
  answers.draw();
  return () => {
    clearTimeout(saving);
    answers.stop();
    model.off("change:thresholds", drawMap);
    model.off("change:head", told);
    model.off("change:layer", told);
    stopTheme();
    watcher.disconnect();
  };
}
