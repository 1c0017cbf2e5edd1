// A name for what is wrong: a list, a button, the verdict, and once it was found (or asked for) the lines themselves.
//
// namingPart({ names, model, onName, onInsist }) -> { element, draw(answer) }
// Parts: select[data-control=name], button[data-name-it], [data-verdict] (role status), details[data-lines], button[data-insist].

function namingPart({ names, model, onName, onInsist }) {
  const select = node(
    "select",
    { class: "mha-select mha-hunt-select", id: freshId("name"), "data-control": "name", onchange: () => setText(hint, "") },
    node("option", { value: "" }, "choose a name …"),
    ...names.map(({ key, title }) => node("option", { value: key }, title.replaceAll("`", ""))),
  );
  const hint = node("span", { class: "mha-sub", role: "status" });
  const button = node("button", { class: "mha-button mha-hunt-name-it", type: "button", "data-name-it": true, onclick: submit }, "This is what is wrong");
  const verdict = node("div", { role: "status" });
  const lines = node("div", {});
  const label = node("label", { class: "mha-label", for: select.id });
  let now = null;
  let shown = "";

  function submit() {
    if (!select.value) return setText(hint, "Choose a name first.");
    if (now?.verdict && now.verdict.name === select.value) return setText(hint, "That was judged: the words are below.");
    setText(hint, "Measuring a layer with that fault …");
    onName(now.number, select.value);
  }

  function words(answer) {
    const said = answer.verdict;
    if (!said) return [];
    if (!said.right) {
      const tries = answer.wrong > 1 ? `${answer.wrong} different wrong names so far. ` : "";
      return [verdictBox("warn", said.title.replace("⚠ ", ""), markedLine(said.says), markedLine(said.evidence), markedLine(`${tries}Measure on, and have another try.`, "note"))];
    }
    const link = said.link
      ? node("p", { class: "mha-verdict-line" }, node("strong", {}, "In the lessons: "), lessonLink(model, said.link), ...markedText(`, ${said.shows}.`))
      : null;
    return [verdictBox("ok", said.title.replace("✓ ", ""), markedLine(said.says), leadLine("To mend it: ", said.mend), leadLine("Where it was met: ", said.met), link)];
  }

  function code(answer) {
    if (!answer.lines.length) {
      return [node("p", { class: "mha-note mha-hunt-closed" }, "The lines themselves open once it was named. ", node("button", { class: "mha-link", type: "button", "data-insist": true, onclick: () => onInsist(answer.number) }, "Show them all the same"))];
    }
    const told = answer.found ? null : markedLine(`You have not named it yet. It is this: ${answer.answer}.`, "note");
    return [node(
      "details",
      { class: "mha-hunt-lines", "data-lines": answer.number, open: true },
      node("summary", {}, "The lines, sound and broken"),
      told,
      ...answer.lines.map((step) => node("div", { class: "mha-hunt-code" }, listing("sound", step.sound), listing(`suspect ${answer.number}`, step.suspect))),
    )];
  }

  return {
    element: node(
      "div",
      { class: "mha-section mha-hunt-naming" },
      node("div", { class: "mha-hunt-ask" }, label, select, button, hint),
      verdict,
      lines,
    ),
    draw(answer) {
      if (answer.number !== now?.number) {
        select.value = answer.verdict?.name || "";
        setText(hint, "");
      }
      if (hint.textContent.startsWith("Measuring")) setText(hint, "");
      now = answer;
      setText(label, `What is wrong with suspect ${answer.number}?`);
      const state = JSON.stringify([answer.number, answer.verdict, answer.wrong, answer.found, answer.lines.length]);
      if (state === shown) return;
      shown = state;
      verdict.replaceChildren(...words(answer));
      lines.replaceChildren(...code(answer));
    },
  };
}

function leadLine(lead, text) {
  return node("p", { class: "mha-verdict-line", dir: "auto" }, node("strong", {}, lead), ...markedText(text));
}

// Lines of code; those that differ carry a mark that is read out, too.
function listing(who, lines) {
  if (!lines.length) return null;
  const rows = lines.map(([text, differs]) =>
    node("span", { class: differs ? "mha-hunt-line is-new" : "mha-hunt-line" }, differs ? node("span", { class: "mha-sr" }, "differs: ") : null, `${text}\n`));
  return node("figure", { class: "mha-hunt-listing" }, node("figcaption", { class: "mha-label" }, who), node("pre", { tabindex: 0, "aria-label": `Lines, ${who}` }, ...rows));
}
