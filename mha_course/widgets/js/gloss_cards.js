// The gloss of a sentence, a card a word: the word, what is written for it, its four parts, what changed, what is right.
//
// glossCards() -> { element, draw(words, cards, unknown, gold) }; cards[i][part] = [all heads, without some, right or null].
// Parts: .mha-gloss-card[data-word], .mha-gloss-part[data-part] with is-changed, is-right or is-wrong.

function glossCards() {
  const element = node("ol", { class: "mha-gloss-cards", "aria-label": "Gloss, word by word" });

  function part(name, [before, after, right]) {
    const changed = before !== after;
    const verdict = right === null ? null : after === right;
    const classes = ["mha-gloss-part", changed ? "is-changed" : "", verdict === null ? "" : verdict ? "is-right" : "is-wrong"].filter(Boolean);
    const told = verdict === false ? `, wrong: ${right} is right` : verdict ? ", right" : "";
    return node("div", { class: classes.join(" "), "data-part": name, title: `${name}: ${after}${changed ? `, with all heads ${before}` : ""}${told}` },
      node("span", { class: "mha-gloss-name" }, name),
      node("span", { class: "mha-gloss-value" }, changed ? node("s", {}, before) : null, changed ? " " : null, node("b", {}, after)),
      node("span", { class: "mha-gloss-mark", "aria-label": verdict === null ? null : verdict ? "right" : "wrong", role: verdict === null ? null : "img" }, verdict === null ? "" : verdict ? "✓" : "✗"),
    );
  }

  return {
    element,
    draw(words, cards, unknown) {
      element.replaceChildren(...cards.map((card, i) => {
        const [before, after] = card.word;
        const odd = unknown.includes(i);
        return node("li", { class: before === after ? "mha-gloss-card" : "mha-gloss-card is-changed", "data-word": i },
          node("div", { class: odd ? "mha-gloss-source mha-unknown" : "mha-gloss-source", dir: "auto", title: odd ? "read as <unk>" : null }, visible(words[i])),
          node("div", { class: "mha-gloss-word" }, after),
          ...GLOSS_PARTS.map((name) => part(name, card[name])),
        );
      }));
    },
  };
}
