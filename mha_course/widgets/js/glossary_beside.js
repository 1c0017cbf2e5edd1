// The glossary beside the lesson: a panel of the whole page that stays while the lesson scrolls.
//
// Parts: div.mha-glossary-beside in the body, and a style sheet of its own that makes room for it in every
// notebook, so that nothing is covered and a link from the glossary can be read beside it. Only one at a time:
// whoever comes asks the others to go back ("mha-glossary-back").

const BESIDE_WIDTH = 348;
const BESIDE_LEAST = 900; // px of the main area below which there is no room at the side, so it goes below

function besideLesson(panel, onBack) {
  const frame = node("aside", { class: "mha-widget mha-glossary-box mha-glossary-beside", "aria-label": "Glossary, beside the lesson" });
  const room = node("style", { "data-mha-glossary-room": true });
  let stopTheme = null;
  let watching = null;

  // JupyterLab's area of documents; elsewhere the window.
  const dock = () => document.querySelector("#jp-main-dock-panel, #main-panel");

  function place() {
    const area = dock()?.getBoundingClientRect() ?? { left: 0, top: 0, right: innerWidth, bottom: innerHeight, width: innerWidth };
    const below = area.width < BESIDE_LEAST;
    const high = area.bottom - area.top;
    frame.classList.toggle("is-below", below);
    const top = below ? area.bottom - Math.round(high * 0.42) : area.top + Math.min(64, high / 4);
    Object.assign(frame.style, {
      top: `${top}px`,
      height: `${area.bottom - top - 8}px`,
      left: `${below ? area.left + 8 : area.right - BESIDE_WIDTH - 12}px`,
      width: `${below ? area.width - 16 : BESIDE_WIDTH}px`,
    });
    const side = below ? `padding-bottom: ${area.bottom - top}px` : `padding-right: ${BESIDE_WIDTH + 12}px`;
    setText(room, `.jp-NotebookPanel-notebook { ${side} !important; box-sizing: border-box; }`);
  }

  function stand() {
    for (const other of document.querySelectorAll(".mha-glossary-beside")) other.dispatchEvent(new CustomEvent("mha-glossary-back"));
    frame.append(panel);
    document.body.append(frame);
    document.head.append(room);
    stopTheme = watchTheme(frame);
    watching = new ResizeObserver(place);
    watching.observe(dock() ?? document.body);
    window.addEventListener("resize", place);
    place();
  }

  function leave() {
    if (!frame.isConnected) return;
    watching.disconnect();
    window.removeEventListener("resize", place);
    stopTheme();
    room.remove();
    frame.remove();
  }

  keepKeys(frame);
  frame.addEventListener("mha-glossary-back", () => onBack());
  return { stand, leave, get stands() { return frame.isConnected; } };
}
