// One line of a puzzle: its number, its text, and buttons that do by mouse what the keys do.
//
// Parts: div.mha-line[data-line="0"] (focusable, role group), button[data-do="up" | "down" | "in" | "out"].

function puzzleLine(i, text, act) {
  const number = node("span", { class: "mha-line-number", "aria-hidden": "true" });
  const grip = node("span", { class: "mha-line-grip", "aria-hidden": "true" }, "⠿");
  const code = node("code", { class: "mha-line-code" }, text);
  const button = (what, label, title) =>
    node("button", { class: "mha-button mha-line-button", type: "button", "data-do": what, title, onclick: () => act(what, i) }, label);
  const buttons = {
    up: button("up", "↑", "Move up (Alt + ↑)"),
    down: button("down", "↓", "Move down (Alt + ↓)"),
    out: button("out", "Take out", "Take out (Space)"),
    in: button("in", "Take in", "Take in (Space)"),
  };
  const mark = node("span", { class: "mha-line-mark", title: "The verdict below is about this line" }, "⚠");
  const element = node(
    "div",
    { class: "mha-line", "data-line": i, role: "group", "aria-roledescription": "line" },
    node("span", { class: "mha-line-lead" }, grip, number, code),
    node("span", { class: "mha-line-buttons" }, mark, ...Object.values(buttons)),
  );
  const words = text.replace(/\s+/g, " ");
  for (const [what, one] of Object.entries(buttons)) {
    one.setAttribute("aria-label", `${{ up: "Move up", down: "Move down", out: "Take out", in: "Take in" }[what]}: ${words}`);
  }

  // place: where it stands among the chosen lines, or −1; number: its line number; current: whether Tab comes here.
  function draw({ place, count, lineNumber, current, marked }) {
    const chosen = place >= 0;
    setText(number, chosen ? String(lineNumber) : "");
    element.classList.toggle("is-chosen", chosen);
    element.classList.toggle("is-marked", marked);
    element.setAttribute("aria-label", (chosen ? `Line ${lineNumber}: ` : "Not taken in: ") + words + (marked ? ", see the verdict" : ""));
    element.tabIndex = current ? 0 : -1;
    show(mark, marked);
    for (const [what, one] of Object.entries(buttons)) {
      show(one, what === "in" ? !chosen : chosen);
      one.tabIndex = current ? 0 : -1;
    }
    // Not `disabled`: a button that is pressed until the line is at the end must keep the focus.
    buttons.up.setAttribute("aria-disabled", String(place === 0));
    buttons.down.setAttribute("aria-disabled", String(place === count - 1));
  }

  return { element, draw, words };
}
