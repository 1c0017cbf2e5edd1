// Two sentences, one above the other, and what a query of the upper one looks at in the lower one.
//
// pairArcs({ onQuery }) -> { element, draw({ queries, keys, weight, q, k, width, tint, theme, family, alt }) }
// weight(q, k) from 0 to 1. Lines of the lit query are coloured, 8 px wide for a weight of 1; those of others are grey, from 0.15 on.

const PAIR_HEIGHT = 96; // px between the two lines of words

function pairArcs({ onQuery }) {
  const picture = svgNode("svg", { class: "mha-arcs", role: "img", "aria-label": "Where the query looks" });
  picture.addEventListener("click", (event) => {
    const word = event.target.closest(".mha-pair-upper [data-token]");
    if (word) onQuery(Number(word.dataset.token));
  });

  function draw({ queries, keys, weight, q, k, width, tint, theme, family, alt }) {
    const upper = spreadWords(queries, width, family, "right");
    const lower = spreadWords(keys, width, family);
    const top = upper.height;
    const bottom = top + PAIR_HEIGHT;
    const parts = [];
    const line = (from, to, w, stroke, opacity) => {
      const [x0, x1] = [upper.x[from], lower.x[to]];
      const middle = (top + bottom) / 2;
      const d = `M ${x0} ${top} C ${x0} ${middle}, ${x1} ${middle}, ${x1} ${bottom}`;
      return svgNode("path", { d, fill: "none", stroke, "stroke-opacity": opacity, "stroke-width": Math.max(1, 8 * w) });
    };
    queries.forEach((_, from) => keys.forEach((__, to) => {
      if (from !== q && weight(from, to) >= 0.15) parts.push(line(from, to, weight(from, to), colour("edge", theme), 0.38));
    }));
    keys.forEach((_, to) => {
      const w = weight(q, to);
      if (w < 0.02) return;
      parts.push(line(q, to, w, tint, 1), svgNode("circle", { cx: lower.x[to], cy: bottom, r: 1.5 + 3 * w, fill: tint }));
    });
    const bars = barsBelow({
      values: keys.map((_, to) => weight(q, to)), x: lower.x, top: bottom + lower.height + 8, width, step: lower.step, chosen: k, tint, theme,
    });
    const height = bottom + lower.height + 8 + bars.height;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("width", width);
    picture.setAttribute("height", height);
    picture.setAttribute("aria-label", alt);
    picture.replaceChildren(
      ...parts,
      svgNode("g", { class: "mha-pair-upper" }, ...wordsOver(queries, upper, top - 6, q, theme, family)),
      ...wordsUnder(keys, NONE_UNKNOWN, lower, bottom + 5, -1, theme, family),
      ...bars.parts,
    );
  }
  return { element: picture, draw };
}

// Words that stand on a line at `base`, turned ones rising to the right.
function wordsOver(tokens, row, base, q, theme, family) {
  return tokens.map((token, i) => {
    const lit = i === q;
    const text = svgNode("text", {
      "font-size": row.turned ? LABEL_FONT : WORD_FONT, "font-weight": lit ? 700 : 400, fill: colour(lit ? "surface" : "ink2", theme),
      direction: RTL_FIRST.test(token) ? "rtl" : "ltr", "unicode-bidi": "isolate",
    }, shortToken(token));
    const word = svgNode("g", { class: "mha-word", "data-token": i }, svgNode("title", {}, visible(token)), text);
    const w = textWidth(shortToken(token), row.turned ? LABEL_FONT : WORD_FONT, family, 700);
    const ground = svgNode("rect", { rx: 4, fill: colour("ink", theme) });
    if (row.turned && labelPose(token) === "turned") {
      const transform = `translate(${row.x[i] + 2} ${base}) rotate(-60)`;
      text.setAttribute("transform", transform);
      text.setAttribute("text-anchor", RTL_FIRST.test(token) ? "end" : "start");
      text.setAttribute("y", 4);
      fill(ground, { x: -3, y: -7, width: w + 6, height: 14, transform }, []);
    } else {
      const pieces = row.turned && labelPose(token) === "stacked" ? characters(shortToken(token)) : null;
      text.setAttribute("text-anchor", "middle");
      text.setAttribute("x", row.x[i]);
      text.setAttribute("y", base - 3);
      if (pieces) {
        text.replaceChildren(...pieces.map((piece, j) => svgNode("tspan", { x: row.x[i], y: base - 3 - 13 * (pieces.length - 1 - j) }, piece)));
      }
      const tall = pieces ? 4 + 13 * pieces.length : 20;
      const wide = pieces ? 16 : w + 10;
      fill(ground, { x: row.x[i] - wide / 2, y: base + 2 - tall, width: wide, height: tall }, []);
    }
    if (lit) word.insertBefore(ground, text);
    return word;
  });
}
