// One tooltip a widget: a line in reversed ink, beside the cell, never over its row or column.

function tooltip(root) {
  const element = node("div", { class: "mha-tooltip", "aria-hidden": "true", hidden: true });
  root.append(element);
  return {
    element,
    // rect: the cell on the page; parts: nodes or strings.
    show(rect, ...parts) {
      element.hidden = false;
      element.replaceChildren(...parts);
      const bounds = root.getBoundingClientRect();
      const { offsetWidth: width, offsetHeight: height } = element;
      const left = rect.left - bounds.left - root.clientLeft;
      const top = rect.top - bounds.top - root.clientTop;
      const gap = 8;
      const fitsRight = left + rect.width + gap + width <= bounds.width - 4;
      const x = fitsRight ? left + rect.width + gap : Math.max(4, left - gap - width);
      const above = top - gap - height;
      const y = above + bounds.top > 4 && above > 4 ? above : top + rect.height + gap;
      element.style.left = `${Math.round(x)}px`;
      element.style.top = `${Math.round(y)}px`;
    },
    hide() {
      element.hidden = true;
    },
  };
}

// "plays → oboe  0.58  head 3", with whole tokens. inWords: how a token is written.
function weightLine(query, key, weight, headName, inWords = visible) {
  return [
    node("b", {}, node("bdi", {}, inWords(query)), " → ", node("bdi", {}, inWords(key))),
    `  ${weight}`,
    node("span", { class: "mha-tooltip-head" }, `  ${headName}`),
  ];
}
