// Routing: the gates of every word and head, how one word's come about, and how often each routed head is chosen.
//
// Traits: sentence, layer, gates, token, layers, examples. The answer holds words, unknown, cut, most, h, shared, chosen, trained,
// often, probability, balance, even, collapsed, tokens, sentences, told and, where there is a word: token, gates (n, h), used,
// types (n, 2), steps [{ head, kind, chosen, gate, alpha, factor, share }], flops, plain.
// Parts: [data-control="sentence" | "another" | "layer" | "gates" | "token"], .mha-gates, .mha-route-steps,
// .mha-route-often [data-head], [data-fact="heads" | "flops" | "balance" | "even"].

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-route", role: "group", "aria-label": "How a mixture of heads routes" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tips = cellTips(root, say);
  let header = null;
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
  const gates = segmented({
    label: "gates as in the", name: "gates", value: model.get("gates"), onChange: (value) => answers.ask({ gates: value }),
    options: [{ value: "code", label: "code" }, { value: "paper", label: "paper" }],
  });
  const token = wordSelect({ label: "word", name: "token", onChange: (i) => answers.ask({ token: i + 1 }) });
  const notices = node("div", {});
  const table = gateTable({ tips, onRow: (i) => answers.ask({ token: i + 1 }) });
  const note = node("p", { class: "mha-note" });
  const steps = node("div", { class: "mha-route-steps" });
  const often = node("div", { class: "mha-route-often" });
  const oftenNote = node("p", { class: "mha-note" });
  const facts = {};
  const fact = (name, words) => {
    facts[name] = node("span", { class: "mha-fact", "data-fact": name });
    return node("div", { class: "mha-route-fact" }, facts[name], node("span", { class: "mha-sub" }, words));
  };
  const ofSentence = node("div", {},
    node("div", { class: "mha-section" }, table.element, note),
    node("div", { class: "mha-section" }, steps));
  const saving = node("div", { class: "mha-route-facts" }, fact("heads", "heads computed for a word"), fact("flops", "of the FLOPs of plain heads"), fact("balance", "balance loss"), fact("even", "where evenly spread"));
  const drawing = node("div", { class: "mha-drawing" }, ofSentence,
    node("div", { class: "mha-section" }, node("span", { class: "mha-label" }, "how often each routed head is chosen"), often, oftenNote, saving));
  root.append(
    node("div", { class: "mha-row mha-row-spread" }, node("h3", { class: "mha-heading" }, "Which heads each word chooses"), node("span", { class: "mha-sub" }, "shared heads for all words, routed heads by choice")),
    node("div", { class: "mha-row" }, field.element, another),
    node("div", { class: "mha-row" }, layer.element, gates.element, token.element),
    notices, drawing, node("div", { class: "mha-computing" }, "computing"));

  function drawSteps() {
    const code = model.get("gates") === "code";
    const word = shortToken(header.words[header.token]);
    const cell = (text, kind = "") => node("span", { class: kind, role: "cell" }, text);
    const rows = header.steps.map((step) => {
      const factors = !step.chosen ? "not chosen, not computed" : [
        code ? `${step.factor} ·` : "",
        header.shared && header.chosen ? `${step.alpha.toFixed(3)} ·` : "",
        step.share.toFixed(3), "=", step.gate.toFixed(3)].filter(Boolean).join(" ");
      return [headBadge(step.head - 1), cell(step.kind), cell(factors, step.chosen ? "mha-route-product" : "mha-note")];
    });
    const both = header.shared && header.chosen;
    const formula = [code ? `${both ? "2 · " : ""}heads of the kind` : "", both ? "α of the kind" : "", code ? "softmax over the shared, or over the chosen" : "softmax over all heads of the kind"].filter(Boolean).join(" · ");
    steps.replaceChildren(node("span", { class: "mha-label" }, `the gates of “${word}”: ${formula}`), node("div", { class: "mha-route-products" }, ...rows.flat()));
  }

  function drawOften() {
    const percent = (share) => `${(100 * share).toFixed(1)} %`;
    const rate = header.often.length ? header.chosen / header.often.length : 0;
    often.replaceChildren(...header.often.flatMap((share, i) => {
      const head = header.shared + i;
      const fill = node("div", { class: "mha-route-fill" });
      fill.style.width = `${100 * share}%`;
      fill.style.background = `var(--mha-head-${(head % 12) + 1})`;
      const tick = node("div", { class: "mha-route-tick" });
      tick.style.left = `${100 * rate}%`;
      const diamond = node("div", { class: "mha-route-diamond" });
      diamond.style.left = `${100 * header.probability[i]}%`;
      const words = `head ${head + 1}: chosen by ${percent(share)}, mean probability ${header.probability[i].toFixed(3)}`;
      return [headBadge(head), node("div", { class: "mha-route-track", role: "img", "data-head": head + 1, "aria-label": words, title: words }, fill, tick, diamond), node("span", { class: "mha-route-share" }, percent(share))];
    }));
    setText(oftenNote, `Bar: share of ${header.tokens} words in ${header.sentences} sentences that the model was not trained on. Dashed: ${header.chosen} of ${header.often.length}, all heads equally often. Diamond: the router’s mean probability.`);
  }

  function draw() {
    const there = Boolean(header && header.words.length);
    show(ofSentence, there);
    show(drawing, Boolean(header));
    token.set(header ? header.words : [], there ? header.token : -1);
    if (!header) return;
    drawOften();
    setText(facts.heads, `${header.shared + header.chosen} of ${header.h}`);
    setText(facts.balance, header.balance.toFixed(3));
    setText(facts.even, header.even.toFixed(3));
    setText(facts.flops, there ? `${((100 * header.flops) / header.plain).toFixed(1)} %` : "–");
    facts.balance.parentElement.title = `${header.collapsed.toFixed(2)} where every word is sure of the same heads`;
    if (!there) return;
    // One scale for both layers and all sentences of this kind of gates, unless a gate is larger.
    const top = Math.max(model.get("gates") === "code" ? 2 : 1, ...header.gates.flat());
    table.draw({ ...header, top, theme });
    const differs = model.get("gates") === header.trained ? "" : ` The model was trained with the gates of the ${header.trained}; these are what its routers would give by the other formula.`;
    setText(note, `Shade: the gate, from 0 to ${top.toFixed(2)}. Dot: not chosen. α₁ and α₂: how a word weighs shared against routed heads. FLOPs below are those of this layer for ${header.words.length} words, routers included.${differs}`);
    drawSteps();
  }

  function onAnswer(next) {
    header = next;
    const boxes = [];
    if (!next.words.length) boxes.push(box("empty", "No sentence yet", "Write one, or press “Another sentence”."));
    if (next.unknown.length) {
      const odd = [...new Set(next.unknown.map((i) => next.words[i]))];
      boxes.push(box("note", odd.length === 1 ? "A word that the model doesn’t know" : "Words that the model doesn’t know", `${odd.map(visible).join(", ")}: read as <unk>.`));
    }
    if (next.cut) boxes.push(box("note", `${next.cut} tokens, ${next.most} are read`, "The rest is left out."));
    notices.replaceChildren(...boxes);
    draw();
    say(next.told);
    return true;
  }

  const answers = connect(model, root, ["sentence", "layer", "gates", "token"], onAnswer, () => {
    field.set(model.get("sentence"));
    layer.set(model.get("layer"));
    gates.set(model.get("gates"));
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
