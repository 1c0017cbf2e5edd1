// Dragging lines by mouse, pen or finger (a finger takes the grip, elsewhere it scrolls the page).
//
// lists: { chosen, bank } (elements that hold .mha-line). drop(i, place) is called at the end of a drag:
// place among the chosen lines (without line i), or −1 for the bank.

const DRAG_FROM = 5; // px that the pointer moves before a press becomes a drag
const SCROLL_ZONE = 48; // px at the upper and lower end of the notebook

function draggableLines(area, lists, drop) {
  const marker = node("div", { class: "mha-drop-marker", "aria-hidden": "true" });
  let drag = null;

  area.addEventListener("pointerdown", (event) => {
    const line = event.target.closest(".mha-line");
    if (!line || event.button !== 0 || event.target.closest("button")) return;
    if (event.pointerType === "touch" && !event.target.closest(".mha-line-grip")) return;
    drag = { line, pointer: event.pointerId, x: event.clientX, y: event.clientY, moved: 0, going: false };
    drag.grip = event.clientY - line.getBoundingClientRect().top;
  });
  area.addEventListener("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.pointer) return;
    if (!drag.going && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG_FROM) return;
    if (!drag.going) begin();
    drag.at = event.clientY;
    follow();
  });
  area.addEventListener("pointerup", () => end(true));
  area.addEventListener("pointercancel", () => end(false));
  area.addEventListener("lostpointercapture", () => end(false));
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && drag && drag.going) end(false);
  });

  function begin() {
    drag.going = true;
    drag.scroller = area.closest(".jp-WindowedPanel-outer") || document.scrollingElement;
    area.setPointerCapture(drag.pointer);
    drag.line.classList.add("is-dragged");
    area.classList.add("is-dragging");
    drag.frame = requestAnimationFrame(scroll);
  }

  // Near the end of the page it moves on by itself, so that a line reaches places that were out of sight.
  function scroll() {
    if (!drag || !drag.going) return;
    const seen = drag.scroller === document.scrollingElement ? { top: 0, bottom: window.innerHeight } : drag.scroller.getBoundingClientRect();
    const step = drag.at < seen.top + SCROLL_ZONE ? -8 : drag.at > seen.bottom - SCROLL_ZONE ? 8 : 0;
    if (step) {
      drag.scroller.scrollTop += step;
      follow();
    }
    drag.frame = requestAnimationFrame(scroll);
  }

  function follow() {
    // Measured from where the line lies without the move: the page may have scrolled since.
    const home = drag.line.getBoundingClientRect().top - drag.moved;
    drag.moved = drag.at - drag.grip - home;
    drag.line.style.transform = `translate(16px, ${drag.moved}px)`;
    const bank = lists.bank.getBoundingClientRect();
    const chosen = lists.chosen.getBoundingClientRect();
    if (drag.at > (chosen.bottom + bank.top) / 2) {
      drag.place = -1;
      lists.bank.prepend(marker);
      return;
    }
    const others = [...lists.chosen.querySelectorAll(".mha-line")].filter((line) => line !== drag.line);
    const after = others.findIndex((line) => {
      const box = line.getBoundingClientRect();
      return drag.at < box.top + box.height / 2;
    });
    drag.place = after < 0 ? others.length : after;
    if (after < 0) lists.chosen.append(marker);
    else others[after].before(marker);
  }

  function end(dropped) {
    if (!drag) return;
    const { line, going, place, frame, pointer } = drag;
    drag = null;
    if (!going) return;
    cancelAnimationFrame(frame);
    marker.remove();
    line.style.transform = "";
    line.classList.remove("is-dragged");
    area.classList.remove("is-dragging");
    if (area.hasPointerCapture(pointer)) area.releasePointerCapture(pointer);
    if (dropped) drop(Number(line.dataset.line), place);
  }
}
