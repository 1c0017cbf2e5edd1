// Tooltips for painted cells that carry no number: by pointer, and by arrow keys inside a picture.
//
// const tips = cellTips(root, say);   tips.tip(cell, text) gives a cell its text (and data-tip for tests)
// tips.roam(picture): the picture takes the focus, arrow keys walk to the nearest cell in their direction, Escape
// leaves; say(text) reads it out.  tips.clear() hides the tooltip, for when a picture is drawn anew.
// tips.redraw(picture, draw) draws it anew and puts who was walking in it back on the cell of the same place: an answer
// of the kernel that comes late must not throw anybody out.
// Parts: .mha-tooltip, cells [data-tip], the one under the keys .is-walked.

function cellTips(root, say) {
  root.classList.add("mha-tips");
  const bubble = node("div", { class: "mha-tooltip", "aria-hidden": "true" });
  bubble.hidden = true;
  root.append(bubble);
  let walked = null;

  function place(cell) {
    setText(bubble, cell.dataset.tip);
    bubble.hidden = false;
    const frame = root.getBoundingClientRect();
    const box = cell.getBoundingClientRect();
    const size = bubble.getBoundingClientRect();
    // JupyterLab may scale the page: sizes on screen are turned back into the root's own pixels.
    const scale = frame.width / root.offsetWidth || 1;
    const right = box.right - frame.left + 10 * scale;
    const left = right + size.width > frame.width ? box.left - frame.left - size.width - 10 * scale : right;
    const top = box.bottom - frame.top + 8 * scale;
    bubble.style.left = `${Math.max(4, left / scale)}px`;
    bubble.style.top = `${top / scale}px`;
  }

  function clear() {
    bubble.hidden = true;
    if (walked) walked.classList.remove("is-walked");
    walked = null;
  }

  function tip(cell, text) {
    cell.dataset.tip = text;
    cell.addEventListener("pointerenter", () => place(cell));
    cell.addEventListener("pointerleave", () => { bubble.hidden = true; });
  }

  function walk(picture, dx, dy) {
    const cells = [...picture.querySelectorAll("[data-tip]")];
    if (!cells.length) return;
    let next = cells[0];
    if (walked && picture.contains(walked)) {
      const from = centre(walked);
      let best = Infinity;
      next = walked;
      for (const cell of cells) {
        const to = centre(cell);
        const along = (to.x - from.x) * dx + (to.y - from.y) * dy;
        const aside = Math.abs((to.x - from.x) * dy) + Math.abs((to.y - from.y) * dx);
        // A step goes forward; a cell off the line costs more than one further on.
        if (along > 1 && along + 4 * aside < best) {
          best = along + 4 * aside;
          next = cell;
        }
      }
    }
    clear();
    walked = next;
    walked.classList.add("is-walked");
    place(walked);
    say(walked.dataset.tip);
  }

  function roam(picture) {
    const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    picture.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target !== picture) return;
      if (event.key === "Escape") return void clear();
      if (!(event.key in moves) || !picture.querySelector("[data-tip]")) return;
      event.preventDefault();
      event.stopPropagation(); // the notebook would take the arrow keys for its cells
      walk(picture, ...moves[event.key]);
    });
    picture.addEventListener("blur", clear);
  }

  function redraw(picture, draw) {
    const cells = () => [...picture.querySelectorAll("[data-tip]")];
    const elsewhere = walked && !picture.contains(walked);
    const at = walked && !elsewhere ? cells().indexOf(walked) : -1;
    if (!elsewhere) clear();
    draw();
    const cell = at < 0 ? null : cells()[at];
    if (!cell) return;
    walked = cell;
    walked.classList.add("is-walked");
    place(walked);
  }

  return { tip, roam, clear, redraw };
}

function centre(cell) {
  const box = cell.getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
}
