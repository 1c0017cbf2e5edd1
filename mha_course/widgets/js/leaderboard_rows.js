// The rows of the leaderboard: a button with the row's name, a dot for every seed on a common axis, the number, and how it stands beside plain heads.
//
// boardRows({ root, record, onPick }) -> { element, draw({ number, threshold, order, chosen, shown, against }) }
//   order: keys from top to bottom; chosen: key of the row in the words; shown: keys whose curves are drawn; against: words by key.
//   onPick(key): a row was clicked.
// boardLook(record, key) -> { letter, slot (of the head colours, null: ink), dash }; boardColour(look) -> a CSS colour; boardChip(look) -> HTML chip.
// boardNumber(number, value) -> text of one number.
// Parts: tr[data-row], button[data-row-button], svg.mha-board-strip, td[data-cell="number" | "against"].

const BOARD_DASHES = [null, "7 3", "2 2.5", "8 2.5 2 2.5", "12 3", "4 2 1 2 1 2"];

// Plain heads with h = 8 are drawn in ink; the others have a colour, a dash and a letter of their own.
function boardLook(record, key) {
  const row = record.rows.find((one) => one.key === key);
  if (!row) return { letter: "", slot: null, dash: null };
  const i = row.letter.charCodeAt(0) - "A".charCodeAt(0);
  return { letter: row.letter, slot: key === record.reference ? null : (i + 11) % 12, dash: key === record.reference ? null : BOARD_DASHES[i % BOARD_DASHES.length] };
}

function boardColour(look) {
  return look.slot === null ? "var(--mha-ink)" : `var(--mha-head-${look.slot + 1})`;
}

function boardChip(look) {
  const chip = node("span", { class: "mha-chip mha-own-chip", "aria-hidden": "true" }, look.letter);
  chip.style.setProperty("--mha-own", boardColour(look));
  chip.style.setProperty("--mha-own-ink", look.slot === null ? "var(--mha-surface)" : `var(--mha-head-ink-${look.slot + 1})`);
  return chip;
}

function boardNumber(number, value) {
  if (number === "loss") return value.toFixed(3);
  if (number === "right" || number === "seconds") return value.toFixed(1);
  return withCommas(value);
}

// Round ends and round steps between them.
function boardTicks(low, high, most = 5) {
  const rough = Math.max(1e-9, (high - low) / most);
  const size = 10 ** Math.floor(Math.log10(rough));
  const each = [1, 2, 5, 10].map((k) => k * size).find((k) => k >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / each - 1e-9); i * each <= high + 1e-9 * each; i += 1) ticks.push(i * each);
  return { ticks, places: Math.max(0, -Math.floor(Math.log10(each) + 1e-9)) };
}

function boardRows({ root, record, onPick }) {
  const head = { number: node("th", { scope: "col", "data-cell": "number" }), axis: node("th", { scope: "col", class: "mha-board-axis" }) };
  const axis = svgNode("svg", { class: "mha-board-strip", "aria-hidden": "true" });
  const axisName = node("span", { class: "mha-sr" }, "seeds");
  head.axis.append(axisName, axis);
  const body = node("tbody", {});
  const element = node("table", { class: "mha-board-rows" },
    node("thead", {}, node("tr", {}, node("th", { scope: "col" }, "heads"), head.axis, head.number, node("th", { scope: "col", "data-cell": "against" }, "beside plain, h = 8"))), body);
  const lines = new Map(record.rows.map((row) => [row.key, line(row)]));

  function line(row) {
    const look = boardLook(record, row.key);
    const button = node("button", {
      class: "mha-board-button", type: "button", "data-row-button": row.key, title: `${row.words}, ${row.source}`, onclick: () => onPick(row.key),
    }, boardChip(look), node("span", { class: "mha-board-name" }, row.variant, node("span", { class: "mha-board-h" }, ` h = ${row.h}`)));
    const strip = svgNode("svg", { class: "mha-board-strip", "aria-hidden": "true" });
    const number = node("td", { "data-cell": "number" });
    const against = node("td", { "data-cell": "against" });
    const tr = node("tr", { "data-row": row.key }, node("th", { scope: "row" }, button), node("td", { class: "mha-board-dots" }, strip), number, against);
    return { row, look, button, strip, number, against, tr };
  }

  // One tab stop for all rows; arrow keys go up and down, Home and End to the ends.
  element.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -1e9, End: 1e9 }[event.key];
    const buttons = [...body.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    if (!step || at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const next = buttons[Math.min(buttons.length - 1, Math.max(0, at + step))];
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    next.focus();
    event.preventDefault();
    event.stopPropagation();
  });

  function valuesOf(row, number, threshold) {
    return number === "steps" ? row.steps[String(threshold)] : row.values[number];
  }

  function draw({ number, threshold, order, chosen, shown, against }) {
    const held = document.activeElement && body.contains(document.activeElement) ? document.activeElement : null;
    const sorted = order.map((key) => lines.get(key));
    if (sorted.some((one, i) => body.children[i] !== one.tr)) body.replaceChildren(...sorted.map((one) => one.tr));
    if (held && document.activeElement !== held) held.focus();
    const there = sorted.flatMap(({ row }) => valuesOf(row, number, threshold)).filter((value) => value !== null);
    const [least, most] = there.length ? [Math.min(...there), Math.max(...there)] : [0, 1];
    const room = most > least ? 0.06 * (most - least) : Math.max(1e-9, 0.1 * Math.abs(most));
    const [low, high] = [least - room, most + room];
    const width = Math.max(90, widthOf(head.axis, 320) - 12);
    const x = (value) => 6 + ((value - low) / (high - low)) * (width - 12);
    setText(head.number, ["loss", "right", "steps", "seconds"].includes(number) ? "mean (over seeds)" : "number");
    ruler(x, low, high, width);
    const plain = lines.get(record.reference);
    const beside = plain ? valuesOf(plain.row, number, threshold) : [];
    for (const { row, look, button, strip, number: cell, against: last, tr } of sorted) {
      const values = valuesOf(row, number, threshold);
      tr.classList.toggle("is-chosen", row.key === chosen);
      button.setAttribute("aria-pressed", String(shown.includes(row.key)));
      button.setAttribute("aria-current", row.key === chosen ? "true" : "false");
      button.tabIndex = row.key === chosen || (!order.includes(chosen) && row.key === order[0]) ? 0 : -1;
      dots(strip, { values, beside, look, x, width, lit: row.key === chosen || shown.includes(row.key) });
      setText(cell, inWords(values, number));
      setText(last, row.key === record.reference ? "–" : against[row.key] || "");
      last.classList.toggle("is-none", ["no difference", "too few seeds", "the same"].includes(against[row.key]));
    }
  }

  function ruler(x, low, high, width) {
    axis.setAttribute("viewBox", `0 0 ${width} 20`);
    axis.style.height = "20px";
    axis.replaceChildren();
    const { ticks, places } = boardTicks(low, high, width < 200 ? 2 : 4);
    for (const tick of ticks) {
      svgText(axis, Math.min(width - 12, Math.max(12, x(tick))), 12, tick >= 1000 ? withCommas(tick) : tick.toFixed(places), "mha-board-tick");
      axis.append(svgNode("line", { x1: x(tick), x2: x(tick), y1: 16, y2: 20, class: "mha-board-grid" }));
    }
  }

  function dots(strip, { values, beside, look, x, width, lit }) {
    const there = values.filter((value) => value !== null);
    const [height, middle] = [24, 12];
    strip.setAttribute("viewBox", `0 0 ${width} ${height}`);
    strip.style.height = `${height}px`;
    strip.replaceChildren();
    if (beside.length && !beside.includes(null)) {
      const [a, b] = [x(Math.min(...beside)), x(Math.max(...beside))];
      strip.append(svgNode("rect", { x: a, y: 0, width: Math.max(1, b - a), height, class: "mha-board-band" }));
      const mean = x(beside.reduce((sum, value) => sum + value, 0) / beside.length);
      strip.append(svgNode("line", { x1: mean, x2: mean, y1: 0, y2: height, class: "mha-board-plain" }));
    }
    if (!there.length) return;
    const colour = lit ? boardColour(look) : "var(--mha-edge)";
    const mean = there.reduce((sum, value) => sum + value, 0) / there.length;
    const range = svgNode("line", { x1: x(Math.min(...there)), x2: x(Math.max(...there)), y1: middle, y2: middle, class: "mha-board-range" });
    const tick = svgNode("line", { x1: x(mean), x2: x(mean), y1: middle - 8, y2: middle + 8, class: "mha-board-mean" });
    range.style.stroke = tick.style.stroke = colour;
    strip.append(range);
    if (values.length > 1) strip.append(tick);
    for (const value of there) {
      const dot = svgNode("circle", { cx: x(value), cy: middle, r: 4, class: "mha-board-dot" });
      dot.style.fill = colour;
      strip.append(dot);
    }
  }

  function inWords(values, number) {
    const there = values.filter((value) => value !== null);
    if (!there.length) return "never";
    if (there.length < values.length) return `never in ${values.length - there.length} of ${values.length}`;
    // A sum's last binary digits must not turn a rounding: the table in Python shows the same number.
    const exact = there.reduce((sum, value) => sum + value, 0) / there.length;
    const mean = boardNumber(number, Math.round(exact * 1e9) / 1e9);
    const [low, high] = [Math.min(...there), Math.max(...there)].map((value) => boardNumber(number, value));
    return low === high ? mean : `${mean} (${low} to ${high})`;
  }

  return { element, draw };
}
