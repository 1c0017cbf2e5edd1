// The question of a card, and its back: what a strong answer says, where it can be seen, and a proof that runs.

// The heading takes the focus when a card comes, so that keys and a screen reader go on from there.
function interviewQuestion(card) {
  const before = card.again ? "comes back" : { missed: "missed the last time", partly: "known in part the last time", knew: "known the last time" }[card.before];
  return node(
    "div",
    { class: "mha-interview-asked" },
    node("div", { class: "mha-interview-topic" }, node("span", {}, card.topic), before ? node("span", { class: "mha-interview-before" }, before) : null),
    node("h4", { class: "mha-interview-question", tabindex: -1, dir: "auto", "data-heading": true }, ...markedText(card.question)),
  );
}

function endButton(order) {
  return node("button", { class: "mha-link mha-interview-end", type: "button", "data-order": "end", onclick: () => order("end") }, "end this sitting");
}

// Links to cells of the lessons, each with what is to be seen there.
function evidenceList(model, evidence) {
  return node(
    "ul",
    { class: "mha-interview-evidence" },
    ...evidence.map((place) => node("li", {}, lessonLink(model, place), node("span", { dir: "auto" }, ": ", ...markedText(place.shows)))),
  );
}

function interviewBack({ model, card, typed, order }) {
  const paragraphs = (texts) => texts.map((text) => node("p", { class: "mha-interview-said", dir: "auto" }, ...markedText(text)));
  const part = (name, heading, ...children) =>
    node("section", { class: `mha-interview-part is-${name}` }, node("h5", { class: "mha-interview-label" }, heading), ...children);
  const [further, then] = card.follow_up;
  return node(
    "div",
    { class: "mha-interview-card" },
    interviewQuestion(card),
    typed.trim() ? part("own", "Your answer", node("p", { class: "mha-interview-said is-own", dir: "auto" }, typed)) : null,
    node(
      "div",
      { class: "mha-interview-answer", tabindex: -1, "data-answer": true },
      part("strong", "A strong answer", ...paragraphs(card.answer)),
      card.pitfall ? part("pitfall", "A weak answer", ...paragraphs([card.pitfall])) : null,
      further
        ? node("details", { class: "mha-interview-fold", "data-follow": true }, node("summary", { dir: "auto" }, node("span", { class: "mha-interview-label" }, "And then: "), ...markedText(further)), ...paragraphs([then]))
        : null,
    ),
    part("evidence", "See it in the lessons", evidenceList(model, card.evidence),
      node("p", { class: "mha-note" }, "Where the cell has not run yet in your copy: Run → Run All Above Selected Cell, then run it.")),
    proofPart(card, order),
    node(
      "div",
      { class: "mha-interview-marks", role: "group", "aria-label": "How was it?" },
      node("span", { class: "mha-label" }, "How was it?"),
      ...["missed", "partly", "knew"].map((mark, i) =>
        node("button", { class: "mha-button mha-interview-mark", type: "button", "data-mark": mark, "aria-keyshortcuts": String(i + 1), onclick: () => order("mark", { mark }) },
          node("kbd", { "aria-hidden": "true" }, String(i + 1)), MARK_WORDS[mark])),
      endButton(order),
    ),
  );
}

function proofPart(card, order) {
  const said = node("div", { role: "status" });
  const run = node("button", { class: "mha-button", type: "button", "data-prove": true }, "Run the proof");
  run.addEventListener("click", () => {
    setText(run, "Running …");
    order("prove");
  });
  const code = card.code
    ? node("details", { class: "mha-interview-fold" }, node("summary", {}, "show its code"),
      node("pre", { class: "mha-interview-code", tabindex: 0, "aria-label": "The code of the proof" }, node("code", {}, card.code.trimEnd())))
    : null;
  const element = node("section", { class: "mha-interview-part is-proof", "data-proof": true }, node("div", { class: "mha-interview-run" }, run, code), said);
  let shown = "";
  element.showProof = (proof) => {
    setText(run, "Run it again");
    const key = JSON.stringify(proof);
    if (key === shown) return;
    shown = key;
    said.replaceChildren(verdictBox(
      proof.ok ? "ok" : "warn",
      proof.ok ? "It holds" : "It does not hold here",
      markedLine(proof.sentence),
      proof.numbers.length
        ? node("table", { class: "mha-interview-numbers" }, node("tbody", {}, ...proof.numbers.map(([label, value]) =>
          node("tr", {}, node("th", { scope: "row", dir: "auto" }, ...markedText(label)), node("td", {}, value)))))
        : null,
      proof.ok ? markedLine(`computed in this kernel in ${proof.took} ms`, "note") : null,
    ));
  };
  if (card.proof) element.showProof(card.proof);
  return element;
}
