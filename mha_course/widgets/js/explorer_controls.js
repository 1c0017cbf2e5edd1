// The controls of the AttentionExplorer. Each moves one setting; all are told again what Python decided.

const MASK_CHOICES = [
  { value: "none", label: "none", title: "every query sees every key" },
  { value: "causal", label: "causal", title: "no query sees a later key" },
  { value: "padding", label: "padding", title: "<pad> tokens are appended, and no query sees them" },
];

function explorerControls(model, ask) {
  const get = (name) => model.get(name);
  const count = node("span", { class: "mha-sub mha-token-count" });
  const sentence = textField({
    label: "Sentence", value: get("sentence"), name: "sentence", placeholder: "two to twenty-four words",
    onInput: (text) => ask({ sentence: text, first: 0 }),
  });
  const dModel = slider({
    label: "d_model", code: true, stops: get("d_model_choices"), value: get("d_model"), name: "d_model",
    describe: (value) => `${value} features`,
    onInput: (value) => ask({ d_model: value }),
  });
  const heads = slider({
    label: "h", code: true, stops: [get("h")], value: get("h"), name: "h",
    describe: (value) => (value === 1 ? "1 head" : `${value} heads`),
    onInput: (value) => ask({ h: value }),
  });
  const mask = segmented({
    label: "Mask", options: MASK_CHOICES, value: get("mask"), name: "mask",
    onChange: (value) => ask({ mask: value }),
  });
  const weights = segmented({
    label: "Weights", options: get("sources"), value: get("weights"), name: "weights",
    onChange: (value) => ask({ weights: value }),
  });
  const newSeed = plainButton({
    label: "new seed", name: "new-seed",
    onClick: () => ask({ seed: get("seed") + 1 }),
  });
  const layer = segmented({
    label: "Layer", options: [{ value: "1", label: "1" }], value: "1", name: "layer",
    onChange: (value) => ask({ layer: Number(value) }),
  });
  let layers = 1;
  const lacking = node("p", { class: "mha-note mha-lacking-note", hidden: true });
  const scale = switchControl({
    label: "Scale", text: "divide by √d_k", value: get("scale"), name: "scale",
    onChange: (value) => ask({ scale: value }),
  });
  const source = node("div", { class: "mha-control" }, weights.element, newSeed);
  const element = node(
    "div",
    { class: "mha-explorer-controls", role: "group", "aria-label": "Settings of the layer" },
    node("div", { class: "mha-row" }, sentence.element, count),
    node("div", { class: "mha-row mha-sliders" }, dModel.element, heads.element),
    node(
      "div", { class: "mha-row mha-row-spread" },
      mask.element, source, layer.element, scale.element,
    ),
    lacking,
  );

  // A lesson may leave out what its reader has not met yet.
  const offered = { sentence: sentence.element, d_model: dModel.element, h: heads.element, mask: mask.element, weights: weights.element, layer: layer.element, scale: scale.element };
  const isOffered = (name) => get("controls").includes(name);
  for (const [name, part] of Object.entries(offered)) show(part, isOffered(name));
  show(source, isOffered("weights"));
  show(count, get("controls").includes("sentence"));

  // Settings that moved in Python, or in another view of the same widget.
  function follow() {
    sentence.set(get("sentence"));
    dModel.set(get("d_model"));
    mask.set(get("mask"));
    weights.set(get("weights"));
    scale.set(get("scale"));
    newSeed.title = `seed ${get("seed")}: draw other random weights`;
    const source = get("sources").find((each) => each.value === get("weights"));
    show(newSeed, Boolean(source && source.seeded) && get("controls").includes("weights"));
  }

  // What an answer decided: the possible h, and the number of tokens.
  function settle(header) {
    heads.setStops(header.divisors, header.h);
    const kept = header.with_weights || { d_model: null, h: null };
    dModel.mark(kept.d_model, "no trained model");
    heads.mark(kept.h, "no trained model");
    const some = (name, stops) => isOffered(name) && kept[name] && stops.some((stop) => !kept[name].includes(stop));
    show(lacking, Boolean(some("d_model", get("d_model_choices")) || some("h", header.divisors)));
    setText(lacking, "Numbers struck through: no model was trained with this setting.");
    if (header.layers && header.layers !== layers) {
      layers = header.layers;
      layer.setOptions(Array.from({ length: layers }, (_, i) => ({ value: String(i + 1), label: String(i + 1), title: `layer ${i + 1} of ${layers}` })), "1");
    }
    layer.set(String(header.layer || get("layer")));
    show(layer.element, isOffered("layer") && layers > 1 && header.layers !== 1);
    setText(count, header.n === 1 ? "n = 1 token" : `n = ${withCommas(header.n)} tokens`);
  }
  follow();
  for (const row of element.children) show(row, [...row.querySelectorAll("[data-control]")].some((part) => !part.closest("[hidden]")));
  show(element, get("controls").length > 0);
  return { element, follow, settle };
}
