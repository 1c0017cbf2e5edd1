// The TranslationStepper: a translation that is written word by word, and where a head looks meanwhile.
//
// Traits: sentence, layer, head, written, layers, heads. The answer holds words, unknown, end, unknown_word and
// steps [{ word, p, others [[word, p]] }], the payload the weights of every step as float32, steps × words.
// Parts: [data-control="sentence" | "layer" | "head" | "back" | "next" | "all" | "first"], .mha-step-source with a
// [data-source] a word, .mha-step-target with a button[data-step] a written word, .mha-step-others, .mha-step-words.

function stepChoices(label, name, count, value, onChange) {
  const options = Array.from({ length: count }, (_, i) => ({ value: i + 1, label: String(i + 1), title: `${label} ${i + 1}` }));
  return segmented({ label, name, options, value, onChange });
}

// A word in a sentence: 23 characters and an ellipsis where there are more than 24.
function shortWord(word) {
  const all = word.length > 24 ? characters(word.slice(0, 1200)) : [];
  return all.length > 24 ? `${all.slice(0, 23).join("")}…` : word;
}

function stepSentence(found, step, best, weight) {
  if (!found.steps.length) return "Write a sentence in English.";
  if (step < 0) return "Nothing is written yet. The decoder has read its start sign.";
  const { word, p } = found.steps[step];
  const what = word === found.end ? "The translation ends here" : word === found.unknown_word ? `Word ${step + 1} stands for a word that the model does not know` : `Word ${step + 1} is “${word}”`;
  const looks = `layer ${found.layer}, head ${found.head} looks at “${shortWord(found.words[best])}” most, with a weight of ${weightInWords(weight)}.`;
  return `${what}, with a probability of ${weightInWords(p)}; ${looks}`;
}

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-step", role: "group", "aria-label": "A translation, step by step" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  let theme = "light";
  let found = null;
  let weights = null;
  let told = "";

  const field = textField({
    label: "sentence", value: model.get("sentence"), maxLength: 10000, rest: 350,
    placeholder: "an English sentence", onInput: (text) => answers.ask({ sentence: text }),
  });
  const layer = stepChoices("layer", "layer", model.get("layers"), model.get("layer"), (value) => answers.ask({ layer: value }));
  const head = stepChoices("head", "head", model.get("heads"), model.get("head"), (value) => answers.ask({ head: value }));
  const buttons = {
    first: plainButton({ label: "From the start", name: "first", onClick: () => go(0) }),
    back: plainButton({ label: "Back", name: "back", onClick: () => go(model.get("written") - 1) }),
    next: plainButton({ label: "Next word", name: "next", onClick: () => go(model.get("written") + 1) }),
    all: plainButton({ label: "To the end", name: "all", onClick: () => go(Infinity) }),
  };
  const source = node("div", { class: "mha-step-source", role: "list", "aria-label": "source" });
  const target = node("div", { class: "mha-step-target" });
  const others = node("div", { class: "mha-step-others" });
  const words = node("p", { class: "mha-step-words" });
  const notices = node("div", {});
  root.append(
    node("div", { class: "mha-row mha-row-spread" }, node("h3", { class: "mha-heading" }, "The translator at work"),
      node("span", { class: "mha-sub" }, "cross-attention of one head, at the word being written")),
    node("div", { class: "mha-row" }, field.element),
    node("div", { class: "mha-row" }, layer.element, head.element, node("div", { class: "mha-step-buttons" }, ...Object.values(buttons))),
    notices,
    node("div", { class: "mha-section mha-drawing" },
      node("div", { class: "mha-label" }, "source"), source,
      node("div", { class: "mha-label" }, "written"), target,
      node("div", { class: "mha-label" }, "likeliest words at this step"), others),
    words,
    node("div", { class: "mha-computing" }, "computing"),
  );

  const count = () => (found ? Math.min(found.steps.length, Math.max(0, model.get("written"))) : 0);

  function go(to) {
    if (!found) return;
    model.set("written", Math.min(found.steps.length, Math.max(0, to)));
    model.save_changes();
    draw();
    say(told);
  }

  function draw() {
    if (!found) return;
    const n = found.words.length;
    const step = count() - 1;
    const row = step >= 0 ? weights.subarray(step * n, (step + 1) * n) : new Float32Array(n);
    const best = row.reduce((at, w, i) => (w > row[at] ? i : at), 0);
    source.replaceChildren(...found.words.map((word, i) => sourceWord(word, row[i], i, step >= 0 && i === best)));
    target.replaceChildren(...found.steps.slice(0, step + 1).map((each, i) => targetWord(each.word, i, i === step)));
    if (step < 0) target.append(node("span", { class: "mha-note" }, "nothing yet"));
    others.replaceChildren(...(step >= 0 ? found.steps[step].others : []).map(([word, p], i) => likely(word, p, i)));
    buttons.back.disabled = buttons.first.disabled = step < 0;
    buttons.next.disabled = buttons.all.disabled = step + 1 >= found.steps.length;
    told = stepSentence(found, step, best, row[best]);
    setText(words, told);
  }

  function sourceWord(word, weight, i, lit) {
    const unknown = found.unknown.includes(i);
    const fill = weightColour(weight, theme);
    const chip = node("span", { class: "mha-step-chip" + (lit ? " is-lit" : "") + (unknown ? " is-unknown" : ""), dir: "auto", title: unknown ? `${word}: not in the vocabulary` : word }, word);
    chip.style.background = fill;
    chip.style.color = textOn(fill);
    const number = node("span", { class: "mha-step-weight" }, weight >= 0.005 ? weight.toFixed(2) : "");
    return node("div", { class: "mha-step-word", role: "listitem", "data-source": i, "data-weight": weight.toFixed(3) }, chip, number);
  }

  function targetWord(word, i, now) {
    return node("button", { class: "mha-step-written" + (now ? " is-now" : ""), type: "button", "data-step": i, "aria-current": now ? "step" : null, onclick: () => go(i + 1) }, word);
  }

  function likely(word, p, i) {
    const bar = node("div", { class: "mha-step-fill" });
    bar.style.width = `${100 * p}%`;
    return node("div", { class: "mha-step-likely", "data-rank": i + 1 }, node("span", { class: "mha-step-name" }, word), node("div", { class: "mha-step-track" }, bar), node("span", { class: "mha-step-p" }, weightInWords(p)));
  }

  function tell() {
    const unknown = new Set(found.unknown.map((i) => found.words[i])).size;
    notices.replaceChildren();
    if (!found.words.length) {
      const take = () => { field.set(found.example); answers.ask({ sentence: found.example }); };
      notices.append(box("empty", "No sentence yet", "Write one in English, or take ", linkButton(found.example, take)));
    }
    if (unknown) {
      const what = unknown === 1 ? "A word that the translator doesn’t know" : `${unknown} words that the translator doesn’t know`;
      notices.append(box("note", `${what}: ${found.unknown_named}`, "It reads <unk> instead, and may write it."));
    }
    if (found.found > found.most) {
      notices.append(box("note", `${found.found} tokens, the first ${found.most - 1} are read`, "The rest is left out, and a full stop put at the end."));
    }
    if (found.words.length > 11) {
      notices.append(box("note", "A long sentence", "The translator was trained on sentences of 5 to 11 words. This one is longer, so expect slips."));
    }
  }

  function onAnswer(header, payload) {
    found = header;
    weights = float32(payload, 0, header.steps.length * header.words.length);
    tell();
    draw();
    say(told);
    return true;
  }

  const answers = connect(model, root, ["sentence", "layer", "head"], onAnswer, () => {
    field.set(model.get("sentence"));
    layer.set(model.get("layer"));
    head.set(model.get("head"));
  });
  const moved = () => draw();
  model.on("change:written", moved);
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    draw();
  });
  answers.draw();
  return () => {
    answers.stop();
    model.off("change:written", moved);
    stopTheme();
  };
}
