// The Roofline: sliders for a layer's sizes, a machine, the roof with a point a stage, and what each stage costs.
//
// Traits: b, length, d_model, h, n_kv_heads, bytes_per_number, phase, fused, device, devices (names). All numbers and texts come in the answer.
// Parts: [data-control="phase" | "b" | "length" | "d_model" | "h" | "n_kv_heads" | "bytes_per_number" | "fused" | "device"],
// svg.mha-roof-chart, table.mha-cost-table, [data-fact="words" | "notice" | "moved" | "source" | "cache"].

const ROOF_SLIDERS = [
  ["b", "b", (value) => `${value} ${value === 1 ? "sequence" : "sequences"}`],
  ["length", "cache L", (value) => `${value} tokens`],
  ["d_model", "d_model", (value) => `${value} features`],
  ["h", "h", (value) => `${value} ${value === 1 ? "head" : "heads"}`],
  ["n_kv_heads", "n_kv_heads", (value) => `${value} key and value ${value === 1 ? "head" : "heads"}`],
];
const ROOF_BYTES = { 4: "4 (float32)", 2: "2 (16 bits)", 1: "1 (int8)" };

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-roof", role: "group", "aria-label": "Roofline of an attention layer" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tips = cellTips(root, say);
  const settings = [...ROOF_SLIDERS.map(([name]) => name), "bytes_per_number", "phase", "fused", "device"];
  let found = null;

  const stopsNow = () => model.get("answer").stops;
  const sliders = Object.fromEntries(ROOF_SLIDERS.map(([name, label, describe]) => [name, slider({
    label, name, code: true, describe, stops: stopsNow()[name], value: model.get(name), onInput: (value) => answers.ask({ [name]: value }),
  })]));
  const lengthLabel = sliders.length.element.querySelector(".mha-label");
  const phase = segmented({
    label: "phase", name: "phase", value: model.get("phase"), onChange: (value) => answers.ask({ phase: value }),
    options: [
      { value: "decode", label: "decode", title: "one new token for each sequence, with a cache" },
      { value: "prefill", label: "prefill", title: "the whole text at once" },
    ],
  });
  const bytes = segmented({
    label: "bytes a number", name: "bytes_per_number", value: model.get("bytes_per_number"), onChange: (value) => answers.ask({ bytes_per_number: value }),
    options: [4, 2, 1].map((value) => ({ value, label: ROOF_BYTES[value] })),
  });
  const fused = switchControl({ label: "attention", text: "fused kernel", name: "fused", value: model.get("fused"), onChange: (on) => answers.ask({ fused: on }) });
  const device = node("select", { class: "mha-select", id: freshId("device"), "data-control": "device", onchange: () => answers.ask({ device: device.selectedIndex }) },
    ...model.get("devices").map((name) => node("option", {}, name)));
  const deviceBox = node("div", { class: "mha-control" }, node("label", { class: "mha-label", for: device.id }, "machine"), device);

  const chart = svgNode("svg", { class: "mha-roof-chart", role: "img", tabindex: 0 });
  tips.roam(chart);
  const source = node("p", { class: "mha-note", "data-fact": "source" });
  const table = rooflineTable(light);
  const words = node("p", { "data-fact": "words" });
  const cache = node("span", { class: "mha-sub", "data-fact": "cache" });
  const notice = node("p", { class: "mha-box mha-box-warn", "data-fact": "notice" });
  const moved = node("p", { class: "mha-box", "data-fact": "moved", role: "status" });
  root.append(
    node("div", { class: "mha-row mha-row-spread" }, node("h3", { class: "mha-heading" }, "What limits each stage"), cache),
    node("div", { class: "mha-row mha-roof-first" }, phase.element, bytes.element, fused.element),
    node("div", { class: "mha-roof-sliders" }, ...Object.values(sliders).map((one) => one.element), deviceBox),
    moved, notice,
    node("div", { class: "mha-section mha-drawing" }, node("div", { class: "mha-roof-room" }, chart), source, table.element),
    words,
    node("div", { class: "mha-computing" }, "computing"),
  );

  function light(stage) {
    chart.querySelectorAll("[data-stage]").forEach((part) => part.classList.toggle("is-lit", part.dataset.stage === stage));
  }

  function draw() {
    if (!found) return;
    tips.clear();
    drawRoofline(chart, found, Math.max(280, widthOf(chart.parentNode, 838)), tips.tip);
  }

  function follow() {
    for (const [name, one] of Object.entries(sliders)) one.setStops(stopsNow()[name], model.get(name));
    phase.set(model.get("phase"));
    bytes.set(model.get("bytes_per_number"));
    fused.set(model.get("fused"));
    device.selectedIndex = model.get("device");
    const decode = model.get("phase") === "decode";
    setText(lengthLabel, decode ? "cache L" : "text n");
    sliders.length.rail.setAttribute("aria-label", decode ? "L, tokens in the cache" : "n, tokens of the text");
  }

  function onAnswer(header) {
    found = header;
    follow();
    draw();
    chart.setAttribute("aria-label", model.get("alt"));
    table.draw(header.rows);
    setText(words, header.words);
    setText(source, header.machine.note);
    setText(cache, `cache of this layer ${header.cache}`);
    setText(notice, header.notice);
    show(notice, Boolean(header.notice));
    setText(moved, header.moved.join(" "));
    show(moved, header.moved.length > 0);
    say(header.words);
    return true;
  }

  const answers = connect(model, root, settings, onAnswer, follow);
  const stopTheme = watchTheme(root);
  const resized = new ResizeObserver(draw);
  resized.observe(root);
  answers.draw();
  return () => {
    answers.stop();
    stopTheme();
    resized.disconnect();
  };
}
