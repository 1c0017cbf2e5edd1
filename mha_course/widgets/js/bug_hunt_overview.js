// Which probe tells which fault: a row for each suspect that was found, a column for each probe, ● where it differs.
//
// huntOverview(groups) -> { element, draw(overview) }; overview: { sentence, rows: [{ number, title, told }], fewest } or null.
// Parts: details[data-overview] > table, rows [data-number], columns marked ★ where they are among the fewest that suffice.

function huntOverview(groups) {
  const probes = groups.flatMap((group) => group.probes);
  const sentence = node("p", { class: "mha-verdict-line" });
  const place = node("div", { class: "mha-hunt-wide", tabindex: 0, role: "group", "aria-label": "Probes and faults" });
  const element = node(
    "details",
    { class: "mha-hunt-lines mha-section", "data-overview": true, hidden: true },
    node("summary", {}, "Which probe tells which fault"),
    sentence,
    place,
    node("p", { class: "mha-note" }, "● the probe differs from the sound layer’s.  ★ one of the fewest that suffice."),
  );
  let drawn = "";

  function dot(tells) {
    return tells
      ? node("td", {}, node("span", { "aria-hidden": "true" }, "●"), node("span", { class: "mha-sr" }, "differs"))
      : node("td", {}, node("span", { class: "mha-sr" }, "like the sound layer"));
  }

  return {
    element,
    draw(overview) {
      const state = JSON.stringify(overview);
      if (state === drawn) return;
      drawn = state;
      show(element, overview !== null);
      if (!overview) return;
      setText(sentence, overview.sentence);
      const head = probes.map(({ key, title }) => node("th", { scope: "col" }, node("span", {}, overview.fewest.includes(key) ? `${title} ★` : title)));
      const rows = overview.rows.map(({ number, title, told }) =>
        node("tr", { "data-number": number }, node("th", { scope: "row" }, `${number}  `, ...markedText(title)), ...probes.map(({ key }) => dot(told.includes(key)))));
      place.replaceChildren(node(
        "table",
        { class: "mha-hunt-overview" },
        node("thead", {}, node("tr", {}, node("th", { scope: "col" }, "found"), ...head)),
        node("tbody", {}, ...rows),
      ));
    },
  };
}
