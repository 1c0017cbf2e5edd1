// The Leaderboard: rows with a dot a seed, one row against plain heads in words, learning curves, and a button that trains a row again.
//
// Traits: order, row, seed, number, threshold, alt, record { task, numbers, thresholds, reference, seeds, steps, whole, look, rows }.
// The answer: told, against, order, and how training stands: state, step, seconds, drawn, sentences, training { row, seed }, live, again, trouble.
// Parts: [data-control="number" | "threshold" | "sort" | "seed" | "run"], tr[data-row], [data-fact="told" | "words" | "again"],
// svg.mha-board-curves; the root carries data-state.

const MOST_CURVES = 5; // with that of plain heads

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-board", role: "group", "aria-label": "Leaderboard" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const record = model.get("record");
  const gloss = record.task === "gloss";
  const tips = cellTips(root, say);
  const held = (text) => text.replace(/h = (\d+)/g, "h\u00a0=\u00a0$1"); // on one line
  const named = (key) => key.replace("|", ", h = ");
  const byKey = new Map(record.rows.map((row) => [row.key, row]));
  let found = null;
  let best = true;
  let shown = [record.reference, model.get("row")].filter((key, i, all) => byKey.has(key) && all.indexOf(key) === i);
  let said = "";

  // The order goes along empty, or the last one would be given once more.
  const ask = (changes) => answers.ask({ ...changes, order: "" });
  const number = segmented({
    label: "number", name: "number", value: model.get("number"), onChange: (value) => ask({ number: value }),
    options: Object.entries(record.numbers).map(([value, words]) => ({ value, label: SHORT[value], title: words })),
  });
  const threshold = slider({ label: "held-out loss to reach", name: "threshold", stops: record.thresholds, value: model.get("threshold"), onInput: (value) => ask({ threshold: value }), describe: (value) => `loss ${value}` });
  const sort = switchControl({ label: "", text: "best first", name: "sort", value: best, onChange: (on) => { best = on; drawAll(); } });
  const seed = segmented({ label: "seed", name: "seed", options: record.seeds.map((value) => ({ value, label: String(value), title: byKey.size && record.rows.some((row) => row.seeds.includes(value)) ? "recorded" : "not recorded" })), value: model.get("seed"), onChange: (value) => ask({ seed: value }) });
  const run = runControls({ root, name: "Training", start: "Train this row again", steps: record.steps, onOrder: (order) => answers.ask({ order }) });
  const rows = boardRows({ root, record, onPick: pick });
  const told = node("p", { class: "mha-board-told", "data-fact": "told" });
  const svg = svgNode("svg", { class: "mha-board-curves", role: "img", "aria-label": "Learning curves" });
  const frame = node("div", { class: "mha-board-frame", tabindex: 0, role: "group", "aria-label": "Learning curves; arrow keys go from point to point" }, svg);
  tips.roam(frame);
  const chart = boardChart({ svg, tips });
  const caption = node("figcaption", { class: "mha-label" });
  const keys = node("div", { class: "mha-board-keys" });
  const again = node("p", { class: "mha-sub", "data-fact": "again" });
  const seeds = Math.max(0, ...record.rows.map((row) => row.seeds.length));
  root.append(
    node("div", { class: "mha-live-head" },
      node("h3", { class: "mha-heading" }, gloss ? "The leaderboard: the gloss" : "The leaderboard: written digits"),
      node("span", { class: "mha-sub" }, `${record.rows.length} rows, ${seeds} seeds, ${withCommas(record.whole)} steps each, recorded`)),
    node("div", { class: "mha-row" }, number.element, sort.element),
    node("div", { class: "mha-row mha-board-threshold" }, threshold.element),
    node("div", { class: "mha-drawing" }, rows.element),
    node("p", { class: "mha-note" }, "Dot: a seed. Tick: their mean. Grey ground: what plain heads with h = 8 span. A difference of means below the larger spread counts as none."),
    told,
    node("div", { class: "mha-section" }, node("figure", { class: "mha-drawing" }, caption, frame), keys,
      node("p", { class: "mha-note" }, gloss ? `Line: mean over the seeds, ground: from the smallest to the largest. Grey: all other rows. Log axis. Choose up to ${MOST_CURVES} rows above; a second click takes one away.`
        : "Dots at the right: the recorded seeds, which were looked at after the last step. Log axis. Choose rows above; a second click takes one away.")),
    node("div", { class: "mha-section mha-board-again" }, node("div", { class: "mha-row" }, seed.element), run.element, again),
    node("div", { class: "mha-computing" }, "computing"),
  );

  // A click shows a row and its curve; on the row that is shown in words it takes the curve away again.
  function pick(key) {
    const now = model.get("row");
    if (key === now && shown.length > 1) {
      shown = shown.filter((one) => one !== key);
      return ask({ row: shown[shown.length - 1] });
    }
    shown = [...shown.filter((one) => one !== key), key];
    // The oldest leaves, plain heads last.
    while (shown.length > MOST_CURVES) shown.splice(shown[0] === record.reference ? 1 : 0, 1);
    return ask({ row: key });
  }

  function paint(next) {
    found = next;
    number.set(model.get("number"));
    threshold.set(model.get("threshold"));
    seed.set(model.get("seed"));
    if (byKey.has(model.get("row")) && !shown.includes(model.get("row"))) shown = [...shown, model.get("row")].slice(-MOST_CURVES);
    const atWork = ["starting", "running", "stopping"].includes(found.state);
    const which = `${named(found.training.row)}, seed ${found.training.seed}`;
    const row = byKey.get(found.training.row);
    const seconds = row ? (row.values.seconds.reduce((sum, one) => sum + one, 0) / row.values.seconds.length) * (record.steps / record.whole) : null;
    const long = seconds === null ? "" : seconds < 90 ? `, about ${Math.max(1, Math.round(seconds))} s` : `, about ${Math.round(seconds / 60)} minutes`;
    const last = found.live.length ? found.live[found.live.length - 1][1] : null;
    const more = last === null ? "" : gloss ? `, held-out loss ${last.toFixed(3)}` : `, ${(100 * last).toFixed(1)} % right`;
    const words = runWords(found, record.steps, `The button trains ${which} here${long} of one core.`, more);
    run.paint(found, atWork ? `${which}: ${words}` : words);
    setText(told, held(found.told));
    setText(again, held(found.again));
    show(again, Boolean(found.again));
    drawAll();
    announce();
  }

  function drawAll() {
    if (!found) return;
    const of = model.get("number");
    show(threshold.element.parentNode, of === "steps");
    const listed = record.rows.map((row) => row.key);
    rows.draw({ number: of, threshold: model.get("threshold"), order: best ? found.order : listed, chosen: model.get("row"), shown, against: found.against });
    curves(of);
  }

  // Of the digits a curve shows wrong answers, so that a log axis can tell good from better.
  const height = (value) => (gloss ? value : Math.max(0.05, 100 * (1 - value)));

  function curves(of) {
    const rest = record.rows.filter((row) => !shown.includes(row.key));
    const points = (row) => gloss ? row.curve : row.values.right.map((one) => [record.whole, 100 - one, 100 - one, 100 - one]);
    const live = found.live.length ? { points: found.live.map(([step, value]) => [step, height(value)]), name: named(found.training.row) } : null;
    setText(caption, gloss ? "held-out loss of a word" : "wrong answers on held-out pictures, %");
    tips.redraw(frame, () => chart.draw({
      width: Math.max(240, widthOf(frame, 800)), height: 280, steps: record.whole, live,
      curves: shown.map((key) => ({ look: boardLook(record, key), name: named(key), points: points(byKey.get(key)), dots: !gloss })),
      faint: gloss ? rest.map((row) => row.curve.map(([step, mean]) => [step, mean])) : [],
      level: of === "steps" ? model.get("threshold") : null, unit: gloss ? "loss" : "wrong %", name: (value) => (gloss ? value.toFixed(3) : value.toFixed(1)),
    }));
    svg.setAttribute("aria-label", `Learning curves of ${shown.map(named).join("; ") || "no row"}${live ? `; trained here: ${found.again}` : ""}`);
    keys.replaceChildren(...shown.map((key) => {
      const look = boardLook(record, key);
      const stroke = svgNode("svg", { class: "mha-board-key", viewBox: "0 0 32 10", "aria-hidden": "true" }, svgNode("line", { x1: 1, x2: 31, y1: 5, y2: 5, class: "mha-curve", "stroke-dasharray": look.dash }));
      stroke.firstChild.style.stroke = boardColour(look);
      return node("span", { class: "mha-board-key-row" }, boardChip(look), gloss ? stroke : null, named(key));
    }), ...(live ? [node("span", { class: "mha-board-key-row" }, svgNode("svg", { class: "mha-board-key", viewBox: "0 0 32 10", "aria-hidden": "true" }, svgNode("line", { x1: 1, x2: 31, y1: 5, y2: 5, class: "mha-board-live" }), svgNode("circle", { cx: 16, cy: 5, r: 3.5, class: "mha-board-point is-live" })), `trained here: ${named(found.training.row)}, seed ${found.training.seed}`)] : []));
  }

  // Read out: what the chosen row says, and every new state.
  function announce() {
    const now = `${found.state}|${found.told}`;
    if (now === said) return;
    const state = found.state === said.split("|")[0] ? "" : `Training: ${found.state}. `;
    said = now;
    say(state + (found.state === "finished" ? found.again : found.told));
  }

  const answers = connect(model, root, [], (header) => {
    run.heard();
    paint(header);
    return true;
  });
  const stopTheme = watchTheme(root, (theme) => {
    headVariables(root, theme);
    drawAll();
  });
  const resized = new ResizeObserver(() => drawAll());
  resized.observe(root);
  answers.draw();
  return () => {
    run.stop();
    answers.stop();
    stopTheme();
    resized.disconnect();
  };
}

const SHORT = { loss: "held-out loss", right: "right answers", steps: "steps to a loss", parameters: "parameters", flops: "FLOPs", cache: "cache", seconds: "seconds" };
