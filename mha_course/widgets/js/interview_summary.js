// The end of a sitting: how it went, and what to read again.

function interviewSummary({ model, summary, filtered, topic, order, filter }) {
  const { asked, first, again, left, short } = summary;
  const heading = (text) => node("h4", { class: "mha-interview-question", tabindex: -1, "data-heading": true }, text);
  const button = (what, text) => node("button", { class: `mha-button mha-interview-main${what === "begin" && left ? "" : " is-main"}`, type: "button", "data-order": what, onclick: () => order(what) }, text);
  const wider = filtered || topic
    ? node("button", { class: "mha-button mha-interview-main", type: "button", "data-wider": true, onclick: () => filter({ topic: "", only_missed: false }) }, "Ask all cards")
    : null;
  if (!asked) {
    return node("div", { class: "mha-interview-card", "data-summary": true },
      heading(left ? "This sitting has ended before the first card." : "No card here waits for you."),
      left ? null : node("p", { class: "mha-interview-said" }, short ? "The cards of this short sitting are other ones." : "With this choice there is nothing that you missed or knew in part."),
      node("div", { class: "mha-interview-foot" }, left ? button("go on", "Go on") : short ? button("begin", "Begin a new sitting") : null, left ? null : wider));
  }
  const cards = (n) => (n === 1 ? "1 card" : `${n} cards`);
  return node(
    "div",
    { class: "mha-interview-card", "data-summary": true },
    heading(left ? `You stopped with ${cards(left)} left.` : "That was the last card of this sitting."),
    node("p", { class: "mha-interview-said", "data-first": true },
      `Asked: ${cards(asked)}. At first you knew ${first.knew}, knew ${first.partly} in part and missed ${first.missed}.`,
      summary.open ? ` Still open: ${summary.open}. The next sitting begins with what you missed.` : ""),
    again.length
      ? node("section", { class: "mha-interview-part" },
        node("h5", { class: "mha-interview-label" }, "To read again"),
        node("ul", { class: "mha-interview-again" }, ...again.map((card) =>
          node("li", { "data-again": card.mark },
            node("div", { class: "mha-interview-again-head" },
              node("span", { class: "mha-interview-again-question", dir: "auto" }, ...markedText(card.question)),
              node("span", { class: "mha-interview-before" }, card.known ? `${MARK_WORDS[card.mark]}, then known` : MARK_WORDS[card.mark])),
            readAgain(model, card.evidence)))))
      : node("p", { class: "mha-interview-said" }, "Nothing to read again."),
    node("div", { class: "mha-interview-foot" }, left ? button("go on", "Go on") : null, button("begin", "Begin a new sitting"), left ? null : wider),
  );
}

// Each section once, in one line; what is to be seen there is the link's title.
function readAgain(model, evidence) {
  const sections = [...new Map(evidence.map((place) => [place.label, place]).reverse()).values()].reverse();
  return node("div", { class: "mha-interview-read" }, ...sections.flatMap((place, i) => (i ? [" · ", lessonLink(model, place)] : [lessonLink(model, place)])));
}
