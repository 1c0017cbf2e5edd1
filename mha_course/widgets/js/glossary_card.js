// One entry of the glossary as a card: term, symbol, shape, sentence, the two Chinese names, its lesson.
//
// Parts: li.mha-glossary-card[data-term], .mha-glossary-term, code.mha-glossary-symbol, code.mha-glossary-shape,
// .mha-glossary-zh > [lang="zh-Hans" | "zh-Hant"], a.mha-lesson-link. chinese: "hans", "hant", "both" or "none".

function glossaryCard(model, entry, chinese) {
  const also = entry.also.length ? node("span", {}, `also: ${entry.also.join(", ")}`) : null;
  const link = lessonLink(model, entry.place);
  link.setAttribute("aria-label", `${entry.term}: ${entry.place.label}`);
  return node(
    "li",
    { class: "mha-glossary-card", tabindex: -1, "data-term": entry.key },
    node(
      "div",
      { class: "mha-glossary-head" },
      node("strong", { class: "mha-glossary-term" }, entry.term),
      entry.symbol ? node("code", { class: "mha-glossary-symbol" }, entry.symbol) : null,
      entry.shape ? node("code", { class: "mha-glossary-shape" }, entry.shape) : null,
      glossaryChinese(entry, chinese),
    ),
    node("p", { class: "mha-glossary-sentence" }, ...markedText(entry.sentence)),
    entry.note && chinese !== "none" ? node("p", { class: "mha-glossary-note" }, entry.note) : null,
    node("div", { class: "mha-glossary-foot" }, also, link),
  );
}

// lang chooses the shapes of the characters; the mark says which of the two it is, and the place where they are two words.
function glossaryChinese(entry, chinese) {
  if (chinese === "none") return null;
  const name = (kind, mark, text) => node(
    "span",
    { class: "mha-glossary-name" },
    chinese === "both" ? node("span", { class: "mha-glossary-mark", lang: kind }, mark) : null,
    node("span", { lang: kind }, text),
  );
  const hans = name("zh-Hans", entry.differ ? "大陆" : "简", entry.hans);
  const hant = name("zh-Hant", entry.differ ? "台灣" : "繁", entry.hant);
  const names = { hans: [hans], hant: [hant], both: entry.hans === entry.hant ? [node("span", { lang: "zh-Hans" }, entry.hans)] : [hans, hant] };
  return node("span", { class: "mha-glossary-zh" }, ...names[chinese]);
}
