// A sentence with arcs: from the lit query to each key, 8 px wide for a weight of 1, and the arcs of the
// other queries in grey. Below each word a bar on a fixed axis from 0 to 1 (bars_below.js).

const ARC_FROM = 0.02; // arcs of the lit query
const GREY_FROM = 0.15; // arcs of the others
const WORD_FONT = 13;

function sentenceArcs({ onQuery }) {
  const picture = svgNode("svg", { class: "mha-arcs", role: "img", "aria-label": "Where the query looks" });
  picture.addEventListener("click", (event) => {
    const word = event.target.closest("[data-token]");
    if (word) onQuery(Number(word.dataset.token));
  });

  // weights: Uint16Array n × n (65535 = 1); q: lit query; k: lit key or −1.
  // unknown: places of tokens to be marked as not known. tint: instead of the head's colour. bars: with those below.
  function draw({ tokens, unknown = NONE_UNKNOWN, weights, q, k, width, headIndex, theme, family, alt, tint = headColour(headIndex, theme), bars: withBars = true }) {
    const n = tokens.length;
    const row = spreadWords(tokens, width, family);
    const weight = (from, to) => weights[from * n + to] / 65535;
    const grey = colour("edge", theme);
    // The longest arc of this head, whichever query is lit, sets the height: it stays as the query moves.
    let reach = 60;
    for (let from = 0; from < n; from += 1) {
      for (let to = 0; to < n; to += 1) {
        if (weight(from, to) >= ARC_FROM) reach = Math.max(reach, Math.abs(row.x[to] - row.x[from]));
      }
    }
    const base = Math.min(170, Math.max(40, 0.34 * reach + 24));
    const parts = [];
    for (let from = 0; from < n; from += 1) {
      if (from === q) continue;
      for (let to = 0; to < n; to += 1) {
        if (weight(from, to) < GREY_FROM) continue;
        parts.push(arc(row.x[from], row.x[to], base, weight(from, to), grey, 0.38, reach));
      }
    }
    for (let to = 0; to < n; to += 1) {
      if (weight(q, to) < ARC_FROM) continue;
      parts.push(arc(row.x[q], row.x[to], base, weight(q, to), tint, 1, reach));
    }
    for (let to = 0; to < n; to += 1) {
      if (weight(q, to) < ARC_FROM) continue;
      const radius = 1.5 + 3 * weight(q, to);
      parts.push(svgNode("circle", { cx: row.x[to], cy: base, r: radius, fill: tint }));
    }
    const words = wordsUnder(tokens, unknown, row, base + 5, q, theme, family);
    const bars = withBars ? barsBelow({
      values: Array.from({ length: n }, (_, to) => weight(q, to)),
      x: row.x, top: base + 12 + row.height, width, step: row.step, chosen: k, tint, theme,
    }) : { parts: [], height: 0 };
    const height = base + 12 + row.height + bars.height;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("width", width);
    picture.setAttribute("height", height);
    picture.setAttribute("aria-label", alt);
    picture.replaceChildren(...parts, ...words, ...bars.parts);
  }
  return { element: picture, draw };
}

// Middle of each word on the line. Words stand level where they fit, else turned; turned ones lean out to the left
// of their places (above a line: to the right), and the line leaves them the room.
function spreadWords(tokens, width, family, lean = "left") {
  const widths = tokens.map((token) => textWidth(shortToken(token), WORD_FONT, family, 700) + 12);
  const rtl = readsRightToLeft(tokens);
  const total = widths.reduce((sum, w) => sum + w, 0);
  const n = tokens.length;
  let x = [];
  let turned = false;
  let step = width / n;
  if (total + 8 <= width) {
    const space = Math.min(26, (width - 8 - total) / n);
    let at = (width - total - space * (n - 1)) / 2;
    for (const w of widths) {
      x.push(at + w / 2);
      at += w + space;
    }
    step = Math.min(...widths.map((w) => w + space));
  } else {
    turned = true;
    x = tokens.map((_, i) => (i + 0.5) * step);
  }
  if (rtl) x = x.map((value) => width - value);
  if (turned) {
    const reach = tokens.map((token, i) => (labelPose(token) === "turned" ? 0.5 * textWidth(shortToken(token), LABEL_FONT, family, 700) + 8 - (lean === "left" ? x[i] : width - x[i]) : 0));
    const pad = Math.min(width / 3, Math.max(0, ...reach));
    const shrink = (width - pad) / width;
    x = x.map((value) => value * shrink + (lean === "left" ? pad : 0));
    step *= shrink;
  }
  const longest = Math.max(...tokens.map((token) => textWidth(shortToken(token), LABEL_FONT, family, 700)));
  const stacked = Math.max(0, ...tokens.map((t) => (labelPose(t) === "stacked" ? characters(t).length * 13 : 0)));
  const height = turned ? Math.max(longest * 0.87 + 12, stacked) : 22;
  return { x, widths, turned, height, rtl, step };
}

function arc(from, to, base, weight, stroke, opacity, reach) {
  const common = { fill: "none", stroke, "stroke-opacity": opacity, "stroke-width": Math.max(1, 8 * weight) };
  if (from === to) {
    const d = `M ${from - 3} ${base} C ${from - 9} ${base - 22}, ${from + 9} ${base - 22}, ${from + 3} ${base}`;
    return svgNode("path", { ...common, d, "stroke-width": Math.max(1, 4 * weight) });
  }
  // A curve reaches three quarters of the way to its control points.
  const span = Math.abs(to - from);
  const rise = ((base - 8) * (0.16 + (0.84 * span) / Math.max(reach, 1))) / 0.75;
  const height = Math.min(rise, (base - 6) / 0.75);
  const lean = 0.06 * span;
  const side = to > from ? 1 : -1;
  const d = `M ${from} ${base} C ${from + side * lean} ${base - height}, ${to - side * lean} ${base - height}, ${to} ${base}`;
  return svgNode("path", { ...common, d });
}

function wordsUnder(tokens, unknown, row, top, q, theme, family) {
  return tokens.map((token, i) => {
    const lit = i === q;
    const text = svgNode("text", {
      "font-size": row.turned ? LABEL_FONT : WORD_FONT, "font-weight": lit ? 700 : 400,
      fill: lit ? colour("surface", theme) : colour("ink2", theme),
      direction: RTL_FIRST.test(token) ? "rtl" : "ltr", "unicode-bidi": "isolate",
    }, shortToken(token));
    const word = svgNode("g", { class: labelClass("mha-word", i, unknown), "data-token": i }, text);
    word.prepend(svgNode("title", {}, visible(token) + (unknown.has(i) ? " (read as <unk>)" : "")));
    let ground = null;
    if (!row.turned) {
      text.setAttribute("text-anchor", "middle");
      text.setAttribute("x", row.x[i]);
      text.setAttribute("y", top + 15);
      if (lit) {
        const w = row.widths[i];
        ground = svgNode("rect", { x: row.x[i] - w / 2, y: top, width: w, height: 21, rx: 4 });
      }
    } else if (labelPose(token) === "turned") {
      const w = textWidth(shortToken(token), LABEL_FONT, family, 700);
      // The end of the word meets its arc; for a right-to-left text node "start" is its right end.
      text.setAttribute("text-anchor", RTL_FIRST.test(token) ? "start" : "end");
      text.setAttribute("transform", `translate(${row.x[i] + 3} ${top + 5}) rotate(-60)`);
      text.setAttribute("y", 4);
      if (lit) {
        const transform = `translate(${row.x[i] + 3} ${top + 5}) rotate(-60)`;
        ground = svgNode("rect", { x: -w - 3, y: -7, width: w + 6, height: 14, rx: 3, transform });
      }
    } else {
      text.setAttribute("text-anchor", "middle");
      const pieces = characters(shortToken(token));
      text.replaceChildren(
        ...pieces.map((piece, j) => svgNode("tspan", { x: row.x[i], y: top + 12 + 13 * j }, piece)),
      );
      if (lit) {
        ground = svgNode("rect", { x: row.x[i] - 8, y: top, width: 16, height: 4 + 13 * pieces.length, rx: 3 });
      }
    }
    if (ground) {
      ground.setAttribute("fill", colour("ink", theme));
      word.insertBefore(ground, text);
    }
    return word;
  });
}
