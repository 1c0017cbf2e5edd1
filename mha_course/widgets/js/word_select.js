// One word of a sentence, chosen from a list that the browser itself opens: wordSelect({ label, name, onChange }).
//
// -> { element, select, set(words, index) }. onChange(index), from 0. Words are set as text.

function wordSelect({ label, name, onChange }) {
  const select = node("select", { class: "mha-select", id: freshId("word"), "data-control": name });
  const element = node("div", { class: "mha-control" }, node("label", { class: "mha-label", for: select.id }, label), select);
  let shown = "";
  select.addEventListener("change", () => onChange(select.selectedIndex));
  return {
    element,
    select,
    set(words, index) {
      const key = words.join("\u0000");
      if (key !== shown) {
        shown = key;
        select.replaceChildren(...words.map((word, i) => node("option", { value: i, dir: "auto" }, `${i + 1} ${shortToken(word)}`)));
      }
      select.selectedIndex = index;
      select.disabled = !words.length;
    },
  };
}
