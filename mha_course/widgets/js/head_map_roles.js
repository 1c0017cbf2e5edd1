// What a head can be called, and which heads are called so at the thresholds on show: in words, as a chip, as a list.
//
// chart.roles: [{ role, words, unit: "share" | "points", scores: one a head or null, names, baseline, ... }], in order of
//   precedence: the first role that a head passes colours its cell, the second one cuts its corner.
// A score and its threshold are shares; "points" are shares above a baseline, shown as "+10 pts".

const ROLE_MARKS = {
  previous: { key: "prev", mark: "−1" },
  next: { key: "next", mark: "+1" },
  syntactic: { key: "syn", mark: "dep" },
  rare: { key: "rare", mark: "rare" },
  special: { key: "special", mark: "[ ]" },
  broad: { key: "broad", mark: "~" },
};

// The roles' colours as --mha-role-previous, --mha-role-previous-edge, --mha-role-previous-ink, ... on the root.
function markVariables(root, theme) {
  for (const [role, { key }] of [...Object.entries(ROLE_MARKS), ["none", { key: "none" }]]) {
    const { fill, edge, text } = PALETTE.role[theme][key];
    root.style.setProperty(`--mha-role-${role}`, fill);
    root.style.setProperty(`--mha-role-${role}-edge`, edge);
    root.style.setProperty(`--mha-role-${role}-ink`, text);
  }
}

// The colour of a role's arcs and bars: a hollow role lends its edge.
function roleTint(role, theme) {
  if (!role) return colour("ink2", theme);
  const { fill, edge } = PALETTE.role[theme][ROLE_MARKS[role].key];
  return role === "special" ? edge : fill;
}

function markChip(role, text = null) {
  return node("span", { class: `mha-chip mha-role-mark is-${role}`, "aria-hidden": "true" }, text || ROLE_MARKS[role].mark);
}

const passesRole = (role, i, thresholds) => role.scores[i] !== null && role.scores[i] >= thresholds[role.role] - 1e-9;

// The roles of head i, in order of precedence.
function rolesPassed(chart, thresholds, i) {
  return chart.roles.filter((role) => passesRole(role, i, thresholds));
}

function countPassing(role, thresholds) {
  return role.scores.filter((_, i) => passesRole(role, i, thresholds)).length;
}

const pointsText = (share) => {
  const points = Math.round(100 * share);
  return `${points < 0 ? "−" : "+"}${Math.abs(points)} pts`;
};

// A score or threshold of a role, as it is told.
function roleNumber(role, value) {
  return role.unit === "points" ? pointsText(value) : shareWords(value);
}

// Two decimals; 1.00 only where nothing is missing.
function shareWords(share) {
  const text = share.toFixed(2);
  return text === "1.00" && share < 0.9995 ? "0.99" : text;
}

const headName = (chart, i) => `L${Math.floor(i / chart.heads) + 1} H${(i % chart.heads) + 1}`;
const headWords = (chart, i) => `Layer ${Math.floor(i / chart.heads) + 1}, head ${(i % chart.heads) + 1}`;

// What a head scores for a role, in words: "case → head +29 pts (threshold +10 pts, best fixed offset 0.37)".
function roleLine(role, i, thresholds) {
  const name = role.names && role.names[i] ? `${role.names[i]} ` : "";
  const rule = role.unit === "points" ? role.rules[i] : role.rule;
  const base = role.unit === "points" ? role.baselines[i] : role.baseline;
  const beside = base === null || base === undefined ? "" : `; ${rule} ${shareWords(base)}`;
  return `${role.words}: ${name}${roleNumber(role, role.scores[i])} (threshold ${roleNumber(role, thresholds[role.role])}${beside})`;
}

// The role that a head comes nearest to, by the distance to its threshold in the width of the role's axis.
function nearestRole(chart, thresholds, i) {
  let best = null;
  let least = Infinity;
  for (const role of chart.roles) {
    if (role.scores[i] === null) continue;
    const short = (thresholds[role.role] - role.scores[i]) / (role.high - role.low);
    if (short < least) [best, least] = [role, short];
  }
  return best;
}

// All about one head, for a tooltip and for a screen reader.
function headLines(chart, thresholds, i) {
  const passed = rolesPassed(chart, thresholds, i);
  if (passed.length) return passed.map((role) => roleLine(role, i, thresholds));
  const nearest = nearestRole(chart, thresholds, i);
  return nearest ? [`no role; nearest: ${roleLine(nearest, i, thresholds)}`] : ["no role"];
}

// The line beside the head's name: what its first role means, or what it comes nearest to.
function headAbout(chart, thresholds, i) {
  const [first] = rolesPassed(chart, thresholds, i);
  if (!first) return headLines(chart, thresholds, i)[0];
  const row = chart.rows[i].find((each) => (first.names ? each.words === first.names[i] : each.role === first.role));
  return row && row.kind === "share" ? `${row.full}: ${shareWords(row.score)}` : `${first.words}: ${roleNumber(first, first.scores[i])}`;
}

// The heads of each role as words under a small map, so that one sees which head does what.
function headMapSummary({ chart, onPick }) {
  const element = node("div", { class: "mha-summary", role: "group", "aria-label": "Heads of each role" });
  const lines = chart.roles.map((role) => {
    const heads = node("span", { class: "mha-summary-heads" });
    element.append(node("div", { class: "mha-summary-line", "data-role": role.role }, markChip(role.role), heads));
    return heads;
  });
  return {
    element,
    draw(thresholds) {
      chart.roles.forEach((role, at) => {
        const found = role.scores.map((_, i) => i).filter((i) => passesRole(role, i, thresholds));
        const parts = found.map((i) => {
          const of = role.names ? `${role.names[i]} ${roleNumber(role, role.scores[i])}` : roleNumber(role, role.scores[i]);
          return node("span", { class: "mha-summary-head" }, linkButton(headName(chart, i), () => onPick(i)), ` ${of}`);
        });
        lines[at].replaceChildren(...(parts.length ? parts : ["no head"]));
      });
    },
  };
}
