// What a model gets right, as four meters, and the best head of each role, as four lines of a table.
//
// accuracyMeters(parts, asked) -> { element, show(accuracy) }; parts: all names, asked: those that are trained.
// roleTable() -> { element, show(roles, steps) }; roles: { previous: { name, layer, head, score, baseline, rule, passed, since } }.

function accuracyMeters(parts, asked) {
  const meters = {};
  const element = node("div", { class: "mha-live-meters" });
  for (const part of parts) {
    const bar = node("div", { class: "mha-live-meter-fill" });
    const number = node("span", { class: "mha-live-meter-number", "data-accuracy": part }, "–");
    const learned = asked.includes(part);
    element.append(
      node(
        "div",
        { class: learned ? "mha-live-meter" : "mha-live-meter is-out" },
        node("span", { class: "mha-label" }, part),
        number,
        node("div", { class: "mha-live-meter-track" }, bar),
        learned ? null : node("span", { class: "mha-note" }, "not asked for"),
      ),
    );
    meters[part] = { bar, number, learned };
  }
  return {
    element,
    show(accuracy) {
      for (const [part, { bar, number, learned }] of Object.entries(meters)) {
        const known = accuracy && learned;
        setText(number, known ? shareText(accuracy[part]) : "–");
        bar.style.width = known ? `${100 * accuracy[part]}%` : "0";
      }
    },
  };
}

function roleTable() {
  const body = node("tbody", {});
  const element = node(
    "table",
    { class: "mha-live-roles" },
    node("thead", {}, node("tr", {}, ...["role", "best head", "hits", "rule without a head", "holds since"].map((text) => node("th", { scope: "col" }, text)))),
    body,
  );
  const rows = {};
  for (const [role, look] of Object.entries(ROLE_LOOK)) {
    const cells = ["head", "score", "rule", "since"].map((name) => node("td", { "data-cell": name }, "–"));
    rows[role] = cells;
    const words = node("span", {}, look.words);
    rows[role].words = words;
    body.append(node("tr", { "data-role": role }, node("th", { scope: "row" }, roleChip(role), words), ...cells));
  }
  return {
    element,
    show(roles) {
      for (const [role, cells] of Object.entries(rows)) {
        const found = roles[role];
        const [head, score, rule, since] = cells;
        setText(cells.words, role === "syntactic" && found ? found.name : ROLE_LOOK[role].words);
        setText(head, found ? `layer ${found.layer}, head ${found.head}` : "–");
        setText(score, found ? shareText(found.score) : "–");
        setText(rule, found ? `${found.rule.replace("-", "−")}: ${shareText(found.baseline)}` : "–");
        setText(since, found && found.since ? `✓ step ${withCommas(found.since[0])}, ${Math.round(found.since[1])} s` : found ? "not yet" : "–");
        since.classList.toggle("is-held", Boolean(found && found.since));
      }
    },
  };
}
