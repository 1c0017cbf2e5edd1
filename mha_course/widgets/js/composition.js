// Composition: W of one pair of words, its branches under switches, and all heads' maps at three stages.
//
// Traits: sentence, layer, stage, query, key, on, layers, branches [[name, words]], examples. The answer holds words, unknown,
// cut, most, h, talking and, where there is a word: pair, matrix, parts { name: matrix }, into, out, top, moved, told; the payload
// float32 maps (3, h, n, n): each head alone, scores composed, weights composed.
// Parts: [data-control="sentence" | "another" | "layer" | "stage" | "query" | "key" | "branch-static" …], .mha-compose-matrix,
// .mha-compose-part[data-branch], .mha-compose-told, [data-fact="under"], .mha-stage-map.

const COMPOSE_ROWS = [
  { name: "alone", words: "each head alone: the softmax of its own scores", signed: false },
  { name: "weights", words: "the softmax of composed scores", signed: false },
  { name: "output", words: "these weights composed once more, what the values are summed with", signed: true },
];

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-compose", role: "group", "aria-label": "How heads are composed" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tips = cellTips(root, say);
  let header = null;
  let numbers = null;
  let theme = currentTheme();

  const field = textField({ label: "sentence", value: model.get("sentence"), maxLength: 2000, rest: 300, onInput: (sentence) => answers.ask({ sentence }) });
  const another = plainButton({ label: "Another sentence", name: "another", onClick: () => {
    const list = model.get("examples");
    const sentence = list[(list.indexOf(model.get("sentence")) + 1) % list.length];
    field.set(sentence);
    answers.ask({ sentence });
  } });
  const layers = Array.from({ length: model.get("layers") }, (_, i) => ({ value: i + 1, label: String(i + 1) }));
  const layer = segmented({ label: "layer", options: layers, value: model.get("layer"), onChange: (value) => answers.ask({ layer: value }) });
  const stage = segmented({
    label: "matrix", name: "stage", value: model.get("stage"), onChange: (value) => answers.ask({ stage: value }),
    options: [{ value: "before", label: "before the softmax" }, { value: "after", label: "after the softmax" }],
  });
  const query = wordSelect({ label: "query", name: "query", onChange: (i) => answers.ask({ query: i + 1 }) });
  const key = wordSelect({ label: "key", name: "key", onChange: (i) => answers.ask({ key: i + 1 }) });
  const notices = node("div", {});
  const whole = signedGrid({ tips, large: true, describe: (i, j, value) => `from head ${i + 1} to head ${j + 1}: ${numberText(value, 3)}` });
  whole.element.classList.add("mha-compose-matrix");
  const [named, added] = [node("span", { class: "mha-label" }), node("span", { class: "mha-label" })];
  const sub = node("span", { class: "mha-sub" });
  const told = node("p", { class: "mha-compose-told" });
  const passing = node("div", { class: "mha-compose-passing" });
  const scale = node("p", { class: "mha-note" });
  const cards = model.get("branches").map(([name, words]) => {
    const grid = signedGrid({ tips, describe: (i, j, value) => `${words}, from head ${i + 1} to head ${j + 1}: ${numberText(value, 3)}` });
    const turn = switchControl({ label: "branch", text: words, name: `branch-${name}`, value: true, onChange: (on) => {
      const list = model.get("on").filter((each) => each !== name);
      answers.ask({ on: on ? [...list, name] : list });
    } });
    turn.element.firstChild.remove(); // the words beside the switch name it
    return { name, grid, turn, element: node("div", { class: "mha-compose-part", "data-branch": name }, turn.element, grid.element) };
  });
  const maps = smallMaps({ rows: COMPOSE_ROWS, onPick: (q, k) => answers.ask({ query: q + 1, key: k + 1 }), onCell: under });
  const readout = node("p", { class: "mha-sub", "data-fact": "under" });
  const drawing = node("div", { class: "mha-drawing" },
    node("div", { class: "mha-section mha-compose-split" },
      node("div", { class: "mha-compose-whole" }, named, whole.element, passing),
      node("div", { class: "mha-compose-branches" }, added, node("div", { class: "mha-compose-cards" }, ...cards.map((card) => card.element)), scale)),
    told,
    node("div", { class: "mha-section" }, maps.element, readout));
  root.append(
    node("div", { class: "mha-row mha-row-spread" }, node("h3", { class: "mha-heading" }, "How heads are composed"), sub),
    node("div", { class: "mha-row" }, field.element, another),
    node("div", { class: "mha-row" }, layer.element, stage.element, query.element, key.element),
    notices, drawing, node("div", { class: "mha-computing" }, "computing"));

  const mapOf = (row, head) => {
    const { h, words: { length: n } } = header;
    return numbers.subarray((row * h + head) * n * n, (row * h + head + 1) * n * n);
  };

  function under(row, head, q, k) {
    if (!header || !header.words.length) return;
    const [t, s] = row === null ? header.pair : [q, k];
    const n = header.words.length;
    const pair = `“${shortToken(header.words[t])}” → “${shortToken(header.words[s])}”`;
    if (row === null) {
      setText(readout, `Rings: ${pair}. A click in a map chooses another pair. Rows: query, columns: key, scale 0 to 1; the last row from ${MINUS}${header.top.toFixed(2)} (orange) to ${header.top.toFixed(2)} (blue).`);
      return;
    }
    const three = ["alone", "scores composed", "weights composed"].map((words, i) => `${words} ${numberText(mapOf(i, head)[t * n + s], 2)}`);
    setText(readout, `Head ${head + 1}, ${pair}: ${three.join(", ")}.`);
  }

  // The pair's numbers on their way through the matrix.
  function pass(letter) {
    const before = model.get("stage") === "before";
    const cell = (kind, ...content) => node("span", { class: kind }, ...content);
    const line = (words, values) => [cell("mha-compose-row", words), ...values.map((value) => cell("", numberText(value, 2)))];
    passing.style.gridTemplateColumns = `52px repeat(${header.h}, minmax(0, 1fr))`;
    passing.setAttribute("role", "img");
    passing.setAttribute("aria-label", header.into.map((value, i) => `head ${i + 1}: ${numberText(value, 2)}, times ${letter} ${numberText(header.out[i], 2)}`).join("; "));
    passing.replaceChildren(cell("mha-compose-row", "head"), ...header.into.map((_, i) => headBadge(i)), ...line(before ? "score" : "weight", header.into), ...line(`times ${letter}`, header.out));
  }

  function draw() {
    const there = Boolean(header && header.words.length);
    show(drawing, there);
    query.set(header ? header.words : [], there ? header.pair[0] : -1);
    key.set(header ? header.words : [], there ? header.pair[1] : -1);
    if (!there) return;
    const all = [header.matrix, ...Object.values(header.parts)].flat(2);
    const max = Math.max(...all.map(Math.abs)) || 1;
    const on = model.get("on");
    whole.draw(header.matrix, max, theme, header.told);
    for (const { name, grid, turn, element } of cards) {
      show(element, name in header.parts);
      turn.set(on.includes(name));
      element.classList.toggle("is-off", !on.includes(name));
      if (name in header.parts) grid.draw(header.parts[name], max, theme, `${turn.button.getAttribute("aria-label")}, ${on.includes(name) ? "on" : "off"}`);
    }
    const without = on.includes("static") ? "" : " Without the static branch the identity stands in its place.";
    setText(scale, `Orange: below 0, blue: above, scale ±${numberText(max, 2)}. Switches hold before and after the softmax, in this layer.${without}`);
    const letter = header.talking ? "P" : "W";
    setText(sub, header.talking ? "one matrix P for all pairs of words" : "one matrix W for each pair of words");
    setText(named, `${letter}: from head (row) to head (column)`);
    setText(added, header.talking ? "on, or the identity in its place" : "its branches, added up");
    pass(letter);
    setText(told, `${header.told} Largest change of a weight by composing scores: ${header.moved.toFixed(2)}.`);
    maps.draw({ h: header.h, n: header.words.length, maps: mapOf, pair: header.pair, top: header.top, theme });
    under(null);
  }

  function onAnswer(next, view) {
    header = next;
    numbers = next.words.length ? float32(view, 0, 3 * next.h * next.words.length ** 2) : null;
    const boxes = [];
    if (!next.words.length) boxes.push(box("empty", "No sentence yet", "Write one, or press “Another sentence”."));
    if (next.unknown.length) {
      const odd = [...new Set(next.unknown.map((i) => next.words[i]))];
      boxes.push(box("note", odd.length === 1 ? "A word that the model doesn’t know" : "Words that the model doesn’t know", `${odd.map(visible).join(", ")}: read as <unk>.`));
    }
    if (next.cut) boxes.push(box("note", `${next.cut} tokens, ${next.most} are read`, "The rest is left out."));
    notices.replaceChildren(...boxes);
    draw();
    say(next.words.length ? next.told : "no sentence");
    return true;
  }

  const answers = connect(model, root, ["sentence", "layer", "stage", "query", "key", "on"], onAnswer, () => {
    field.set(model.get("sentence"));
    layer.set(model.get("layer"));
    stage.set(model.get("stage"));
    for (const { name, turn } of cards) turn.set(model.get("on").includes(name));
  });
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    headVariables(root, now);
    draw();
  });
  answers.draw();
  return () => {
    answers.stop();
    stopTheme();
  };
}
