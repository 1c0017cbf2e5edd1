// Heads as cells that fade as their gates close, and how many heads of each role are left.
//
// survivorGrid({ layers, heads, root, numbers }) -> { element, place(width), draw({ gates, labels, before, theme }) }
//   gates[layer][head]: 0 to 1; labels: what a head that is not gone does now, before: what each did with all heads there,
//   both { kind, name, score, baseline } or null. numbers: write every gate into its cell, not only those between 0 and 1.
// survivorTable(note) -> { element, draw({ gates, labels, before }) }; note: what stands in the place of the list while
//   nothing is known. Parts: button.mha-role-cell (.is-gone), .mha-gate-number, tr[data-role].

const SURVIVOR_ROLES = { previous: "previous word", next: "next word", rare: "rarest word", syntactic: "syntactic relation", none: "no role" };

function kindOf(label) {
  if (!label) return "none";
  return label.kind === "positional" ? label.name : label.kind;
}

function labelWords(label) {
  if (!label) return "no role";
  const rule = { positional: "a fixed row", rare: "“longest word”", syntactic: "the best fixed distance" }[label.kind];
  const name = label.kind === "syntactic" ? label.name : SURVIVOR_ROLES[kindOf(label)];
  return `${name}: ${shareWords(label.score)} (${label.kind === "positional" ? "chance" : rule}: ${shareWords(label.baseline)})`;
}

function gateWords(gate) {
  if (gate === 0) return "gate 0: gone";
  return gate === 1 ? "gate 1: open" : `gate ${Math.min(0.99, Math.max(0.01, gate)).toFixed(2)}`;
}

// A colour on the way from the surface to a role's own.
function fadedColour(fill, surface, share) {
  const at = (hex, i) => parseInt(hex.slice(i, i + 2), 16);
  return `#${[1, 3, 5].map((i) => Math.round(at(surface, i) + share * (at(fill, i) - at(surface, i))).toString(16).padStart(2, "0")).join("")}`;
}

function survivorGrid({ layers, heads, root, numbers = false }) {
  const chart = { layers, heads };
  const spot = tooltip(root);
  let now = null;
  const at = (rows, i) => rows[Math.floor(i / heads)][i % heads];
  // Who is gone keeps the mark of what it did.
  const doing = (i) => at(at(now.gates, i) > 0 ? now.labels : now.before, i);

  function lines(i) {
    if (!now) return [];
    const [gate, was] = [at(now.gates, i), at(now.before, i)];
    if (gate === 0) return [gateWords(gate), `with all heads: ${labelWords(was)}`];
    const label = at(now.labels, i);
    return [gateWords(gate), labelWords(label), ...(kindOf(label) === kindOf(was) ? [] : [`with all heads: ${labelWords(was)}`])];
  }

  function stand(i, cell) {
    const parts = lines(i).flatMap((line, k) => (k ? ["\n", line] : [line]));
    spot.show(cell.getBoundingClientRect(), node("b", {}, headName(chart, i)), "  ", ...parts);
  }

  const grid = headMapGrid({
    chart, does: null, linesOf: lines,
    rolesOf: (i) => (now && doing(i) ? [{ role: kindOf(doing(i)) }] : []),
    onPick: (i) => stand(i, grid.cell(i)), onStand: stand, onLeave: () => spot.hide(),
  });
  const written = Array.from({ length: layers * heads }, (_, i) => {
    const number = node("span", { class: "mha-gate-number", "aria-hidden": "true" });
    grid.cell(i).append(number);
    return number;
  });
  const element = node("div", { class: "mha-headmap-scroll" }, grid.element);

  return {
    element,
    place: (width) => grid.place(width),
    draw(next) {
      now = next;
      grid.draw(now);
      for (let i = 0; i < layers * heads; i += 1) {
        const [cell, gate, kind] = [grid.cell(i), at(now.gates, i), kindOf(doing(i))];
        const gone = gate === 0;
        cell.classList.toggle("is-gone", gone);
        const { key } = ROLE_MARKS[kind] || { key: "none" };
        const look = kind === "none" ? { fill: colour("mute", now.theme), edge: colour("edge", now.theme) } : PALETTE.role[now.theme][key];
        const shade = fadedColour(look.fill, colour("surface", now.theme), gate);
        cell.style.background = gone ? "" : shade;
        cell.style.borderColor = gone ? "" : look.edge;
        cell.style.color = gone ? "" : textOn(shade);
        setText(written[i], gate === 0 || gate === 1 ? String(gate) : gateWords(gate).slice(5));
        show(written[i], numbers || (gate > 0 && gate < 1));
      }
    },
  };
}

function survivorTable() {
  const body = node("tbody", {});
  const element = node("table", { class: "mha-survivors" },
    node("thead", {}, node("tr", {}, ...["role", "all heads", "left", "which"].map((text) => node("th", { scope: "col" }, text)))), body);
  const rows = {};
  for (const [kind, words] of Object.entries(SURVIVOR_ROLES)) {
    const cells = ["before", "left", "which"].map((name) => node("td", { "data-cell": name }));
    const chip = kind === "none" ? node("span", { class: "mha-chip mha-role-mark is-none", "aria-hidden": "true" }) : markChip(kind);
    rows[kind] = { row: node("tr", { "data-role": kind }, node("th", { scope: "row" }, chip, words), ...cells), cells };
    body.append(rows[kind].row);
  }
  return {
    element,
    draw({ gates, labels, before }) {
      for (const [kind, { row, cells }] of Object.entries(rows)) {
        const left = [];
        let all = 0;
        gates.forEach((line, layer) => line.forEach((gate, head) => {
          if (kindOf(before[layer][head]) === kind) all += 1;
          if (gate > 0 && kindOf(labels[layer][head]) === kind) left.push(`L${layer + 1}\u00a0H${head + 1}`);
        }));
        setText(cells[0], String(all));
        setText(cells[1], String(left.length));
        setText(cells[2], left.join(", ") || "none");
        show(row, all > 0 || left.length > 0);
        row.classList.toggle("is-gone", left.length === 0);
      }
    },
  };
}
