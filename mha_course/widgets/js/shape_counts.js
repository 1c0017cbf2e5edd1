// Panels of the ShapeTracer in which an arange input is followed: x itself, split, and concat.
//
// Each panel is a function (frame, state, act, paint) -> {title, body: [nodes], words: string}, where
// state = {token, head, part} and act.token(t) follows another token. The numbers of x are the real input;
// those of split and concat are torch.arange, so that a number names the place where it came from.

function panelArrow(word) {
  const arrow = node("div", { class: "mha-shape-arrow" }, node("span", { class: "mha-shape-arrow-word" }, word));
  arrow.append(node("span", { class: "mha-shape-arrow-line" }, ""));
  arrow.setAttribute("aria-hidden", "true");
  return arrow;
}

function tokenNames(frame) {
  return frame.tokens.map((_, t) => `token ${t}`);
}

function panelX(frame, state, act) {
  const rows = frame.x.map((row) => numberRow(row).concat(row.length < frame.d_model ? [gapCell()] : []));
  const labels = frame.x[0].map((_, c) => String(c)).concat(frame.x[0].length < frame.d_model ? [""] : []);
  const grid = numberGrid({
    rows,
    rowLabels: frame.tokens,
    columnLabels: labels,
    label: `x[0], the first sentence: ${frame.n} tokens, ${frame.d_model} features each`,
    width: 42,
    litRow: state.token,
    onRow: act.token,
  });
  const head = node("div", { class: "mha-shape-caption" }, node("span", { class: "mha-code" }, "x[0]"), node("span", { class: "mha-note" }, `(n, d_model) = (${frame.n}, ${frame.d_model})`));
  const words = `Row ${state.token} is the vector of “${frame.tokens[state.token]}”: ${frame.d_model} numbers. `
    + `All b = ${frame.b} sentences go through the layer together and never meet.`;
  return { title: "x: one row a token", body: [node("div", { class: "mha-shape-block" }, head, grid)], words };
}

function countWidth(frame) {
  const digits = String(frame.n * frame.d_model - 1).length;
  return digits < 3 ? 22 : digits < 4 ? 26 : 32;
}

function countBands(frame, groups, state, act, code) {
  const whole = { features: frame.d_k, heads: frame.h };
  const rows = groups.map((row) =>
    bandedRow(row, frame.drawn, whole, (value, head) => ({ text: String(value), head })));
  const labels = bandedRow(groups[0], frame.drawn, whole, (value, head, feature) => String(head * frame.d_k + feature))
    .map((cell) => (typeof cell === "string" ? cell : ""));
  const grid = numberGrid({
    rows,
    rowLabels: tokenNames(frame),
    columnLabels: labels,
    label: `${code}: ${frame.n} tokens, ${frame.d_model} features, coloured by the head they belong to`,
    width: countWidth(frame),
    litRow: state.token,
    onRow: act.token,
  });
  const caption = node("div", { class: "mha-shape-caption" }, node("span", { class: "mha-code" }, code),
    node("span", { class: "mha-note" }, `(n, d_model) = (${frame.n}, ${frame.d_model})`));
  return node("div", { class: "mha-shape-block" }, caption, grid);
}

function countStacks(frame, state) {
  const cut = frame.drawn.features < frame.d_k;
  const blocks = frame.count_heads.map((rows, head) => {
    const grid = numberGrid({
      rows: rows.map((row) => row.map((value) => ({ text: String(value), head })).concat(cut ? [gapCell()] : [])),
      columnLabels: rows[0].map((_, f) => String(f)).concat(cut ? [""] : []),
      label: `head ${head + 1}, heads[0, ${head}]: its row ${state.token} is ${rows[state.token].join(", ")}`,
      width: countWidth(frame),
      litRow: state.token,
    });
    const caption = node("div", { class: "mha-shape-caption" }, headBadge(head), node("span", { class: "mha-code" }, `heads[0, ${head}]`));
    return node("div", { class: "mha-shape-block" }, caption, grid);
  });
  if (frame.drawn.heads < frame.h) {
    blocks.push(node("span", { class: "mha-note mha-shape-more" }, `… ${frame.h} heads in all`));
  }
  return node("div", { class: "mha-shape-stacks" }, ...blocks);
}

function rowWords(values, cut) {
  return values.join(", ") + (cut ? ", …" : "");
}

function panelSplit(frame, state, act) {
  const head = Math.min(state.head, frame.drawn.heads - 1);
  const from = head * frame.d_k;
  const to = from + frame.d_k - 1;
  const numbers = rowWords(frame.count_heads[head][state.token], frame.drawn.features < frame.d_k);
  const span = frame.d_k === 1 ? `Feature ${from}` : `Features ${from} to ${to}`;
  return {
    title: `Split: token ${state.token} of the first sentence`,
    body: [countBands(frame, frame.count_x, state, act, "x[0]"), panelArrow("split"), countStacks(frame, state)],
    words: `${span} of token ${state.token} (${numbers}) ${frame.d_k === 1 ? "is" : "are"} the whole of row `
      + `${state.token} of heads[0, ${head}]. No head got a piece of another token.`,
  };
}

function panelConcat(frame, state, act) {
  const right = frame.count_merged[state.token].flat();
  const wrong = frame.count_wrong[state.token].flat();
  const cut = frame.drawn.features < frame.d_k || frame.drawn.heads < frame.h;
  const same = right.every((value, i) => value === wrong[i]);
  const warning = same
    ? " Here the transpose changes nothing in this row."
    : ` Without the transpose this row would read ${rowWords(wrong.slice(0, 8), cut || wrong.length > 8)}: numbers of other places.`;
  return {
    title: `Concat: token ${state.token} gets its heads back side by side`,
    body: [countStacks(frame, state), panelArrow("concat"), countBands(frame, frame.count_merged, state, act, "concat[0]")],
    words: `The places are those of step 3: concat undoes split and computes nothing.${warning}`,
  };
}
