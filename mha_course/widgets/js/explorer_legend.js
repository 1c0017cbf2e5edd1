// The heading above the maps, the colour bar, and the choice of its upper end.

function explorerLegend(onRange) {
  const heading = node("h3", { class: "mha-heading" });
  const sub = node(
    "p", { class: "mha-sub" },
    "Each row is a ", node("span", { class: "mha-nowrap" }, node("b", {}, "query"), " ↓"),
    " and spreads a weight of 1 over the ", node("span", { class: "mha-nowrap" }, node("b", {}, "keys"), " →"),
  );
  const bar = node("div", { class: "mha-colour-bar", role: "img" });
  const least = node("span", { class: "mha-sub" }, "0");
  const most = node("span", { class: "mha-sub" }, "1");
  const what = node("div", { class: "mha-note" });
  const scale = node(
    "div", { class: "mha-colour-scale" },
    what,
    node("div", { class: "mha-colour-line" }, least, bar, most),
  );
  const range = segmented({
    label: "Colour scale", hideLabel: true, name: "range", value: "0-1",
    options: [
      { value: "0-1", label: "0–1", title: "the darkest shade is a weight of 1" },
      { value: "0-max", label: "0–max", title: "the darkest shade is the largest weight on show: small weights become visible" },
    ],
    onChange: onRange,
  });
  const computing = node("span", { class: "mha-computing" }, "computing");
  const element = node(
    "div", { class: "mha-legend" },
    node("div", { class: "mha-legend-words" }, heading, sub), computing, scale, range.element,
  );

  function draw(frame, top, which, theme) {
    show(range.element, frame.header.facts);
    const { layer, layers } = frame.header;
    setText(heading, headsInWords(frame.h) + (layers > 1 ? `, layer ${layer} of ${layers}` : ""));
    setText(what, frame.h === 1 ? "weight" : "weight (all heads, same scale)");
    setText(most, top === 1 ? "1" : top.toFixed(2));
    const stops = Array.from({ length: 17 }, (_, i) => weightColour(i / 16, theme));
    bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    bar.setAttribute("aria-label", `Colour scale from 0 to ${most.textContent}`);
    range.set(which);
  }
  return { element, draw };
}
