// One strip a role: a dot for each head on the role's axis, and a native slider on it for the threshold.
//
// headMapThresholds({ chart, onMove, onPick, onStand, onLeave }) -> { element, place(), draw(thresholds), choose(i) }
//   onMove(role, value): a slider was moved. onStand(i, element, role): the pointer is on a dot.
// The ground up to the baseline is hatched: what lies there, a rule without a head reaches too. Parts:
// .mha-strip[data-role], its input[type=range], circle[data-head-index], .mha-strip-count.

const STRIP_HEIGHT = 32;
const DOT = 3.2;

function headMapThresholds({ chart, onMove, onPick, onStand, onLeave }) {
  const total = chart.layers * chart.heads;
  const strips = chart.roles.map((role) => roleStrip(role, total, { onMove, onPick, onStand, onLeave, name: (i) => headName(chart, i) }));
  const element = node(
    "div", { class: "mha-strips" },
    node("p", { class: "mha-sub" }, "One dot a head. Drag a threshold; the map follows."),
    ...strips.map((strip) => strip.element),
    node("p", { class: "mha-note mha-strips-note" }, ...chart.strips_note.map((part, i) => (i % 2 ? node("b", {}, part) : part))),
  );
  return {
    element,
    place() { strips.forEach((strip) => strip.place()); },
    draw(thresholds) { strips.forEach((strip) => strip.draw(thresholds)); },
    choose(i) { strips.forEach((strip) => strip.choose(i)); },
  };
}

function roleStrip(role, total, { onMove, onPick, onStand, onLeave, name }) {
  const points = role.unit === "points";
  const count = node("span", { class: "mha-strip-count" });
  const picture = svgNode("svg", { class: "mha-strip-dots", "aria-hidden": "true" });
  const pill = node("span", { class: "mha-strip-pill", "aria-hidden": "true" });
  const input = node("input", {
    class: "mha-strip-range", type: "range", min: role.low, max: role.high, step: 0.01,
    "aria-label": `threshold for ${role.words}`, "data-control": `threshold-${role.role}`,
  });
  const end = (value) => (points ? String(Math.round(100 * value)).replace("-", "−").replace(/^(?=[1-9])/, "+") : String(value));
  const body = node("div", { class: "mha-strip-body" }, picture, input, pill);
  const element = node(
    "div", { class: "mha-strip", "data-role": role.role },
    node("div", { class: "mha-strip-head" }, markChip(role.role), node("span", { class: "mha-strip-words" }, role.words), count),
    node("div", { class: "mha-strip-line" }, node("span", { class: "mha-strip-end is-low" }, end(role.low)), body, node("span", { class: "mha-strip-end" }, end(role.high))),
  );
  const dots = role.scores.map((score, i) => {
    if (score === null) return null;
    const dot = svgNode("circle", { r: DOT, "data-head-index": i });
    dot.addEventListener("pointerenter", () => onStand(i, dot, role));
    dot.addEventListener("pointerleave", () => onLeave());
    dot.addEventListener("click", (event) => {
      event.stopPropagation();
      onPick(i);
    });
    return dot;
  });
  const ring = svgNode("circle", { r: 7, class: "mha-strip-ring" });
  let width = 0;
  let chosen = -1;
  let threshold = role.threshold;
  const x = (value) => 8 + (Math.min(role.high, Math.max(role.low, value)) - role.low) / (role.high - role.low) * (width - 16);
  const middle = STRIP_HEIGHT / 2;

  // Dots that would cover each other step aside, up and down.
  function spread() {
    const placed = [];
    const order = dots.map((_, i) => i).filter((i) => dots[i]).sort((a, b) => role.scores[a] - role.scores[b] || a - b);
    for (const i of order) {
      const at = x(role.scores[i]);
      const near = placed.filter((other) => at - other.x < 2 * DOT);
      const free = [0, 4, -4, 8, -8, 11, -11, 2, -2, 6, -6].find((y) => near.every((other) => Math.hypot(at - other.x, y - other.y) >= 1.55 * DOT));
      const y = free === undefined ? ((i * 7919) % 23) - 11 : free;
      placed.push({ x: at, y });
      dots[i].setAttribute("cx", at.toFixed(1));
      dots[i].setAttribute("cy", (middle + y).toFixed(1));
    }
  }

  function place() {
    const room = body.clientWidth;
    if (!room || room === width) return;
    width = room;
    picture.setAttribute("viewBox", `0 0 ${width} ${STRIP_HEIGHT}`);
    const parts = [];
    if (role.ground !== null && role.ground > role.low) {
      parts.push(hatched({ x: x(role.low), y: middle - 8, width: x(role.ground) - x(role.low), height: 16 }));
    }
    parts.push(svgNode("line", { x1: x(role.low), x2: x(role.high), y1: middle, y2: middle, class: "mha-strip-axis" }));
    if (role.ground_line !== null) parts.push(svgNode("line", { x1: x(role.ground_line), x2: x(role.ground_line), y1: middle - 11, y2: middle + 11, class: "mha-strip-baseline" }));
    spread();
    // A press beside the dots moves the threshold there.
    const ground = svgNode("rect", { x: 0, y: 0, width, height: STRIP_HEIGHT, fill: "transparent" });
    ground.addEventListener("click", (event) => {
      const bounds = picture.getBoundingClientRect();
      const share = ((event.clientX - bounds.left) / bounds.width * width - 8) / (width - 16);
      move(role.low + share * (role.high - role.low));
      input.focus();
    });
    picture.replaceChildren(...parts, ground, ...dots.filter(Boolean), ring);
    settle();
  }

  function settle() {
    if (!width) return;
    pill.style.left = `${x(threshold)}px`;
    ring.style.display = chosen >= 0 && dots[chosen] ? "" : "none";
    if (chosen >= 0 && dots[chosen]) {
      ring.setAttribute("cx", dots[chosen].getAttribute("cx"));
      ring.setAttribute("cy", dots[chosen].getAttribute("cy"));
    }
  }

  function move(value) {
    const rounded = Math.round(100 * Math.min(role.high, Math.max(role.low, value))) / 100;
    if (rounded !== threshold) onMove(role.role, rounded);
  }

  input.addEventListener("input", () => move(Number(input.value)));
  input.addEventListener("keydown", (event) => event.stopPropagation());
  return {
    element, place,
    draw(thresholds) {
      threshold = thresholds[role.role];
      if (Number(input.value) !== threshold) input.value = String(threshold);
      const passing = countPassing(role, thresholds);
      const text = `${passing} of ${total} ≥ ${roleNumber(role, threshold)}`;
      setText(count, text);
      input.setAttribute("aria-valuetext", `${roleNumber(role, threshold)}: ${passing} of ${total} heads`);
      element.classList.toggle("is-below-baseline", role.ground !== null && threshold < role.ground - 1e-9);
      dots.forEach((dot, i) => dot && dot.classList.toggle("is-passing", passesRole(role, i, thresholds)));
      settle();
    },
    choose(i) {
      chosen = i;
      settle();
    },
    name,
  };
}
