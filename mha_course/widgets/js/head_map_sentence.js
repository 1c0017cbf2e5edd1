// One head on one sentence: its map with the right words framed, and the sentence with arcs.
//
// headMapSentence({ tips, onKey }) -> { element, left, right, set(frame), place(width, theme), draw(i, role, theme) }
//   frame: { tokens, n, unknown: Set, special: Set, weights(i) -> Uint16Array n × n, kept(i, q), targets: [[q, k], …] }
// The lit query is moved by pointer, arrow keys, or a click on a word.

function headMapSentence({ root, say }) {
  const tip = tooltip(root);
  const map = weightMap({
    index: 0, large: true,
    onCell: (q, k, by) => stand(q, k, by),
    onLeave: () => { tip.hide(); lit.k = -1; light(); },
    onPick: () => {},
    onKey: walk,
  });
  map.frame.tabIndex = 0;
  const frames = svgNode("svg", { class: "mha-target-frames", "aria-hidden": "true" });
  map.frame.append(frames);
  const bar = node("div", { class: "mha-colour-bar", role: "img", "aria-label": "Colour scale from 0 to 1" });
  const scale = node("div", { class: "mha-map-scale" }, node("span", { class: "mha-sub" }, "weight 0"), bar, node("span", { class: "mha-sub" }, "1"));
  const framed = node("span", { class: "mha-note mha-framed-note" }, node("span", { class: "mha-key-frame" }), node("span", {}));
  const left = node("div", { class: "mha-map-left" }, node("div", { class: "mha-note mha-map-axes" }, "query ↓  key →"), map.element, scale, framed);
  const line = node("p", { class: "mha-sub mha-query-line" });
  const arcs = sentenceArcs({ onQuery: (q) => { lit = { q, k: -1 }; light(); } });
  const right = node("div", { class: "mha-map-arcs mha-drawing" }, line, arcs.element);
  let frame = null;
  let head = 0;
  let tint = null;
  let theme = "light";
  let name = "";
  let targets = [];
  let lit = { q: 0, k: -1 };
  let drawn = ""; // the head and question of the last drawing
  let arcsWidth = 400;

  const weightOf = (q, k) => frame.weights(head)[q * frame.n + k] / 65535;
  const word = (i) => visible(frame.tokens[i]) + (frame.unknown.has(i) ? " (read as <unk>)" : "");

  function stand(q, k, by) {
    if (!frame) return;
    lit = { q, k };
    light(by === "keyboard");
    const weight = frame.allowed && !frame.allowed[q * frame.n + k] ? "not allowed" : weightInWords(weightOf(q, k));
    tip.show(map.cellRect(q, k), ...weightLine(q, k, weight, name, word));
    if (by === "keyboard") say(`${word(q)} to ${word(k)}, ${weight}`);
  }

  function walk(event) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Escape") return void tip.hide();
    if (!step || !frame || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const inside = (value) => Math.min(frame.n - 1, Math.max(0, value));
    if (lit.k < 0) stand(lit.q, 0, "keyboard");
    else stand(inside(lit.q + step[0]), inside(lit.k + step[1]), "keyboard");
  }

  // The query that the head is asked about and answers most clearly; without a question, its clearest row.
  function clearest() {
    let best = 0;
    let most = -1;
    const asked = targets.length ? targets : Array.from({ length: frame.n ** 2 }, (_, at) => [Math.floor(at / frame.n), at % frame.n]);
    for (const [q, k] of asked) {
      if (weightOf(q, k) > most) [best, most] = [q, weightOf(q, k)];
    }
    return best;
  }

  function strongest(q) {
    let best = 0;
    for (let k = 1; k < frame.n; k += 1) if (weightOf(q, k) > weightOf(q, best)) best = k;
    return best;
  }

  function light(byKeyboard = false) {
    if (!frame || !frame.n) return;
    const { q, k } = lit;
    map.light(q, k, true, byKeyboard);
    const at = k >= 0 ? k : strongest(q);
    const kept = frame.kept(head, q);
    const rest = kept < 0.995 ? ` (the row kept ${shareWords(kept)} of its weight; the rest was on special tokens)` : "";
    const bold = (text) => node("b", {}, node("bdi", {}, text));
    const empty = frame.n > 0 && weightOf(q, strongest(q)) === 0;
    line.replaceChildren(
      "Query ", bold(word(q)),
      ...(empty ? [": next to no weight on any word"] : [k >= 0 ? ": weight on " : ": largest weight on ", bold(word(at)), `, ${weightInWords(weightOf(q, at))}`]),
      rest,
    );
    arcs.draw({
      tokens: frame.tokens, unknown: frame.unknown, weights: frame.weights(head), q, k, width: arcsWidth, headIndex: head, theme,
      family: getComputedStyle(root).fontFamily, tint, bars: false, alt: `${name}: arcs from the query ${word(q)}, ${line.textContent}`,
    });
  }

  function drawFrames() {
    const side = frame.n * cell;
    frames.setAttribute("viewBox", `0 0 ${side} ${side}`);
    frames.replaceChildren(...targets.map(([q, k]) => svgNode("rect", { x: k * cell + 0.75, y: q * cell + 0.75, width: cell - 2.5, height: cell - 2.5 })));
    frames.style.setProperty("--mha-target", tint);
  }

  let cell = 20;
  return {
    left, right,
    set(newFrame) {
      frame = newFrame;
      lit = { q: -1, k: -1 };
      tip.hide();
    },
    // Room for the map, and for the arcs beside or below it.
    place(mapRoom, arcsRoom) {
      arcsWidth = Math.max(150, arcsRoom);
      if (!frame || !frame.n) return;
      const family = getComputedStyle(root).fontFamily;
      const first = labelRoom(frame.tokens, 16, family);
      const leaning = Math.min(first.right, 40);
      cell = Math.max(8, Math.min(32, Math.floor((mapRoom - first.left - leaning - 2) / frame.n)));
      const { left: before, top, right: after, angle } = labelRoom(frame.tokens, cell, family);
      map.element.style.padding = `${top}px ${Math.min(after, 40)}px 0 ${before}px`;
      scale.style.marginLeft = framed.style.marginLeft = `${before}px`;
      const labelled = cell >= 11;
      const side = cell * frame.n;
      const hatchSource = frame.allowed ? hatchPicture(frame.allowed, frame.n, frame.n, side, side, currentTheme()) : null;
      map.place({ tokens: frame.tokens, unknown: frame.unknown, cell, side, keyLabelsShown: labelled, queryLabelsShown: labelled, angle, hatchSource });
    },
    // i: the head; question: the row of bars whose right words are framed, or null.
    draw(i, label, question, colourOfRole, now) {
      theme = now;
      bar.style.background = `linear-gradient(to right, ${Array.from({ length: 17 }, (_, at) => weightColour(at / 16, theme)).join(", ")})`;
      if (!frame || !frame.n) return;
      const asked = `${i} ${question ? question.name : ""}`;
      const other = drawn !== asked || lit.q < 0 || lit.q >= frame.n;
      drawn = asked;
      [head, name, tint] = [i, label, colourOfRole];
      targets = question ? frame.targets : [];
      if (other) lit = { q: clearest(), k: -1 };
      map.draw(frame.weights(i), 1, theme);
      map.name(`${label}: weights of ${frame.n} queries (rows) over ${frame.n} keys (columns)`);
      map.describe(`${label}, attention map; arrow keys walk over the cells`);
      drawFrames();
      show(framed, targets.length > 0);
      if (targets.length) setText(framed.lastChild, `framed: the right word for “${question.words}”`);
      light();
    },
  };
}
