// A quick question: radio buttons (check boxes where several are right), one button, a reason for each choice.
//
// Parts: form.mha-ask > fieldset > legend; input[data-choice="0"]...; button[data-check]; .mha-ask-said (role status)
// with [data-verdict="ok" | "warn"]. Traits: question, choices, several, said (indices that were sent).
// Python alone knows which choice is right; its answer holds the reasons for what was tried.

function questionChoices(model, changed) {
  const several = model.get("several");
  // Two views of one widget must not share a radio group.
  const name = freshId("ask");
  const marks = [];
  const inputs = model.get("choices").map((text, i) => {
    const input = node("input", { type: several ? "checkbox" : "radio", name, "data-choice": i, onchange: changed });
    marks[i] = node("span", { class: "mha-ask-mark" });
    return { input, label: node("label", { class: "mha-ask-choice" }, input, node("span", { dir: "auto" }, ...markedText(text)), marks[i]) };
  });
  return {
    rows: inputs.map((pair) => pair.label),
    read: () => inputs.flatMap((pair, i) => (pair.input.checked ? [i] : [])),
    show: (chosen) => inputs.forEach((pair, i) => { pair.input.checked = chosen.includes(i); }),
    mark(i, right) {
      marks[i].className = `mha-ask-mark ${right ? "is-right" : "is-wrong"}`;
      marks[i].replaceChildren(
        node("span", { "aria-hidden": "true" }, right ? "✓" : "✗"),
        node("span", { class: "mha-sr" }, right ? ", right" : ", tried, not right"),
      );
    },
  };
}

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-ask-box" });
  el.append(root);
  keepKeys(root);
  const stopTheme = watchTheme(root);
  const choices = questionChoices(model, () => status(""));
  const note = model.get("several") ? node("p", { class: "mha-ask-several" }, "More than one may be right. Choose all that are.") : null;
  const hint = node("span", { class: "mha-ask-hint", role: "status" });
  const said = node("div", { class: "mha-ask-said", role: "status" });
  const form = node(
    "form",
    { class: "mha-ask", novalidate: true, onsubmit: submit },
    node(
      "fieldset",
      { class: "mha-ask-set" },
      node("legend", { class: "mha-ask-question", dir: "auto" }, node("strong", {}, "Question. "), ...markedText(model.get("question"))),
      note,
      ...choices.rows,
    ),
    node("div", { class: "mha-ask-foot" }, node("button", { class: "mha-button", type: "submit", "data-check": true }, "Check my answer"), hint),
  );
  root.append(form, said);
  let judged = "";

  const link = connect(model, root, ["said"], (header) => {
    if (!header.chosen) return;
    judged = header.chosen.join();
    // An answer from elsewhere (a second view, an earlier run) is shown as it was given.
    choices.show(header.chosen);
    for (const one of header.notes) choices.mark(one.choice, one.right);
    status("");
    said.replaceChildren(verdict(header));
  });
  choices.show(model.get("said"));
  link.draw();

  function status(text) {
    setText(hint, text);
  }

  function submit(event) {
    event.preventDefault();
    const chosen = choices.read();
    if (!chosen.length) return status(model.get("several") ? "Choose at least one." : "Choose one first.");
    if (chosen.join() === judged) return status(model.get("several") ? "This has been checked. Change something." : "This one has been checked. Choose another.");
    link.ask({ said: chosen });
  }

  function reason(one, named) {
    const text = model.get("choices")[one.choice];
    return node(
      "li",
      { class: "mha-ask-reason", dir: "auto" },
      ...(named ? [node("span", { class: one.right ? "is-right" : "is-wrong" }, one.right ? "✓ " : "✗ "), ...markedText(text), node("br")] : []),
      ...markedText(one.because),
    );
  }

  function next(header) {
    if (header.answered) return "Your right answer is kept.";
    return header.missing ? "Something is missing." : "Have another try.";
  }

  function verdict(header) {
    const named = model.get("several");
    const reasons = named
      ? node("ul", { class: "mha-ask-reasons" }, ...header.notes.map((one) => reason(one, true)))
      : markedLine(header.notes[0].because);
    const others = header.others.length
      ? node(
        "details",
        { class: "mha-ask-others" },
        node("summary", {}, header.others.length > 1 ? "Why not the others?" : "Why not the other?"),
        node("ul", { class: "mha-ask-reasons" }, ...header.others.map((one) => reason(one, true))),
      )
      : null;
    const heading = header.right ? "Right." : header.missing ? "Right so far, but not all of it." : named ? "Not yet." : "Not this one.";
    return verdictBox(
      header.right ? "ok" : "warn",
      heading,
      reasons,
      others,
      header.right ? null : markedLine(next(header), "note"),
      header.trouble ? markedLine("⚠ " + header.trouble, "note") : null,
    );
  }

  return () => {
    link.stop();
    stopTheme();
  };
}
