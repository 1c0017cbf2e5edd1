// A head's scores as bars on one axis from 0 to 1: dashed tick = rule without a head, diamond = untrained model,
// whisker = 95 % interval; to the right the score, how many words were asked, and points to the baseline.
//
// headMapBars({ tips, heading, empty, counted }) -> { element, draw(rows, passes, whose) }
//   rows: [{ role, name, words, full, score, low, high, baseline, rule, control, asked, gain, tougher }], numbers or null.
//   counted: with columns for how many were asked and for the points. passes(row): what the thresholds on show say.
// A bar that does not pass is mute, not hidden. Parts: .mha-score[data-name], its .mha-score-points.

function headMapBars({ tips, heading, empty = "", counted = true }) {
  const list = node("div", { class: "mha-scores", role: "list", tabindex: 0 });
  const legend = node("div", { class: "mha-note mha-scores-legend" });
  const title = node("h4", { class: "mha-label mha-scores-title" }, heading);
  const head = node(
    "div", { class: "mha-score-row mha-scores-head" },
    title,
    ...(counted ? [node("span", { class: "mha-sub mha-score-asked" }, "words"), node("span", { class: "mha-sub mha-score-points" }, "to baseline")] : []),
  );
  const axis = node("div", { class: "mha-score-row mha-score-axis", "aria-hidden": "true" }, node("span"), node("div", { class: "mha-score-ticks" }, ...[0, 0.25, 0.5, 0.75, 1].map((value) => {
    const tick = node("span", {}, String(value));
    tick.style.left = `${100 * value}%`;
    return tick;
  })));
  const none = node("p", { class: "mha-sub", hidden: true }, empty);
  const element = node("div", { class: counted ? "mha-scores-whole" : "mha-scores-whole is-uncounted" }, head, list, none, axis, legend);
  tips.roam(list);

  function row(each, passed) {
    const track = node("div", { class: "mha-score-track" });
    const at = (part, share) => {
      part.style.left = `${(100 * Math.min(1, Math.max(0, share))).toFixed(2)}%`;
      track.append(part);
      return part;
    };
    for (const share of [0, 0.25, 0.5, 0.75, 1]) at(node("span", { class: "mha-score-grid" }), share);
    const bar = node("span", { class: `mha-score-bar is-${each.role}` });
    bar.style.width = `${100 * each.score}%`;
    track.append(bar);
    if (each.low !== null) {
      const whisker = at(node("span", { class: "mha-score-whisker" }), each.low);
      whisker.style.width = `${100 * Math.max(0, each.high - each.low)}%`;
    }
    if (each.baseline !== null) at(node("span", { class: "mha-score-baseline" }), each.baseline);
    if (each.control !== null) at(node("span", { class: "mha-score-control" }), each.control);
    const points = each.gain === null ? "" : pointsText(each.gain);
    const mark = passed ? "✓" : "–";
    const whole = node(
      "div", { class: `mha-score-row mha-score ${passed ? "is-passing" : "is-mute"}`, role: "listitem", "data-name": each.name, "data-role": each.role },
      node("span", { class: "mha-score-name" }, each.words),
      track,
      node("span", { class: "mha-score-number" }, shareWords(each.score)),
      ...(counted ? [node("span", { class: "mha-score-asked" }, each.asked === null ? "" : withCommas(each.asked))] : []),
      node("span", { class: "mha-score-points" }, `${points} ${mark}`.trim()),
    );
    const told = scoreWords(each, passed);
    whole.setAttribute("aria-label", told);
    tips.tip(whole, told);
    return whole;
  }

  return {
    element,
    draw(rows, passes, whose) {
      tips.redraw(list, () => list.replaceChildren(...rows.map((each) => row(each, passes(each)))));
      list.setAttribute("aria-label", `Scores of ${whose}; arrow keys go from bar to bar`);
      show(none, rows.length === 0);
      show(axis, rows.length > 0);
      show(list, rows.length > 0);
      const rules = [...new Set(rows.filter((each) => each.baseline !== null).map((each) => each.rule_kind))];
      const keys = [];
      if (rules.length) keys.push([node("span", { class: "mha-key-baseline" }), rules.join(", ")]);
      if (rows.some((each) => each.control !== null)) keys.push([node("span", { class: "mha-key-control" }), counted ? "untrained model, its best head" : "untrained model, mean head"]);
      if (rows.some((each) => each.low !== null)) keys.push([node("span", { class: "mha-key-whisker" }), "95 % interval"]);
      legend.replaceChildren(...keys.map(([sign, text]) => node("span", { class: "mha-scores-key" }, sign, text)));
    },
  };
}

// One bar in words, for its tooltip and for a screen reader.
function scoreWords(each, passed) {
  const parts = [`${each.full}: ${shareWords(each.score)}`];
  if (each.low !== null) parts[0] += ` (95 % interval ${shareWords(each.low)} to ${shareWords(each.high)})`;
  if (each.baseline !== null) parts.push(`${each.rule} ${shareWords(each.baseline)}`);
  if (each.control !== null) parts.push(`${each.kind === "share" ? "best" : "mean"} head of an untrained model ${shareWords(each.control)}`);
  if (each.tougher) parts.push(`${each.tougher.rule} ${shareWords(each.tougher.score)}`);
  if (each.asked !== null) parts.push(`${withCommas(each.asked)} asked`);
  parts.push(each.gain === null ? (passed ? "passes" : "does not pass") : `${pointsText(each.gain)} to the baseline, ${passed ? "passes" : "does not pass"}`);
  return parts.join("; ");
}
