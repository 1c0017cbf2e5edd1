// Two rows of eight small maps, one a head, each with the role that it has at the step on show.
//
// formingGrid({ layers, heads, onPick, onCell, onLeave }) -> { element, place, draw, choose, map(layer, head) }
// Layers and heads count from 0 here. Parts: .mha-form-head[data-layer][data-head], its .mha-form-role.

// A role as chip and words: { chip: "−1", kind: "previous", words: "previous word" }, or null.
function roleOf(label) {
  if (!label) return null;
  if (label.kind === "positional") return { kind: label.name, mark: ROLE_LOOK[label.name].mark, words: ROLE_LOOK[label.name].words };
  if (label.kind === "rare") return { kind: "rarest", mark: "rare", words: "rarest word" };
  return { kind: "syntactic", mark: label.name.split(":")[0], words: label.name };
}

function formingGrid({ layers, heads, onPick, onCell, onLeave }) {
  const element = node("div", { class: "mha-form-grid mha-drawing" });
  const cells = [];
  for (let layer = 0; layer < layers; layer += 1) {
    const row = node("div", { class: "mha-form-row" });
    element.append(node("div", { class: "mha-label" }, `layer ${layer + 1}`), row);
    cells.push([]);
    for (let head = 0; head < heads; head += 1) {
      const map = weightMap({
        index: head,
        onCell: (q, k, by) => onCell(layer, head, q, k, by),
        onLeave,
        onPick: () => onPick(layer, head),
        onKey: (event) => walk(event, layer, head),
      });
      const chip = node("span", { class: "mha-chip mha-own-chip mha-form-chip", "aria-hidden": "true" }, String(head + 1));
      const role = node("span", { class: "mha-form-role" });
      const score = node("span", { class: "mha-form-score" });
      const figure = node(
        "figure",
        { class: "mha-form-head", "data-layer": layer + 1, "data-head": head + 1 },
        map.element,
        node("figcaption", { class: "mha-form-caption" }, chip, role, score),
      );
      row.append(figure);
      cells[layer].push({ map, role, score, figure });
    }
  }

  function walk(event, layer, head) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    const to = [Math.min(layers - 1, Math.max(0, layer + step[0])), Math.min(heads - 1, Math.max(0, head + step[1]))];
    onPick(...to);
    cells[to[0]][to[1]].map.frame.focus();
  }

  return {
    element,
    map: (layer, head) => cells[layer][head].map,
    place(tokens, side) {
      for (const { map } of cells.flat()) {
        map.place({ tokens, cell: side / tokens.length, side, keyLabelsShown: false, queryLabelsShown: false, angle: 0, hatchSource: null });
      }
    },
    // weights(layer, head) -> Uint16Array; labels[layer][head] as recorded.
    draw(weights, labels, theme) {
      cells.forEach((row, layer) => row.forEach(({ map, role, score }, head) => {
        map.draw(weights(layer, head), 1, theme);
        const found = roleOf(labels[layer][head]);
        role.className = found ? `mha-chip mha-form-role mha-role-chip is-${found.kind}` : "mha-form-role";
        setText(role, found ? found.mark : "");
        setText(score, found ? shareText(labels[layer][head].score) : "");
        map.describe(`Layer ${layer + 1}, head ${head + 1}: ${found ? found.words : "no role"}; arrow keys go to other heads`);
        map.name(`Attention map of layer ${layer + 1}, head ${head + 1}`);
      }));
    },
    choose(layer, head) {
      cells.forEach((row, l) => row.forEach(({ map }, h) => {
        const own = l === layer && h === head;
        map.frame.classList.toggle("mha-pinned", own);
        map.frame.tabIndex = own ? 0 : -1;
      }));
    },
  };
}
