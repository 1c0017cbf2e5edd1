// What two heads follow when words are shuffled: shares with their counts, beside chance and beside untrained weights.
//
// followTable() -> { element, show(groups) }; groups: [{ title, judged, heads: [{ name, found, at: [layer, head] }] }]
// found: counts as lists (layers, heads): asked, place, word, itself, rows, place_chance, word_chance, verdict.

const FOLLOWS = {
  place: "follows the place", word: "follows the word", neither: "neither, in half of them", "cannot tell": "too few words can tell",
};

const FOLLOW_SHARES = { place: "◇ as far as before", word: "○ same word as before" };

function followTable() {
  const body = node("tbody", {});
  const element = node(
    "table", { class: "mha-compare-table" },
    node("thead", {}, node("tr", {}, ...["head", ...Object.values(FOLLOW_SHARES), "words", ""].map((text) => node("th", { scope: "col" }, text)))),
    body,
  );

  function share(count, asked, chance, kind) {
    const value = asked ? count / asked : 0;
    const bar = node("div", { class: "mha-compare-fill" });
    bar.style.width = `${100 * value}%`;
    const tick = node("div", { class: "mha-compare-chance", title: `anywhere at random: ${chance.toFixed(2)}` });
    tick.style.left = `${100 * chance}%`;
    return node("td", { "data-share": kind, "data-label": FOLLOW_SHARES[kind], "data-value": asked ? value.toFixed(3) : "" },
      node("div", { class: "mha-compare-track" }, bar, asked ? tick : null), asked ? `${value.toFixed(2)} ` : "–", asked ? node("small", {}, `${count} of ${asked}`) : null);
  }

  function row({ name, found, at: [layer, head] }, judged) {
    const of = (what) => found[what][layer][head];
    const asked = of("asked");
    const itself = of("itself") ? `, ${of("itself")} look at themselves` : "";
    return node("tr", { "data-head": name },
      node("th", { scope: "row" }, name),
      share(of("place"), asked, of("place_chance"), "place"),
      share(of("word"), asked, of("word_chance"), "word"),
      node("td", {}, `${asked} of ${of("rows")} can tell`, node("small", {}, itself)),
      node("td", { "data-verdict": judged ? of("verdict") : "" }, judged ? FOLLOWS[of("verdict")] : "one order alone says little"),
    );
  }

  return {
    element,
    show(groups) {
      body.replaceChildren(...groups.flatMap(({ title, heads, judged }) => [
        node("tr", { class: "mha-compare-group" }, node("th", { scope: "rowgroup", colspan: 5 }, title)), ...heads.map((head) => row(head, judged)),
      ]));
    },
  };
}
