// The row of suspects: one radio button each, with ✓ for those that were found.
//
// suspectRow(count, onChoose) -> { element, draw(number, suspects) }; suspects: [{ found, shown }], number from 1.
// Parts: [role=radiogroup][data-control=suspect] > button[role=radio][data-value] (.is-found).

function suspectRow(count, onChoose) {
  const buttons = Array.from({ length: count }, (_, i) => {
    const mark = node("span", { class: "mha-hunt-mark", "aria-hidden": "true" });
    const button = node("button", { class: "mha-hunt-suspect", type: "button", role: "radio", "data-value": i + 1, onclick: () => onChoose(i + 1) }, String(i + 1), mark);
    return { button, mark };
  });
  const label = node("span", { class: "mha-label", id: freshId("suspect") }, "suspect");
  const group = node("div", { class: "mha-hunt-suspects", role: "radiogroup", "aria-labelledby": label.id, "data-control": "suspect" }, ...buttons.map(({ button }) => button));
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const end = { Home: 0, End: count - 1 }[event.key];
    if ((!step && end === undefined) || event.altKey || event.ctrlKey || event.metaKey) return;
    const at = buttons.findIndex(({ button }) => button === document.activeElement);
    const next = end === undefined ? (at + step + count) % count : end;
    buttons[next].button.focus();
    onChoose(next + 1);
    event.preventDefault();
    event.stopPropagation();
  });
  return {
    element: node("div", { class: "mha-hunt-row" }, label, group),
    choose(number) {
      buttons.forEach(({ button }, i) => {
        button.setAttribute("aria-checked", String(i + 1 === number));
        button.tabIndex = i + 1 === number ? 0 : -1;
      });
    },
    draw(suspects) {
      suspects.forEach(({ found, shown }, i) => {
        const { button, mark } = buttons[i];
        button.classList.toggle("is-found", found);
        setText(mark, found ? "✓" : "");
        button.setAttribute("aria-label", `suspect ${i + 1}${found ? ", found" : ""}${shown ? ", its lines were looked up" : ""}`);
        button.title = found ? "found" : shown ? "looked up, not named yet" : "";
      });
    },
  };
}
