// A table of gates: a row for each word, a column for each head, shared heads apart from routed ones.
//
// gateTable({ tips, onRow }) -> { element, draw({ words, gates, used, types, shared, token, theme, top }) }.
// A word is a button that chooses its row; cells answer to the pointer and, inside the table, to arrow keys. What a word has
// not chosen is an empty cell with a dot; two columns at the end are alpha 1 and alpha 2, and the sum of the gates.
// Parts: .mha-gates, button.mha-gates-word[data-row] from 0 (aria-pressed), .mha-gates-cell[data-row][data-head] (is-out).

function gateTable({ tips, onRow }) {
  const element = node("div", { class: "mha-gates", role: "group", tabindex: 0, "aria-label": "Gates of every word and head; arrow keys walk through the cells" });
  tips.roam(element);

  function gateCell(gate, used, top, theme, place) {
    const one = node("span", { class: used ? "mha-gates-cell" : "mha-gates-cell is-out", "data-row": place.row, "data-head": place.head + 1 }, used ? gate.toFixed(2) : "·");
    if (used) {
      const fill = weightColour(gate / top, theme);
      one.style.background = fill;
      one.style.color = textOn(fill);
    }
    tips.tip(one, `${place.word}, head ${place.head + 1}: ${used ? `gate ${gate.toFixed(3)}` : "not chosen, not computed"}`);
    return one;
  }

  return {
    element,
    draw({ words, gates, used, types, shared, token, theme, top }) {
      const h = gates[0].length;
      const gap = shared > 0 && shared < h;
      const columns = ["minmax(64px, max-content)"];
      for (let i = 0; i < h; i += 1) columns.push(...(gap && i === shared ? ["10px"] : []), "minmax(26px, 46px)");
      element.style.gridTemplateColumns = [...columns, "12px", "minmax(30px, 40px)", "minmax(30px, 40px)", "minmax(34px, 44px)"].join(" ");
      const space = () => node("span", { "aria-hidden": "true" });
      const head = (content) => node("span", { class: "mha-gates-head" }, content);
      const kinds = (text, count) => { const one = node("span", { class: "mha-gates-kind mha-sub" }, text); one.style.gridColumn = `span ${count}`; return one; };
      tips.redraw(element, () => {
        const children = [space()];
        if (shared) children.push(kinds("shared", shared));
        if (gap) children.push(space());
        if (shared < h) children.push(kinds("routed", h - shared));
        // Nothing above the four columns at the right, nor in the corner left of the heads.
        children.push(...Array.from({ length: 5 }, space));
        for (let i = 0; i < h; i += 1) children.push(...(gap && i === shared ? [space()] : []), headBadge(i));
        children.push(space(), head("α₁"), head("α₂"), head("sum"));
        words.forEach((word, row) => {
          const button = node("button", { class: "mha-gates-word", type: "button", dir: "auto", "data-row": row, "aria-pressed": String(row === token), title: `how the gates of “${word}” come about`, onclick: () => onRow(row) }, shortToken(word));
          children.push(button);
          for (let i = 0; i < h; i += 1) {
            if (gap && i === shared) children.push(space());
            children.push(gateCell(gates[row][i], used[row][i], top, theme, { row, head: i, word }));
          }
          children.push(space(), ...types[row].map((value) => node("span", { class: "mha-gates-number" }, value.toFixed(2))),
            node("span", { class: "mha-gates-number" }, gates[row].reduce((a, b) => a + b, 0).toFixed(2)));
        });
        const focused = element.contains(document.activeElement) && document.activeElement.dataset.row;
        element.replaceChildren(...children);
        if (focused !== undefined && focused !== false && focused !== null) element.querySelector(`button[data-row="${focused}"]`)?.focus();
      });
    },
  };
}
