// Rows of small maps, one a head: the same sentence at several stages, a ring on the chosen pair in each.
//
// smallMaps({ rows: [{ name, words, signed }], onPick, onCell }) -> { element, draw({ h, n, maps, pair, top, theme }) }
// maps(row, head) -> Float32Array of n × n, queries by keys. signed rows go from −top to top, the others from 0 to 1.
// onPick(q, k): a click; onCell(row, head, q, k) under the pointer, onCell(null) when it leaves.
// Parts: .mha-stage[data-row], .mha-stage-map[data-head] from 1, .mha-stage-ring.

function smallMaps({ rows, onPick, onCell }) {
  const lines = rows.map(({ name, words }) => {
    const maps = node("div", { class: "mha-stage-maps" });
    return { maps, line: node("div", { class: "mha-stage", "data-row": name }, node("div", { class: "mha-stage-words mha-sub" }, words), maps) };
  });
  const element = node("div", { class: "mha-stages" }, ...lines.map(({ line }) => line));
  let cells = [];
  let n = 0;

  function at(canvas, event) {
    const bounds = canvas.getBoundingClientRect();
    const place = (offset, length) => Math.min(n - 1, Math.max(0, Math.floor((offset / Math.max(1, length)) * n)));
    return [place(event.clientY - bounds.top, bounds.height), place(event.clientX - bounds.left, bounds.width)];
  }

  function build(h) {
    cells = lines.map(({ maps }, row) => {
      const list = Array.from({ length: h }, (_, head) => {
        const canvas = node("canvas", { class: "mha-stage-cells", role: "img" });
        const ring = node("div", { class: "mha-stage-ring" });
        canvas.addEventListener("pointermove", (event) => onCell(row, head, ...at(canvas, event)));
        canvas.addEventListener("pointerleave", () => onCell(null));
        canvas.addEventListener("click", (event) => onPick(...at(canvas, event)));
        const box = node("div", { class: "mha-stage-map", "data-head": head + 1 }, headBadge(head), node("div", { class: "mha-stage-frame" }, canvas, ring));
        return { box, canvas, ring };
      });
      maps.replaceChildren(...list.map(({ box }) => box));
      return list;
    });
  }

  function paint(canvas, numbers, signed, top, theme) {
    canvas.width = canvas.height = n;
    const pen = canvas.getContext("2d");
    const image = pen.createImageData(n, n);
    const words = new Uint32Array(image.data.buffer);
    const ramp = rampWords(signed ? "div" : "seq", theme);
    const ground = rampWords("seq", theme)[0];
    numbers.forEach((value, i) => {
      const share = signed ? (value / top + 1) / 2 : value;
      words[i] = Math.abs(value) < 0.004 ? ground : ramp[Math.min(255, Math.max(0, Math.round(255 * share)))];
    });
    pen.putImageData(image, 0, 0);
  }

  return {
    element,
    draw(drawn) {
      n = drawn.n;
      if (!cells.length || cells[0].length !== drawn.h) build(drawn.h);
      cells.forEach((list, row) => list.forEach(({ canvas, ring }, head) => {
        const numbers = drawn.maps(row, head);
        paint(canvas, numbers, rows[row].signed, drawn.top, drawn.theme);
        const [q, k] = drawn.pair;
        ring.style.left = `${(100 * k) / n}%`;
        ring.style.top = `${(100 * q) / n}%`;
        ring.style.width = ring.style.height = `${100 / n}%`;
        canvas.setAttribute("aria-label", `head ${head + 1}, ${rows[row].words}: ${numberText(numbers[q * n + k], 2)} at the pair`);
      }));
    },
  };
}
