// The sentence as a line of words: each is a button that lights its row in every head.
//
// browserWords({ onHover, onPin }) -> { element, draw(queries), mark(q, pinned) }. Words count from 0, −1 is none.
// One tab stop; arrow keys go on to the next word. Parts: .mha-browse-word[data-word].

function browserWords({ onHover, onPin }) {
  const list = node("div", { class: "mha-browse-words", role: "group", "aria-label": "Words of the queries: light one in every head" });
  let words = [];
  const go = (to) => {
    const next = words[(to + words.length) % words.length];
    words.forEach((word) => { word.tabIndex = -1; });
    next.tabIndex = 0;
    next.focus();
  };
  list.addEventListener("keydown", (event) => {
    const i = words.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (i < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") onPin(-1);
    else if (!step) return;
    else go(i + step);
    event.preventDefault();
  });
  list.addEventListener("pointerleave", () => onHover(-1));
  return {
    element: list,
    draw(queries) {
      words = queries.map((token, i) =>
        node("button", {
          class: "mha-browse-word", type: "button", tabindex: i ? -1 : 0, "data-word": i, dir: "auto", "aria-pressed": "false", title: token.length > 24 ? visible(token) : null,
          onclick: () => onPin(i), onpointerenter: () => onHover(i), onfocus: () => onHover(i), onblur: () => onHover(-1),
        }, token.length > 24 ? `${characters(visible(token)).slice(0, 23).join("")}…` : visible(token)));
      list.replaceChildren(...words);
      list.dir = readsRightToLeft(queries) ? "rtl" : "ltr";
    },
    mark(q, pinned) {
      words.forEach((word, i) => {
        word.classList.toggle("is-lit", i === q);
        word.setAttribute("aria-pressed", String(i === pinned));
      });
    },
  };
}
