// Panels of the ShapeTracer that show a product: project, scores, weights, heads, output.
//
// Each panel is a function (frame, state, act, paint) -> {title, body: [nodes], words: string} as in shape_counts.js.
// The factor that is multiplied in stands to the left of the matrix, the result below it, so every column can be
// read as a sum from top to bottom. Matrix cells of W are tinted by paint.diverging; results are lit in head colour.

const WIDE_CELL = 44;
const TIGHT_CELL = 38; // sixteen of them fit beside their labels

function plainCell(value, places = 2) {
  return { text: numberText(value, places), head: null };
}

function emptyCell() {
  return { text: "", head: null, blank: true };
}

function tintedCell(value, top, paint, name) {
  return { text: "", head: null, fill: paint.diverging(value / top), tip: `${name}  ${numberText(value, 2)}`, paint };
}

function tintWords(top) {
  return `orange ${MINUS}${top.toFixed(2)}, blue +${top.toFixed(2)}`;
}

function product(grid, caption, note) {
  const head = node("div", { class: "mha-shape-caption" }, node("span", { class: "mha-code" }, caption), node("span", { class: "mha-note" }, note));
  return node("div", { class: "mha-shape-block" }, head, grid);
}

function bandLabels(frame, name) {
  const whole = { features: frame.d_k, heads: frame.h };
  const filler = Array.from({ length: frame.drawn.heads }, () => Array(frame.drawn.features).fill(0));
  return bandedRow(filler, frame.drawn, whole, (_, head, feature) => name(head, feature))
    .map((cell) => (typeof cell === "string" ? cell : ""));
}

function panelProject(frame, state, act, paint) {
  const part = state.part;
  const bands = frame[`w_${part}`];
  const whole = { features: frame.d_k, heads: frame.h };
  const top = largest(bands.flat());
  const cut = frame.drawn.columns < frame.d_model;
  const rows = bands.map((row, feature) => [
    plainCell(frame.x[state.token][feature]),
    emptyCell(),
    ...bandedRow(row, frame.drawn, whole, (value, head, f) =>
      tintedCell(value, top, paint, `W_${part.toUpperCase()}: feature ${feature} → column ${head * frame.d_k + f} (head ${head + 1})`)),
  ]);
  if (cut) rows.push(rows[0].map((cell) => (cell.blank ? emptyCell() : gapCell())));
  const result = frame[part].map((stack) => stack[state.token]);
  rows.push([emptyCell(), emptyCell(),
    ...bandedRow(result, frame.drawn, whole, (value, head) => ({ text: numberText(value, 2), head, lit: true }))]);
  const labels = bands.map((_, feature) => `${feature}`).concat(cut ? ["…"] : [], [`${part}`]);
  const grid = numberGrid({
    rows,
    rowLabels: labels,
    columnLabels: [`x[0, ${state.token}]`, "", ...bandLabels(frame, (head, f) => String(head * frame.d_k + f))],
    label: `${part}, token ${state.token}: the features of x times the columns of W_${part.toUpperCase()}`,
    width: TIGHT_CELL,
    first: WIDE_CELL,
    short: true,
  });
  const head = Math.min(state.head, frame.drawn.heads - 1);
  const from = head * frame.d_k;
  const span = frame.d_k === 1 ? `Column ${from}` : `Columns ${from} to ${from + frame.d_k - 1}`;
  return {
    title: `Project: ${part} of token ${state.token}, “${frame.tokens[state.token]}”`,
    body: [product(grid, `W_${part.toUpperCase()}`, `(d_model, d_model) = (${frame.d_model}, ${frame.d_model}), a band of ${frame.d_k} columns a head · ${tintWords(top)}`)],
    words: `${span} of W_${part.toUpperCase()} make the ${part} of head ${head + 1}. Each of them reads all ${frame.d_model} features of x: `
      + "what is cut into heads is the result, never the input.",
  };
}

function panelScores(frame, state) {
  const { head, token } = state;
  const cut = frame.drawn.features < frame.d_k;
  const query = frame.q[head][token];
  const rows = query.map((value, f) => [
    { ...plainCell(value), head, lit: true },
    emptyCell(),
    ...frame.k[head].map((key) => ({ text: numberText(key[f], 2), head })),
  ]);
  if (cut) rows.push(rows[0].map((cell) => (cell.blank ? emptyCell() : gapCell())));
  const root = Math.sqrt(frame.d_k);
  const scores = frame.scores[head][token];
  rows.push([emptyCell(), emptyCell(), ...scores.map((score) => plainCell(score * root))]);
  rows.push([emptyCell(), emptyCell(), ...scores.map((score) => ({ text: numberText(score, 2), head, lit: true }))]);
  const labels = query.map((_, f) => String(f)).concat(cut ? ["…"] : [], ["q · k", `÷ ${plainNumber(root)}`]);
  const grid = numberGrid({
    rows,
    rowLabels: labels,
    columnLabels: ["q", "", ...frame.tokens],
    columnWords: true,
    label: `Head ${head + 1}: the query of ${frame.tokens[token]} times every key, divided by ${plainNumber(root)}`,
    width: WIDE_CELL,
  });
  return {
    title: `Scores of head ${head + 1}: one query against every key`,
    body: [product(grid, `q[0, ${head}, ${token}] · k[0, ${head}]ᵀ`, `query “${frame.tokens[token]}”, keys along the top`)],
    words: `Each score is a product of two vectors of ${frame.d_k}, added up and divided by √${frame.d_k} = ${plainNumber(root)}. `
      + `The ${frame.n} scores of this query are one row of the (${frame.n}, ${frame.n}) matrix of head ${head + 1}.`,
  };
}

function panelWeights(frame, state) {
  const { head, token } = state;
  const scores = frame.scores[head][token];
  const weights = frame.weights[head][token];
  const top = frame.row_tops[head][token];
  const cut = frame.drawn.tokens < frame.n;
  const rest = () => (cut ? [gapCell()] : []);
  const rows = [
    [...scores.map((score) => plainCell(score)), ...rest(), emptyCell(), emptyCell()],
    [...scores.map((score) => plainCell(Math.exp(score - top))), ...rest(), emptyCell(), plainCell(frame.exp_sums[head][token])],
    [...weights.map((weight) => ({ text: numberText(weight, 2), head, lit: true })), ...rest(), emptyCell(),
      plainCell(frame.row_sums[head][token])],
    [...weights.map((weight) => ({ text: "", head, bar: weight })), ...rest(), emptyCell(), emptyCell()],
  ];
  const grid = numberGrid({
    rows,
    rowLabels: ["score", `exp(score ${MINUS} largest)`, "÷ their sum", "weight, 0 to 1"],
    columnLabels: [...frame.tokens, ...(cut ? [""] : []), "", "sum"],
    columnWords: true,
    label: `Head ${head + 1}, query ${frame.tokens[token]}: weights ${weights.map((w) => w.toFixed(2)).join(", ")}`,
    width: WIDE_CELL,
    short: false,
  });
  const best = weights.indexOf(Math.max(...weights));
  return {
    title: `Weights of head ${head + 1}: softmax of one row`,
    body: [product(grid, `weights[0, ${head}, ${token}]`, `query “${frame.tokens[token]}”, keys along the top`)],
    words: `“${frame.tokens[token]}” gives “${frame.tokens[best]}” the largest weight here, ${weights[best].toFixed(2)}. `
      + `Every row adds up to 1, whatever the scores; the columns need not.`,
  };
}

function panelHeads(frame, state) {
  const { head, token } = state;
  const cut = frame.drawn.features < frame.d_k;
  const more = frame.drawn.tokens < frame.n;
  const weights = frame.weights[head][token];
  const rows = weights.map((weight, s) => [
    { text: numberText(weight, 2), head, lit: true },
    emptyCell(),
    ...frame.v[head][s].map((value) => ({ text: numberText(value, 2), head, strength: weight })),
    ...(cut ? [gapCell()] : []),
  ]);
  if (more) rows.push(rows[0].map((cell) => (cell.blank ? emptyCell() : gapCell())));
  const sums = frame.heads[head][token].map((value) => ({ text: numberText(value, 2), head, lit: true }));
  rows.push([emptyCell(), emptyCell(), ...sums, ...(cut ? [gapCell()] : [])]);
  const grid = numberGrid({
    rows,
    rowLabels: [...frame.tokens, ...(more ? ["…"] : []), "sum"],
    columnLabels: ["weight", "", ...frame.v[head][0].map((_, f) => String(f)), ...(cut ? [""] : [])],
    label: `Head ${head + 1}, query ${frame.tokens[token]}: value rows times weights, added up`,
    width: WIDE_CELL,
  });
  return {
    title: `Head ${head + 1}: a weighted sum of value rows`,
    body: [product(grid, `weights[0, ${head}, ${token}] @ v[0, ${head}]`, `one row of v a key, (n, d_k) = (${frame.n}, ${frame.d_k})`)],
    words: `Each column: weight times value, added over all ${frame.n} keys. `
      + `The row “sum” is heads[0, ${head}, ${token}]: what head ${head + 1} reports for “${frame.tokens[token]}”.`,
  };
}

function panelOutput(frame, state, act, paint) {
  const { token } = state;
  const top = largest(frame.w_o.flat());
  const cut = frame.drawn.columns < frame.d_model;
  const rows = [];
  const labels = [];
  frame.w_o.forEach((band, head) => {
    band.forEach((row, f) => {
      labels.push(String(head * frame.d_k + f));
      rows.push([
        { text: numberText(frame.heads[head][token][f], 2), head, lit: true },
        emptyCell(),
        ...row.map((value, c) => tintedCell(value, top, paint, `W_O: row ${head * frame.d_k + f} (head ${head + 1}) → output feature ${c}`)),
        ...(cut ? [gapCell()] : []),
      ]);
    });
  });
  if (cut || frame.drawn.heads < frame.h || frame.drawn.features < frame.d_k) {
    labels.push("…");
    rows.push(rows[0].map((cell) => (cell.blank ? emptyCell() : gapCell())));
  }
  labels.push("output");
  rows.push([emptyCell(), emptyCell(), ...frame.output[token].map((value) => plainCell(value)), ...(cut ? [gapCell()] : [])]);
  const grid = numberGrid({
    rows,
    rowLabels: labels,
    columnLabels: ["concat", "", ...frame.output[token].map((_, c) => String(c)), ...(cut ? [""] : [])],
    label: `Output of token ${token}: concat times the columns of W_O`,
    width: TIGHT_CELL,
    first: WIDE_CELL,
    short: true,
  });
  const shares = frame.shares[token].slice(0, frame.drawn.heads === frame.h ? frame.h : undefined);
  const terms = shares.map((share, head) => {
    const name = head < frame.drawn.heads ? `head ${head + 1}` : "the other heads";
    const sign = share[0] < 0 ? MINUS : "+";
    const lead = head === 0 ? numberText(share[0], 2) : `${sign} ${numberText(Math.abs(share[0]), 2)}`;
    return `${lead} (${name})`;
  });
  return {
    title: `Output: W_O mixes the heads of token ${token}, “${frame.tokens[token]}”`,
    body: [product(grid, "W_O", `(d_model, d_model) = (${frame.d_model}, ${frame.d_model}), a band of ${frame.d_k} rows a head · ${tintWords(top)}`)],
    words: `Output feature 0 is a sum over every head: ${terms.join(" ")} = ${numberText(frame.output[token][0], 2)}.`,
  };
}
