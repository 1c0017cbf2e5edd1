// One sentence with the arcs of two heads: the first above the words, the second below them.
//
// bothArcs({ onQuery }) -> { element, draw({ tokens, unknown, heads: [{ weights, tint }, { weights, tint }], q, width, theme, family, alt }) }
// weights: Uint16Array n × n, 65535 = 1. Lit query coloured, 8 px for a weight of 1; the others grey, from 0.15 on.

function bothArcs({ onQuery }) {
  const picture = svgNode("svg", { class: "mha-arcs", role: "img", "aria-label": "Where the two heads look" });
  picture.addEventListener("click", (event) => {
    const word = event.target.closest("[data-token]");
    if (word) onQuery(Number(word.dataset.token));
  });

  function half({ weights, tint }, n, row, q, theme) {
    const weight = (from, to) => weights[from * n + to] / 65535;
    let reach = 60;
    for (let from = 0; from < n; from += 1) {
      for (let to = 0; to < n; to += 1) {
        if (weight(from, to) >= ARC_FROM) reach = Math.max(reach, Math.abs(row.x[to] - row.x[from]));
      }
    }
    const base = Math.min(130, Math.max(40, 0.28 * reach + 24));
    const parts = [];
    for (let from = 0; from < n; from += 1) {
      for (let to = 0; to < n && from !== q; to += 1) {
        if (weight(from, to) >= GREY_FROM) parts.push(arc(row.x[from], row.x[to], base, weight(from, to), colour("edge", theme), 0.38, reach));
      }
    }
    for (let to = 0; to < n; to += 1) {
      if (weight(q, to) < ARC_FROM) continue;
      parts.push(arc(row.x[q], row.x[to], base, weight(q, to), tint, 1, reach));
      parts.push(svgNode("circle", { cx: row.x[to], cy: base, r: 1.5 + 3 * weight(q, to), fill: tint }));
    }
    return { parts, base };
  }

  function draw({ tokens, unknown, heads, q, width, theme, family, alt }) {
    const row = spreadWords(tokens, width, family);
    const [upper, lower] = heads.map((head) => half(head, tokens.length, row, q, theme));
    const words = wordsUnder(tokens, unknown, row, upper.base + 5, q, theme, family);
    const height = upper.base + row.height + 14 + lower.base;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("width", width);
    picture.setAttribute("height", height);
    picture.setAttribute("aria-label", alt);
    picture.replaceChildren(
      svgNode("g", { class: "mha-arcs-above" }, ...upper.parts),
      ...words,
      svgNode("g", { class: "mha-arcs-below", transform: `translate(0 ${height}) scale(1 -1)` }, ...lower.parts),
    );
  }
  return { element: picture, draw };
}
