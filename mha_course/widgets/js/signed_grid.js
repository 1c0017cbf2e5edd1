// A square of signed numbers from heads (rows) to heads (columns): orange below zero, blue above, on a scale given.
//
// signedGrid({ tips, large, describe }) -> { element, draw(rows, max, theme, words) }. large: numbers in the cells and chips
// around them; otherwise cells without numbers that answer to the pointer and, inside the picture, to arrow keys.
// describe(i, j, value) is a cell's tooltip. words: what a screen reader says for the whole.
// Parts: .mha-signed (is-large), .mha-signed-cell[data-from][data-to] from 1.

function signedGrid({ tips, large = false, describe }) {
  const element = node("div", { class: large ? "mha-signed is-large" : "mha-signed", role: "img", tabindex: 0 });
  tips.roam(element);

  function cell(i, j, value, max, theme) {
    // The ramp has an even number of colours, so an exact zero is set to the ground itself.
    const fill = value === 0 ? colour("surface", theme) : signedColour(value, max, theme);
    const one = node("span", { class: "mha-signed-cell", "data-from": i + 1, "data-to": j + 1, "aria-hidden": "true" }, large ? numberText(value, 2) : null);
    one.style.background = fill;
    if (large) one.style.color = textOn(fill);
    tips.tip(one, describe(i, j, value));
    return one;
  }

  return {
    element,
    draw(rows, max, theme, words) {
      const h = rows.length;
      const size = large ? (h > 8 ? 34 : 40) : 12;
      element.style.gridTemplateColumns = `${large ? "20px " : ""}repeat(${h}, minmax(0, ${size}px))`;
      tips.redraw(element, () => {
        const children = [];
        if (large) children.push(node("span", { "aria-hidden": "true" }), ...rows.map((_, j) => headBadge(j)));
        rows.forEach((row, i) => {
          if (large) children.push(headBadge(i));
          row.forEach((value, j) => children.push(cell(i, j, value, max, theme)));
        });
        element.replaceChildren(...children);
      });
      element.setAttribute("aria-label", words);
    },
  };
}
