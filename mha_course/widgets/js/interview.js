// The interview: one card at a time. Its front asks, its back answers, and three buttons say how it went.
//
// Traits: topic, only_missed (filters), turned (the deal whose answer was shown), typed { deal, text }, order { do, ... }.
// The answer: card or summary, left, counts, topics, last, comes_back, trouble; see interview.py.
// Parts: [data-control="topic" | "missed"], [data-counts], [data-card] (its deal), [data-show], [data-answer], [data-prove],
// [data-mark="missed" | "partly" | "knew"], [data-last], [data-order="take back" | "end" | "go on" | "begin" | "ten"], [data-summary].
// Keys: Space shows the answer, 1 2 3 mark. They work wherever the focus is inside, but never while typing.

const MARK_WORDS = { missed: "missed", partly: "partly", knew: "knew it" };

function interviewCounts() {
  const bar = node("div", { class: "mha-interview-bar", "aria-hidden": "true" });
  const words = node("ul", { class: "mha-interview-counts", "data-counts": true });
  const NAMES = [["knew", "known"], ["partly", "partly"], ["missed", "missed"], ["new", "new"]];
  return {
    bar,
    words,
    draw(counts) {
      bar.replaceChildren(...NAMES.filter(([name]) => counts[name]).map(([name]) => node("span", { class: `is-${name}`, style: `flex-grow: ${counts[name]}` })));
      words.replaceChildren(...NAMES.map(([name, word]) =>
        node("li", { "data-count": name }, node("span", { class: `mha-interview-swatch is-${name}`, "aria-hidden": "true" }), node("strong", {}, String(counts[name])), ` ${word}`)));
    },
  };
}

function render({ model, el }) {
  // Focusable, so that after a click anywhere in it the keys 1 2 3 are the interview's and not the notebook's.
  const root = node("div", { class: "mha-widget mha-interview", role: "group", "aria-label": "Interview", tabindex: -1 });
  el.append(root);
  keepKeys(root);
  const stopTheme = watchTheme(root);
  const say = liveRegion(root);
  let now = null; // the answer that is drawn
  let drawn = ""; // the deal and the side of the card on screen
  let busy = false;
  let mine = false; // whether the next answer belongs to a press in this view

  const select = node("select", { class: "mha-select", id: freshId("topic"), "data-control": "topic", onchange: () => filter({ topic: select.value }) });
  const missed = switchControl({ label: "", text: "only what I missed or knew in part", name: "missed", value: false, onChange: (on) => filter({ only_missed: on }) });
  missed.button.setAttribute("aria-label", "only what I missed or knew in part");
  const counts = interviewCounts();
  const ten = node("button", { class: "mha-button", type: "button", "data-order": "ten", title: "A new, short sitting of the topic chosen, or of all: what was missed first, then one topic after the other", onclick: () => order("ten") }, "Ten cards, mixed");
  const left = node("span", { class: "mha-sub", "data-left": true });
  const last = node("div", { class: "mha-interview-last", "data-last": true });
  const place = node("div", { class: "mha-interview-place" });
  const trouble = node("p", { class: "mha-note mha-interview-trouble", role: "status" });
  root.append(
    node("div", { class: "mha-interview-head" }, node("h3", { class: "mha-heading" }, "The interview"), left),
    node("div", { class: "mha-row" }, node("div", { class: "mha-control" }, node("label", { class: "mha-label", for: select.id }, "topic"), select), missed.element),
    counts.bar,
    node("div", { class: "mha-interview-head" }, counts.words, ten),
    last,
    place,
    trouble,
  );
  root.addEventListener("keydown", onKey);

  const link = connect(model, root, ["topic", "only_missed"], draw);
  model.on("change:turned", turn);
  model.on("change:typed", retype);
  link.draw();

  // One order at a time: the next one would overtake it.
  function order(what, changes = {}) {
    if (busy) return;
    busy = mine = true;
    root.classList.add("is-busy");
    link.ask({ order: { do: what, deal: now?.card?.deal || "", ...changes } });
  }

  // The order goes along empty, or the last one would be given once more.
  function filter(changes) {
    if (busy) return drawHead(now);
    busy = mine = true;
    link.ask({ ...changes, order: {} });
  }

  function showAnswer() {
    if (!now?.card || turnedNow()) return;
    model.set("turned", now.card.deal);
    model.save_changes();
    turn();
    say(`The answer is shown. ${Object.values(MARK_WORDS).join(", ")}: keys 1, 2, 3.`);
    // The button is gone; the keys go on from the answer.
    place.querySelector("[data-answer]")?.focus({ preventScroll: true });
  }

  function turnedNow() {
    return Boolean(now?.card) && (now.card.turned || model.get("turned") === now.card.deal);
  }

  function type(text) {
    model.set("typed", { deal: now.card.deal, text });
    model.save_changes();
  }

  function typed(card) {
    const kept = model.get("typed");
    return kept.deal === card.deal ? kept.text : card.typed;
  }

  // Another view of this widget was typed in.
  function retype() {
    const area = place.querySelector("textarea");
    if (area && area !== document.activeElement) area.value = typed(now.card);
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
    if (event.target.closest("textarea, input, select")) return;
    const mark = { 1: "missed", 2: "partly", 3: "knew" }[event.key];
    if (event.key === " " && !event.target.closest("button, a, summary") && now?.card && !turnedNow()) showAnswer();
    else if (mark && turnedNow() && !event.repeat) order("mark", { mark });
    else return;
    event.preventDefault();
  }

  function draw(header) {
    now = header;
    // Another interview may have spoken in between: its news is no answer to what was asked here.
    const settled = header.stamp >= model.get("stamp");
    if (settled) busy = false;
    root.classList.toggle("is-busy", busy);
    drawHead(header);
    const changed = turn();
    if (mine && changed) arrive(header);
    else if (mine) say(left.textContent);
    if (settled) mine = false;
  }

  // A new card or the summary, asked for in this view: in sight, read out, and with the focus if it was inside.
  function arrive(header) {
    const heading = place.querySelector("[data-heading]");
    if (root.contains(document.activeElement) || document.activeElement === document.body) {
      if (document.activeElement !== select && document.activeElement !== missed.button) heading.focus({ preventScroll: true });
    }
    if (root.getBoundingClientRect().top < 0 || heading.getBoundingClientRect().bottom > window.innerHeight) root.scrollIntoView({ block: "start" });
    const done = header.last ? `${MARK_WORDS[header.last.mark]}. ` : "";
    say(header.card ? `${done}Next question, ${header.card.topic}: ${header.card.question.replaceAll("`", "")}` : `${done}${heading.textContent}`);
  }

  function drawHead(header) {
    const key = header.topics.map((each) => `${each.topic} ${each.knew}`).join();
    if (select.dataset.shown !== key) {
      select.dataset.shown = key;
      select.replaceChildren(...header.topics.map((each) =>
        node("option", { value: each.topic }, `${each.topic || "all topics"} (${each.knew} of ${each.of} known)`)));
    }
    select.value = model.get("topic");
    missed.set(model.get("only_missed"));
    counts.draw(header.counts);
    setText(left, header.card ? `${header.left} left in this sitting` : "");
    drawLast(header);
    setText(trouble, header.trouble ? `⚠ ${header.trouble}` : "");
    show(trouble, Boolean(header.trouble));
  }

  function drawLast(header) {
    show(last, Boolean(header.last));
    if (!header.last) return last.replaceChildren();
    const { question, mark } = header.last;
    const after = header.comes_back[mark];
    last.replaceChildren(
      node("span", { class: "mha-interview-last-words", dir: "auto" }, ...markedText(question), node("span", {}, ` ${MARK_WORDS[mark]}${after ? `, comes back after ${after} others` : ", done for this sitting"}`)),
      node("button", { class: "mha-link", type: "button", "data-order": "take back", onclick: () => order("take back") }, "take it back"),
    );
  }

  // Draws what is on the table, if it isn't on screen yet; true when another card or the summary came.
  function turn() {
    if (!now) return false;
    const { card, summary } = now;
    const deal = card ? card.deal : "summary";
    const side = `${deal} ${card ? turnedNow() : JSON.stringify(summary)}`;
    if (side === drawn) {
      if (card?.proof) place.querySelector("[data-proof]")?.showProof(card.proof);
      return false;
    }
    const other = root.dataset.card !== deal;
    drawn = side;
    root.dataset.card = deal;
    if (!card) place.replaceChildren(interviewSummary({ model, summary, filtered: model.get("only_missed"), topic: model.get("topic"), order, filter }));
    else if (turnedNow()) place.replaceChildren(interviewBack({ model, card, typed: typed(card), order }));
    else place.replaceChildren(front(card));
    return other;
  }

  function front(card) {
    const area = node("textarea", { class: "mha-interview-text", id: freshId("own"), rows: 3, maxlength: 4000, dir: "auto", placeholder: "A few words will do. They stay in this widget.", "data-own": true });
    area.value = typed(card);
    area.addEventListener("input", () => type(area.value));
    // Shift+Enter would run the cell; here keys belong to the text.
    area.addEventListener("keydown", (event) => event.stopPropagation());
    return node(
      "div",
      { class: "mha-interview-card" },
      interviewQuestion(card),
      node("label", { class: "mha-label", for: area.id }, "Your answer, aloud or here"),
      area,
      node("div", { class: "mha-interview-foot" },
        node("button", { class: "mha-button mha-interview-main is-main", type: "button", "data-show": true, onclick: showAnswer }, "Show the answer"),
        node("span", { class: "mha-note" }, "or press Space"),
        endButton(order)),
    );
  }

  return () => {
    link.stop();
    stopTheme();
    model.off("change:turned", turn);
    model.off("change:typed", retype);
  };
}
