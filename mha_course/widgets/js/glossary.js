// The glossary: one line until it is opened, then a search field and cards.
//
// Parts: button.mha-glossary-bar[aria-expanded]; section.mha-glossary-panel with input[data-control=search],
// [data-control=chinese], button[data-control=beside], button[data-control=close]; .mha-glossary-list > h4 and
// ol > li.mha-glossary-card. Traits: entries, term. Nothing is asked of Python.

const GLOSSARY_FIRST = 8; // cards of a search that are shown at once
const GLOSSARY_CHINESE = "mha-glossary-chinese"; // what is remembered from lesson to lesson

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-glossary-box" });
  el.append(root);
  keepKeys(root);
  const stopTheme = watchTheme(root);
  const entries = model.get("entries");
  const here = /(?:^|\/)(\d\d)_[^/]*\.ipynb$/.exec(model.widget_manager?.context?.path ?? "")?.[1];
  let chinese = remembered();

  const invites = node("span", { class: "mha-glossary-invites" });
  const invite = () => invites.replaceChildren("look up a term, a symbol or ", node("span", { lang: "zh" }, "中文"));
  const bar = node(
    "button",
    { class: "mha-glossary-bar", type: "button", "aria-expanded": "false", onclick: () => (beside.stands ? back(true) : toggle()) },
    node("span", { class: "mha-glossary-turn", "aria-hidden": "true" }, "▸"),
    node("strong", {}, "Glossary"),
    invites,
  );
  const search = textField({
    label: "Look up", name: "search", value: "", placeholder: "a term, d_k or 中文", maxLength: 60, rest: 60,
    onInput: () => list(),
  });
  search.input.type = "search";
  const choice = segmented({
    label: "中文", name: "chinese", value: chinese,
    options: [
      { value: "hans", label: "简", title: "simplified characters" },
      { value: "hant", label: "繁", title: "traditional characters" },
      { value: "both", label: "both" },
      { value: "none", label: "none" },
    ],
    onChange: (value) => { chinese = value; remember(value); list(); },
  });
  for (const button of choice.group.querySelectorAll("[title]")) button.setAttribute("aria-label", button.title);
  const aside = plainButton({ label: "Keep beside the lesson", name: "beside", onClick: () => (beside.stands ? back(true) : stand()) });
  const close = node("button", { class: "mha-glossary-close", type: "button", "aria-label": "Close the glossary", title: "Close (Esc)", "data-control": "close", onclick: shut }, "×");
  const found = node("p", { class: "mha-note mha-glossary-count" });
  const cards = node("div", { class: "mha-glossary-list" });
  const panel = node(
    "section",
    { class: "mha-glossary-panel", id: freshId("glossary"), "aria-label": "Glossary" },
    node("div", { class: "mha-glossary-top" }, search.element, close),
    node("div", { class: "mha-row mha-row-spread" }, choice.element, aside),
    found,
    cards,
  );
  const say = liveRegion(panel);
  bar.setAttribute("aria-controls", panel.id);
  panel.addEventListener("keydown", walk, true); // before the text field keeps its keys to itself
  root.append(bar, panel);
  show(panel, false);
  invite();
  const beside = besideLesson(panel, () => back(false));

  function toggle(open = panel.hidden) {
    show(panel, open);
    bar.setAttribute("aria-expanded", String(open));
    if (!open) return;
    list();
    search.input.focus({ preventScroll: true });
    if (root.getBoundingClientRect().bottom > window.innerHeight) root.scrollIntoView({ block: "nearest" });
  }

  // The lesson stays where it is: the line may be far above what is being read.
  function shut() {
    if (beside.stands) back(false);
    else toggle(false);
    bar.focus({ preventScroll: true });
  }

  function stand() {
    beside.stand();
    bar.setAttribute("aria-expanded", "false");
    setText(invites, "stands beside the lesson; bring it back");
    setText(aside, "Back into the lesson");
    search.input.focus();
  }

  function back(open) {
    beside.leave();
    root.append(panel);
    invite();
    setText(aside, "Keep beside the lesson");
    toggle(open);
    if (open) root.scrollIntoView({ block: "nearest" });
  }

  function list() {
    const query = search.input.value;
    const fitting = foldName(query) ? searchGlossary(entries, query) : null;
    cards.scrollTop = 0;
    if (fitting === null) return all();
    const said = fitting.length ? `${fitting.length} ${fitting.length === 1 ? "entry" : "entries"} for “${query.trim()}”` : "Nothing found";
    setText(found, fitting.length ? said : "");
    say(fitting.length ? `${said}, first: ${fitting[0].term}. ${fitting[0].sentence}` : said);
    if (!fitting.length) {
      cards.replaceChildren(box("empty", "Nothing found", `No term is like “${query.trim()}”. Try another spelling, a symbol, or fewer letters.`));
      return;
    }
    const rest = fitting.slice(GLOSSARY_FIRST);
    cards.replaceChildren(ordered(fitting.slice(0, GLOSSARY_FIRST)));
    if (rest.length) {
      const more = linkButton(`${rest.length} more`, () => {
        more.replaceWith(ordered(rest));
        cards.querySelectorAll(".mha-glossary-card")[GLOSSARY_FIRST].focus();
      });
      cards.append(more);
    }
  }

  // Nothing is asked for: what this lesson explains, then everything.
  function all() {
    const sorted = [...entries].sort((a, b) => a.term.localeCompare(b.term, "en"));
    const ours = sorted.filter((entry) => entry.lesson === here);
    setText(found, "");
    const parts = ours.length ? [node("h4", {}, `Explained in lesson ${here} (${ours.length})`), ordered(ours)] : [];
    cards.replaceChildren(...parts, node("h4", {}, `All ${entries.length} terms, A to Z`), ordered(sorted));
  }

  function ordered(some) {
    return node("ol", {}, ...some.map((entry) => glossaryCard(model, entry, chinese)));
  }

  // Arrows walk through the cards, Enter goes to the first and opens its lesson, Escape goes back a step.
  function walk(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    const every = [...cards.querySelectorAll(".mha-glossary-card")];
    const at = every.indexOf(document.activeElement?.closest(".mha-glossary-card"));
    const typing = document.activeElement === search.input;
    if (event.key === "Escape") {
      if (typing && search.input.value) clear();
      else if (at >= 0) search.input.focus();
      else shut();
    } else if (event.key === "ArrowDown" && (typing || at >= 0)) every[Math.min(at + 1, every.length - 1)]?.focus();
    else if (event.key === "ArrowUp" && at >= 0) (every[at - 1] ?? search.input).focus();
    else if (event.key === "Enter" && typing) every[0]?.focus();
    else if (event.key === "Enter" && at >= 0 && document.activeElement === every[at]) every[at].querySelector("a").click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function clear() {
    search.input.value = "";
    search.input.dispatchEvent(new Event("input"));
  }

  function remembered() {
    try {
      const kept = localStorage.getItem(GLOSSARY_CHINESE);
      return ["hans", "hant", "both", "none"].includes(kept) ? kept : "both";
    } catch {
      return "both"; // the browser keeps nothing
    }
  }

  function remember(value) {
    try {
      localStorage.setItem(GLOSSARY_CHINESE, value);
    } catch {
      // It holds for this glossary alone, then.
    }
  }

  const first = entries.find((entry) => entry.key === model.get("term"));
  if (first) {
    search.set(first.term);
    show(panel, true);
    bar.setAttribute("aria-expanded", "true");
    list();
  }

  return () => {
    beside.leave();
    stopTheme();
  };
}
